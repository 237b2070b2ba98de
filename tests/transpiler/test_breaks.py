"""A break in the writer or the transpiler is caught: one is planted in each part."""

import pytest

import ptxkit
from helpers import run_cli
from ptxkit import cli
from ptxkit.dsl import operands as dsl_operands
from ptxkit.dsl.statements import Statement
from ptxkit.dsl.styles import Style
from ptxkit.transpiler import plain, verify
from ptxkit.transpiler.layout import Layout
from ptxkit.transpiler.operands import OperandReader
from ptxkit.transpiler.tree import Line
from ptxkit.transpiler.verify import TranspileError

TEXT = """.version 8.0
.target sm_80
.address_size 64

.visible .entry k(
	.param .u64 k_param_0
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<2>;


	ld.param.u64 	%rd1, [k_param_0];
	ld.global.v2.u32 	{%r1, %r2}, [%rd1+8];
	setp.lt.u32 	%p1, %r1, 4; // a note
	@!%p1 bra 	$L__BB0_2;
	// a comment
	st.global.u32 	[%rd1], %r2;

$L__BB0_2:
	ret ;



}
"""


def python_of() -> str:
    return ptxkit.to_python(ptxkit.parse(TEXT), sugar=False)


def swap_vectors(self, node, text):
    argument, spelled = VECTOR(self, node, text)
    argument.parts.reverse()
    return argument, spelled


VECTOR = OperandReader._vector
ADDRESS = dsl_operands.addr
INSTRUCTION = Style.instruction


def forget_offsets(base, offset=None, *parts, suffix=""):
    return ADDRESS(base, None, *parts, suffix=suffix)


def unguarded(line):
    """A line without what is said by keyword."""
    made = Line(line.kind, line.call, line.arguments, target=line.target)
    made.suffixes = line.suffixes
    return made


TEXT_OF = Line.text


def uninverted(self, argument):
    return argument


BREAKS = {
    "an operator too many": lambda patch: patch.setattr(
        Style, "instruction", lambda *given: INSTRUCTION(*given) + " "
    ),
    "notes are lost": lambda patch: patch.setattr(Statement, "note", lambda self, *given: self),
    "spacing is lost": lambda patch: patch.setattr(Layout, "_departure", lambda *given: None),
    "vectors are reversed": lambda patch: patch.setitem(
        plain.OperandReader.read.__globals__["_READERS"], "Vector", swap_vectors
    ),
    "guards are never inverted": lambda patch: patch.setattr(OperandReader, "inverted", uninverted),
    "keywords are lost": lambda patch: patch.setattr(
        Line, "text", lambda self, names=None: TEXT_OF(unguarded(self))
    ),
    "labels are lost": lambda patch: patch.setitem(
        plain._BODY, "Label", lambda self, node: self.layout.begin("label", node.span[0], None)
    ),
}


def test_without_a_break_it_comes_back():
    assert verify.run_python(python_of()).ptx() == TEXT


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_is_caught(name, monkeypatch):
    BREAKS[name](monkeypatch)
    with pytest.raises((TranspileError, AssertionError, ptxkit.PtxkitError, SyntaxError)):
        python_of()


def test_a_break_in_running_is_caught(monkeypatch):
    import ptxkit.dsl

    monkeypatch.setattr(ptxkit.dsl, "addr", forget_offsets)
    with pytest.raises(TranspileError, match=r"line 15: .* came back as .*\[%rd1\];"):
        python_of()


def test_roundtrip_tells_what_does_not_come_back(tmp_path, monkeypatch, capsys):
    import ptxkit.dsl

    file = tmp_path / "k.ptx"
    file.write_text(TEXT)
    monkeypatch.setattr(ptxkit.dsl, "addr", forget_offsets)
    monkeypatch.setattr("sys.argv", ["ptxkit", "roundtrip", str(file)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 1
    said = capsys.readouterr().out
    assert "line 15" in said
    assert "0 of 1 file came back byte for byte" in said


def test_roundtrip_of_good_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.ptx").write_text(TEXT)
    result = run_cli("roundtrip", "--plain", str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert "2 of 2 files came back byte for byte" in result.stdout
    assert "same" in result.stdout


def test_roundtrip_of_what_is_no_ptx(tmp_path):
    (tmp_path / "a.ptx").write_text(TEXT)
    (tmp_path / "b.ptx").write_text("nonsense")
    result = run_cli("roundtrip", str(tmp_path))
    assert result.returncode == 2
    assert "b.ptx:1:1: error" in result.stderr
    assert "1 of 2 files came back" in result.stdout


def test_to_python_writes_a_file(tmp_path):
    (tmp_path / "k.ptx").write_text(TEXT)
    target = tmp_path / "k.py"
    result = run_cli("to-python", "--plain", str(tmp_path / "k.ptx"), "-o", str(target))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert verify.run_python(target.read_text()).ptx() == TEXT
    printed = run_cli("to-python", "--plain", str(tmp_path / "k.ptx"))
    assert printed.stdout == target.read_text()


def test_to_python_warns_of_unknown_instructions(tmp_path):
    (tmp_path / "k.ptx").write_text(TEXT.replace("\tret ;", "\tnew.op \t%r1;"))
    result = run_cli("to-python", str(tmp_path / "k.ptx"))
    assert result.returncode == 0
    assert result.stderr.startswith("ptxkit: warning: ")
    assert "passed on unchecked: new.op" in result.stderr
    assert 'ptx.unchecked("new.op")(r1)' in result.stdout


def test_nested_branches_take_time_in_proportion():
    """So many ifs inside each other: four times as many may not take sixteen times as long."""
    import time

    def nested(count):
        ifs = "".join(f"\t@%p1 bra $L{at};\n\tmov.u32 %r1, {at};\n" for at in range(count))
        ends = "".join(f"$L{at}:\n" for at in reversed(range(count)))
        return (
            ".version 8.0\n.target sm_80\n.address_size 64\n\n.visible .entry k()\n{\n"
            f"\t.reg .pred %p<2>;\n\t.reg .b32 %r<2>;\n\n{ifs}{ends}\tret;\n}}\n"
        )

    def seconds(count):
        text = nested(count)
        begin = time.process_time()
        source = ptxkit.to_python(text)
        taken = time.process_time() - begin
        compile(source, "nested", "exec")
        return taken

    seconds(20)  # tables are made once
    short = min(seconds(400) for _ in range(3))
    assert seconds(1600) < 8 * short
