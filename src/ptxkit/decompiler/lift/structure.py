"""From a graph of blocks to ``if``, ``while``, ``do`` and ``switch``.

The dominator tree says what nests in what: a block that several others jump to is written
after the innermost statement that holds all the jumps. Where control then has to go on
somewhere else than the text does, it is a ``break``, a ``continue`` or, as a last resort,
a ``goto``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BOOL
from ptxkit.decompiler.lift.conditions import join_branches, negate
from ptxkit.decompiler.lift.flow import Branch, Flow, Jump, Leave, Select
from ptxkit.decompiler.lift.gotos import GotoRemover
from ptxkit.decompiler.lift.rewrite import statements_of

_TRUE = n.Literal(True, BOOL)
_LEAVES = (n.Return, n.Break, n.Continue, n.Goto)
Body = tuple[n.Statement, ...]


@dataclass(slots=True)
class _Loop:
    head: int
    follow: int | None
    """The block that runs when the loop is left by ``break``."""


@dataclass(slots=True)
class Structurer:
    """Writes one graph."""

    flow: Flow
    is_float: Callable[[n.Expression], bool] = lambda e: False
    label: Callable[[int], str] = "L{}".format
    in_order: bool = True
    """Whether the branches of an if are in the order of their lines, or as they are jumped to."""
    loops: list[_Loop] = field(default_factory=list)
    children: dict[int, list[int]] = field(default_factory=dict)
    follows: dict[int, int] = field(default_factory=dict)
    """The block written after a loop, by the loop's head."""
    followed: set[int] = field(default_factory=set)
    merges: set[int] = field(default_factory=set)

    def run(self) -> Body:
        """The statements of the whole graph."""
        join_branches(self.flow, self.is_float)
        if not self.flow.is_reducible():
            return self._with_jumps()
        self._place()
        return self._tree(0, None)

    # ---- where things are written --------------------------------------------------------

    def _place(self) -> None:
        flow = self.flow
        for block in flow.order:
            forward = [p for p in flow.predecessors[block] if not flow.is_back_edge(p, block)]
            if len(forward) > 1:
                self.merges.add(block)
        for head in flow.order:
            inside = flow.loop_blocks(head)
            if inside:
                follow = self._follow(head, inside)
                if follow is not None:
                    self.follows[head] = follow
                    self.followed.add(follow)
        taken = self.followed
        self.children = {block: [] for block in flow.order}
        for block in flow.order:
            if block in self.merges and block not in taken:
                self.children[flow.above[block]].append(block)

    def _follow(self, head: int, inside: set[int]) -> int | None:
        """Of the blocks a loop is left to, the one to write after it."""
        flow = self.flow
        exits = {
            successor
            for block in inside
            for successor in flow.blocks[block].successors()
            if successor not in inside and flow.dominates(head, successor)
        }
        # A block that another exit leads to comes after both; blocks that only leave the
        # function are written where they are reached.
        exits -= self.followed
        if not exits:
            return None
        going = {e for e in exits if not self._only_leaves(e)} or exits
        return max(going, key=lambda e: (e in self.merges, flow.place[e]))

    def _only_leaves(self, block: int) -> bool:
        node = self.flow.blocks[block]
        return isinstance(node.exit, Leave) and len(self.flow.predecessors[block]) == 1

    # ---- writing -------------------------------------------------------------------------

    def _tree(self, block: int, fall: int | None) -> Body:
        """A block and all it dominates. ``fall`` is the block that runs after the text."""
        made: list[n.Statement] = []
        while True:
            inside = self.flow.loop_blocks(block)
            merged = self.children[block]
            if not inside:
                if not merged:
                    following = self._onward(block, fall)
                    if following is None:
                        return (*made, *self._block(block, fall))
                    made += (n.Label(self.label(block)), *self.flow.blocks[block].statements)
                    block = following
                    continue
                *before, last = merged
                made += self._within(block, before, last)
            else:
                own = [child for child in merged if child in inside]
                after = [child for child in merged if child not in inside]
                follow = self.follows.get(block)
                after += [follow] if follow is not None else []
                after.sort(key=lambda child: self.flow.place[child])
                if not after:
                    return (*made, *self._loop(block, own, after, fall))
                *before, last = after
                made += self._loop(block, own, before, last)
            # What comes last is written in the next turn: blocks in a row are no deeper.
            block = last

    def _onward(self, block: int, fall: int | None) -> int | None:
        """The block to write right after another one that goes nowhere else."""
        exit = self.flow.blocks[block].exit
        if not isinstance(exit, Jump) or exit.target == fall:
            return None
        loop = self.loops[-1] if self.loops else None
        elsewhere = (
            self.flow.is_back_edge(block, exit.target)
            or (loop is not None and loop.follow == exit.target)
            or exit.target in self.merges
            or exit.target in self.followed
        )
        return None if elsewhere else exit.target

    def _loop(self, head: int, own: list[int], after: list[int], fall: int | None) -> Body:
        """A loop, and the blocks written after it."""
        if after:
            *before, last = after
            return (*self._loop(head, own, before, last), *self._tree(last, fall))
        self.loops.append(_Loop(head, fall))
        body = self._within(head, own, head)
        self.loops.pop()
        return (_shaped(body, self.is_float),)

    def _within(self, block: int, merged: list[int], fall: int | None) -> Body:
        """A block, with the blocks that control comes together in written after it."""
        if not merged:
            return self._block(block, fall)
        *before, last = merged
        return (*self._within(block, before, last), *self._tree(last, fall))

    def _block(self, block: int, fall: int | None) -> Body:
        node = self.flow.blocks[block]
        mark: Body = (n.Label(self.label(block)),)
        statements: Body = (*mark, *node.statements)
        match node.exit:
            case Leave():
                # Falling off the end of the function is leaving it.
                bare = fall is None and not self.loops
                says = bool(node.statements) and isinstance(node.statements[-1], n.Return)
                return statements if bare or says else (*statements, n.Return())
            case Jump(target):
                return (*statements, *self._jump(block, target, fall))
            case Branch(condition, then, otherwise) if then == otherwise:
                return (*statements, n.Evaluate(condition), *self._jump(block, then, fall))
            case Branch(condition, then, otherwise):
                one = self._jump(block, then, fall)
                two = self._jump(block, otherwise, fall)
                both = self.in_order and _visible(one) and _visible(two)
                if both and self._line(otherwise) < self._line(then):
                    # Compilers keep the branches of an if in their order, mostly.
                    condition, one, two = negate(condition, self.is_float), two, one
                return (*statements, *self._if(condition, one, two))
            case Select():
                return (*statements, self._switch(block, node.exit, fall))

    def _line(self, block: int) -> int:
        """Where the first block from here on begins that does something: some only jump."""
        seen = {block}
        node = self.flow.blocks[block]
        while not node.statements and isinstance(node.exit, Jump) and node.exit.target not in seen:
            seen.add(node.exit.target)
            node = self.flow.blocks[node.exit.target]
        return node.line

    def _if(self, condition: n.Expression, then: Body, otherwise: Body) -> Body:
        if not _visible(then):
            if not _visible(otherwise):
                return (*then, *otherwise)
            condition, then, otherwise = negate(condition, self.is_float), otherwise, then
        if not _visible(otherwise):
            return (n.If(condition, then), *otherwise)
        if _ends(then):
            # What follows an if that never falls out of it needs no else.
            return (n.If(condition, then), *otherwise)
        if _ends(otherwise):
            return (n.If(negate(condition, self.is_float), otherwise), *then)
        return (n.If(condition, then, otherwise),)

    def _switch(self, block: int, exit: Select, fall: int | None) -> n.Statement:
        # `break` inside a case leaves the switch.
        self.loops.append(_Loop(-1, fall))
        cases = [
            n.Case(tuple(numbers), self._jump(block, target, fall))
            for target, numbers in exit.cases().items()
        ]
        if exit.default is not None:
            default = self._jump(block, exit.default, fall)
            cases += [n.Case((), default)] if _visible(default) else []
        self.loops.pop()
        return n.Switch(exit.value, tuple(cases))

    def _jump(self, source: int, target: int, fall: int | None) -> Body:
        """Control goes on at a block: written here, reached by falling, or jumped to."""
        if target == fall:
            return ()
        loop = self.loops[-1] if self.loops else None
        if self.flow.is_back_edge(source, target):
            if loop is not None and loop.head == target:
                return (n.Continue(),)
            outer = [one for one in self.loops if one.head >= 0]
            if outer and outer[-1].head == target:
                return (n.Continue(),)
            return self._goto(target)
        if loop is not None and loop.follow == target:
            return (n.Break(),)
        if target in self.merges or target in self.followed:
            return self._copied(target, fall) or self._goto(target)
        return self._tree(target, fall)

    def _copied(self, target: int, fall: int | None, depth: int = 0) -> Body:
        """A short block that is jumped to, written again where that saves a goto."""
        node = self.flow.blocks[target]
        if len(node.statements) > 2 or depth > 2:
            return ()
        if not all(isinstance(s, n.Assign | n.Evaluate | n.Return) for s in node.statements):
            return ()
        match node.exit:
            case Leave():
                says = bool(node.statements) and isinstance(node.statements[-1], n.Return)
                return (*node.statements, *(() if says else (n.Return(),)))
            case Jump(following) if not self.flow.is_back_edge(target, following):
                made: Body
                loop = self.loops[-1] if self.loops else None
                if following == fall:
                    made = tuple(node.statements)
                elif loop is not None and loop.follow == following:
                    made = (*node.statements, n.Break())
                else:
                    rest = self._copied(following, fall, depth + 1)
                    made = (*node.statements, *rest) if rest else ()
                return made
        return ()

    def _goto(self, target: int) -> Body:
        return (n.Goto(self.label(target)),)

    def _with_jumps(self) -> Body:
        """An irreducible graph: every block with its label, every edge a goto."""
        body: list[n.Statement] = []
        order = self.flow.order
        for block, following in zip(order, [*order[1:], None], strict=True):
            node = self.flow.blocks[block]
            body += [n.Label(self.label(block)), *node.statements]
            match node.exit:
                case Jump(target):
                    body += self._far(target, following)
                case Branch(condition, then, otherwise):
                    body.append(n.If(condition, self._far(then, None)))
                    body += self._far(otherwise, following)
                case Select(value, _, _, default) as exit:
                    cases = [
                        n.Case(tuple(numbers), self._far(target, None))
                        for target, numbers in exit.cases().items()
                    ]
                    body.append(n.Switch(value, tuple(cases)))
                    if default is not None:
                        body += self._far(default, following)
                case Leave():
                    if not (node.statements and isinstance(node.statements[-1], n.Return)):
                        body.append(n.Return())
        return tuple(body)

    def _far(self, target: int, following: int | None) -> Body:
        return () if target == following else self._goto(target)


def _visible(body: Body) -> bool:
    return any(not isinstance(statement, n.Label) for statement in body)


def _ends(body: Body) -> bool:
    """Whether control never falls out of the end of the statements."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, n.If) and last.otherwise:
        return _ends(last.then) and _ends(last.otherwise)
    return isinstance(last, _LEAVES)


def _continues(body: Body) -> bool:
    """Whether a ``continue`` of this loop is among the statements."""
    for statement in body:
        match statement:
            case n.Continue():
                return True
            case n.If(then=then, otherwise=otherwise):
                if _continues(then) or _continues(otherwise):
                    return True
            case n.Switch(cases=cases):
                if any(_continues(case.body) for case in cases):
                    return True
            case n.Block(body=inner):
                if _continues(inner):
                    return True
    return False


def _shaped(body: Body, is_float: Callable[[n.Expression], bool]) -> n.Statement:
    """An endless loop as the kind of loop it is."""
    if body and isinstance(body[-1], n.Continue):
        body = body[:-1]
    visible = [k for k, s in enumerate(body) if not isinstance(s, n.Label)]
    for place in (visible[0], visible[-1]) if visible else ():
        match body[place]:
            case n.If(condition=condition, then=(n.Break(),), otherwise=()):
                rest = (*body[:place], *body[place + 1 :])
                again = negate(condition, is_float)
                if place == visible[0] and not _jumped_to(body[:place], rest):
                    return n.While(again, rest)
                if not _continues(rest):
                    return n.DoWhile(rest, again)
    return n.While(_TRUE, body)


def _jumped_to(labels: Body, body: Body) -> bool:
    """Whether a goto in the body goes to one of the labels: it would pass the test by."""
    names = {label.name for label in labels if isinstance(label, n.Label)}
    return any(isinstance(s, n.Goto) and s.label in names for s in statements_of(body))


def without_labels(body: Body, used: set[str]) -> Body:
    """The statements without the labels that nothing jumps to."""
    kept: list[n.Statement] = []
    for statement in body:
        match statement:
            case n.Label(name=name) if name not in used:
                continue
            case n.If():
                statement = n.If(
                    statement.condition,
                    without_labels(statement.then, used),
                    without_labels(statement.otherwise, used),
                )
            case n.While():
                statement = n.While(statement.condition, without_labels(statement.body, used))
            case n.DoWhile():
                statement = n.DoWhile(without_labels(statement.body, used), statement.condition)
            case n.Switch():
                cases = tuple(
                    n.Case(c.values, without_labels(c.body, used), c.falls) for c in statement.cases
                )
                statement = n.Switch(statement.value, cases)
        kept.append(statement)
    return tuple(kept)


def structured(
    flow: Flow,
    is_float: Callable[[n.Expression], bool] = lambda e: False,
    label: Callable[[int], str] = "L{}".format,
    fresh: Callable[[], str] | None = None,
    *,
    in_order: bool = True,
) -> Body:
    """The statements of a graph of blocks."""
    body = Structurer(flow, is_float, label, in_order).run()
    if fresh is not None:
        body = GotoRemover(is_float, fresh).run(body)
    used = {s.label for s in statements_of(body) if isinstance(s, n.Goto)}
    return without_labels(body, used)
