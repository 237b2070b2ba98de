"""The commands: doctor, compile, assemble, disassemble, extract."""

import json

import pytest

import ptxkit
from helpers import run_cli
from ptxkit.toolchain import locate, process, survey
from toolchain.sources import PTX, SAXPY


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(SAXPY)
    (tmp_path / "k.ptx").write_text(PTX)
    return tmp_path


def test_doctor_says_what_is_here():
    result = run_cli("doctor")
    assert result.returncode == 0
    for name in locate.PARTS:
        assert name in result.stdout
    assert "PTX 9." in result.stdout
    assert "sm_90" in result.stdout


def test_doctor_as_data():
    found = json.loads(run_cli("doctor", "--json").stdout)
    parts = {part["name"]: part for part in found["parts"]}
    assert all(part["usable"] for part in parts.values())
    assert parts["nvrtc"]["ptx"] == parts["ptxas"]["ptx"] == parts["nvjitlink"]["ptx"]
    assert parts["nvrtc"]["architectures"] == parts["ptxas"]["architectures"]
    assert parts["nvjitlink"]["architectures"] == parts["ptxas"]["architectures"]
    assert set(found["driver"]) == {"release", "problem", "highest_ptx", "gpus"}
    assert found["advice"] == []


def test_doctor_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PTXKIT_TOOLCHAIN", str(tmp_path))
    result = run_cli("doctor")
    assert result.returncode == 1
    assert "pip install 'ptxkit[cuda]'" in result.stdout
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ptxas").symlink_to(_real("ptxas"))
    result = run_cli("doctor")
    assert result.returncode == 1
    assert "for nvrtc, nvjitlink, nvcc" in result.stdout
    assert "'nvidia-cuda-nvrtc>=13,<14'" in result.stdout


def _real(name):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PTXKIT_TOOLCHAIN", raising=False)
        return locate.require(name).path


def test_doctor_survives_what_is_broken(monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    for path in ("bin/ptxas", "bin/nvcc", "lib/libnvrtc.so.13", "lib/libnvJitLink.so.13"):
        (tmp_path / path).write_text("broken")
        (tmp_path / path).chmod(0o755)
    monkeypatch.setenv("PTXKIT_TOOLCHAIN", str(tmp_path))
    problems = {entry.name: entry.problem for entry in survey().entries if entry.problem}
    assert set(problems) == {"ptxas", "nvcc", "nvrtc", "nvjitlink"}
    monkeypatch.setenv("PTXKIT_PTXAS", "/nowhere/ptxas")
    assert "which is not there" in {e.name: e.problem for e in survey().entries}["ptxas"]


def test_compile_and_assemble(files):
    result = run_cli("compile", "k.cu", "--arch", "sm_80", "-o", "out.ptx", "--line-info")
    assert (result.returncode, result.stderr) == (0, "")
    assert ".target sm_80" in (files / "out.ptx").read_text()
    result = run_cli("assemble", "out.ptx", "--arch", "sm_90", "-o", "out.cubin", "--block", "256")
    assert (result.returncode, result.stderr) == (0, "")
    assert (files / "out.cubin").read_bytes()[:4] == b"\x7fELF"
    head, columns, row = result.stdout.splitlines()
    assert head.startswith("sm_90 by ptxas")
    assert (
        columns.split()
        == (
            "kernel registers spills stack shared constant barriers local code block occupancy "
            "limited by"
        ).split()
    )
    assert row.split()[0] == "saxpy"
    assert "100%" in row


def test_compile_to_standard_output(files):
    result = run_cli("compile", "k.cu", "-D", "UNUSED=1", "-X", "-fmad=false")
    assert result.returncode == 0
    assert ".visible .entry saxpy" in result.stdout


def test_compile_shows_warnings_and_errors(files):
    (files / "w.cu").write_text("__global__ void k() { int unused; }\n")
    result = run_cli("compile", "w.cu")
    assert result.returncode == 0
    assert result.stderr.startswith("w.cu:1:27: warning[cuda-177]")
    (files / "bad.cu").write_text("__global__ void k() { nothing(); }\n")
    result = run_cli("compile", "bad.cu")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith('bad.cu:1:23: error[cuda]: identifier "nothing"')
    assert "Traceback" not in result.stderr


def test_compile_gives_functions_what_their_comments_ask_for(files):
    loop = (
        'extern "C" __global__ void %s(float *x, int n) { for (int i = 0; i < n; i++) x[i] *= 2; }'
    )
    first, second = loop % "first", loop % "second"
    (files / "plain.cu").write_text(f"{first}\n{second}\n")
    asks = "// compile this function with: -Ofc=mid -nope"
    (files / "asks.cu").write_text(f"{first}\n{asks}\n{second}\n")
    plain = ptxkit.parse(run_cli("compile", "plain.cu").stdout)
    written = ptxkit.parse(run_cli("compile", "plain.cu", "-X", "-Ofc=mid").stdout)
    result = run_cli("compile", "asks.cu")
    made = ptxkit.parse(result.stdout)
    assert plain["second"].text != written["second"].text
    assert (made["first"].text, made["second"].text) == (
        plain["first"].text,
        written["second"].text,
    )
    assert "'second' is compiled with -Ofc=mid, as a comment asks" in result.stderr
    assert "asks.cu:2: '-nope' is not used" in result.stderr


def test_compile_finds_headers_beside_the_source(files):
    (files / "sub").mkdir()
    (files / "sub/value.h").write_text("#define VALUE 42\n")
    (files / "sub/k.cu").write_text(
        '#include "value.h"\nextern "C" __global__ void k(int *x) { x[0] = VALUE; }\n'
    )
    assert "42" in run_cli("compile", "sub/k.cu").stdout


def test_assemble_as_data(files):
    result = run_cli("assemble", "k.ptx", "--json", "--block", "128", "--shared", "1000")
    found = json.loads(result.stdout)
    assert found["arch"] == "sm_80"
    first = found["kernels"]["first"]
    assert first["shared"] == 128
    assert first["spills"] == 0
    assert first["occupancy"]["block"] == 128


def test_assemble_shows_errors_at_their_places(files):
    (files / "bad.ptx").write_text(PTX.replace("mov.u32", "mov.u33"))
    result = run_cli("assemble", "bad.ptx")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("bad.ptx:12:")
    assert "^" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["assemble", "none.ptx"], "cannot be read"),
        (["assemble", "k.ptx", "--arch", "sm_9"], "not a target"),
        (["assemble", "k.ptx", "--engine", "gas"], "--engine is one of"),
        (["compile", "k.cu", "--compiler", "gcc"], "--compiler is"),
        (["extract", "k.ptx", "--list"], "this is PTX already"),
        (["extract", "k.ptx"], "--output DIR, or --list"),
        (["disassemble", "none.cubin"], "cannot be read"),
    ],
)
def test_wrong_calls(words, message, files):
    result = run_cli(*words)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_disassemble_ptx_and_cubin(files):
    result = run_cli("disassemble", "k.ptx", "--kernel", "second", "--arch", "sm_90")
    assert result.returncode == 0
    assert "EXIT" in result.stdout
    assert run_cli("assemble", "k.ptx", "-o", "k.cubin").returncode == 0
    result = run_cli("disassemble", "k.cubin", "-o", "k.sass")
    assert (result.returncode, result.stdout) == (0, "")
    assert ".text.first" in (files / "k.sass").read_text()


def test_extract(files):
    tool = _real("nvcc").parent / "fatbinary"
    done = process.run(tool, ["-64", "--create=k.fatbin", "--image3=kind=ptx,sm=80,file=k.ptx"])
    assert done.code == 0
    result = run_cli("extract", "k.fatbin", "--list")
    assert result.returncode == 0
    assert "k.1.sm_80.ptx" in result.stdout
    result = run_cli("extract", "k.fatbin", "-o", "out/here", "--json")
    assert json.loads(result.stdout)[0]["arch"] == "sm_80"
    assert ".entry first" in (files / "out/here/k.1.sm_80.ptx").read_text()
    result = run_cli("extract", "k.fatbin", "--list", "--cubins")
    assert result.returncode == 1
    assert "'k.fatbin' holds no machine code" in result.stderr


def test_extract_where_there_is_nothing_to_extract(files):
    assert run_cli("assemble", "k.ptx", "-o", "k.cubin").returncode == 0
    result = run_cli("extract", "k.cubin", "--list")
    assert result.returncode == 1
    assert "'k.cubin' holds no PTX, but machine code (1 cubin): --cubins" in result.stderr
    result = run_cli("extract", "k.ptx", "--list")
    assert result.returncode == 2
    assert "'k.ptx': this is PTX already" in result.stderr
