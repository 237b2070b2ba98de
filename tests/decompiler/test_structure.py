"""Structured statements do what the graph of blocks does: every path, on random graphs."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit import cuda
from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, VOID, Pointer
from ptxkit.decompiler.lift.flow import Branch, Flow, FlowBlock, Jump, Leave, Select
from ptxkit.decompiler.lift.structure import structured

BITS = n.Index(n.Name("bits"), n.Name("count"))


def mark(block: int) -> list[n.Statement]:
    """Statements that leave a trace of having run."""
    return [
        n.Assign(n.Index(n.Name("trace"), n.Name("count")), n.integer(block)),
        n.Assign(n.Name("count"), n.integer(1), "+="),
    ]


def condition(block: int) -> n.Expression:
    """Decided by a random bit, a new one after each mark."""
    bit = n.Binary("&", BITS, n.integer(1 << (block % 8)))
    return n.Binary("!=", bit, n.integer(0))


class Maker:
    """Random structured programs, lowered to blocks as a compiler would."""

    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.blocks: dict[int, FlowBlock] = {}

    def new(self) -> int:
        block = len(self.blocks)
        self.blocks[block] = FlowBlock(mark(block) if self.random.random() < 0.8 else [], Leave())
        return block

    def make(self, depth: int) -> Flow:
        self.sequence(self.new(), depth, None, None)
        return Flow(self.blocks)

    def goes(self, block: int | None, target: int) -> None:
        if block is not None:
            self.blocks[block].exit = Jump(target)

    def sequence(self, block: int, depth: int, leave: int | None, again: int | None) -> int | None:
        """A few statements from a block on; the block they end in."""
        for _ in range(self.random.randint(1, 3)):
            draw = self.random.random()
            if depth <= 0 or draw < 0.2:
                continue
            if draw < 0.5:
                then = self.new()
                other = self.new() if self.random.random() < 0.5 else None
                after = self.new()
                self.blocks[block].exit = Branch(
                    condition(block), then, after if other is None else other
                )
                self.goes(self.sequence(then, depth - 1, leave, again), after)
                if other is not None:
                    self.goes(self.sequence(other, depth - 1, leave, again), after)
                block = after
            elif draw < 0.65:
                head, body, after = self.new(), self.new(), self.new()
                self.goes(block, head)
                self.blocks[head].exit = Branch(condition(head), body, after)
                self.goes(self.sequence(body, depth - 1, after, head), head)
                block = after
            elif draw < 0.8:
                body, after, latch = self.new(), self.new(), self.new()
                self.goes(block, body)
                self.goes(self.sequence(body, depth - 1, after, latch), latch)
                self.blocks[latch].exit = Branch(condition(latch), body, after)
                block = after
            elif draw < 0.94 and leave is not None and again is not None:
                rest = self.new()
                target = leave if draw < 0.88 else again
                self.blocks[block].exit = Branch(condition(block), target, rest)
                block = rest
            elif draw > 0.97:
                return None
        return block


def any_graph(random: random.Random) -> Flow:
    """Blocks with jumps anywhere."""
    count = random.randint(2, 8)
    blocks: dict[int, FlowBlock] = {}
    for block in range(count):
        targets = [random.randrange(1, count) for _ in range(4)]
        draw = random.random()
        exit: Any = Branch(condition(block), *targets[:2])
        if draw < 0.15 or block == count - 1:
            exit = Leave()
        elif draw < 0.4:
            exit = Jump(targets[0])
        elif draw > 0.95:
            exit = Select(n.Binary("&", BITS, n.integer(3)), tuple(targets))
        blocks[block] = FlowBlock(mark(block) if random.random() < 0.8 else [], exit)
    return Flow(blocks)


def decide(expression: Any, bits: int) -> Any:
    match expression:
        case n.Binary(operator="&&", left=left, right=right):
            return decide(left, bits) and decide(right, bits)
        case n.Binary(operator="||", left=left, right=right):
            return decide(left, bits) or decide(right, bits)
        case n.Binary(operator=operator, left=left, right=right):
            a, b = decide(left, bits), decide(right, bits)
            return {"!=": a != b, "==": a == b, "&": int(a) & int(b)}[operator]
        case n.Literal(value=value):
            return value
    return bits


def walk(flow: Flow, bits: Any, limit: int) -> list[int] | None:
    """The marks left by going through the graph; None if it goes on for too long."""
    block, trace = 0, []
    for _ in range(20 * limit):
        node = flow.blocks[block]
        if node.statements:
            trace.append(block)
        if len(trace) >= limit:
            return None
        now = int(bits[len(trace)])
        match node.exit:
            case Leave():
                return trace
            case Jump(target):
                block = target
            case Branch(test, then, otherwise):
                block = then if decide(test, now) else otherwise
            case Select(value, targets):
                block = targets[decide(value, now)]
    return None


def check(flow: Flow, seed: int) -> tuple[bool, bool]:
    """Compare both; whether a goto was needed, and whether any path was compared."""
    before = copy.deepcopy(flow)
    body = structured(flow)
    if any(isinstance(node, n.Goto) for s in body for node in s.walk()):
        return True, False
    parameters = (n.Parameter(Pointer(INT), "trace"), n.Parameter(Pointer(INT), "bits"))
    kernel = n.Function("k", parameters, (n.Declare(INT, "count", n.integer(0)), *body), VOID)
    numbers = np.random.default_rng(seed)
    compared = False
    for _ in range(3):
        bits = numbers.integers(0, 256, 200, dtype=np.int32)
        expected = walk(before, bits, 150)
        if expected is None:
            continue
        found = np.full(200, -1, np.int32)
        cuda.evaluate(kernel, grid=1, block=1, arguments=(found, bits))
        assert found[found >= 0].tolist() == expected, cuda.print_function(kernel)
        compared = True
    return False, compared


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_structured_programs(start: int) -> None:
    results = [check(Maker(random.Random(s)).make(3), s) for s in range(start, start + 100)]
    assert sum(goto for goto, _ in results) <= 6
    assert sum(compared for _, compared in results) >= 60


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_any_graph(start: int) -> None:
    results = [check(any_graph(random.Random(s)), s) for s in range(start, start + 100)]
    assert sum(goto for goto, _ in results) <= 35
    assert sum(compared for _, compared in results) >= 20


def test_short_circuits() -> None:
    a, b = n.Name("a"), n.Name("b")
    ones = [n.Evaluate(n.Call("f"))]
    flow = Flow({
        0: FlowBlock([], Branch(a, 1, 3)),
        1: FlowBlock([], Branch(b, 2, 3)),
        2: FlowBlock(list(ones), Jump(3)),
        3: FlowBlock([], Leave()),
    })  # fmt: skip
    assert cuda.print_statements(structured(flow)) == "if (a && b) f();\n"


@pytest.mark.parametrize(("first", "text"), [(1, "if (!c) f(1);"), (2, "if (c) f(2);")])
def test_what_stands_first_is_written_first(first: int, text: str) -> None:
    """Block 3 does nothing but jump to block 1."""
    calls = {k: [n.Evaluate(n.Call("f", (n.integer(k),)))] for k in (1, 2)}
    flow = Flow({
        0: FlowBlock([], Branch(n.Name("c"), 2, 3), 10),
        1: FlowBlock(calls[1], Jump(4), 20 if first == 1 else 40),
        2: FlowBlock(calls[2], Jump(4), 30),
        3: FlowBlock([], Jump(1), 11),
        4: FlowBlock([n.Evaluate(n.Call("g"))], Leave(), 50),
    })  # fmt: skip
    written = cuda.print_statements(structured(flow)).replace("{\n    ", "")
    assert written.startswith(text)


def test_branches_in_their_order_are_the_same_ptx() -> None:
    source = """__global__ void k(const float *x, float *y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {
            if (i > 0) y[i] = x[i] - x[i - 1];
            else y[i] = x[i];
        }
    }"""
    module = ptxkit.compile_cuda(source, arch="sm_120")
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.level == "E1"
