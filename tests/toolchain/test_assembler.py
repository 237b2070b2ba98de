"""PTX to cubin: both engines, resources, and errors on the nodes of the module."""

import pickle
import re
from dataclasses import replace

import pytest

import ptxkit
from ptxkit.errors import ToolchainError, UsageError
from ptxkit.toolchain import (
    CompilerError,
    Cubin,
    assemble,
    compile_cuda,
    disassemble,
    locate,
    process,
    versions,
)
from ptxkit.toolchain.elf import BinaryFormatError
from toolchain.sources import HUNGRY, PTX, SAXPY

ENGINES = ["nvjitlink", "ptxas"]

# What was changed in the text, into what; each is one mistake that ptxas reports.
MISTAKES = {
    "modifier": ("st.global.u32", "st.globl.u32"),
    "symbol": ("[%rd1], %r1", "[%rd9], %r1"),
    "types": ("mov.u32 %r1, tile", "mov.u32 %r1, %rd1"),
    "range": ("bar.sync 0", "bar.sync 17"),
    "call": ("bar.sync 0", "call nobody"),
    "extern": ("bar.sync 0;", "bar.sync 0; .extern .func nobody; call nobody;"),
    "brace": ("    ret;\n}", "    ret;\n"),
    "operands": ("bar.sync 0;", "add.s32 %r1, %r2;"),
    "shared": ("tile[128]", "tile[1280000]"),
    "newer instruction": ("bar.sync 0", "wgmma.fence.sync.aligned"),
    "version": (".version 8.0", ".version 99.9"),
    "older version": ("sm_80", "sm_100"),
    "newer target": (".version 8.0\n.target sm_80", ".version 8.8\n.target sm_100"),
    "exact target": (".version 8.0\n.target sm_80", ".version 8.8\n.target sm_90a"),
    "family target": (".version 8.0\n.target sm_80", ".version 8.8\n.target sm_100f"),
    "no version": (".version 8.0\n", ""),
    "no text": (PTX, ""),
    "another text": (PTX, "hello, world\n"),
    "two in a line": ("second() { ret; }", "second() { .reg .b32 x; mov.b32 x, y; ret; }"),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_a_module_assembles(engine):
    cubin = assemble(ptxkit.parse(PTX), "sm_90", engine=engine)
    assert cubin.arch == "sm_90"
    assert set(cubin.resources) == {"first", "second"}
    first = cubin.resources["first"]
    assert (first.shared, first.barriers, first.spills, first.stack) == (128, 1, 0, 0)
    assert first.registers > 0
    assert Cubin.from_bytes(cubin.data).arch == "sm_90"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_at_their_places(mistake, engine, snapshot):
    before, after = MISTAKES[mistake]
    assert before in PTX
    module = ptxkit.parse(PTX.replace(before, after, 1), "k.ptx", recover=True)
    with pytest.raises(CompilerError) as caught:
        assemble(module, "sm_90", engine=engine)
    # The checker's hints are tested with the checker.
    shown = [replace(d, hint=None) if d.code == "ptxas" else d for d in caught.value.diagnostics]
    text = "\n".join(diagnostic.render() for diagnostic in shown)
    assert re.sub(r"(nvJitLink|ptxas) \d+\.\d+", "ENGINE", text) == snapshot


def test_the_checker_gives_hints():
    with pytest.raises(CompilerError) as caught:
        assemble(PTX.replace("mov.u32 %r1, tile", "mov.u32 %r1, %rd1"))
    assert "is a .b64 register" in caught.value.diagnostics[0].hint
    with pytest.raises(CompilerError) as caught:
        assemble(PTX.replace("    ret;\n}", "    ret;\n"))
    assert re.match(r"line \d+: ", caught.value.diagnostics[0].hint)


def test_both_engines_say_the_same():
    for before, after in MISTAKES.values():
        text = PTX.replace(before, after, 1)
        places = []
        for engine in ENGINES:
            with pytest.raises(CompilerError) as caught:
                assemble(text, "sm_90", engine=engine)
            places.append([(d.code, d.line, d.column) for d in caught.value.diagnostics])
        assert places[0] == places[1], after


def test_a_text_is_as_good_as_a_module():
    module = ptxkit.parse(PTX)
    assert assemble(PTX, "sm_90").data == assemble(module, "sm_90").data
    assert assemble(PTX.encode() + b"\0", "sm_90").data == assemble(module, "sm_90").data


@pytest.mark.parametrize(
    "arch", ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100f", "sm_120", "sm_121a"]
)
def test_resources_are_those_that_cuobjdump_and_ptxas_say(arch):
    target = "sm_75" if arch[-1] not in "af" else arch
    module = compile_cuda(HUNGRY, target)
    cubin = assemble(
        module, arch, engine="ptxas", options=["--allow-expensive-optimizations=false"]
    )
    for name, needs in cubin.resources.items():
        used = re.search(
            rf"Function properties for {name}\n *(\d+) bytes stack frame, "
            r"(\d+) bytes spill stores, (\d+) bytes spill loads\n"
            r".*Used (\d+) registers, used (\d+) barriers"
            r"(?:, (\d+) bytes cumulative stack size)?(?:, (\d+) bytes smem)?",
            cubin.log,
        )
        frame, stores, loads, registers, barriers, stack, shared = (
            int(value or 0) for value in used.groups()
        )
        assert (needs.spill_stores, needs.spill_loads) == (stores, loads)
        assert (needs.registers, needs.barriers) == (registers, barriers)
        assert needs.stack == (stack or frame)
        assert needs.shared == shared
    assert cubin.resources["hungry"].spills > 0
    assert cubin.resources["hungry"].shared == 400
    assert cubin.resources["hungry"].max_threads == 1024
    assert cubin.resources["modest"].max_threads is None


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_the_elf_reader_agrees_with_cuobjdump(arch, tmp_path):
    file = tmp_path / "hungry.cubin"
    file.write_bytes(assemble(compile_cuda(HUNGRY, "sm_75"), arch, opt_level=1).data)
    said = process.run(locate.require("cuobjdump").path, ["--dump-resource-usage", file]).output
    for name, needs in Cubin.from_bytes(file.read_bytes()).resources.items():
        found = re.search(
            rf"Function {name}:\s+REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+) "
            r"CONSTANT\[0\]:(\d+)",
            said,
        )
        registers, stack, shared, local, constant = map(int, found.groups())
        reserved = 1024 if arch == "sm_90" and shared else 0
        assert needs.registers == registers
        assert needs.stack == stack
        assert needs.shared == shared - reserved
        assert needs.local == local
        assert needs.constant >= constant
        assert needs.spills is None  # a cubin alone does not say


def test_the_library_makes_relocatable_code_and_ptxas_does_not():
    """Why ptxas is the default: the library's code is that of `ptxas --compile-only`."""
    module = compile_cuda('extern "C" __global__ void k(float *x) { x[0] = sinf(x[1]); }')

    def code(**how):
        text = disassemble(assemble(module, "sm_90", **how), line_info=False)
        return re.findall(r"/\*[0-9a-f]{4}\*/.*", text)

    relocatable = code(engine="ptxas", options=["--compile-only"])
    assert code(engine="nvjitlink") == relocatable
    assert code() == code(engine="ptxas") != relocatable


def test_the_engine_that_is_there_is_used(monkeypatch, tmp_path):
    for name in ("ptxas", "nvjitlink"):
        real = locate.require(name).path
        place = tmp_path / name / real.parent.name / real.name
        place.parent.mkdir(parents=True)
        place.symlink_to(real)
    for name, other in (("ptxas", "nvjitlink"), ("nvjitlink", "ptxas")):
        with monkeypatch.context() as patch:
            patch.setenv("PTXKIT_TOOLCHAIN", str(tmp_path / name))
            assert assemble(PTX).engine.lower().startswith(name)
            with pytest.raises(ToolchainError, match="run: pip install 'nvidia-"):
                assemble(PTX, engine=other)
    # Of two installations the newer one; these are equally new.
    monkeypatch.setenv("PTXKIT_TOOLCHAIN", f"{tmp_path}/nvjitlink:{tmp_path}/ptxas")
    assert assemble(PTX).engine.startswith("ptxas")


def test_without_any_assembler(monkeypatch, tmp_path):
    monkeypatch.setenv("PTXKIT_TOOLCHAIN", str(tmp_path))
    with pytest.raises(ToolchainError, match="no assembler was found; run: pip install"):
        assemble(PTX)


def test_the_target_of_the_module_is_the_default():
    assert assemble(PTX).arch == "sm_80"
    assert assemble(PTX.replace("sm_80", "sm_52")).arch == "sm_75"
    assert assemble(PTX.replace("sm_80", "sm_90a")).arch == "sm_90a"


@pytest.mark.parametrize(
    ("arch", "message"),
    [("sm_52", "does not assemble for sm_52; it does for sm_75"),
     ("sm_101", "which is called sm_110 there")],
)  # fmt: skip
def test_an_architecture_the_assembler_lacks(arch, message):
    with pytest.raises(ToolchainError, match=message):
        assemble(PTX, arch)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_option_the_assembler_lacks(engine):
    with pytest.raises(ToolchainError, match="refused its options: Unknown option"):
        assemble(PTX, options=["--no-such-option"], engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_options_reach_the_assembler(engine):
    module = compile_cuda(SAXPY, line_info=True)
    assert b".debug_line" in assemble(module, line_info=True, engine=engine).data
    assert b".nv_debug_info" in assemble(module, debug=True, engine=engine).data
    slow, fast = (assemble(module, opt_level=n, engine=engine).resources["saxpy"] for n in (0, 3))
    assert slow.code > fast.code
    hungry = compile_cuda(HUNGRY.replace("__launch_bounds__(1024, 1)", ""))
    few = assemble(hungry, max_registers=32, opt_level=1, engine=engine).resources["hungry"]
    assert few.registers <= 32


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": 7}, "needs a Module or PTX text"),
        ({"source": "a\0b"}, r"<ptx>:1: a NUL byte"),
        ({"source": PTX, "arch": "hopper"}, "not a target"),
        ({"source": PTX, "options": "-v"}, "list of words"),
        ({"source": PTX, "engine": "gas"}, "engine is one of"),
        ({"source": PTX, "opt_level": 7}, "opt_level is"),
        ({"source": PTX, "max_registers": 7}, "max_registers is"),
        ({"source": ".version 8.0\n"}, "has no .target"),
    ],
)
def test_calls_that_make_no_sense(arguments, message):
    with pytest.raises(UsageError, match=message):
        assemble(**arguments)


def test_a_warning_is_on_the_cubin():
    text = PTX.replace("second() { ret; }", "second() { .reg .b64 a; ld.global.u32 a, [a]; ret; }")
    cubin = assemble(text.replace(".u32 a, [a]", ".volatile.u64 a, [a]"))
    assert cubin.diagnostics == ()
    cubin = assemble(
        compile_cuda(HUNGRY), max_registers=32, opt_level=1, options=["--warn-on-spills"]
    )
    assert {d.severity for d in cubin.diagnostics} == {"warning"}
    assert "hungry" in cubin.diagnostics[0].source_line


def test_cubins_and_errors_travel():
    cubin = assemble(PTX)
    assert pickle.loads(pickle.dumps(cubin)) == cubin
    with pytest.raises(TypeError):
        cubin.resources["x"] = None
    with pytest.raises(CompilerError) as caught:
        assemble(PTX.replace("ret", "retreat"))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.log, copy.line) == (str(caught.value), caught.value.log, 15)


@pytest.mark.parametrize("arch", versions.architectures("13.0"))
def test_a_cubin_knows_its_architecture(arch):
    text = f".version 9.0\n.target {arch}\n.address_size 64\n.entry k() {{ ret; }}\n"
    assert Cubin.from_bytes(assemble(text, engine="ptxas").data).arch == arch


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"text", b"\x7fELF" + b"\xff" * 200])
def test_what_is_no_cubin_is_refused(data):
    with pytest.raises(BinaryFormatError):
        Cubin.from_bytes(data)


def test_an_elf_file_of_the_host_is_no_cubin():
    with open("/proc/self/exe", "rb") as file:  # noqa: PTH123
        data = file.read()
    with pytest.raises(BinaryFormatError, match="not for NVIDIA GPUs"):
        Cubin.from_bytes(data)
