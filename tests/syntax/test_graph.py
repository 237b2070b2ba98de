"""Control-flow graphs, against their definitions."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from helpers.ptx_strategies import modules
from ptxkit.syntax import BasicBlock, ControlFlowGraph

DATA = sorted((Path(__file__).parent / "data").glob("*.ptx"))
Edges = list[list[int]]


def graph(text: str) -> ControlFlowGraph:
    """The graph of a function's body."""
    return ptxkit.parse(f".func f() {{ {text} }}")["f"].cfg()


def shape(found: ControlFlowGraph) -> dict[str, list[str]]:
    """Successors by name."""
    return {block.name: [s.name for s in block.successors] for block in found.blocks}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"bb0": []}),
        ("ret;", {"bb0": []}),
        ("add a; sub a; ret;", {"bb0": []}),
        ("L: bra L;", {"L": ["L"]}),
        ("@p bra L; add a; L: ret;", {"bb0": ["L", "bb1"], "bb1": ["L"], "L": []}),
        ("@p bra L; L: ret;", {"bb0": ["L"], "L": []}),
        ("bra.uni L; add a; L: ret;", {"bb0": ["L"], "bb1": ["L"], "L": []}),
        ("@p ret; add a; ret;", {"bb0": ["bb1"], "bb1": []}),
        ("@!p exit; trap;", {"bb0": ["bb1"], "bb1": []}),
        ("trap; add a;", {"bb0": [], "bb1": []}),
        ("call f; ret;", {"bb0": []}),
        ("A: B: bra A; C: bra B;", {"A": ["A"], "C": ["A"]}),
        ("A: add a; B: add b;", {"A": ["B"], "B": []}),
        (
            "T: .branchtargets A, B, A; brx.idx x, T; A: ret; B: ret;",
            {"T": ["A", "B"], "A": [], "B": []},
        ),
        (
            "T: .branchtargets A; @p brx.idx x, T; add a; A: ret;",
            {"T": ["A", "bb1"], "bb1": ["A"], "A": []},
        ),
        # labels belong to their block; a table, too
        ("L: { L: bra L; } bra L;", {"L": ["L"], "bb1": ["L"]}),
        ("{ bra L; } { M: ret; } L: ret;", {"bb0": ["L"], "M": [], "L": []}),
        ("bra NOWHERE; ret;", {"bb0": [], "bb1": []}),
        ("brx.idx x, NOTABLE; ret;", {"bb0": [], "bb1": []}),
        (".reg .b32 a; .loc 1 2 3 L: .loc 1 2 3 ret;", {"L": []}),
    ],
)
def test_blocks_and_edges(text: str, expected: dict[str, list[str]]) -> None:
    found = graph(text)
    assert shape(found) == expected
    assert len(found.blocks) == len(expected)


def test_inner_labels_hide_outer_ones() -> None:
    outer, inner, last = graph("L: add a; { L: bra L; } bra L;").blocks
    assert outer.successors == [inner]
    assert inner.successors == [inner]
    assert last.successors == [outer]


def test_every_instruction_is_in_one_block() -> None:
    for path in DATA:
        for function in ptxkit.parse(path.read_bytes()).functions:
            if function.has_body:
                found = [i for block in function.cfg().blocks for i in block.instructions]
                assert found == list(function.instructions)


def test_a_declaration_has_no_graph() -> None:
    with pytest.raises(ptxkit.UsageError, match="'f' at line 1 is a declaration without a body"):
        ptxkit.parse(".func f();")["f"].cfg()


def test_real_loops() -> None:
    found = ptxkit.parse((DATA[0].parent / "hand_written.ptx").read_bytes())["sum"].cfg()
    assert sorted(loop.header.name for loop in found.loops()) == ["again", "halve"]
    assert found.is_reducible()
    assert found.unreachable() == []
    again = next(loop for loop in found.loops() if loop.header.name == "again")
    assert len(again.blocks) == 2
    assert [latch.instructions[-1].opcode for latch in again.latches] == ["bra"]


def test_dot(snapshot: object) -> None:
    assert graph("A: @p bra B; st.b32\n  [a+4], x; B: ret; C: { } D:").dot() == snapshot


# -- against definitions ----------------------------------------------------------------------


def from_edges(edges: Edges) -> ControlFlowGraph:
    """A function whose block i goes to edges[i], by brx.idx."""
    lines = [
        f"T{number}: .branchtargets {', '.join(f'L{target}' for target in targets)};"
        for number, targets in enumerate(edges)
        if targets
    ]
    lines += [
        f"L{number}: " + (f"brx.idx x, T{number};" if targets else "ret;")
        for number, targets in enumerate(edges)
    ]
    found = graph("\n".join(lines))
    assert len(found.blocks) == len(edges)
    return found


@st.composite
def edge_lists(draw: st.DrawFn) -> Edges:
    """A graph of up to nine blocks."""
    count = draw(st.integers(1, 9))
    target = st.integers(0, count - 1)
    targets = st.lists(target, max_size=3, unique=True)
    return draw(st.lists(targets, min_size=count, max_size=count))


def reachable(edges: Edges, without: int | None = None, start: int = 0) -> set[int]:
    """What can be reached, not through one block."""
    seen: set[int] = set()
    pending = [start]
    while pending:
        at = pending.pop()
        if at != without and at not in seen:
            seen.add(at)
            pending += edges[at]
    return seen


def dominators(edges: Edges) -> dict[int, set[int]]:
    """For each reachable block those on every path to it."""
    everything = reachable(edges)
    return {
        block: {one for one in everything if block not in reachable(edges, one) or one == block}
        for block in everything
    }


EXAMPLES = 120


@settings(max_examples=EXAMPLES)
@given(edge_lists())
def test_edges_reachability_and_order(edges: Edges) -> None:
    found = from_edges(edges)
    assert [[s.index for s in block.successors] for block in found.blocks] == edges
    for a, b in product(found.blocks, repeat=2):
        assert (b in a.successors) == (a in b.predecessors)
    order = [block.index for block in found.reachable()]
    assert set(order) == reachable(edges)
    assert len(order) == len(set(order))
    assert order[0] == 0
    assert {b.index for b in found.unreachable()} == set(range(len(edges))) - reachable(edges)


@settings(max_examples=EXAMPLES)
@given(edge_lists())
def test_dominators(edges: Edges) -> None:
    found = from_edges(edges)
    expected = dominators(edges)
    above = found.immediate_dominators()
    assert {block.index for block in above} == set(expected)
    for block, nearest in above.items():
        strict = expected[block.index] - {block.index}
        if nearest is None:
            assert not strict
        else:  # the one that all others dominate
            assert nearest.index in strict
            assert expected[nearest.index] == strict
    for a, b in product(above, repeat=2):
        assert found.dominates(a, b) == (a.index in expected[b.index])


def natural_loops(edges: Edges) -> dict[int, tuple[set[int], set[int]]]:
    """Header -> blocks and latches, by the definition."""
    above = dominators(edges)
    found: dict[int, tuple[set[int], set[int]]] = {}
    for block in above:
        for target in edges[block]:
            if target in above[block]:
                inside, latches = found.setdefault(target, ({target}, set()))
                latches.add(block)
                inside |= {
                    one
                    for one in above
                    if one != target and block in reachable(edges, without=target, start=one)
                }
    return found


@settings(max_examples=EXAMPLES)
@given(edge_lists())
def test_loops(edges: Edges) -> None:
    expected = natural_loops(edges)
    loops = from_edges(edges).loops()
    assert {
        loop.header.index: ({b.index for b in loop.blocks}, {b.index for b in loop.latches})
        for loop in loops
    } == expected
    sizes = [len(loop.blocks) for loop in loops]
    assert sizes == sorted(sizes, reverse=True)


def has_cycle(edges: Edges) -> bool:
    """Say whether a graph has a cycle, by taking away what has no successors left."""
    left = dict(enumerate(edges))
    while True:
        ends = [block for block, targets in left.items() if not set(targets) & set(left)]
        if not ends:
            return bool(left)
        for block in ends:
            del left[block]


@settings(max_examples=EXAMPLES)
@given(edge_lists())
def test_reducible(edges: Edges) -> None:
    above = dominators(edges)
    forward = [
        [target for target in targets if target not in above[block]] if block in above else []
        for block, targets in enumerate(edges)
    ]
    assert from_edges(edges).is_reducible() == (not has_cycle(forward))


def test_an_irreducible_graph() -> None:
    found = from_edges([[1, 2], [2], [1]])
    assert not found.is_reducible()
    assert found.loops() == []


def test_a_long_chain_and_a_deep_loop() -> None:
    count = 3_000
    chain = from_edges([[number + 1] for number in range(count)] + [[]])
    assert len(chain.reachable()) == count + 1
    assert chain.is_reducible()
    ring = from_edges([[number + 1] for number in range(count)] + [[0]])
    (loop,) = ring.loops()
    assert len(loop.blocks) == count + 1
    assert ring.is_reducible()


@settings(max_examples=25)
@given(modules())
def test_generated_functions(text: str) -> None:
    for function in ptxkit.parse(text).functions:
        found = function.cfg()
        assert [i for block in found.blocks for i in block.instructions] == list(
            function.instructions
        )
        for block in found.blocks:
            ends: list[BasicBlock] = [b for b in found.blocks if block in b.successors]
            assert sorted(ends, key=id) == sorted(block.predecessors, key=id)
