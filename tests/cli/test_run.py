"""`ptxkit run`: arguments as text, what it prints, and what it says of mistakes."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from .conftest import SAXPY

RACE = """\
.version 8.0
.target sm_80
.address_size 64
.file 1 "race.cu"
.global .u32 total = 5;
.const .f32 table[2] = {0f3F800000, 0f40000000};
.visible .entry race(.param .u64 x)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b32 tile[64];
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.u32 %r3, %r3, %r2;
    .loc 1 3 5
    st.shared.u32 [%r3], %r1;
    xor.b32 %r4, %r2, 252;
    mov.u32 %r5, tile;
    add.u32 %r5, %r5, %r4;
    .loc 1 4 5
    ld.shared.u32 %r4, [%r5];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    red.global.add.u32 [total], 1;
    ret;
}
.visible .entry forever()
{
LOOP:
    bra LOOP;
}
"""

ARGUMENTS = ("--arg", "2.0", "--arg", "f32[64]=arange", "--arg", "f32[64]=ones", "--arg", "64")


@pytest.fixture
def saxpy(ptxkit, folder):
    (folder / "k.ptx").write_text(SAXPY)
    return lambda *arguments: ptxkit("run", "k.ptx", *arguments)


@pytest.fixture
def race(ptxkit, folder):
    (folder / "race.ptx").write_text(RACE)
    return lambda *arguments: ptxkit("run", "race.ptx", *arguments)


def test_arrays_are_printed(saxpy, snapshot):
    result = saxpy(*ARGUMENTS)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == snapshot


def test_arrays_are_saved_and_read(saxpy, folder):
    np.save(folder / "x.npy", np.arange(64, dtype=np.float32))
    result = saxpy(
        "--arg", "2.0", "--arg", "@x.npy", "--arg", "f32[64]=ones", "--arg", "0x40",
        "--save", "out",
    )  # fmt: skip
    assert result.exit_code == 0
    saved = np.load(folder / "out" / "saxpy_param_2.npy")
    np.testing.assert_array_equal(saved, 2 * np.arange(64, dtype=np.float32) + 1)
    assert saved.dtype == np.float32


def test_random_arrays_depend_on_the_seed_alone(saxpy):
    arguments = ("--arg", "2", "--arg", "f32[64]=randn", "--arg", "f32[64]=rand", "--arg", "64")
    first, again, other = (saxpy(*arguments, "--seed", seed).stdout for seed in (1, 1, 2))
    assert first == again != other


def test_negative_numbers_are_arguments(saxpy):
    result = saxpy("--arg", "-2.5", "--arg", "f32[2]=1", "--arg", "f32[2]=-3", "--arg", "2")
    assert "[-5.5 -5.5]" in result.stdout


def test_standard_input(ptxkit):
    result = ptxkit("run", "-", *ARGUMENTS, input=SAXPY)
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--kernel", "saxpi", *ARGUMENTS),
        (),
        ("--arg", "5x"),
        ("--arg", "f31[4]"),
        ("--arg", "f32[64"),
        ("--arg", "f32[4]=red"),
        ("--arg", "u8[4]=300"),
        ("--arg", "f32[99999999999]"),
        ("--arg", "@nofile.npy"),
        ("--arg", "@k.ptx"),
        (*ARGUMENTS[:-1], "1.5"),
        (*ARGUMENTS[:-1], "f32[4]"),
        (*ARGUMENTS[:-1], str(1 << 40)),
        (*ARGUMENTS, "--grid", "0"),
        (*ARGUMENTS, "--grid", "four"),
        (*ARGUMENTS, "--block", "2000"),
        (*ARGUMENTS, "--block", "1,2,3,4"),
        (*ARGUMENTS, "--shared", "-1"),
        (*ARGUMENTS, "--shared", str(1 << 31)),
        (*ARGUMENTS, "--device", "tpu"),
        (*ARGUMENTS, "--device", "cuda", "--profile", "--sanitize"),
        (*ARGUMENTS, "--trace", "32"),
        (*ARGUMENTS, "--trace", "first"),
        (*ARGUMENTS, "--variable", "n=3"),
        (*ARGUMENTS[:-1], "65"),
    ],
    ids=lambda arguments: " ".join(arguments[-2:]) or "nothing",
)
def test_mistakes(saxpy, snapshot, arguments):
    result = saxpy(*arguments)
    assert result.exit_code == 2
    assert re.sub("0x[0-9a-f]{8,}", "0xADDRESS", result.stderr) == snapshot


def test_files_that_are_no_ptx(ptxkit, folder, snapshot):
    (folder / "empty.ptx").write_text("")
    (folder / "k.o").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(60))
    (folder / "device.ptx").write_text(".version 8.0\n.target sm_80\n.func f() { ret; }\n")
    (folder / "k.cu").write_text("// Doubles.\n__global__ void k(float *x) { *x *= 2; }\n")
    shown = []
    for name in ("empty.ptx", "k.o", "device.ptx", "nofile.ptx", "k.cu"):
        result = ptxkit("run", name)
        assert result.exit_code == 2
        shown.append(result.stderr)
    assert shown == snapshot


HALVES = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z5twicePtt(.param .u64 x, .param .b16 by)
{
    .reg .b64 %rd<2>; .reg .b16 %h<4>; .reg .b32 %r<2>; .reg .b64 %at;
    ld.param.u64 %rd1, [x];
    ld.param.b16 %h1, [by];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %at, %r1, 2, %rd1;
    ld.global.b16 %h2, [%at];
    mov.b16 %h3, 0x8000;
    fma.rn.bf16 %h3, %h1, %h2, %h3;
    st.global.b16 [%at], %h3;
    ret;
}
"""


def test_bf16_arguments(ptxkit, folder):
    (folder / "halves.ptx").write_text(HALVES)
    arguments = ("--kernel", "twice", "--block", "4", "--arg", "bf16[4]=arange")
    result = ptxkit("run", "halves.ptx", *arguments, "--arg", "bf16=1.5", "--save", "out")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "x: [0.  1.5 3.  4.5]\n"
    bits = np.load(folder / "out" / "x.npy").astype(np.uint32) << 16
    assert bits.view(np.float32).tolist() == [0, 1.5, 3, 4.5]


def test_a_stack_that_is_too_small(ptxkit, folder):
    (folder / "deep.ptx").write_text(
        ".version 8.0\n.target sm_80\n.func f()\n{\ncall f;\nret;\n}\n.entry k() { call f; ret; }\n"
    )
    result = ptxkit("run", "deep.ptx", "--stack-bytes", "320")
    assert result.exit_code == 2
    assert "deep.ptx:5:1: error[stack-overflow]: stack overflow: the call of 'f' at depth 2" in (
        result.stderr
    )


def test_an_output_that_cannot_be_written(saxpy, folder):
    (folder / "out").write_text("a file")
    result = saxpy(*ARGUMENTS, "--save", "out")
    assert result.exit_code == 2
    assert result.stderr == "ptxkit: error: 'out' cannot be made: File exists\n"


def test_more_memory_than_there_is(saxpy, monkeypatch):
    def full(*arguments):
        raise MemoryError

    monkeypatch.setattr(np, "ones", full)
    result = saxpy("--arg", "f32[4096]=ones")
    assert result.exit_code == 2
    assert "the array 'f32[4096]=ones' needs more memory than there is" in result.stderr


def test_several_kernels_must_be_chosen_from(race):
    result = race()
    assert result.exit_code == 2
    assert "choose a kernel with --kernel; there are: race, forever" in result.stderr


def test_sanitize(race, snapshot):
    arguments = ("--kernel", "race", "--block", "64", "--arg", "u32[64]", "--sanitize")
    result = race(*arguments)
    assert result.exit_code == 1
    assert result.stderr == snapshot


def test_profile(saxpy, snapshot):
    result = saxpy(*ARGUMENTS, "--profile")
    assert result.exit_code == 0
    assert result.stdout == snapshot


def test_trace(saxpy, snapshot):
    result = saxpy(*ARGUMENTS, "--trace", "3,0,0", "--trace-limit", "12")
    assert result.exit_code == 0
    assert re.sub("0x[0-9a-f]{8,}", "0xADDRESS", result.stdout) == snapshot


def test_the_trace_of_a_fault_is_printed(saxpy):
    result = saxpy(*ARGUMENTS[:-1], "65", "--trace", "0")
    assert result.exit_code == 2
    assert result.stdout.splitlines()[-1].split()[1:3] == ["ld.global.f32", "%f2,"]
    assert "error[out-of-bounds]" in result.stderr


def test_variables(race):
    arguments = ("--kernel", "race", "--block", "64", "--arg", "u32[64]")
    assert "total: 69" in race(*arguments, "--variable", "total").stdout
    assert "total: 164" in race(*arguments, "--variable", "total=100").stdout
    assert "table: [1. 2.]" in race(*arguments, "--variable", "table").stdout
    result = race(*arguments, "--variable", "table=f32[3]=ones")
    assert "the variable 'table' has 8 bytes, its value 12" in result.stderr
    result = race(*arguments, "--variable", "tabel")
    assert "no variable is called 'tabel'; there are: total, table" in result.stderr


def test_limits(race):
    result = race("--kernel", "forever", "--step-limit", "100000")
    assert result.exit_code == 2
    assert "error[step-limit]" in result.stderr
    assert "(--step-limit)" in result.stderr
    begin = time.monotonic()
    result = race("--kernel", "forever", "--time-limit", "0.3")
    assert result.exit_code == 2
    assert "race.ptx:33:5: error[time-limit]" in result.stderr
    assert "(--time-limit)" in result.stderr
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("mode", [(), ("--sanitize",), ("--profile",), ("--trace", "0")])
def test_interrupts(folder, mode):
    (folder / "race.ptx").write_text(RACE)
    # A test that runs in the background of a shell inherits a SIGINT that is ignored.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from ptxkit.cli import main; print(flush=True); main()"
    )
    command = [sys.executable, "-c", code, "run", "race.ptx", "--kernel", "forever", *mode]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        process.stdout.readline()
        time.sleep(1.5)  # past the imports, into the loop
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert errors == "ptxkit: note: interrupted\n"
    assert time.monotonic() - begin < 3


def test_findings_are_plain_data(race, folder):
    import ptxkit as toolkit

    module = toolkit.load(RACE)
    report = module["race"][1, 64](np.zeros(64, np.uint32), sanitize="report")
    data = json.loads(json.dumps([one.as_dict() for one in report.findings]))
    assert {row["kind"] for row in data} == {"race"}
    assert {row["location"][1] for row in data} == {3, 4}


SHAPES = """\
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 4 .b8 buffer[];
.const .align 16 .b8 coef[16];
.global .u32 counter = 1;
.global .b32 bits;
.visible .entry _Z3dynPi(.param .u64 _Z3dynPi_param_0)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [_Z3dynPi_param_0];
    mov.u32 %r1, 7;
    st.shared.u32 [buffer], %r1;
    mov.u32 %r2, %cluster_nctaid.x;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry pair(.param .align 4 .b8 pair_param_0[8], .param .u64 pair_param_1)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u32 %r1, [pair_param_0+4];
    ld.param.u64 %rd1, [pair_param_1];
    st.global.u32 [%rd1], %r1;
    ret;
}
"""
DYNAMIC = ("--kernel", "dyn", "--block", "1", "--arg", "u32[1]")


@pytest.fixture
def shapes(ptxkit, folder):
    (folder / "shapes.ptx").write_text(SHAPES)
    return lambda *arguments: ptxkit("run", "shapes.ptx", *arguments)


def test_clusters_and_short_names(shapes):
    arguments = (*DYNAMIC, "--shared", "4", "--grid", "2")
    assert shapes(*arguments).stdout == "in dyn(int*):\nparam 0: [1]\n"
    assert shapes(*arguments, "--cluster", "2,1").stdout == "in dyn(int*):\nparam 0: [2]\n"
    assert shapes(*arguments, "--cooperative").exit_code == 0
    assert "cluster" in shapes(*arguments, "--cluster", "3").stderr


def test_dynamic_shared_memory_that_was_left_out(shapes):
    result = shapes(*DYNAMIC)
    assert result.exit_code == 2
    assert "shared memory has 0 bytes" in result.stderr
    assert "k[grid, block, shared_bytes] (--shared BYTES)" in result.stderr


def test_a_struct_by_value(shapes, folder):
    kind = np.dtype([("x", np.float32), ("n", np.int32)])
    np.save(folder / "p.npy", np.array((1.5, 42), kind))
    arguments = ("--kernel", "pair", "--block", "1", "--arg")
    result = shapes(*arguments, "@p.npy", "--arg", "s32[1]")
    assert result.stdout == "pair_param_1: [42]\n"
    result = shapes(*arguments, "7", "--arg", "s32[1]")
    assert "a struct of 8 bytes" in result.stderr and "--arg @p.npy" in result.stderr


@pytest.mark.parametrize(
    ("variable", "shown"),
    [
        ("coef=f32[4]=ones", "coef: [1. 1. 1. 1.]"),
        ("coef=bf16[2,4]=1.5", "coef: [[1.5 1.5 1.5 1.5]\n [1.5 1.5 1.5 1.5]]"),
        ("counter=-1", "counter: 4294967295"),
        ("bits=1.0", "bits: 1065353216"),
    ],
)
def test_variables_are_shown_as_they_were_given(shapes, variable, shown):
    result = shapes(*DYNAMIC, "--shared", "4", "--variable", variable)
    assert result.exit_code == 0
    assert shown in result.stdout


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("coef=2.0", "'coef' is an array of 16 bytes, its value one number; write an array"),
        ("counter=2.5", "the variable 'counter' is .u32; a float cannot be passed there"),
        ("counter=0x100000000", "the variable 'counter' is .u32; 4294967296 does not fit"),
        ("counter=", "'--variable counter=' has no value; write counter=7, or only counter"),
        ("counter=null", "a NoneType cannot be passed there"),
    ],
)
def test_values_that_variables_cannot_have(shapes, variable, message):
    result = shapes(*DYNAMIC, "--shared", "4", "--variable", variable)
    assert result.exit_code == 2
    assert message in result.stderr
