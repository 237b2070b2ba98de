"""What the Python looks like, and what can be done with it."""

import ast
import warnings

import numpy as np
import pytest

import ptxkit
from ptxkit.dsl import DslError
from ptxkit.transpiler import transpile
from ptxkit.transpiler.transpile import UnknownInstructionWarning
from ptxkit.transpiler.verify import run_python

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
TWICE = f"""{HEAD}
.visible .entry twice(
	.param .u64 twice_param_0
)
{{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<5>;


	ld.param.u64 	%rd1, [twice_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.u32 	%r2, [%rd4];
	shl.b32 	%r3, %r2, 1;
	st.global.u32 	[%rd4], %r3;
	ret;

}}
"""

EVERYTHING = f"""// a banner
{HEAD}
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
.global .align 8 .b8 text[4] = {{104, 105, 10, 0}};
.global .texref image = {{filter_mode = linear, width = 4}};
.const .f32 half = 0f3F000000, third = 0d3FD5555555555555;
.global .u64 places[2] = {{generic(text)+1, text}};

.func (.param .b32 func_retval0) pick(
	.param .b32 pick_param_0,
	.param .align 8 .b8 other[16]
)
.noreturn
{{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<6>;
	.reg .v4 .f32 	quad;


	ld.param.b32 	%r1, [pick_param_0+-4];
	setp.lt.u32 	%p1|%p2, %r1, 0x10;
	@!%p1 bra 	$L__BB0_2;
	{{ // a block
	.param .b64 param0;
	call.uni (%r2),~
	vprintf,~
	(
	param0,~
	text
	);
	}} // and its end
	mov.f32 	quad.x, 0f40490FDB;
	ld.global.v2.u32 	{{%r3, _}}, [text+(2*2)];
	mov.u32 	%r4, WARP_SZ;

$L__BB0_2:
	.pragma "nounroll";
	add.u32 	%r5, %r4, -7;
	st.param.b32 	[func_retval0], %r5;
	ret;

}}
""".replace("~", " ")  # editors take away what they do not see


def python_of(text: str) -> str:
    return ptxkit.to_python(ptxkit.parse(text), sugar=False)


def test_every_kind_of_statement(snapshot):
    assert python_of(EVERYTHING) == snapshot


def test_names_that_python_or_the_dsl_keep(snapshot):
    text = f"""{HEAD}
.global .u32 ptx, print, class, module, a$b, __x__;
.func lambda(.param .b32 def, .param .b32 reg) {{ .reg .b32 in, r, %r, $r; .reg .f32 %r1<4>;
mov.b32 in, ptx; mov.b32 r, %r; mov.f32 %r12, %r13; mov.b32 $r, nothing; ret; }}
"""
    assert python_of(text) == snapshot


@pytest.mark.parametrize("sugar", [False, True])
def test_the_kernel_runs(sugar):
    module = run_python(ptxkit.to_python(TWICE, sugar=sugar))
    x = np.arange(8, dtype=np.uint32)
    module.load("cpu")["twice"][1, 8](x)
    assert x.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_a_sugared_kernel_can_be_edited():
    """A statement more takes registers from the same ranges, and the rest goes on after them."""
    python = ptxkit.to_python(TWICE)
    line = "ptx.st.global_.u32(addr(rd4), ptx.ld.global_.u32.at(rd4) << 1)"
    assert line in python
    edited = python.replace(line, line.replace("<< 1", "* 3 + 1")).replace("<4>", "<9>")
    x = np.arange(8, dtype=np.uint32)
    run_python(edited).load("cpu")["twice"][1, 8](x)
    assert x.tolist() == [3 * value + 1 for value in range(8)]


def test_the_kernel_can_be_edited():
    python = python_of(TWICE)
    edited = python.replace(
        "ptx.shl.b32(r[3], r[2], 1)",
        "three = reg.u32()\n    ptx.mul.lo.u32(three, r[2], 3)\n    ptx.add.u32(r[3], three, 1)",
    )
    module = run_python(edited)
    assert "mul.lo.u32 \t%r_1, %r2, 3;" in module.ptx()
    x = np.arange(4, dtype=np.uint32)
    ptxkit.load(module.parse())["twice"][1, 4](x)
    assert x.tolist() == [1, 4, 7, 10]


def test_edits_are_checked():
    edited = python_of(TWICE).replace("ptx.shl.b32(r[3], r[2], 1)", "ptx.shl.b32(r[3], rd[2], 1)")
    with pytest.raises(DslError, match=r"is a \.b64 register where \.b32 is needed"):
        run_python(edited).ptx()


def test_an_unknown_instruction_is_told_once():
    text = f"{HEAD}.func f() {{ .reg .b32 a; new.op.b32 a, 1; new.op.b32 a, 2; newer a; }}\n"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        python = python_of(text)
    (one,) = [w for w in said if issubclass(w.category, UnknownInstructionWarning)]
    assert str(one.message).endswith("passed on unchecked: new.op.b32, newer")
    assert python.splitlines()[0] == (
        "# Not in the instruction table, passed on unchecked: new.op.b32, newer"
    )
    assert python.count('ptx.unchecked("new.op.b32")(a, ') == 2


def test_what_the_table_is_against_goes_unchecked():
    text = f"{HEAD}.func f() {{ .reg .b32 a; add.f32 a, a, %clock; wgmma.fence.sync.aligned; }}\n"
    python = python_of(text)
    assert 'ptx.unchecked("add.f32")(a, a, sreg.clock)' in python
    assert 'ptx.unchecked("wgmma.fence.sync.aligned")()' in python


def test_imports_are_those_in_use():
    tree = ast.parse(python_of(TWICE))
    (imported,) = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {alias.name for alias in imported.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert names - used == set()


def test_a_syntax_error_is_the_parsers():
    with pytest.raises(ptxkit.PtxSyntaxError, match=r"k\.ptx:1:23: error"):
        ptxkit.to_python(ptxkit.parse(".func f() { add.f32 a b; }", filename="k.ptx"))


def varied(count: int) -> str:
    """Instructions of all kinds, with branches and loops between them."""
    lines = []
    for i in range(count // 8):
        lines += [
            f"\tld.global.u32 \t%r{1 + i % 80}, [%rd{1 + i % 5}+{4 * (i * i % 97)}];\n",
            f"\tmul.lo.s32 \t%r{2 + i % 79}, %r{1 + i % 80}, %r{1 + i * 7 % 83};\n",
            f"\tadd.s32 \t%r{3 + i % 78}, %r{2 + i % 79}, {i * i % 1009};\n",
            f"\tsetp.lt.u32 \t%p{1 + i % 3}, %r{3 + i % 78}, {i % 31};\n",
            f"\t@%p{1 + i % 3} bra \tplace_{i};\n",
            f"\txor.b32  \t%r{4 + i % 77}, %r{3 + i % 78}, %r{1 + i * 5 % 83};\n",
            f"\tst.global.u32 \t[%rd{1 + i % 5}], %r{4 + i % 77};\n",
            f"place_{i}:\n" if i % 3 else f"\tbar.sync \t0;\nplace_{i}:\n",
        ]
    return "".join(lines)


@pytest.mark.parametrize("sugar", [False, True])
def test_time_is_linear(sugar):
    """The time grows as the file does."""
    import time

    def seconds(count: int) -> float:
        lines = varied(count)
        registers = "\t.reg .pred \t%p<9>;\n\t.reg .b32 \t%r<99>;\n\t.reg .b64 \t%rd<9>;\n"
        text = f"{HEAD}.func f()\n{{\n{registers}{lines}\tret;\n\n}}\n"
        module = ptxkit.parse(text)
        best = 1e9
        for _ in range(2):
            begin = time.process_time()
            ptxkit.to_python(module, sugar=sugar)
            best = min(best, time.process_time() - begin)
        return best

    seconds(100)
    # Four times the work; quadratic would be sixteen times.
    assert seconds(4000) < 9 * seconds(1000)


def test_the_source_is_not_looked_at_again(monkeypatch):
    """Running the Python needs neither the parser nor the source."""
    python = python_of(TWICE)
    monkeypatch.setattr(ptxkit.syntax.module._native, "parse", None)
    assert run_python(python).ptx() == TWICE
    assert transpile  # the module under test stays imported
