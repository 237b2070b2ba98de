"""Many modules at once: same results, in order, each error its own."""

import threading
import time

import pytest

from ptxkit.toolchain import CompilerError, Cubin, assemble, assemble_many, nvjitlink
from toolchain.sources import PTX

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(name, body="ret;", head=HEAD, extra=""):
    return f"{head}{extra}.visible .entry {name}()\n{{\n    .reg .b32 %r<9>;\n    {body}\n}}\n"


def count_runs(monkeypatch):
    """How often the assembler is started."""
    runs = []
    real = nvjitlink.NvJitLink.assemble

    def counted(self, ptx, *rest):
        runs.append(ptx)
        return real(self, ptx, *rest)

    monkeypatch.setattr(nvjitlink.NvJitLink, "assemble", counted)
    return runs


@pytest.mark.parametrize("batch", [False, True])
def test_results_are_those_of_one_by_one(batch):
    texts = [kernel(f"k{i}", f".shared .b8 s[{i + 1}]; mov.u32 %r1, s; bar.sync {i}; ret;")
             for i in range(9)]  # fmt: skip
    found = assemble_many(texts, "sm_90", workers=2, batch=batch, cache=False)
    for text, cubin in zip(texts, found, strict=True):
        assert dict(cubin.resources) == dict(assemble(text, "sm_90").resources)


def test_small_modules_are_assembled_together(monkeypatch):
    runs = count_runs(monkeypatch)
    assemble_many([kernel(f"k{i}") for i in range(20)], batch=True, engine="nvjitlink")
    assert len(runs) == 1


def test_names_that_clash_are_kept_apart(monkeypatch):
    runs = count_runs(monkeypatch)
    texts = [kernel("k", f"mov.u32 %r1, {i}; ret;") for i in range(3)] + [kernel("other")]
    found = assemble_many(texts, batch=True, engine="nvjitlink")
    assert [list(cubin.resources) for cubin in found] == [["k"], ["k"], ["k"], ["other"]]
    assert len(runs) == 3


@pytest.mark.parametrize(
    "odd",
    [
        kernel("odd", head=HEAD.replace("8.0", "8.1")),
        kernel("odd", extra=".weak .global .b32 g;\n"),
        kernel("odd", extra='.file 1 "k.cu"\n', body=".loc 1 1 1\n    ret;"),
        kernel("odd").replace(".address_size 64\n", ""),
    ],
)
def test_modules_that_can_not_be_joined_stay_alone(odd, monkeypatch):
    runs = count_runs(monkeypatch)
    found = assemble_many([kernel("a"), odd, kernel("b")], "sm_90", batch=True, engine="nvjitlink")
    assert [list(cubin.resources) for cubin in found] == [["a"], ["odd"], ["b"]]
    assert len(runs) == 2


def test_declarations_are_shared(monkeypatch):
    runs = count_runs(monkeypatch)
    extern = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    extern += ".extern .shared .align 16 .b8 pool[];\n"
    texts = [kernel(f"k{i}", "ld.shared.b32 %r1, [pool]; ret;", extra=extern) for i in range(3)]
    found = assemble_many(texts, "sm_90", batch=True, engine="nvjitlink")
    assert [list(cubin.resources) for cubin in found] == [["k0"], ["k1"], ["k2"]]
    assert len(runs) == 1


def test_variables_go_along():
    texts = [
        kernel(f"k{i}", f"ld.global.u32 %r1, [g{i}]; ret;", extra=f".global .b32 g{i} = {i};\n")
        for i in range(3)
    ]
    assert len(assemble_many(texts, batch=True)) == 3


@pytest.mark.parametrize("batch", [False, True])
def test_an_error_stands_in_its_own_place(batch):
    texts = [kernel("a"), kernel("b", "nonsense;"), kernel("c")]
    found = assemble_many(texts, batch=batch, errors="return")
    assert [type(one) for one in found] == [Cubin, CompilerError, Cubin]
    assert found[1].line == 7
    with pytest.raises(CompilerError, match="nonsense"):
        assemble_many(texts, batch=batch)


def test_nothing_to_do():
    assert assemble_many([]) == []
    assert assemble_many([], batch=True) == []


def test_other_threads_run_while_one_assembles():
    """The library releases the GIL: a Python thread gets on while code is generated."""
    line = "    mad.lo.u32 %r1, %r1, %r1, {};\n"
    body = "".join(line.format(i) for i in range(6000))
    text = PTX.replace("    st.global", body + "    st.global")
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    assemble(text, engine="nvjitlink", cache=False)
    end = time.perf_counter()
    done.set()
    thread.join()
    inside = [when for when in ticks if start < when < end]
    # With the GIL held there would be none but at the edges.
    assert len(inside) > 5


def test_shared_memory_of_a_kernel_is_its_own() -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    own = (
        f"{head}.shared .align 4 .b8 own[4];\n.visible .entry a()\n"
        "{\n    .reg .b32 %r<2>;\n    mov.u32 %r1, 7;\n    st.shared.u32 [own], %r1;\n    ret;\n}\n"
    )
    brought = own.replace(".shared .align 4 .b8 own[4]", ".extern .shared .align 16 .b8 b_own[]")
    brought = brought.replace("[own]", "[b_own]").replace(" a()", " b()")
    first, second = assemble_many([own, brought], "sm_80", batch=True, cache=False)
    assert first.resources["a"].shared == 4 and second.resources["b"].shared == 0
