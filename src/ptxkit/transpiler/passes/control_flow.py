"""Branches and labels as ``if_``, ``else_``, ``loop``, ``repeat`` and ``once``.

The regions of a body (:mod:`ptxkit.transpiler.regions`) become ``with`` blocks that write the
same labels and branches at the same places. A block that begins with the branch over it is an
``if_``; one whose block ends with a branch over the rest is an ``else_``; a loop that ends with
a branch back is a ``loop``, and one that falls out at its end a ``repeat``. A loop that the
branch right before it leads into says so, ``inside=True``, and where: ``loop.start_here()``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ptxkit.transpiler.labels import Labels, label_of
from ptxkit.transpiler.regions import Region, find_regions
from ptxkit.transpiler.tree import (
    Argument,
    Entry,
    FunctionSuite,
    Group,
    Line,
    Site,
    Suite,
    Symbol,
    walk,
)

#: Python takes twenty blocks inside each other; other passes need some, too.
DEEPEST = 14
_BRANCHES = ("ptx.bra", "ptx.bra.uni")
_SAID_INSIDE = (".note(", ".spaced(")
#: What regions are called that something names.
_NAMES = {
    "ptx.if_": "branch", "ptx.else_": "branch", "ptx.once": "block", "ptx.next_block": "block",
}  # fmt: skip


class Frame:
    """A region that is being written."""

    __slots__ = (
        "after", "body", "branches", "entry", "guard", "head", "inside", "name", "region",
        "starts", "word",
    )  # fmt: skip

    def __init__(self, region: Region, label: Line) -> None:
        self.region = region
        self.body: list[Entry] = []
        self.head = label
        """The line it begins with; until it is written, the label."""
        self.guard: Line | None = None
        """The branch over an ``if_``."""
        self.word = "repeat" if region.is_loop else "once"
        self.name = ""
        """What it is called, where something names it."""
        self.after: Frame | None = None
        """For a loop: the block that ends where it does."""
        self.entry: Frame | None = None
        """For a loop: the block that ends where it begins, and places its label."""
        self.branches: list[Branch] = []
        self.inside = ""
        """For a loop: the label inside of it that its first round begins at."""
        self.starts: list[Line] = []
        """What stands there."""


class Branch:
    """A branch that is written as leaving or repeating a region."""

    __slots__ = ("innermost", "is_written", "line", "place", "target")

    def __init__(self, line: Line, place: int, target: Frame, innermost: Frame | None) -> None:
        self.line = line
        self.place = place
        self.target = target
        self.innermost = innermost
        self.is_written = False
        """Whether a region writes it."""
        target.branches.append(self)

    @property
    def is_plain(self) -> bool:
        """Whether it is what regions write themselves."""
        line = self.line
        return line.call == "ptx.bra.uni" and not line.keywords and not line.suffixes


class ControlFlow:
    """The pass."""

    name = "control flow"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Raise what nests, but for the labels to skip."""
        if not any(line.call in _BRANCHES for line in walk(function.body)):
            return function
        raiser = _Raiser(function, skip)
        body = raiser.raised(function.body, {}, None, 0)
        raiser.name_regions()
        return function.rewritten(body, raiser.sites)


class _Raiser:
    def __init__(self, function: FunctionSuite, skip: frozenset[int]) -> None:
        self.function = function
        self.skip = skip
        self.labels = Labels(function)
        self.sites: list[Site] = []
        self.branches: list[Branch] = []
        self.loops: dict[Line, Frame] = {}
        self.entries: set[Line] = set()  # labels, then lines, that loops are named after

    # -- bodies ----------------------------------------------------------------------------------

    def raised(
        self,
        body: Sequence[Entry],
        outer: dict[str, Frame],
        loop: Frame | None,
        depth: int,
        place: int | None = None,
    ) -> list[Entry]:
        """A body with its regions written; ``outer`` are the regions it stands in."""
        places, sources = self._read(body)
        starts: dict[int, list[Frame]] = {}
        blocks: dict[str, Frame] = {}
        loops: dict[str, Frame] = {}
        for region in find_regions(places, sources):
            line = body[places[region.label]]
            assert isinstance(line, Line)
            frame = Frame(region, line)
            starts.setdefault(region.start, []).append(frame)
            (loops if region.is_loop else blocks)[region.label] = frame
            self._note_site(body, frame)
        for label, frame in loops.items():
            frame.entry = blocks.get(label)
            if frame.entry is not None:
                self.entries.add(frame.entry.head)
        raised = loops.keys() | blocks.keys()
        inside = _entered_inside(body, places, sources, loops, raised)
        skipped = {frame.region.start - 1 for frame in inside.values()}
        root = Frame(Region("", -1, -1, is_loop=False), Line("", ""))
        frames = [root]
        open_loops = [loop]
        is_apart = False  # whether the last branch says that a blank line follows
        for at, entry in enumerate([*body, None]):
            while frames[-1].region.end == at:
                if frames[-1].region.is_loop:
                    open_loops.pop()
                self._close(frames, depth)
            opening = starts.get(at, ())
            frames += opening
            open_loops += [frame for frame in opening if frame.region.is_loop]
            if entry is None:
                break
            if at in skipped:
                continue  # the loop that follows writes this branch
            innermost = open_loops[-1]
            into = frames[-1].body
            if is_apart:
                is_apart = False
                if isinstance(entry, Line) and entry.kind == "blank" and not entry.arguments:
                    following = body[at + 1] if at + 1 < len(body) else None
                    branch = following and self._target(following, frames, outer, places)
                    if not branch or (isinstance(following, Line) and following.keywords):
                        continue  # where both ways are branches they stand together
                if self._is_closer(entry, self._target(entry, frames, outer, places)):
                    into.append(Line("blank", "ptx.blank", ["0"]))
            where = at if place is None else place
            if isinstance(entry, Suite):
                around = {**outer, **{frame.region.label: frame for frame in frames[1:]}}
                inner = self.raised(entry.body, around, innermost, depth + len(frames), where)
                into.append(entry.with_body(inner))
            elif entry.kind != "label" or label_of(entry) not in raised:
                if entry.kind == "label" and label_of(entry) in inside:
                    start = Line("region_start", "", node=entry.node)
                    inside[label_of(entry)].starts.append(start)
                    into.append(start)
                    continue
                target = self._target(entry, frames, outer, places)
                if target is not None and entry.keywords:
                    is_apart = self.function.style.blank_after_branch
                if target is None:
                    into.append(entry)
                elif target is frames[-1] and target.region.start == at and _is_head(entry):
                    target.word, target.guard = "if_", entry
                    into += _said_inside(entry)
                else:
                    made = Line(entry.kind, entry.call, (), entry.keywords, node=entry.node)
                    made.suffixes = list(entry.suffixes)
                    self.branches.append(Branch(made, where, target, innermost))
                    into.append(made)
        return root.body

    def _is_closer(self, entry: Entry, target: Frame | None) -> bool:
        """Whether a statement after a branch has no blank line before it, nor says so."""
        if isinstance(entry, Line):
            if entry.kind == "label":
                return self.function.style.label_kind(label_of(entry)) != "block_label"
            if target is not None and not entry.keywords:
                return False
            return entry.kind not in ("blank", "gap")
        return True

    def _read(self, body: Sequence[Entry]) -> tuple[dict[str, int], dict[str, list[int]]]:
        """Where labels stand that can be raised, and from where branches lead to them."""
        places: dict[str, int] = {}
        twice: set[str] = set()
        for at, entry in enumerate(body):
            if isinstance(entry, Line) and entry.kind == "label":
                name = label_of(entry)
                if name in places or (entry.node is not None and entry.node.index in self.skip):
                    twice.add(name)
                places[name] = at
        for name in twice:
            del places[name]
        sources: dict[str, list[int]] = {}
        for at, entry in enumerate(body):
            for line in [entry] if isinstance(entry, Line) else walk(entry.body):
                if line.call in _BRANCHES and line.arguments:
                    name = _label_argument(line.arguments[0])
                    if name in places:
                        sources.setdefault(name, []).append(at)
        return places, sources

    def _target(
        self,
        line: Entry,
        frames: Sequence[Frame],
        outer: dict[str, Frame],
        places: dict[str, int],
    ) -> Frame | None:
        """The region that a branch leaves or repeats."""
        if isinstance(line, Suite) or line.call not in _BRANCHES or len(line.arguments) != 1:
            return None
        name = _label_argument(line.arguments[0])
        for frame in reversed(frames):
            if frame.region.label == name and frame.region.label:
                return frame
        return outer.get(name) if name not in places else None

    def _note_site(self, body: Sequence[Entry], frame: Frame) -> None:
        node = frame.head.node
        assert node is not None
        first, last = (body[at].node for at in (frame.region.start, frame.region.end - 1))
        begin = min(node.index, first.index) if first is not None else node.index
        end = max(node.index, last.index) if last is not None else node.index
        self.sites.append(Site(begin, end, node.index))

    # -- the end of a region -----------------------------------------------------------------------

    def _close(self, frames: list[Frame], depth: int) -> None:
        frame = frames.pop()
        into = frames[-1].body
        depth += len(frames)
        if frame.region.is_loop:
            self._close_loop(frame, into, depth)
        elif frame.word == "if_":
            self._add(frame, self._if(frame), into, depth)
        elif not (
            self._as_loop_end(frame, into)
            or self._as_else(frame, into, depth)
            or self._as_next_block(frame, into)
        ):
            self._add(frame, self._line("once", frame), into, depth)

    def _line(self, word: str, frame: Frame) -> Line:
        """The call that begins a region, with its label where that must be said."""
        label = self.labels.argument(frame.region.label)
        return Line("region", f"ptx.{word}", [label] if label else [], node=frame.head.node)

    def _if(self, frame: Frame) -> Line:
        branch = frame.guard
        assert branch is not None
        ((_, guard),) = branch.keywords
        made = Line("region", "ptx.if_", [_opposite(guard)], node=branch.node)
        label = self.labels.argument(frame.region.label)
        if label:
            made.keywords.append(("label", label))
        if branch.call == "ptx.bra.uni":
            made.keywords.append(("uniform", "True"))
        return made

    def _add(self, frame: Frame, head: Line, into: list[Entry], depth: int) -> None:
        """Add a region as a ``with`` block, or as calls where blocks nest too deep."""
        if frame.head in self.entries:
            self.entries.add(head)
        frame.head = head
        if depth <= DEEPEST:
            into.append(Suite(frame.word, [head], head.node, frame.body))
            return
        self._name(frame)
        head.suffixes.append(".open()")
        into.append(head)
        into += frame.body
        into.append(Line("region_end", f"{frame.name}.close", node=head.node))

    def _close_loop(self, frame: Frame, into: list[Entry], depth: int) -> None:
        last = frame.branches[-1] if frame.branches else None
        if last is not None and last.line is frame.body[-1] and last.is_plain:
            frame.word = "loop"
            frame.body.pop()
            last.is_written = True
        head = self._line(frame.word, frame)
        if frame.inside:
            head.keywords.append(("inside", self.labels.argument(frame.inside) or "True"))
        self.loops[head] = frame
        self._add(frame, head, into, depth)

    def _as_loop_end(self, frame: Frame, into: list[Entry]) -> bool:
        """A block that holds nothing but a loop: its end is where the loop is left to."""
        suite = frame.body[0] if len(frame.body) == 1 else None
        if not isinstance(suite, Suite) or not isinstance(suite.head[0], Line):
            return False
        head = suite.head[0]
        loop = self.loops.get(head)
        if loop is None or loop.after is not None:
            return False
        loop.after = frame
        label = self.labels.argument(frame.region.label)
        if label:
            head.keywords.append(("after", label))
        frame.head = head
        into.append(suite)
        return True

    def _as_else(self, frame: Frame, into: list[Entry], depth: int) -> bool:
        """A block that begins with an ``if_`` whose end leads to the block's own end."""
        first = frame.body[0] if frame.body else None
        if not isinstance(first, Suite) or first.kind != "if_" or not first.body:
            return False
        # The first branch to the end is the last statement of the `if_`, and the only one in it.
        branch = frame.branches[0]
        if branch.line is not first.body[-1] or not branch.is_plain or depth > DEEPEST:
            return False
        branch.is_written = True
        first.body.pop()
        if not first.body and self._as_if_inside(frame, first, into, depth):
            return True
        frame.head = head = self._line("else_", frame)
        into.append(first)
        into.append(Suite("else_", [head], head.node, frame.body[1:]))
        return True

    def _as_if_inside(self, frame: Frame, first: Suite, into: list[Entry], depth: int) -> bool:
        """A branch into a block and one over it."""
        (head,) = first.head
        assert isinstance(head, Line)
        condition = head.arguments[0]
        said = {word: value for word, value in head.keywords if word != "uniform"}
        keywords: list[tuple[str, Argument]] = []
        if said.keys() - {"label"} or isinstance(_opposite(condition), str):
            return False
        if head in self.entries:
            return False  # the label inside is the top of a loop
        label = self.labels.argument(frame.region.label)
        if label:
            keywords.append(("label", label))
        keywords.append(("inside", said.get("label", "True")))
        keywords += [(word, value) for word, value in head.keywords if word == "uniform"]
        made = Line("region", "ptx.if_", [_opposite(condition)], keywords, node=head.node)
        frame.word, frame.body = "if_", frame.body[1:]
        self._add(frame, made, into, depth)
        return True

    def _as_next_block(self, frame: Frame, into: list[Entry]) -> bool:
        """A branch to right behind itself."""
        branch = frame.branches[0]
        if len(frame.body) != 1 or branch.line is not frame.body[0] or not branch.is_plain:
            return False
        branch.is_written = True
        made = self._line("next_block", frame)
        made.node = branch.line.node
        frame.head = made
        into.append(made)
        return True

    # -- names -----------------------------------------------------------------------------------

    def name_regions(self) -> None:
        """Say what each branch leaves or repeats, when all regions are known."""
        for head, loop in self.loops.items():
            if loop.entry is not None:
                self._name(loop.entry)
                head.arguments[:1] = [loop.entry.name]
            for start in loop.starts:
                self._name(loop)
                start.call = f"{loop.name}.start_here"
        for branch in self.branches:
            if not branch.is_written:
                self._name_branch(branch)

    def _name_branch(self, branch: Branch) -> None:
        line, target, innermost = branch.line, branch.target, branch.innermost
        uniform = line.call == "ptx.bra.uni"
        if uniform == bool(line.keywords):
            line.keywords.append(("uniform", str(uniform)))
        verb = "continue_" if target.region.is_loop else "break_"
        if innermost is not None and target in (innermost, innermost.after):
            line.call = f"ptx.{verb}"
            return
        self._name(target)
        line.call = f"{target.name}.{verb}"

    def _name(self, frame: Frame) -> None:
        head = frame.head
        if not frame.name:
            if not head.target:
                word = _NAMES.get(head.call, "loop")
                head.target = self.function.free_name(word, frame.region.label)
            frame.name = str(head.target)


def _entered_inside(
    body: Sequence[Entry],
    places: dict[str, int],
    sources: dict[str, list[int]],
    loops: dict[str, Frame],
    raised: Collection[str],
) -> dict[str, Frame]:
    """Labels inside of loops that only the branch right before the loop leads to."""
    starts = {frame.region.start: frame for frame in loops.values() if frame.entry is None}
    found: dict[str, Frame] = {}
    for label, (source, *others) in sources.items():
        frame = starts.get(source + 1)
        line = body[source]
        if others or label in raised or frame is None or not isinstance(line, Line):
            continue
        plain = line.call == "ptx.bra.uni" and not line.keywords and not line.suffixes
        if plain and places[label] < frame.region.end:
            frame.inside = label
            found[label] = frame
    return found


def _label_argument(argument: Argument) -> str:
    """The label that a branch names."""
    return argument[1:-1] if isinstance(argument, str) and argument[0] == '"' else ""


def _opposite(guard: Argument) -> Argument:
    """The condition under which a guarded branch is not taken."""
    if isinstance(guard, Group) and guard.opening in ("~", "inverted("):
        return guard.parts[0]
    if isinstance(guard, Symbol) and guard.kind == "register" and guard.type == "pred":
        return Group("~", [guard], "")
    return Group("inverted(", [guard], ")")


def _is_head(branch: Line) -> bool:
    """Whether a branch over a block can be an ``if_``."""
    return (
        len(branch.keywords) == 1
        and not isinstance(_opposite(branch.keywords[0][1]), str)
        and all(one.startswith(_SAID_INSIDE) for one in branch.suffixes)
    )


def _said_inside(line: Line) -> Iterator[Line]:
    """What is said of a branch, as statements after it."""
    for suffix in line.suffixes:
        word, _, rest = suffix.partition("(")
        yield Line(word[1:], f"ptx{word}", [rest[:-1]])
