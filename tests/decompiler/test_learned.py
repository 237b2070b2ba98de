"""What chooses names and forms: whatever its weights are, the program stays what it is."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels import Kernel, suite

import ptxkit
from ptxkit.cuda import CudaModule, print_module, read
from ptxkit.cuda import nodes as n
from ptxkit.decompiler.isolation import isolated
from ptxkit.decompiler.learned import study, training
from ptxkit.decompiler.learned.contexts import contexts
from ptxkit.decompiler.learned.forms import FORMS, questions, rewritten
from ptxkit.decompiler.learned.habits import Habits, habits
from ptxkit.decompiler.learned.linear import Classifier, Ranker
from ptxkit.decompiler.learned.naming import FORBIDDEN, names_of_file, renamed_module, usable
from ptxkit.decompiler.learned.preferred import preferred
from ptxkit.decompiler.learned.scanning import tokens
from ptxkit.decompiler.learned.scopes import same_but_for_names
from ptxkit.decompiler.lift.lifter import Options, lift_module
from ptxkit.decompiler.verify.certificates import compiled
from ptxkit.decompiler.verify.identity import same_ptx

KERNELS = suite()[::6]
SOURCE = """extern "C" __global__ void scale(float *values, float factor, int count) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count) return;
    values[place] *= factor;
}
"""


def lifted(kernel: Kernel) -> CudaModule:
    return lift_module(kernel.module("sm_90"), Options(roll=True))


def functions(tree: CudaModule) -> list[n.Function]:
    return [i for i in tree.items if isinstance(i, n.Function) and i.body is not None]


def declared(function: n.Function) -> list[str]:
    inside = [x.name for s in function.body or () for x in s.walk() if isinstance(x, n.Declare)]
    return [p.name for p in function.parameters] + inside


def any_names(seed: int, tree: CudaModule) -> Classifier:
    """A model that knows nothing, and has every name to say that could do harm."""
    own = [name for f in functions(tree) for name in (f.name, *declared(f))]
    labels = tuple(dict.fromkeys((*own, *sorted(FORBIDDEN)[::25], "min", "threadIdx", "a", "b", "x",
                                  "tid", "n", "half", "y0")))  # fmt: skip
    words = sorted({w for f in functions(tree) for c in contexts(f).values() for w in c.words})
    weights = np.random.default_rng(seed).normal(size=(len(words), len(labels)))
    return Classifier(labels, {w: k for k, w in enumerate(words)}, weights.astype(np.float32))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_any_names_leave_the_program_as_it_is(kernel: Kernel) -> None:
    tree = lifted(kernel)
    base = compiled(tree, "sm_90").module
    assert base is not None
    changed = False
    for seed in range(6):
        made = renamed_module(tree, any_names(seed, tree))
        changed |= made != tree
        for before, after in zip(functions(tree), functions(made), strict=True):
            old, new = declared(before), declared(after)
            assert len(set(zip(old, new, strict=True))) == len(set(old))
            assert same_but_for_names(before, after)
            fresh = set(new) - set(old)
            assert not fresh & names_of_file(tree)
    again = compiled(made, "sm_90").module
    assert again is not None
    assert all(same_ptx(base, again, f.name) for f in base.functions if f.has_body)
    assert changed


expressions = st.recursive(
    st.sampled_from(["i", "j", "n0", "a1", "7", "threadIdx.x"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, st.sampled_from("+-*&|"), inner, inner),
        st.builds("(call max {} {})".format, inner, inner),
        st.builds("([] p0 {})".format, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(expressions, min_size=1, max_size=5), seed=st.integers(0, 2**16))
def test_no_name_is_captured(values: list[str], seed: int) -> None:
    body = " ".join(f"(let int v{k} {value})" for k, value in enumerate(values))
    kernel = read(
        "(kernel k (params (param (ptr int) p0) (param int n0) (param int a1))"
        f" (let int i threadIdx.x) (let int j 1) {body} (= ([] p0 i) v{len(values) - 1}))"
    )
    tree = CudaModule((kernel,))
    made = renamed_module(tree, any_names(seed, tree))
    old, new = print_module(tree), print_module(made)
    names = dict(zip(declared(functions(tree)[0]), declared(functions(made)[0]), strict=True))
    assert len(set(names.values())) == len(names)
    assert not set(names.values()) & {"max", "threadIdx", "k", "int"}
    # Texts are the same word for word, but for the names.
    one, two = ([token.text for token in tokens(text)] for text in (old, new))
    assert [names.get(word, word) for word in one] == two


@pytest.mark.parametrize(
    ("names", "same"),
    [("ab", True), ("xy", True), ("bb", False), ("an", True), ("na", False), ("pa", False)],
)
def test_a_captured_name_is_seen(names: str, same: bool) -> None:
    text = """(kernel k (params (param (ptr int) p) (param int n))
        (let int {0} n) (if (< {0} n) (then (let int {1} 1) (= ([] p {0}) (+ {1} {0})))))"""
    one, two = (read(text.format(*pair)) for pair in ("ab", names))
    assert isinstance(one, n.Function) and isinstance(two, n.Function)
    assert same_but_for_names(one, two) is same


def test_every_name_that_may_be_said_compiles() -> None:
    labels = habits().names.labels
    assert all(usable(label) for label in labels)
    lines = [f"    float {label} = x_{k};" for k, label in enumerate(labels)]
    sums = " + ".join(labels)
    parameters = ", ".join(f"float x_{k}" for k in range(len(labels)))
    text = f"#include <cuda_fp16.h>\n__global__ void k_({parameters}, float *o_) {{\n"
    text += "\n".join(lines) + f"\n    *o_ = fmaxf(sqrtf({sums}), warpSize);\n}}\n"
    assert compiled(text).error == ""


def test_names_are_kept_where_that_is_asked() -> None:
    tree = lift_module(ptxkit.compile_cuda(SOURCE, arch="sm_90"))
    assert declared(renamed_module(tree, habits().names).kernels[0])[0] != "p0"
    kept = renamed_module(tree, habits().names, keep=["p0", "n2"])
    assert {"p0", "n2"} <= set(declared(kept.kernels[0]))


def test_a_function_that_is_called_through_a_variable_keeps_its_name() -> None:
    kernel = read("(kernel k (params (param int f) (param int n)) (let int v (call f n)))")
    tree = CudaModule((kernel,))
    for seed in range(20):
        made = renamed_module(tree, any_names(seed, tree))
        assert declared(made.kernels[0])[0] == "f"
        assert "f" not in declared(made.kernels[0])[1:]


@pytest.mark.parametrize("kernel", KERNELS[::3], ids=lambda k: k.name)
def test_any_forms_are_the_same_ptx(kernel: Kernel) -> None:
    tree = lifted(kernel)
    base = compiled(tree, "sm_90").module
    random = Random(kernel.name)
    ranker = Ranker({form: random.choice((-1.0, 1.0)) for form in FORMS})
    made = preferred(tree, ranker, "sm_90", separate=False)
    again = compiled(made, "sm_90").module
    assert base is not None and again is not None
    assert all(same_ptx(base, again, f.name) for f in base.functions if f.has_body)


def test_a_form_that_changes_something_is_not_taken() -> None:
    # A mask is not a remainder where numbers may be negative.
    source = """extern "C" __global__ void k(int *x, const int *y) {
        x[threadIdx.x] = y[threadIdx.x] & 31;
    }"""
    tree = lift_module(ptxkit.compile_cuda(source, arch="sm_90"))
    assert [q.form for q in questions(tree.kernels[0])] == ["power"]
    assert "% 32" in print_module(CudaModule((rewritten(tree.kernels[0], lambda q: True),)))
    assert preferred(tree, Ranker({"power": 1.0}), "sm_90", separate=False) == tree


def test_what_is_chosen_is_what_people_write() -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_90")
    found = ptxkit.decompile(module, "symbolic")
    plain = ptxkit.decompile(module, "symbolic", names="plain", forms="plain")
    assert found.verdict.level == plain.verdict.level == "E1"
    assert "float *p0, float a1, int n2" in plain.cuda
    assert "p0" not in found.cuda
    with pytest.raises(ptxkit.PtxkitError, match="no choice of names is called 'mine'"):
        ptxkit.decompile(module, names="mine")


def test_choosing_takes_milliseconds() -> None:
    model = habits()
    for kernel in KERNELS:
        part = isolated(kernel.module("sm_90"), kernel.module("sm_90")[kernel.entry()])
        if len(part[kernel.entry()].instructions) > 400:
            continue
        tree = lift_module(part, Options(roll=True))
        seconds = []
        for _ in range(3):
            begun = time.process_time()
            renamed_module(tree, model.names)
            for function in functions(tree):
                rewritten(function, lambda q: model.forms.score(q.features) > 0)
            seconds.append(time.process_time() - begun)
        assert min(seconds) < 0.02, kernel.name


def test_what_asks_the_last_step_twice_is_soon_described() -> None:
    lines = "\n".join(f"unsigned v{k + 1} = (v{k} >> 1) ^ (v{k} & 3);" for k in range(40))
    source = f"""extern "C" __global__ void bits(unsigned *x) {{
        unsigned v0 = x[threadIdx.x];
        {lines}
        x[threadIdx.x] = v40;
    }}"""
    tree = lift_module(ptxkit.compile_cuda(source, arch="sm_90"), Options(order="line"))
    function = next(i for i in tree.items if isinstance(i, n.Function))
    assert max(len(found.words) for found in contexts(function).values()) < 200


def test_training_gives_the_same_bytes(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    for number, kernel in enumerate(suite()[:12:2]):
        (sources / f"part{number % 3}").mkdir(parents=True, exist_ok=True)
        (sources / f"part{number % 3}" / f"{kernel.name}.cu").write_text(kernel.source)
    seen = study.study(sources)
    assert {one.group for one in seen} == {f"part{k}/{p.name}" for k in range(3)
                                           for p in (sources / f"part{k}").iterdir()}  # fmt: skip
    report = training.run(seen, tmp_path / "one")
    training.run(study.study(sources), tmp_path / "two")
    assert (tmp_path / "one" / training.WEIGHTS).read_bytes() == (
        tmp_path / "two" / training.WEIGHTS
    ).read_bytes()
    assert report["names"]["all"]["n"] > 20
    again = Habits.load(tmp_path / "one" / training.WEIGHTS)
    again.save(tmp_path / "again.npz")
    assert Habits.load(tmp_path / "again.npz").names.labels == again.names.labels


def test_many_names_take_no_square_of_time() -> None:
    lets = "".join(f"(let float v{k} (* a 2.0f))" for k in range(20_000))
    function = read(f"(kernel k (params (param float a)) {lets})")
    assert isinstance(function, n.Function)
    before = time.process_time()
    assert same_but_for_names(function, function)
    assert time.process_time() - before < 3.0


def test_what_moves_on_from_a_thread_is_a_counter() -> None:
    source = """extern "C" __global__ void k(float *x, float *y, int n) {
        for (int b = blockIdx.x; b < n; b += gridDim.x)
            for (int t = threadIdx.x; t < 256; t += blockDim.x)
                y[b * 256 + t] = x[b * 256 + t] + 1; }"""
    text = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic").cuda
    assert "int i = blockIdx.x" in text and "int j = threadIdx.x" in text, text


def test_instances_of_a_template_have_the_same_names() -> None:
    source = """template<class T> __global__ void total(const T *x, T *y, int n) {
        __shared__ T s[256]; int t = threadIdx.x; T v = 0;
        for (int i = blockIdx.x * 256 + t; i < n; i += 256 * gridDim.x) v += x[i];
        s[t] = v; __syncthreads();
        if (t == 0) y[blockIdx.x] = s[0] + s[255]; }
    template __global__ void total<float>(const float *, float *, int);
    template __global__ void total<int>(const int *, int *, int);"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    one, two = functions(ptxkit.decompile(module, "symbolic", effort=0).ast)
    assert declared(one) == declared(two)
