"""Control-flow graphs: basic blocks, successors, dominators, loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptxkit.errors import UsageError, import_extra
from ptxkit.syntax.declarations import Function
from ptxkit.syntax.nodes import BranchTargets, Instruction, Label

if TYPE_CHECKING:
    import graphviz

#: Instructions after which control does not go on to the next one (unless guarded).
TERMINATORS = frozenset(("bra", "brx", "ret", "exit", "trap"))


@dataclass(eq=False, slots=True)
class BasicBlock:
    """Instructions that run one after another, and where control goes then."""

    index: int
    labels: list[str] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    successors: list[BasicBlock] = field(default_factory=list)
    predecessors: list[BasicBlock] = field(default_factory=list)
    targets: tuple[BasicBlock, ...] = ()
    """Where a jump at its end goes; for a jump by a table, each entry of that."""

    @property
    def name(self) -> str:
        """The first label, or ``bbN``."""
        return self.labels[0] if self.labels else f"bb{self.index}"

    def __repr__(self) -> str:
        return f"<BasicBlock {self.name}: {len(self.instructions)} instructions>"


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop: its header, its blocks (header included), and its back edges."""

    header: BasicBlock
    blocks: frozenset[BasicBlock]
    latches: tuple[BasicBlock, ...]


@dataclass(eq=False, slots=True)
class ControlFlowGraph:
    """The blocks of a function in source order; the first one is the entry.

    >>> import ptxkit
    >>> m = ptxkit.parse('''.func f() {
    ... LOOP:
    ...     setp.lt.s32 p, a, b;
    ...     @p bra LOOP;
    ...     ret;
    ... }''')
    >>> g = m["f"].cfg()
    >>> [(b.name, [s.name for s in b.successors]) for b in g.blocks]
    [('LOOP', ['LOOP', 'bb1']), ('bb1', [])]
    >>> [loop.header.name for loop in g.loops()]
    ['LOOP']
    """

    function: Function
    blocks: list[BasicBlock]

    @staticmethod
    def of(function: Function) -> ControlFlowGraph:
        """Build the graph of a function."""
        body = function.body
        if body is None:
            raise UsageError(
                f"'{function.name}' at line {function.line} is a declaration without a body"
            )
        return _Builder(function).build()

    @property
    def entry(self) -> BasicBlock:
        """Where control comes in."""
        return self.blocks[0]

    def reachable(self) -> list[BasicBlock]:
        """The blocks control can reach, in reverse post-order."""
        order: list[BasicBlock] = []
        seen = {self.entry}
        stack: list[tuple[BasicBlock, Iterator[BasicBlock]]] = [
            (self.entry, iter(self.entry.successors))
        ]
        while stack:
            block, rest = stack[-1]
            following = next((s for s in rest if s not in seen), None)
            if following is None:
                order.append(block)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(following.successors)))
        return order[::-1]

    def unreachable(self) -> list[BasicBlock]:
        """Blocks with instructions that control cannot reach."""
        seen = set(self.reachable())
        return [block for block in self.blocks if block not in seen and block.instructions]

    def immediate_dominators(self) -> dict[BasicBlock, BasicBlock | None]:
        """For each reachable block the nearest other block on every path to it."""
        order = self.reachable()
        place = {block: number for number, block in enumerate(order)}
        found: dict[BasicBlock, BasicBlock | None] = {self.entry: self.entry}

        def meet(a: BasicBlock, b: BasicBlock) -> BasicBlock:
            while a is not b:
                while place[a] > place[b]:
                    a = found[a] or a
                while place[b] > place[a]:
                    b = found[b] or b
            return a

        changed = True
        while changed:
            changed = False
            for block in order[1:]:
                known = [p for p in block.predecessors if p in found]
                nearest = known[0]
                for other in known[1:]:
                    nearest = meet(nearest, other)
                if found.get(block) is not nearest:
                    found[block] = nearest
                    changed = True
        found[self.entry] = None
        return found

    def dominates(self, a: BasicBlock, b: BasicBlock) -> bool:
        """Say whether every path to ``b`` goes through ``a``."""
        below = _Dominance(self.immediate_dominators())
        return a in below and b in below and below.has(a, b)

    def loops(self) -> list[Loop]:
        """The natural loops, outermost first where they nest."""
        above = self.immediate_dominators()
        below = _Dominance(above)
        latches: dict[BasicBlock, list[BasicBlock]] = {}
        for block in above:
            for successor in block.successors:
                if below.has(successor, block):
                    latches.setdefault(successor, []).append(block)
        loops = []
        for header, ends in latches.items():
            inside = {header}
            pending = [block for block in ends if block is not header]
            while pending:
                block = pending.pop()
                if block not in inside:
                    inside.add(block)
                    pending += [p for p in block.predecessors if p in above]
            loops.append(Loop(header, frozenset(inside), tuple(ends)))
        return sorted(loops, key=lambda loop: (-len(loop.blocks), loop.header.index))

    def is_reducible(self) -> bool:
        """True where every cycle is entered through a loop header alone."""
        below = _Dominance(self.immediate_dominators())
        place = {block: number for number, block in enumerate(self.reachable())}
        return all(
            below.has(successor, block)
            for block in place
            for successor in block.successors
            if place[successor] <= place[block]
        )

    def dot(self) -> str:
        """The graph in Graphviz' DOT language."""
        lines = [
            f'digraph "{_escape(self.function.name)}" {{',
            '  node [shape=box, fontname="monospace", fontsize=10];',
        ]
        for block in self.blocks:
            texts = [f"{label}:" for label in block.labels]
            texts += [" ".join(i.text.split()) for i in block.instructions]
            label = "".join(_escape(text) + "\\l" for text in texts or ["(empty)"])
            lines.append(f'  b{block.index} [label="{label}"];')
            for successor in block.successors:
                lines.append(f"  b{block.index} -> b{successor.index};")
        return "\n".join([*lines, "}"]) + "\n"

    def graphviz(self) -> graphviz.Source:
        """The graph as a ``graphviz.Source``, which notebooks show as a picture."""
        module = import_extra("graphviz", extra="graphs")
        source: graphviz.Source = module.Source(self.dot())
        return source


class _Dominance:
    """Answers at once who dominates whom: blocks are numbered along the dominator tree."""

    def __init__(self, above: dict[BasicBlock, BasicBlock | None]) -> None:
        below: dict[BasicBlock | None, list[BasicBlock]] = {}
        for block, nearest in above.items():
            below.setdefault(nearest, []).append(block)
        self._first: dict[BasicBlock, int] = {}
        self._last: dict[BasicBlock, int] = {}
        pending = [(block, False) for block in below.get(None, ())]
        while pending:
            block, done = pending.pop()
            if done:
                self._last[block] = len(self._first)
            else:
                self._first[block] = len(self._first)
                pending.append((block, True))
                pending += [(one, False) for one in below.get(block, ())]

    def __contains__(self, block: BasicBlock) -> bool:
        return block in self._first

    def has(self, a: BasicBlock, b: BasicBlock) -> bool:
        """Say whether ``a`` dominates ``b``; both are reachable."""
        return self._first[a] <= self._first[b] < self._last[a]


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


class _Builder:
    """Cuts a body into blocks and joins them by labels."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._blocks = [BasicBlock(0)]
        # (scope's block node, label) -> block; labels are visible in their own block only
        self._labels: dict[tuple[int, str], BasicBlock] = {}
        self._tables: dict[tuple[int, str], tuple[str, ...]] = {}
        self._open = False  # the last block may still take instructions

    def build(self) -> ControlFlowGraph:
        body = self._function.body
        assert body is not None
        self._open = True
        pending_label: str | None = None
        for node in body.walk():
            if isinstance(node, Label):
                self._begin_block(node.name)
                self._labels[node.parent.index, node.name] = self._blocks[-1]
                pending_label = node.name
            elif isinstance(node, BranchTargets) and pending_label is not None:
                self._tables[node.parent.index, pending_label] = node.names
            elif isinstance(node, Instruction):
                if not self._open:
                    self._begin_block(None)
                self._blocks[-1].instructions.append(node)
                self._open = node.name not in TERMINATORS
                pending_label = None
        self._join()
        return ControlFlowGraph(self._function, self._blocks)

    def _begin_block(self, label: str | None) -> None:
        if self._blocks[-1].instructions or (label is None and not self._open):
            self._blocks.append(BasicBlock(len(self._blocks)))
        if label is not None:
            self._blocks[-1].labels.append(label)
        self._open = True

    def _join(self) -> None:
        for block, following in zip(self._blocks, [*self._blocks[1:], None], strict=True):
            last = block.instructions[-1] if block.instructions else None
            targets = self._targets(last) if last is not None else []
            block.targets = tuple(targets)
            falls = last is None or last.name not in TERMINATORS or last.guard is not None
            if falls and following is not None:
                targets.append(following)
            for target in dict.fromkeys(targets):
                block.successors.append(target)
                target.predecessors.append(block)

    def _targets(self, last: Instruction) -> list[BasicBlock]:
        if last.name == "bra" and last.operands:
            found = self._find(self._labels, last, last.operands[0].text)
            return [found] if found is not None else []
        if last.name == "brx" and len(last.operands) > 1:
            names = self._find(self._tables, last, last.operands[1].text) or ()
            blocks = (self._find(self._labels, last, name) for name in names)
            return [block for block in blocks if block is not None]
        return []

    def _find(self, table: dict[tuple[int, str], _T], at: Instruction, name: str) -> _T | None:
        node = at.parent
        while node is not None:
            found = table.get((node.index, name))
            if found is not None:
                return found
            node = node.parent
        return None


if TYPE_CHECKING:
    from typing import TypeVar

    _T = TypeVar("_T")
