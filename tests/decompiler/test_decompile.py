"""`ptxkit.decompile` and the commands around it."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ptxkit
from ptxkit.cli import build_app
from ptxkit.cuda import CudaModule
from ptxkit.cuda.nodes import Function, Parameter
from ptxkit.cuda.types import INT, VOID, Pointer
from ptxkit.decompiler import choose, look
from ptxkit.decompiler.engines import Candidate, engine
from ptxkit.decompiler.links import links
from ptxkit.decompiler.verify import certificates
from ptxkit.errors import ToolchainError

SOURCE = """extern "C" __global__ void scale(float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i];
}
extern "C" __global__ void fill(int *x, int v) {
    x[threadIdx.x] = v;
}
"""


@pytest.fixture
def ptx(tmp_path: Path) -> Path:
    path = tmp_path / "k.ptx"
    path.write_text(ptxkit.compile_cuda(SOURCE, arch="sm_90").emit())
    return path


def run(*words: str | Path, code: int = 0) -> str:
    """What a command prints, both streams."""
    found = CliRunner().invoke(build_app(), [str(w) for w in words])
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    return found.output


def test_what_is_returned() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(SOURCE, arch="sm_90"))
    assert found.engine == "symbolic"
    assert {k.name for k in found.ast.kernels} == {"scale", "fill"}
    assert found.verdict.compiles and found.verdict.equivalent
    assert set(found.verdict.parts) == {"scale", "fill"}
    again = ptxkit.compile_cuda(found.cuda, arch="sm_90")
    assert {f.name for f in again.kernels} == {"scale", "fill"}


def test_one_of_several(ptx: Path, tmp_path: Path) -> None:
    found = ptxkit.decompile(ptx.read_text(), kernel="fill")
    assert [k.name for k in found.ast.kernels] == ["fill"]
    text = run("decompile", ptx, "--kernel", "scale", "--verdict", tmp_path / "v.json")
    assert "scale(" in text and "fill" not in text
    data = json.loads((tmp_path / "v.json").read_text())
    assert list(data["kernels"]) == ["scale"] and data["level"] == data["kernels"]["scale"]["level"]
    assert "no function is called 'fil'" in run("decompile", ptx, "--kernel", "fil", code=2)
    declared = ".version 8.0 .target sm_90 .extern .func g(); .entry k() { ret; }"
    with pytest.raises(choose.DecompileError, match="'g' has no body"):
        ptxkit.decompile(declared, kernel="g")


def test_a_kernel_is_found_by_its_name_in_cpp() -> None:
    source = "__global__ void k(int *x) { *x = 1; }"
    module = ptxkit.compile_cuda(source, arch="sm_90")
    assert ptxkit.decompile(module, kernel="k").verdict.level == "E1"
    assert certificates.verify(module, source, "k").level == "E1"


VECTORS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
    .reg .v4 .f32 v; .reg .v2 .b32 %w<3>; .reg .f32 f, v_x; .reg .b64 a, b; .reg .b32 t;
    ld.param.u64 a, [x]; ld.param.u64 b, [y];
    mov.u32 t, %tid.x;
    mad.wide.u32 a, t, 16, a; mad.wide.u32 b, t, 8, b;
    ld.global.v4.f32 v, [a];
    add.f32 f, v.x, v.g; sub.f32 v_x, v.z, v.w;
    mov.b32 %w2.y, f; mov.b32 %w2.x, v_x;
    st.global.v2.b32 [b], %w2;
    ret;
}"""


def test_registers_that_are_vectors() -> None:
    found = ptxkit.decompile(VECTORS)
    assert found.verdict.equivalent, found.verdict
    assert certificates.verify(ptxkit.parse(VECTORS), found.cuda).equivalent
    wrong = found.cuda.replace(".z", ".y")
    assert wrong != found.cuda
    assert not certificates.verify(ptxkit.parse(VECTORS), wrong).equivalent
    with pytest.raises(ptxkit.PtxkitError, match="'%w2' is not declared"):
        ptxkit.decompile(VECTORS.replace("%w2.y", "%w2.z"))


def test_a_function_that_only_calls_itself() -> None:
    text = """.version 8.4
.target sm_90
.address_size 64
.func (.param .b32 r) rec(.param .b32 x) {
    .reg .b32 %r<4>; .reg .pred %p;
    ld.param.b32 %r1, [x]; setp.eq.u32 %p, %r1, 0; @%p bra E;
    sub.u32 %r2, %r1, 1;
    { .param .b32 q, w; st.param.b32 [q], %r2; call (w), rec, (q); ld.param.b32 %r3, [w]; }
    add.u32 %r1, %r1, %r3;
E:  st.param.b32 [r], %r1; ret; }"""
    found = ptxkit.decompile(text)
    assert "+= rec(" in found.cuda and found.verdict.compiles


def test_how_far_it_is(ptx: Path) -> None:
    seen: list[tuple[int, int]] = []
    ptxkit.decompile(ptx.read_text(), report=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2)]


@pytest.mark.parametrize("option", ["--output", "--html", "--tree", "--verdict", "--attention"])
def test_a_missing_folder_is_told_before_the_work(
    ptx: Path, tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ptxkit, "decompile", None)
    said = run("decompile", ptx, option, tmp_path / "none" / "k.svg", code=2)
    assert "cannot be written: there is no folder" in said


@pytest.mark.parametrize("option", ["effort", "seconds", "beams"])
def test_numbers_are_numbers(option: str) -> None:
    with pytest.raises(ptxkit.PtxkitError, match=r"not '3'"):
        ptxkit.decompile(".version 8.0 .target sm_90 .entry k() { ret; }", **{option: "3"})


def test_ptx_is_no_candidate(ptx: Path, tmp_path: Path) -> None:
    assert "is PTX, and CUDA C++ is compared" in run("verify", ptx, ptx, code=2)
    other = tmp_path / "other.cu"
    other.write_text('extern "C" __global__ void z() {}')
    said = run("verify", ptx, other, code=1)
    assert "[no such kernel]" in said and "it has no kernel 'fill'; there are: z" in said


def test_text_will_do(ptx: Path) -> None:
    assert ptxkit.decompile(ptx.read_text()).verdict.equivalent


def test_command(ptx: Path, tmp_path: Path) -> None:
    out, page, tree, said = (tmp_path / n for n in ("k.cu", "k.html", "k.dot", "k.json"))
    shown = run("decompile", ptx, "-o", out, "--html", page, "--tree", tree, "--verdict", said)
    assert re.search(r"\[E[123] .*\] symbolic", shown)
    assert "scale" in out.read_text()
    assert 'class="linked"' in page.read_text()
    assert tree.read_text().startswith("digraph {")
    assert json.loads(said.read_text())["equivalent"] is True


def test_lines_of_which_nothing_is_the_same_have_what_is_between() -> None:
    source = "__global__ void k(int *x) {\n int v = x[0];\n v = v * %d;\n x[1] = v;\n}"
    module = ptxkit.compile_cuda(source % 7, arch="sm_90")
    found = links(module, source % 8, "sm_90")
    lines = module.emit().splitlines()
    assert [lines[k - 1].split()[0] for k in found[3]] == ["mul.lo.s32"]
    assert any("st.global" in lines[k - 1] for k in found[4])


def test_shown_in_one_line() -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_90")
    found = ptxkit.decompile(module, verify=False)
    assert repr(found) == f"<Decompiled [not verified] symbolic, {found.cuda.count(chr(10))} lines>"


def test_comments_name_the_lines_of_stores(ptx: Path) -> None:
    shown = run("decompile", ptx, "--comments")
    lines = ptx.read_text().splitlines()
    noted = [int(n) for n in re.findall(r"// PTX (\d+)", shown)]
    assert noted
    assert all(lines[n - 1].strip() for n in noted)


def test_without_verifying(ptx: Path) -> None:
    shown = run("decompile", ptx, "--no-verify")
    assert "[not verified] symbolic" in shown
    assert "not verified" in shown


def test_a_missing_extra_is_told_once(
    ptx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTXKIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "torch", None)

    def said() -> bool:
        monkeypatch.setattr(choose, "_told", set())  # as in another process
        found = ptxkit.decompile(ptx.read_text(), verify=False)
        return any("torch is not installed" in note for note in found.notes)

    assert [said(), said()] == [True, False]


def test_without_a_compiler(ptx: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*words: object, **options: object) -> None:
        raise ToolchainError("NVRTC is not installed; run: pip install 'ptxkit[cuda]'")

    monkeypatch.setattr(certificates, "compile_cuda", missing)
    shown = run("decompile", ptx)
    assert "__global__ void scale" in shown
    assert shown.count("pip install 'ptxkit[cuda]'") == 1
    assert "[not verified]" in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("this is no PTX at all", "error[syntax]"),
        (".version 8.0\n.target sm_80\n.address_size 64\n", "no function with a body"),
        (".version 8.0\n.target sm_80\n.global .u32 x;\n.extern .func f();\n", "no function with"),
    ],
)
def test_bad_input_is_a_sentence(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(text)
    assert message in run("decompile", path, code=2)


UNKNOWN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    frobnicate.u64 %rd1, %rd1;
    st.global.u64 [%rd1], %rd2;
    ret;
}
"""


SHORT = CudaModule((Function("k", (Parameter(Pointer(INT), "x"),), (), VOID, linkage="C"),))


def test_what_cannot_be_proved_is_the_lifted_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Guessing:
        """Proposes something short."""

        name = "guessing"

        def propose(self, module: Any, function: Any, *, beams: int = 1) -> Any:
            return (Candidate(SHORT, self.name),)

    symbolic = engine("symbolic")
    monkeypatch.setattr(choose, "_engines", lambda name, weights: ([symbolic, Guessing()], []))
    found = ptxkit.decompile(UNKNOWN)
    assert found.engine == "symbolic"
    assert "frobnicate" in found.cuda
    assert not found.verdict.equivalent
    assert found.notes


def test_pictures_are_checked_before_anything_is_done(ptx: Path, tmp_path: Path) -> None:
    for option, what in (("--tree", "a tree"), ("--attention", "attention")):
        shown = run("decompile", ptx, option, tmp_path / "x.bmp", code=2)
        assert f"{what} is drawn as" in shown
        assert "__global__" not in shown


def test_a_tree_needs_its_program_at_the_start(
    ptx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("graphviz")
    monkeypatch.setattr(look.shutil, "which", lambda name: None)
    shown = run("decompile", ptx, "--tree", tmp_path / "x.svg", code=2)
    assert "'dot' is not installed" in shown
    assert "__global__" not in shown


def test_attention_as_numbers_and_picture(ptx: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    numbers, picture = tmp_path / "a.json", tmp_path / "a.png"
    module = ptxkit.parse(ptx.read_bytes())
    look.attention(module, numbers, "fill")
    look.attention(module, picture, "fill")
    data = json.loads(numbers.read_text())
    assert len(data["p_gen"]) == len(data["answer"]) == len(data["attention"])
    assert all(abs(sum(row) - 1) < 0.01 for row in data["attention"])
    assert min(data["p_gen"]) < 0.5 < max(data["p_gen"])  # some words are copied, some are not
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_engine_that_is_not_there(ptx: Path) -> None:
    assert "no engine is called 'psychic'" in run("decompile", ptx, "--engine", "psychic", code=2)


def test_a_fault_of_the_lifter_is_a_sentence(ptx: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(module: ptxkit.Module) -> None:
        raise KeyError("f16")

    monkeypatch.setattr(choose, "lift_module", broken)
    assert "please report it with the file" in run("decompile", ptx, code=2)


def test_strict(ptx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("decompile", ptx, "--strict")
    run("decompile", ptx, "--strict", "--no-verify", code=1)


def test_verify_command(ptx: Path, tmp_path: Path) -> None:
    same, wrong, broken = (tmp_path / n for n in ("same.cu", "wrong.cu", "broken.cu"))
    same.write_text(SOURCE)
    wrong.write_text(SOURCE.replace("a * x[i]", "a * x[i] + 1.0f"))
    broken.write_text("nonsense")
    assert "[E1 identical PTX]" in run("verify", ptx, same)
    shown = run("verify", ptx, wrong, code=1)
    assert "[E0 compiles" in shown and "differs at byte" in shown
    shown = run("verify", ptx, broken, code=1)
    assert "[does not compile]" in shown and f"it does not compile: {broken}:1:1" in shown
    data = json.loads(run("verify", ptx, same, "--json"))
    assert data["kernels"]["fill"]["same_ptx"] is True


def test_a_tree_as_candidate(ptx: Path, tmp_path: Path) -> None:
    good, cut = tmp_path / "fill.sexp", tmp_path / "cut.sexp"
    good.write_text(
        "(kernel fill (params (param (ptr int) x) (param int v)) (= ([] x threadIdx.x) v))"
    )
    cut.write_text("(kernel fill (params (param (ptr int) x) (param int v)) (= ([] x")
    assert "[E1 identical PTX]" in run("verify", ptx, good, "--kernel", "fill")
    assert f"ptxkit: error: {cut}:1:" in run("verify", ptx, cut, code=2)


def test_a_form_that_the_lifter_fails_at_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptxkit.decompiler import engines

    real = engines.lift_module

    def fails(module: ptxkit.Module, options: engines.Options) -> object:
        if options.roll:
            raise RecursionError("too deep")
        return real(module, options)

    monkeypatch.setattr(engines, "lift_module", fails)
    module = ptxkit.compile_cuda('extern "C" __global__ void k(int *x) { x[0] = 1; }')
    with pytest.warns(RuntimeWarning, match="failed at one way to write 'k' \\(RecursionError"):
        assert ptxkit.decompile(module, "symbolic").verdict.equivalent


def test_attention_is_of_one_kernel_that_is_named(
    ptx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ptxkit, "decompile", None)
    said = run("decompile", ptx, "--attention", tmp_path / "a.png", code=2)
    assert "say which one with --kernel; there are: scale, fill" in said or "fill, scale" in said
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not installed
    words = ("decompile", ptx, "--attention", tmp_path / "a.png", "--kernel", "fill")
    assert "matplotlib is not installed" in run(*words, code=2)


def test_a_path_is_no_text() -> None:
    with pytest.raises(ptxkit.UsageError, match=r"of a file Path\('k.ptx'\).read_bytes"):
        ptxkit.decompile(Path("k.ptx"))  # type: ignore[arg-type]


def test_a_long_function_is_lifted_and_no_more_where_time_is_short() -> None:
    steps = "\n".join(f"fma.rn.f32 %f{k + 1}, %f{k}, %f0, 0f3F800000;" for k in range(3000))
    text = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {{
    .reg .f32 %f<3002>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    ld.global.f32 %f0, [%rd1];
    {steps}
    st.global.f32 [%rd1], %f3000;
    ret;
}}"""
    begun = time.process_time()
    found = ptxkit.decompile(text, "symbolic", seconds=0.5, names="plain")
    assert time.process_time() - begun < 4
    assert found.badge == "[not verified] symbolic"
    assert any("too few for 3,004 instructions" in note for note in found.notes)
    assert found.cuda.count("fmaf") == 3000 or "+ 1.0f" in found.cuda


def test_what_is_not_compared_is_said(ptx: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.ptx"
    older.write_text(re.sub(r"\.target sm_90", ".target sm_35", ptx.read_text()))
    out = tmp_path / "k.cu"
    said = run("decompile", older, "--engine", "symbolic", "--kernel", "fill", "-o", out)
    assert "[E1 identical PTX]" in said
    assert "not compared: the PTX has .target sm_35, and this is compiled for sm_90" in said
    said = run("verify", older, out, "--kernel", "fill")
    assert "not compared: the PTX has .target sm_35" in said
    assert "not compared" not in run("verify", ptx, out, "--kernel", "fill")
