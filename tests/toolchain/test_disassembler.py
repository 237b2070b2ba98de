"""SASS as text and as data, with the lines it comes from."""

import pytest

from ptxkit.errors import ToolchainError, UsageError
from ptxkit.toolchain import assemble, compile_cuda, disassemble, sass
from toolchain.sources import HUNGRY, PTX, SAXPY


def test_one_kernel_of_several():
    cubin = assemble(PTX)
    whole = disassemble(cubin)
    assert ".text.first" in whole
    assert ".text.second" in whole
    only = disassemble(cubin, "second")
    assert ".text.second" in only
    assert ".text.first" not in only
    assert list(sass(cubin, "second")) == ["second"]


def test_a_kernel_that_is_not_there_lists_those_that_are():
    with pytest.raises(UsageError, match=r"no kernel is called 'third'; there are: .*first"):
        disassemble(assemble(PTX), "third")


def test_instructions_are_data():
    found = sass(assemble(compile_cuda(SAXPY)))["saxpy"]
    assert [one.address for one in found] == list(range(0, 16 * len(found), 16))
    opcodes = [one.opcode for one in found]
    assert "FFMA" in opcodes
    assert "EXIT" in opcodes
    assert any(one.guard for one in found)
    loads = [one for one in found if one.opcode.startswith("LDG")]
    assert len(loads) == 2
    assert len(loads[0].operands) == 2
    assert loads[0].text == f"{loads[0].opcode} {', '.join(loads[0].operands)}"
    assert {one.line for one in found} == {one.ptx_line for one in found} == {None}
    assert any(one.labels for one in found)


def test_every_instruction_of_a_large_kernel_is_read():
    cubin = assemble(compile_cuda(HUNGRY), opt_level=1)
    found = sass(cubin)
    assert {name: 16 * len(rows) for name, rows in found.items()} == {
        name: needs.code for name, needs in cubin.resources.items()
    }


def test_lines_of_cuda_and_ptx_come_along():
    module = compile_cuda(SAXPY, line_info=True, name="saxpy.cu")
    found = sass(assemble(module, line_info=True))["saxpy"]
    multiply = next(one for one in found if one.opcode == "FFMA")
    assert multiply.file.endswith("saxpy.cu")
    assert multiply.line == 5
    at = {i.line: i for i in module["saxpy"].instructions}
    assert at[multiply.ptx_line].name == "fma"
    store = next(one for one in found if one.opcode.startswith("STG"))
    assert at[store.ptx_line].opcode.startswith("st.global")


def test_encoding_and_registers_on_request():
    cubin = assemble(PTX)
    assert "/* 0x" in disassemble(cubin, encoding=True)
    assert "/* 0x" not in disassemble(cubin)
    assert "// |" in disassemble(cubin, live_registers=True)


def test_a_file_is_as_good_as_a_cubin(tmp_path):
    cubin = assemble(PTX)
    (tmp_path / "k.cubin").write_bytes(cubin.data)
    assert disassemble(tmp_path / "k.cubin") == disassemble(cubin.data) == disassemble(cubin)


@pytest.mark.parametrize("data", [b"", b"text", b"\x7fELF"])
def test_what_is_no_cubin_is_refused(data):
    with pytest.raises(ToolchainError):
        disassemble(data)
    with pytest.raises(ToolchainError):
        disassemble(assemble(PTX).data[:2000])


def test_what_can_not_be_read_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        disassemble(tmp_path / "none.cubin")
    with pytest.raises(UsageError, match="needs a Cubin"):
        disassemble(7)
