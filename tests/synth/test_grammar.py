"""The Warp grammar: a function of its place, diverse, of the categories it says, and tame."""

import ast
import math

import numpy as np
import pytest

from ptxkit.synth import Settings, Stream, find
from ptxkit.synth.schema import shape_hash, split_of
from ptxkit.synth.warp import launching, tree
from ptxkit.synth.warp.evaluator import OracleError, evaluate
from ptxkit.synth.warp.grammar import CATEGORIES, generate
from ptxkit.synth.warp.printer import shape, source
from ptxkit.synth.warp.types import DOUBLE, HALF, INT, REAL

NAMED = (
    "arithmetic vector matrix control_flow math atomic nested_loop multi_conditional combined "
    "scalar_param"
).split()


class _Anonymous(ast.NodeTransformer):
    """Python's own tree without names and constants: the measure from outside."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("_", node.ctx) if node.id != "wp" else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(0)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        self.generic_visit(node)
        node.arg = "_"
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name = "_"
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.name = "_"
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        keep = isinstance(node.value, ast.Name) and node.value.id == "wp"
        self.generic_visit(node)
        if not keep and node.attr != "shape":
            node.attr = "_"
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return ast.Constant(0)
        self.generic_visit(node)
        return node


def _outside_shape(text: str) -> str:
    return ast.dump(_Anonymous().visit(ast.parse(text)))


def test_the_ten_categories_come_first() -> None:
    assert list(CATEGORIES[:10]) == NAMED
    assert len(CATEGORIES) >= 20


def test_a_sample_is_a_function_of_its_place() -> None:
    late = [generate(5, index) for index in range(60, 40, -1)]
    assert late == [generate(5, index) for index in range(60, 40, -1)]
    assert generate(5, 41) != generate(6, 41)
    only = find("warp").sample(5, 3, Settings(categories=("math",)))
    assert only.category == "math"


def test_shapes_are_distinct_by_our_measure_and_by_python() -> None:
    programs = [generate(11, index) for index in range(1500)]
    ours = [shape(program) for program in programs]
    outside = [_outside_shape(source(program)) for program in programs]
    assert len(set(outside)) / len(programs) > 0.95
    # What Python's tree takes for one shape, we never split in two: no leak between splits.
    first: dict[str, str] = {}
    for own, other in zip(ours, outside, strict=True):
        assert first.setdefault(other, own) == own
    assert len(set(ours)) > 0.95 * len(programs)


def test_splits_follow_the_shape() -> None:
    hashes = [shape_hash(shape(generate(2, index))) for index in range(2000)]
    shares = [[split_of(h) for h in hashes].count(s) / 2000 for s in ("train", "validation")]
    assert shares[0] == pytest.approx(0.9, abs=0.03)
    assert shares[1] == pytest.approx(0.05, abs=0.02)


def _nodes(program: tree.Program) -> list[object]:
    found: list[object] = []
    pending: list[object] = [program]
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending.extend(node)
        elif hasattr(node, "__dataclass_fields__"):
            found.append(node)
            pending.extend(getattr(node, name) for name in node.__dataclass_fields__)
    return found


def _has(kind: type, **fields: object) -> object:
    def check(program: tree.Program) -> bool:
        return any(
            isinstance(node, kind)
            and all(getattr(node, key) == value for key, value in fields.items())
            for node in _nodes(program)
        )

    return check


def _depth(body: tuple[object, ...]) -> int:
    return max((1 + _depth(s.body) for s in body if isinstance(s, tree.For)), default=0)


def _branches(program: tree.Program) -> int:
    def chain(node: tree.If) -> int:
        match node.otherwise:
            case (tree.If() as inner,):
                return 1 + chain(inner)
            case ():
                return 1
        return 2

    return max((chain(n) for n in _nodes(program) if isinstance(n, tree.If)), default=0)


def _types(program: tree.Program) -> set[object]:
    return {item.type for item in program.parameters}


MARKS = {
    "atomic": _has(tree.Atomic),
    "while_loop": _has(tree.While),
    "function": lambda p: bool(p.functions) and _has(tree.Call)(p),
    "struct": lambda p: bool(p.structs),
    "random": _has(tree.Draw),
    "tile": lambda p: p.tiled and _has(tree.TileLoad)(p) and _has(tree.TileStore)(p),
    "nested_loop": lambda p: _depth(p.body) >= 2,
    "multi_conditional": lambda p: _branches(p) >= 3,
    "control_flow": lambda p: _has(tree.If)(p) or _has(tree.For)(p),
    "half": lambda p: HALF in _types(p) and REAL not in _types(p),
    "double": lambda p: DOUBLE in _types(p) and REAL not in _types(p),
    "integer": lambda p: all(t.scalar.kind in "iu" for t in _types(p)),
    "multi_dim": lambda p: 2 <= len(p.launch) <= 4,
    "vector": lambda p: any(len(t.shape) == 1 for t in _types(p)),
    "matrix": lambda p: any(len(t.shape) == 2 for t in _types(p)),
    "gather_scatter": lambda p: any(p_.type == INT and p_.is_array for p_ in p.parameters),
    "scalar_param": lambda p: any(not item.is_array for item in p.parameters),
}


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_category_is_what_its_name_says(category: str) -> None:
    programs = [generate(3, index, (category,)) for index in range(40)]
    texts = [source(program) for program in programs]
    for text in texts:
        ast.parse(text)
    mark = MARKS.get(category)
    marked = sum(1 for program in programs if mark is None or mark(program))
    # A vector or matrix may be built from numbers alone, a parameter may go unused.
    least = 30 if category in ("scalar_param", "vector", "matrix") else 40
    assert marked >= least, texts[0]


def test_break_and_continue_are_made() -> None:
    programs = [generate(3, index, ("while_loop",)) for index in range(60)]
    assert any(_has(tree.Break)(program) for program in programs)
    assert any(_has(tree.Continue)(program) for program in programs)


def test_programs_stay_inside_their_arrays_and_bounds() -> None:
    for index in range(600):
        program = generate(17, index)
        values = launching.inputs(program, Stream(17, "inputs", index))
        evaluate(program, values)
        for item in launching.arrays_of(program):
            array = values[item.name]
            assert np.isfinite(array).all(), source(program)
            if item.type.is_real and program.category != "atomic":
                assert np.abs(array.astype(np.float64)).max() < 1e6, source(program)


def _written_out(node: object, rounds: int = 1) -> int:
    """How often compilers write out operations that are long as machine code."""
    if isinstance(node, tuple):
        return sum(_written_out(part, rounds) for part in node)
    if not hasattr(node, "__dataclass_fields__"):
        return 0
    own = isinstance(node, tree.Operation) and node.operator in ("sin", "cos", "tan")
    inner = rounds
    if isinstance(node, tree.For) and isinstance(node.stop, tree.Constant):
        inner *= min(4, abs(int(node.stop.value) - int(node.start.value)))
    fields = (getattr(node, name) for name in node.__dataclass_fields__)
    return rounds * own + sum(_written_out(part, inner) for part in fields)


def test_long_operations_are_not_written_out_again_and_again() -> None:
    counts = [_written_out(generate(13, index).body) for index in range(2000)]
    assert max(counts) <= 4  # a budget of 16 operations, of which each takes four
    assert sum(count > 0 for count in counts) > 200


def test_the_oracle_refuses_an_index_outside() -> None:
    program = next(p for p in (generate(3, i, ("arithmetic",)) for i in range(9)) if p.parameters)
    values = launching.inputs(program, Stream(1))
    outputs = [item.name for item in program.parameters if item.role == "output"]
    values[outputs[0]] = values[outputs[0]][:3]
    with pytest.raises(OracleError, match="leaves the array"):
        evaluate(program, values)


def test_streams_do_not_depend_on_each_other() -> None:
    first, second = Stream(1, "a"), Stream(1, "b")
    expected = [Stream(1, "b").word() for _ in range(1)]
    for _ in range(100):
        first.word()
    assert [second.word()] == expected
    draws = [Stream(9, n).uniform() for n in range(2000)]
    assert math.isclose(sum(draws) / 2000, 0.5, abs_tol=0.03)
