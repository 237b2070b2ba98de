"""`ptxkit stats` and `Statistics` count what is there."""

import json

import pytest

import ptxkit as toolkit
from ptxkit.isa.families import UNKNOWN, by_family, family_of
from ptxkit.isa.registry import FAMILIES, table
from ptxkit.syntax.statistics import Statistics

from .conftest import NOT_PTX, SAXPY, needs_permissions

SPACES = """\
.version 8.0
.target sm_90
.global .align 16 .v4 .f32 a[2][3];
.global .b8 text[] = {1, 2, 3};
.global .s16 pairs[][2] = {{1, 2}, {3, 4}, {5, 6}};
.extern .shared .align 16 .b8 dynamic[];
.const .f64 c, d;
.global .texref picture;
.extern .func g(.param .b32 x);
.func (.param .b32 r) f(.param .b64 p, .param .align 4 .b8 q[12])
{
    .reg .v4 .f32 v;
    .reg .pred p1, p2;
    .reg .f16x2 h<3>;
    .local .align 4 .b32 stack[8];
    {
        .param .b32 x;
        .shared::cta .b64 s;
        ret;
    }
}
"""


def test_numbers_of_a_kernel():
    found = Statistics.of(toolkit.parse(SAXPY, filename="k.ptx"))
    assert (found.version, found.target, found.kernels, found.lines) == ("8.0", "sm_80", 1, 41)
    assert found.bytes == len(SAXPY)
    assert found.instructions == 17
    assert found.opcodes["ld.global.f32"] == 2
    assert found.registers == {"pred": 2, "f32": 5, "b32": 6, "b64": 8}
    (kernel,) = found.functions
    assert (kernel.name, kernel.is_entry, kernel.line) == ("saxpy", True, 9)
    assert (kernel.parameters, kernel.parameter_bytes) == (4, 24)
    assert (kernel.blocks, kernel.loops, kernel.shared_bytes) == (4, 1, 128)


def test_numbers_of_every_space():
    found = Statistics.of(toolkit.parse(SPACES))
    assert {name: (s.variables, s.bytes) for name, s in found.spaces.items()} == {
        "const": (2, 16),
        "global": (4, 96 + 3 + 12),
        "local": (1, 32),
        "param": (1, 4),
        "shared": (1, 0),
        "shared::cta": (1, 8),
    }
    assert found.registers == {"v4.f32": 1, "pred": 2, "f16x2": 3}
    assert (found.kernels, len(found.functions), found.prototypes) == (0, 1, 1)
    assert found.functions[0].parameter_bytes == 20
    assert found.functions[0].shared_bytes == 8


def test_an_empty_module_is_all_zeros():
    found = Statistics.of(toolkit.parse(""))
    assert (found.lines, found.bytes, found.instructions, found.version) == (0, 0, 0, None)
    assert Statistics.of(toolkit.parse("// one\n// two")).lines == 2
    assert Statistics.total([]).instructions == 0


def test_totals_are_sums():
    one = Statistics.of(toolkit.parse(SAXPY))
    other = Statistics.of(toolkit.parse(SPACES))
    total = Statistics.total([one, other, one])
    assert (total.name, total.version, total.target) == ("3 files", "8.0", None)
    assert total.lines == 2 * one.lines + other.lines
    assert total.opcodes["ret"] == 3
    assert total.registers["pred"] == 6
    assert total.spaces["shared"].bytes == 256
    assert one.spaces["shared"].bytes == 128  # and the parts are as they were


@pytest.mark.parametrize(
    ("opcode", "family"),
    [
        ("add.s32", "Integer arithmetic"),
        ("add.rn.ftz.f32", "Floating point"),
        ("add.f16x2", "Half precision and bfloat16"),
        ("ld.global.f32", "Loads, stores and addresses"),
        ("bra.uni", "Control flow"),
        ("add.nonsense", "Integer arithmetic"),
        ("lds.f32", UNKNOWN),
    ],
)
def test_the_family_of_an_opcode(opcode, family):
    assert family_of(opcode) == family


def test_every_instruction_has_a_family():
    titles = set(FAMILIES.values())
    assert {family_of(root) for root in table()} <= titles
    counts = by_family(dict.fromkeys(table(), 2))
    assert sum(counts.values()) == 2 * len(table())
    assert list(counts) == [title for title in FAMILIES.values() if title in counts]


def test_tables(ptxkit, folder, snapshot):
    (folder / "k.ptx").write_text(SAXPY)
    result = ptxkit("stats", "k.ptx")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == snapshot


def test_tables_of_several_files(ptxkit, folder, snapshot):
    (folder / "k.ptx").write_text(SAXPY)
    (folder / "spaces.ptx").write_text(SPACES)
    result = ptxkit("stats", ".", "--by", "opcode", "--top", "3")
    assert result.stdout == snapshot
    result = ptxkit("stats", ".", "--by", "function")
    assert result.stdout == snapshot


def test_the_names_of_kernels_are_complete(ptxkit, folder):
    name = "_Z" + "long" * 60
    (folder / "k.ptx").write_text(SAXPY.replace("saxpy", name))
    assert name in ptxkit("stats", "k.ptx").stdout


def test_json_has_all_numbers(ptxkit, folder):
    (folder / "k.ptx").write_text(SAXPY)
    (folder / "spaces.ptx").write_text(SPACES)
    data = json.loads(ptxkit("stats", "--json", ".").stdout)
    assert [one["name"] for one in data["files"]] == ["k.ptx", "spaces.ptx"]
    kernel = data["files"][0]["by_function"][0]
    assert (kernel["name"], kernel["instructions"], kernel["loops"]) == ("saxpy", 17, 1)
    assert data["total"]["instructions"] == 18
    assert data["total"]["families"]["Control flow"] == 4
    assert data["total"]["spaces"]["const"] == {"variables": 2, "bytes": 16}
    for option in (["--top", "3"], ["--by", "opcode"]):
        result = ptxkit("stats", "--json", ".", *option)
        assert (result.exit_code, result.stdout) == (2, "")


def test_bad_inputs_do_not_stop_the_others(ptxkit, folder):
    (folder / "bad.ptx").write_text(NOT_PTX)
    (folder / "good.ptx").write_text(SAXPY)
    (folder / "empty.ptx").write_bytes(b"")
    (folder / "host.o").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(57))
    result = ptxkit("stats", "missing.ptx", "bad.ptx", "host.o", "good.ptx", "empty.ptx")
    assert result.exit_code == 2
    assert "bad.ptx:3:17: error[missing-semicolon]" in result.stderr
    assert result.stderr.count("ptxkit: error: ") == 2
    assert result.stdout.startswith("2 files: 41 lines, 1 kernel, 0 other functions, 17 instr")
    result = ptxkit("stats", "bad.ptx")
    assert (result.exit_code, result.stdout) == (2, "")


def test_raw_bytes_and_standard_input(ptxkit, folder):
    result = ptxkit("stats", "-", input=SAXPY.encode().replace(b"NVIDIA", b"\xff"))
    assert (result.exit_code, result.stdout.split(":")[0]) == (0, "<stdin>")


@needs_permissions
def test_no_permission(ptxkit, folder):
    (folder / "deep").mkdir()
    (folder / "deep").chmod(0)
    result = ptxkit("stats", ".")
    assert result.exit_code == 2
    assert "deep' cannot be read: Permission denied" in result.stderr


def test_usage_errors(ptxkit, folder):
    (folder / "k.ptx").write_text(SAXPY)
    assert ptxkit("stats").exit_code == 2
    assert ptxkit("stats", "k.ptx", "--by", "colour").exit_code == 2
    assert ptxkit("stats", "k.ptx", "--top", "0").exit_code == 2
