"""A search for the form of a function that compiles to the very PTX it came from.

It starts at forms that come near. In each step all small changes are tried, first those to
statements whose instructions differ; those that bring the PTX nearer are taken together. What is
found is compared by `same_ptx`, so that a change need not be right to be tried.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import islice
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.lift.rewrite import size
from ptxkit.decompiler.refine.alike import made_alike
from ptxkit.decompiler.refine.compiling import codes
from ptxkit.decompiler.refine.distance import Code, distance
from ptxkit.decompiler.refine.edits import edits
from ptxkit.decompiler.refine.places import BODIES, Edit, Path, applied, nodes_in, statement_of
from ptxkit.decompiler.refine.rewritings import rewritings

#: So many versions are compiled together.
_TOGETHER = 16
#: Which share of the effort is spent when each of the nearest forms was tried once. What is left
#: is for those that this brought nearest.
_SHARES = (0.42, 0.55, 0.6)
#: How often it goes on from another version that is as near, before other forms are tried.
_PATIENCE = 4
#: How many instructions these have at most, at first.
_AT_ONCE = 4000
#: Seconds of computing that are long for so many.
_SLOW = 1.5
#: How many instructions take a compiler as long as it takes for no code at all.
_EACH = 200
#: How many instructions may be compiled for one function: some seconds of computing.
EFFORT = 150_000
#: Functions with more instructions than this are left as they are, but where a form is so near
#: that a few changes to the statements that differ may be all that is missing.
_MOST, _ALMOST = 1000, 10.0
#: What is further away than this share of its instructions is not worth a search.
_FAR = 0.6
#: What is nearer than this share of its instructions comes first, however long its text is.
_NEAR = 0.05
#: How far a form is taken to be away for each of its statements.
_STATEMENT = 0.3
#: How many changes of one kind are tried before some of the next kind.
_FEW = 6
#: Rounds after the first with a nearer version, for others that go together with it.
_ENOUGH = 1
#: A change that brings less than this, or this part of what is left, is taken where no other does.
_WORTH, _PART = 0.5, 0.25
#: Where no more than this is left, this share of the effort is spent on it once more.
_LITTLE, _MORE = 6.0, 0.6
#: How many ways to write a whole function are tried in others, and how often that is done.
_WIDE, _DEEP = 3, 2
#: Changes that often do nothing alone.
_FIRST = frozenset("members remainder spread fuse early split join turn loop guard flag".split())
#: Changes that leave out variables, or name what is written several times; and how many of them
#: are made in what was found.
_SHORTENS, _SHORTER = frozenset(("inline", "join", "name")), 6
#: Changes that people seldom write.
_UNREAD = frozenset(("address", "rebase", "cast", "fused"))
_FAILED = float("inf")


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of the function, and how far its PTX is."""

    function: n.Function
    score: float


_Waiting = list[tuple[float, tuple[int, int], int, n.Function]]


@dataclass(slots=True)
class _Descent:
    """A form to go on from, and what was tried in it."""

    tree: n.CudaModule
    function: n.Function
    """As it is in the tree."""
    version: _Version
    copies: float
    """How far it is at the start where more copies of a loop's text count as none, as a share."""
    known: dict[n.Function, float] = field(default_factory=dict)
    waiting: _Waiting = field(default_factory=list)


@dataclass(slots=True)
class Search:
    """A search for one function; ``effort`` is how many instructions may be compiled for it."""

    original: Code
    name: str
    arch: str
    effort: int = EFFORT
    separate: bool = False
    budget: Budget = UNLIMITED
    """When it ends anyway: some code takes compilers very long."""
    tried: int = 0
    """How many versions were compiled."""
    spent: int = 0
    """How many instructions those had, and what else a compiler takes as long for."""
    limit: float = 0
    more: float = 0
    """What may be spent once where little is left."""
    slowest: float = 0.0
    """Seconds of computing that the last version took a compiler, if it was compiled alone."""
    tree: n.CudaModule = field(default_factory=lambda: n.CudaModule(()))
    known: dict[n.Function, float] = field(default_factory=dict)
    waiting: _Waiting = field(default_factory=list)
    """Versions as near as the nearest, to go on from where nothing is nearer."""
    entered: int = 0
    """How many versions were put there: no two are compared themselves."""
    nearest: float = _FAILED
    together: int = _TOGETHER
    """How many versions are compiled together: fewer where that takes long."""

    @property
    def over(self) -> bool:
        """Whether it took what it may take."""
        return self.spent >= self.limit or self.budget.left <= self.slowest

    def run(self, forms: Iterable[tuple[n.CudaModule, Code]]) -> n.CudaModule | None:
        """The tree whose PTX looks the same, from forms and what the compiler makes of them.

        None if it was not found.
        """
        long = self.length > _MOST
        self.together = min(_TOGETHER, max(1, _AT_ONCE // max(1, self.length)))
        starts = [
            (self._away(score, code), score, function, tree)
            for tree, code in forms
            if (function := self._own(tree)) is not None
            for score in [distance(self.original, code).score]
        ]
        near = _NEAR * self.length

        def worth(away: float, score: float, function: n.Function) -> tuple[bool, float]:
            # What is short is read more easily, and has fewer places to change.
            return score > near, away + _STATEMENT * _length(function)[0]

        starts.sort(key=lambda start: worth(*start[:3]))
        self.limit = self.effort
        descents: list[_Descent] = []
        for away, score, function, tree in starts[: len(_SHARES)]:
            if away > (_ALMOST if long else _FAR * self.length):
                continue
            one = _Descent(tree, function, _Version(function, score), away / score if score else 0)
            self._go_on(one)
            if not long:
                one.version = self._rewritten(one.version)
            descents.append(one)
            if one.version.score == 0 or self.over:
                break

        def order(one: _Descent) -> tuple[bool, tuple[bool, float]]:
            # What is nearer has fewer copies too many, by as much.
            score = one.version.score
            return score > 0, worth(score * one.copies, score, one.version.function)

        descents.sort(key=order)
        if descents and (best := descents[0]).version.score > 0:
            # What brings all of them nearer at first may lead astray.
            score = next(start[1] for start in starts if start[2] is best.function)
            if score > best.version.score:
                version = _Version(best.function, score)
                descents.insert(1, replace(best, version=version, waiting=[]))
        before, self.more = self.spent, _MORE * self.effort
        for patience, shares in ((_PATIENCE, _SHARES), (None, (1.0,) * len(_SHARES))):
            for one, share in zip(descents, shares, strict=False):
                self._go_on(one)
                self.limit = before + share * self.effort
                one.version = self._nearest(one, patience)
                if one.version.score == 0:
                    plain = self._plainer(one.version.function)
                    items = tuple(plain if i is one.function else i for i in one.tree.items)
                    return replace(one.tree, items=items)
            descents.sort(key=order)
        return None

    def _go_on(self, descent: _Descent) -> None:
        """Have the search go on from a form, with what was tried in it."""
        self.tree, self.known, self.waiting = descent.tree, descent.known, descent.waiting
        self.nearest = descent.version.score

    def _away(self, score: float, code: Code) -> float:
        """How far a form is, where more copies of a loop's text count as none.

        How many of them a compiler makes depends on small things in the text.
        """
        return max(score - max(len(code.shapes) - self.length, 0), 0.0)

    def _own(self, tree: n.CudaModule) -> n.Function | None:
        return next((i for i in tree.items if isinstance(i, n.Function) and i.name == self.name
                     and i.body is not None), None)  # fmt: skip

    def _plainer(self, function: n.Function) -> n.Function:
        """The same PTX in a shorter text: not all that led to it was needed for it."""
        for _ in range(_SHORTER):
            shorter = {
                made: None for edit in edits(function)
                if edit.kind in _SHORTENS and (made := applied(function, edit)) is not None
                and size(made) < size(function) and _indexed_sums(made) <= _indexed_sums(function)
            }  # fmt: skip
            some = sorted(shorter, key=size)[:_TOGETHER]
            same = [one for one, score in zip(some, self._scores(some), strict=True) if score == 0]
            if not same:
                break
            function = min(same, key=size)
        return function

    @property
    def length(self) -> int:
        """How many instructions the function has."""
        return len(self.original.shapes)

    def _nearest(self, descent: _Descent, patience: int | None) -> _Version:
        """The nearest version that steps from one to a nearer one lead to.

        Where none is nearer, it goes on from the nearest that it did not go on from yet, but no
        more often than with so much ``patience``: other forms may lead there at once.
        """
        version = best = descent.version
        while best.score > 0:
            if self.over and best.score <= _LITTLE and self.more:
                self.limit += self.more
                self.more = 0.0
            if self.over:
                break
            better = self._step(version)
            if better is not None:
                version = better
                best = min(best, better, key=lambda one: one.score)
                continue
            if patience == 0:
                break
            patience = patience and patience - 1
            later = self._next(best.score)
            if later is None:
                break
            version = later
        return best

    def _rewritten(self, version: _Version) -> _Version:
        """The nearest of the ways to write a whole function, and of ways to write those."""
        some = [version]
        best = version
        for _ in range(_DEEP):
            made = dict.fromkeys(
                other
                for one in some
                for _, other in rewritings(one.function, self.original.indices)
                if other not in self.known
            )
            scores = self._scores(list(made))
            found = [_Version(*pair) for pair in zip(made, scores, strict=True)]
            some = sorted(found, key=lambda one: (one.score, _length(one.function)))[:_WIDE]
            best = min((best, *some), key=lambda one: one.score)
            if best.score == 0 or self.over:
                break
        return best

    def _next(self, score: float) -> _Version | None:
        """Another version that is as near as the nearest: the shortest of them."""
        if not self.waiting or self.waiting[0][0] > score:
            return None
        found, _, _, function = heappop(self.waiting)
        return _Version(function, found)

    def _step(self, version: _Version) -> _Version | None:
        """A nearer version by one change, or by several that each bring it nearer."""
        hot = self._differing(version.function)
        beside = hot | {
            (*p[:-1], p[-1] + k) for p in hot for k in (-1, 1) if isinstance(p[-1], int)
        }
        better: list[tuple[float, Edit]] = []
        for places, order in (
            (hot, self.original.indices),
            (beside, ()),
            (_related(version.function, hot), ()),
        ):
            better += self._better(version, _sorted(edits(version.function, places, order)))
            best = min((score for score, _ in better), default=version.score)
            # A small step may lead away from a large one.
            if version.score - best >= min(_WORTH, _PART * version.score) or self.over:
                break
        if not better:
            better = self._better(version, _sorted(edits(version.function)))
        if better:
            better.sort(key=lambda one: (one[0], *_last_choice(one[1])))
            return self._together(version, [edit for _, edit in better])
        return self._pair(version, beside)

    def _better(self, version: _Version, some: Iterable[Edit]) -> list[tuple[float, Edit]]:
        """Changes that bring a version nearer: those of the first few that do."""
        better: list[tuple[float, Edit]] = []
        rounds = 0
        for batch in _batches(some):
            changed = [(edit, applied(version.function, edit)) for edit in batch]
            made = [(edit, one) for edit, one in changed if one and one not in self.known]
            scores = self._scores([one for _, one in made])
            better += [(score, edit) for score, (edit, _) in zip(scores, made, strict=True)
                       if score < version.score]  # fmt: skip
            rounds += bool(better)
            if self.over or rounds > _ENOUGH or any(score == 0 for score, _ in better):
                break
        return better

    def _pair(self, version: _Version, places: set[Path]) -> _Version | None:
        """A nearer version by two changes that alone bring nothing."""
        for edit in edits(version.function, places):
            if edit.kind not in _FIRST:
                continue
            one = applied(version.function, edit)
            if one is None or self.known.get(one, _FAILED) > version.score:
                continue
            for batch in _batches(_sorted(edits(one, places))):
                made = [two for edit in batch if (two := applied(one, edit)) is not None]
                scores = self._scores(made)
                best = min(zip(scores, range(len(made)), strict=True), default=(_FAILED, 0))
                if best[0] < version.score:
                    return _Version(made[best[1]], best[0])
                if self.over:
                    return None
        return None

    def _together(self, version: _Version, better: list[Edit]) -> _Version:
        """As many of the changes as go together, the best of them first."""
        first = applied(version.function, better[0])
        assert first is not None
        everywhere = made_alike(version.function, better[0])
        scores = self._scores([first, everywhere])
        score, place = min((score, place) for place, score in enumerate(scores))
        now = _Version((first, everywhere)[place], score)
        left = better[1 : _TOGETHER + 1]
        while left and now.score > 0 and not self.over:
            chain: list[n.Function] = []
            for edit in left:
                chain.append(applied(chain[-1] if chain else now.function, edit) or now.function)
            scores = self._scores(chain)
            score, place = min((score, place) for place, score in enumerate(scores))
            if score < now.score:
                now = _Version(chain[place], score)
                left = left[place + 2 :]  # the next one did not go with it
            else:
                left = left[1:] if len(left) < 4 else left[len(left) // 2 :]
        return now

    def _scores(self, functions: list[n.Function]) -> list[float]:
        unknown = list(dict.fromkeys(one for one in functions if one not in self.known))
        while unknown:
            some, unknown = unknown[: self.together], unknown[self.together :]
            begin = time.process_time()
            self._compile(some)
            taken = time.process_time() - begin
            self.slowest = taken / len(some)
            if taken > _SLOW:
                self.together = max(1, self.together // 2)
            if self.over:
                break
        return [self.known.get(one, _FAILED) for one in functions]

    def _compile(self, functions: list[n.Function]) -> None:
        self.tried += len(functions)
        self.spent += _EACH + len(functions) * self.length
        made = codes(self.tree, self.name, functions, self.arch, separate=self.separate)
        for function, code in zip(functions, made, strict=True):
            score = _FAILED if code is None else distance(self.original, code).score
            self.known[function] = score
            if score <= self.nearest:
                self.nearest = score
                self.entered += 1
                entry = score, _length(function), self.entered, function
                heappush(self.waiting, entry)

    def _differing(self, function: n.Function) -> set[Path]:
        """The statements whose instructions are not those of the original."""
        paths: list[Path] = []
        marked = _marked(function, (), paths)
        self.spent += _EACH + self.length
        made = codes(self.tree, self.name, [marked], self.arch, separate=self.separate,
                     line_info=True)[0]  # fmt: skip
        if made is None:
            return set()
        # The markers are statements of no effect: the line tells which one is meant.
        found = {made.lines[k] for k in distance(self.original, made).places}
        return {paths[line // 100 - 1] for line in found if 100 <= line < 100 * len(paths) + 100}


def _last_choice(edit: Edit) -> tuple[bool, int]:
    """Which of two changes is made that bring as much: what people write, and deep inside."""
    return edit.kind in _UNREAD, -len(edit.path)


def _length(function: n.Function) -> tuple[int, int]:
    """How long a function is: its statements, then everything in it."""
    nodes = [node for _, node in nodes_in(function)]
    return sum(isinstance(node, n.Declare | n.Assign) for node in nodes), len(nodes)


def _indexed_sums(function: n.Function) -> int:
    """How often an element is that of a sum, ``(x + i)[k]``: people name such a pointer."""
    nodes = (node for _, node in nodes_in(function))
    return sum(isinstance(node, n.Index) and isinstance(node.base, n.Binary) for node in nodes)


def _related(function: n.Function, places: set[Path]) -> set[Path]:
    """The statements that declare what some read, and those that read what these declare.

    What is computed before a loop is read by what is in it.
    """
    declared: dict[str, Path] = {}
    readers: dict[str, set[Path]] = {}
    loops: set[Path] = set()
    for path, node in nodes_in(function):
        if isinstance(node, n.Declare):
            declared[node.name] = path
        elif isinstance(node, n.Name):
            reader = statement_of(path)
            around = {reader[:k] for k in range(2, len(reader), 2)} & loops
            readers.setdefault(node.name, set()).update((reader, *around))
        elif isinstance(node, n.For | n.While | n.DoWhile) and path in places:
            loops.add(path)
    found: set[Path] = set()
    for name, path in declared.items():
        own = readers.get(name, set())
        if path in places:
            found |= own
        elif own & places:
            found.add(path)
    return found - places


def _sorted(some: Iterable[Edit]) -> list[Edit]:
    """Changes with a few of every kind first, then some more of every kind, and so on."""
    seen: Counter[str] = Counter()
    keys: list[tuple[int, int, Edit]] = []
    for edit in some:
        keys.append((seen[edit.kind] // _FEW, _KINDS[edit.kind], edit))
        seen[edit.kind] += 1
    return [edit for *_, edit in sorted(keys, key=lambda key: key[:2])]


def _batches(some: Iterable[Edit]) -> Iterator[list[Edit]]:
    left = iter(some)
    while batch := list(islice(left, _TOGETHER)):
        yield batch


#: What is tried first.
_KINDS = {kind: place for place, kind in enumerate((
    "tidy", "shape", "members", "ldg", "memory", "pointee", "swap", "whole", "indices", "rebase",
    "remainder", "balance", "expand", "factor", "bit", "flag", "move", "group", "spread", "address",
    "index", "load", "name", "split", "join", "turn", "loop", "leave", "early", "sign", "width",
    "fuse", "inline", "sink", "raise", "guard", "choice", "branch", "start", "unroll", "restrict",
    "cast", "power", "fused",
))}  # fmt: skip


def _marked(node: Any, path: Path, paths: list[Path]) -> Any:
    """The tree with the number of each statement in front of it, as ``#line`` has it."""
    changes: dict[str, Any] = {}
    kind: type = type(node)
    for name in n.branches(kind):
        value = getattr(node, name)
        if name in BODIES and value is not None:
            made: list[n.Statement] = []
            for number, statement in enumerate(value):
                here = (*path, name, number)
                paths.append(here)
                made.append(n.Comment(f"\n#line {100 * len(paths)}"))
                made.append(_marked(statement, here, paths))
            changes[name] = tuple(made)
        elif isinstance(value, tuple) and value and isinstance(value[0], n.Case):
            changes[name] = tuple(
                _marked(case, (*path, name, k), paths) for k, case in enumerate(value)
            )
    return replace(node, **changes) if changes else node
