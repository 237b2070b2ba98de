"""Passes are proved, and undone where they change a byte."""

import pytest

import ptxkit
from ptxkit.dsl.styles import find_style
from ptxkit.transpiler import transpile
from ptxkit.transpiler.plain import Plain
from ptxkit.transpiler.rewriting import rewrite
from ptxkit.transpiler.styles import guess_style
from ptxkit.transpiler.tree import FunctionSuite, Line, Site, Symbol, python_of
from ptxkit.transpiler.verify import run_python

TEXT = """.version 8.0
.target sm_80
.address_size 64

.visible .entry k()
{
	.reg .b32 	%r<4>;


	add.u32 	%r1, %r2, 1;
	add.u32 	%r1, %r2, 2;
	add.u32 	%r1, %r2, 3;
	add.u32 	%r1, %r2, 4;
	add.u32 	%r3, %r2, 5;
	ret;

}
.visible .entry other()
{
	.reg .b32 	%r<4>;


	add.u32 	%r1, %r2, 1;
	ret;

}
"""


class Sums:
    """Says ``4`` as ``3 + 1``; where told to, wrongly."""

    name = "sums"

    def __init__(self, wrong: int | None = None, python: str = "{} + 2") -> None:
        self.wrong = wrong
        self.python = python
        self.runs = 0

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        self.runs += 1
        body, sites = [], []
        for entry in function.body:
            if isinstance(entry, Line) and entry.call == "ptx.add.u32" and entry.node:
                index = entry.node.index
                said = python_of(entry.arguments[2])
                if index not in skip and said.isdecimal():
                    number = int(said)
                    say = self.python.format(number - 1) if number == self.wrong else None
                    shown = say or f"{number - 1} + 1"
                    made = Line(entry.kind, entry.call, entry.arguments[:2], node=entry.node)
                    made.arguments.append(shown)
                    body.append(made)
                    last = entry.node.operands[-1].index
                    sites.append(Site(index, last, index))
                    continue
            body.append(entry)
        return function.rewritten(body, sites)


def plain_file():
    module = ptxkit.parse(TEXT)
    source = module.source()
    file = Plain(module, guess_style(source), source).run()
    file.opening = transpile._opening(module, find_style("nvcc-7"), "\n")
    return module, file


def test_a_good_pass_is_kept():
    module, file = plain_file()
    one = Sums()
    assert rewrite(file, module, [one]) == []
    assert one.runs == 2  # once for each function
    python = file.text()
    assert "ptx.add.u32(r[1], r[2], 3 + 1)" in python
    assert run_python(python).ptx() == TEXT


@pytest.mark.parametrize("wrong", [1, 3, 5])
def test_a_wrong_rewrite_is_undone_where_it_is(wrong):
    module, file = plain_file()
    (*undone,) = rewrite(file, module, [Sums(wrong)])
    where = {one.function for one in undone}
    assert where == ({"k", "other"} if wrong == 1 else {"k"})
    assert all(one.site is not None and "differs at" in one.reason for one in undone)
    python = file.text()
    assert f"ptx.add.u32(r[{3 if wrong == 5 else 1}], r[2], {wrong})" in python
    assert python.count(" + 1)") == 6 - len(undone)
    assert run_python(python).ptx() == TEXT


@pytest.mark.parametrize("python", ["nothing", "{} +", "1 / 0 * {}", "object()", "ptx.nothing.b32"])
def test_a_rewrite_that_does_not_run_is_undone(python):
    module, file = plain_file()
    undone = rewrite(file, module, [Sums(3, python)])
    assert undone
    text = file.text()
    assert run_python(text).ptx() == TEXT
    if python != "{} +":  # a syntax error has no line that ran
        assert text.count(" + 1)") == 5


def test_other_passes_go_on_after_one_that_failed():
    module, file = plain_file()
    undone = rewrite(file, module, [Sums(3, "{} +"), Sums()])
    assert [(one.name, one.function, one.site) for one in undone] == [("sums", "k", None)]
    assert file.text().count(" + 1)") == 6


def test_names_are_printed():
    module, file = plain_file()

    class Renamed:
        name = "renamed"

        def __call__(self, function, skip):
            symbol = next(
                argument
                for entry in function.body
                if isinstance(entry, Line)
                for argument in entry.arguments
                if isinstance(argument, Symbol) and argument.ptx == "%r1"
            )
            name = function.scope.unused_name("total")
            first = Line("alias", "next", [f"iter([{symbol.python}])"], target=name)
            body = [function.body[0], first, *function.body[1:]]
            return function.rewritten(body, names={symbol: name})

    assert rewrite(file, module, [Renamed()]) == []
    python = file.text()
    assert "ptx.add.u32(total, r[2], 1)" in python
    assert run_python(python).ptx() == TEXT


def test_to_python_runs_the_passes(monkeypatch):
    monkeypatch.setattr(transpile, "PASSES", (Sums(),))
    module = ptxkit.parse(TEXT)
    assert "3 + 1" in ptxkit.to_python(module)
    assert "3 + 1" not in ptxkit.to_python(module, sugar=False)
