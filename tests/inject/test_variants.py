"""Many renderings at once: texts, cubins, and what is shared between them."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ptxkit
from inject.kernels import run
from ptxkit.inject import StubError, Template, Variant
from ptxkit.toolchain import CompilerError, assembler

SOURCE = """
__device__ int counter;
__constant__ int table[4] = {1, 2, 3, 4};
__device__ __noinline__ int helper(int v) { return v * table[v & 3] + counter; }
extern __shared__ int pool[];
extern "C" __global__ void first(int *x)
{
    int v = x[threadIdx.x];
    /* PTX_INJECT f
        mod s32 v
    */
    pool[threadIdx.x] = v;
    __syncthreads();
    x[threadIdx.x] = helper(pool[threadIdx.x ^ 1]);
}
extern "C" __global__ void second(int *x)
{
    int v = x[threadIdx.x];
    /* PTX_INJECT f
        mod s32 v
    */
    x[threadIdx.x] = v;
}
"""


@pytest.fixture(scope="module")
def template() -> Template:
    return Template.from_cuda(SOURCE)


def adding(number: int) -> dict[str, str]:
    return {"f": f"add.s32 %_v, %_v, {number};"}


def test_texts_are_those_of_render(template: Template) -> None:
    sets = [adding(number) for number in range(20)]
    texts = [template.render(one) for one in sets]
    assert template.render_many(sets) == texts
    assert template.render_many(iter(sets), threads=2, check=False) == texts
    assert template.render_many([]) == []
    assert len(set(texts)) == 20


def test_large_texts_on_threads() -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .f32 %f<9>;\n"
    text += "// PTX_INJECT f mod:f32:f32:a @1 volatile = %f1\n" * 3000 + "ret;\n}\n"
    template = Template.from_ptx(text)
    sets = [{"f": f"add.f32 %_a, %_a, 0f3F80000{number};"} for number in range(8)]
    texts = [template.render(one) for one in sets]
    assert template.render_many(sets, threads=4) == texts
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(template.render, sets * 8)) == texts * 8


def test_variants_are_assembled_as_one(template: Template, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = ptxkit.assemble(template.render(adding(0)), "sm_90")
    runs = []
    real = assembler.run
    monkeypatch.setattr(assembler, "run", lambda job: runs.append(job) or real(job))
    made = template.assemble_many([adding(number) for number in range(12)], "sm_90", cache=False)
    assert len(runs) == 1
    assert len({one.symbols["first"] for one in made}) == 12
    for one in made:
        assert isinstance(one, Variant)
        assert set(one.resources) == {"first", "second"}
        assert one.resources["first"].registers == alone.resources["first"].registers
        assert one.symbols["second"].encode() in one.data
    # What was made before is not made again, whatever stands beside it.
    again = template.assemble_many([adding(5), adding(99), adding(5)], "sm_90", cache=False)
    assert again[0] is made[5] is again[2]
    assert len(runs) == 2


def test_without_batches(template: Template) -> None:
    made = template.assemble_many([adding(1), adding(2)], "sm_90", batch=False)
    assert [one.symbols for one in made] == [{"first": "first", "second": "second"}] * 2
    assert made[0].data != made[1].data


def test_a_joined_rendering_computes_the_same(template: Template) -> None:
    # The joined text runs too: take one of its kernels on the simulator.
    sets = [adding(10), {"f": "add.s32 %_v, %_v, 20;", ("second", "f"): "neg.s32 %_v, %_v;"}]
    texts = [template._assembler._text(one, True, True) for one in sets]
    for (text, ending), expected in zip(texts, (np.arange(8) + 10, -np.arange(8)), strict=True):
        assert ending
        x = np.arange(8, dtype=np.int32)
        run(text, f"second{ending}", x)
        np.testing.assert_array_equal(x, expected)


def test_a_stub_that_uses_a_name_of_the_module_keeps_its_names(template: Template) -> None:
    stub = "ld.global.s32 %_v, [counter];"
    made = template.assemble_many([{"f": stub}, adding(1), {"f": f"{stub} //"}], "sm_90")
    assert made[0].symbols["first"] == made[2].symbols["first"] == "first"
    assert made[1].symbols["first"] != "first"
    assert made[0].data != made[2].data


def test_every_error_is_its_own(template: Template) -> None:
    bad = [{"f": "add.s32 %_v, %_w, 1;"}, {"f": "wrong.s32 %_v;"}, {"g": ""}]
    found = template.assemble_many([adding(1), *bad, adding(2)], "sm_90", errors="return")
    assert [type(one) for one in found[1:4]] == [
        StubError, StubError, ptxkit.inject.UnknownSiteError,
    ]  # fmt: skip
    assert isinstance(found[0], Variant)
    assert isinstance(found[4], Variant)
    with pytest.raises(StubError):
        template.assemble_many([adding(1), *bad], "sm_90")
    unchecked = template.assemble_many(
        [adding(1), bad[1], adding(3)], "sm_90", check=False, errors="return"
    )
    assert [type(one) for one in unchecked] == [Variant, CompilerError, Variant]


def test_a_template_survives_pickle(template: Template) -> None:
    other = pickle.loads(pickle.dumps(template))
    assert repr(other) == repr(template)
    assert other.render(adding(3)) == template.render(adding(3))


def test_a_variant_survives_pickle(template: Template) -> None:
    (one,) = template.assemble_many([adding(1)], "sm_90")
    assert pickle.loads(pickle.dumps(one)) == one
