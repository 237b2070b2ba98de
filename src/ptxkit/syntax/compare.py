"""What differs between two modules, by function and by instruction.

>>> import ptxkit
>>> from ptxkit.syntax import compare
>>> a = ptxkit.parse(".func f() { .reg .f32 x; add.f32 x, x, 0f3F800000; ret; }", "a.ptx")
>>> b = ptxkit.parse(".func f() { .reg .f32 y; sub.f32 y, y, 0f3F800000; ret; }", "b.ptx")
>>> print(compare.diff(a, b, alpha=True).render())
--- a.ptx
+++ b.ptx
@@ f, lines 1 and 1 @@
  .func f
  {
- add.f32 x, x, 0f3F800000;
+ sub.f32 y, y, 0f3F800000;
  ret;
  }
1 function differs
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from ptxkit.errors import UsageError
from ptxkit.syntax.alignment import Edit, Run, align, edits, hunks
from ptxkit.syntax.declarations import Function
from ptxkit.syntax.module import Module, parse
from ptxkit.syntax.renaming import align_up_to_renaming, equal_up_to_renaming
from ptxkit.syntax.statements import Statement, StatementReader

Status = Literal["equal", "changed", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Change:
    """A run of statements: the same on both sides, or what stands in each other's place."""

    a: tuple[Statement, ...]
    b: tuple[Statement, ...]
    equal: bool

    @property
    def kind(self) -> str:
        """``"equal"``, ``"replace"``, ``"delete"`` or ``"insert"``."""
        if self.equal:
            return "equal"
        return ("replace" if self.b else "delete") if self.a else "insert"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for `json.dumps`."""
        sides = {"a": self.a, "b": self.b}
        return {
            "kind": self.kind,
            **{k: [{"line": s.line, "text": s.text} for s in v] for k, v in sides.items()},
        }


@dataclass(frozen=True, slots=True)
class FunctionDiff:
    """How one function, or what stands outside functions, differs."""

    name: str
    """The function's name; ``""`` for the declarations of the module."""
    status: Status
    """"equal", "changed", "removed" (only in a) or "added" (only in b)."""
    changes: tuple[Change, ...] = field(default=(), repr=False)
    """All statements, in order, where the status is "changed"."""
    instructions: tuple[int, int] = (0, 0)
    """How many instructions each side has."""

    @property
    def equal(self) -> bool:
        """True where there is no difference."""
        return self.status == "equal"

    @property
    def differences(self) -> tuple[Change, ...]:
        """The changes that are not equal runs."""
        return tuple(change for change in self.changes if not change.equal)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for `json.dumps`; without the equal statements."""
        return {
            "name": self.name,
            "status": self.status,
            "instructions": list(self.instructions),
            "changes": [change.to_dict() for change in self.differences],
        }


@dataclass(frozen=True, slots=True)
class ModuleDiff:
    """How two modules differ. See :func:`diff`."""

    filenames: tuple[str, str]
    alpha: bool
    """True where the names of registers and labels do not count."""
    declarations: FunctionDiff
    """What stands outside functions."""
    functions: tuple[FunctionDiff, ...]
    """The functions of a in their order, then those only b has."""

    @property
    def equal(self) -> bool:
        """True where there is no difference at all."""
        return self.declarations.equal and all(one.equal for one in self.functions)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for `json.dumps`."""
        return {
            "a": self.filenames[0],
            "b": self.filenames[1],
            "alpha": self.alpha,
            "equal": self.equal,
            "declarations": self.declarations.to_dict(),
            "functions": [one.to_dict() for one in self.functions],
        }

    def render(self, context: int = 3) -> str:
        """The differences as text: ``-`` only in a, ``+`` only in b, and a summary.

        ``context`` is how many equal statements are shown around each difference.

        >>> import ptxkit
        >>> m = ptxkit.parse(".func f() { ret; }", "k.ptx")
        >>> diff(m, m).render()
        'k.ptx and k.ptx are the same: 1 function'
        """
        if context < 0:
            raise UsageError(f"the context is a number of statements, not {context}")
        if self.equal:
            return self.summary()
        a, b = self.filenames
        lines = [f"--- {a}", f"+++ {b}"]
        for one in (self.declarations, *self.functions):
            if one.status == "changed":
                for hunk in _hunks(one.changes, context):
                    lines.append(f"@@ {one.name or 'declarations'}, {_where(hunk)} @@")
                    lines += [f"{mark} {statement.text}" for mark, statement in _marked(hunk)]
        for status, side, name in (("removed", 0, a), ("added", 1, b)):
            for one in self.functions:
                if one.status == status:
                    size = _count(one.instructions[side], "instruction")
                    lines.append(f"only in {name}: {one.name} ({size})")
        return "\n".join([*lines, self.summary()])

    def summary(self) -> str:
        """The outcome in one line."""
        a, b = self.filenames
        if self.equal:
            names = " up to the names of registers and labels" if self.alpha else ""
            total = _count(len(self.functions), "function")
            return f"{a} and {b} are the same{names}: {total}"
        status = [one.status for one in self.functions]
        parts = ["the declarations differ"] if not self.declarations.equal else []
        if changed := status.count("changed"):
            parts.append(_count(changed, "function") + (" differs" if changed == 1 else " differ"))
        parts += [
            f"{_count(n, 'function')} only in {name}"
            for name, n in ((a, status.count("removed")), (b, status.count("added")))
            if n
        ]
        if equal := status.count("equal"):
            parts.append(f"{_count(equal, 'function')} equal")
        return ", ".join(parts)


def diff(
    a: Module | str | bytes,
    b: Module | str | bytes,
    alpha: bool = False,
    *,
    functions: str | None = None,
    debug: bool = True,
) -> ModuleDiff:
    """Compare two modules by structure: white space and comments do not count.

    Functions are paired by name and their statements lined up. With ``alpha`` the names of
    registers and labels do not count: two functions are equal where one renaming, which
    keeps the declared types, turns one into the other; registers that are declared and never
    used do not count then. ``functions`` is a glob: only functions whose names match are
    compared, and no declarations. ``debug=False`` leaves out ``.loc``, ``.file`` and debug
    sections.

    >>> import ptxkit
    >>> a = ptxkit.parse(".func f() { .reg .b32 %r<2>; L: mov.b32 %r1, 1; bra L; }")
    >>> b = ptxkit.parse(".func f() { .reg .b32 x; again: mov.b32 x, 1; bra again; }")
    >>> diff(a, b).equal, diff(a, b, alpha=True).equal
    (False, True)
    """
    first, second = (
        one if isinstance(one, Module) else parse(one, filename=name)
        for one, name in ((a, "<a>"), (b, "<b>"))
    )
    pairs = list(_paired(first, second, functions))
    if functions is not None and not pairs:
        raise UsageError(
            f"no function of {first.filename} or {second.filename} has a name like '{functions}'"
        )
    reader_a = StatementReader(first, debug=debug, names=not alpha)
    reader_b = StatementReader(second, debug=debug, names=not alpha)
    declarations = FunctionDiff("", "equal")
    if functions is None:
        declarations = _compared("", reader_a.of_module(), reader_b.of_module(), False)
    return ModuleDiff(
        (first.filename, second.filename),
        alpha,
        declarations,
        tuple(_compare_functions(x, y, reader_a, reader_b, alpha) for x, y in pairs),
    )


_Pair = tuple[Function | None, Function | None]


def _paired(a: Module, b: Module, pattern: str | None) -> Iterator[_Pair]:
    """Functions of the same name; a prototype goes with a prototype."""
    waiting: dict[tuple[str, bool], list[Function]] = defaultdict(list)
    for function in b.functions:
        if pattern is None or fnmatchcase(function.name, pattern):
            waiting[function.name, function.has_body].append(function)
    for function in a.functions:
        if pattern is None or fnmatchcase(function.name, pattern):
            partners = waiting[function.name, function.has_body]
            yield function, partners.pop(0) if partners else None
    for function in sorted((f for rest in waiting.values() for f in rest), key=lambda f: f.span):
        yield None, function


def _compare_functions(
    a: Function | None,
    b: Function | None,
    reader_a: StatementReader,
    reader_b: StatementReader,
    alpha: bool,
) -> FunctionDiff:
    sizes = (len(a.instructions) if a else 0, len(b.instructions) if b else 0)
    if a is None or b is None:
        name = a.name if a else b.name if b else ""
        return FunctionDiff(name, "removed" if a else "added", (), sizes)
    if a.text == b.text:
        return FunctionDiff(a.name, "equal", (), sizes)
    found = _compared(a.name, reader_a.of_function(a), reader_b.of_function(b), alpha)
    return replace(found, instructions=sizes)


def _compared(
    name: str, a: Sequence[Statement], b: Sequence[Statement], alpha: bool
) -> FunctionDiff:
    keys_a, keys_b = [s.key for s in a], [s.key for s in b]
    if equal_up_to_renaming(a, b) if alpha else keys_a == keys_b:
        return FunctionDiff(name, "equal")
    runs = align_up_to_renaming(a, b) if alpha else align(keys_a, keys_b)
    return FunctionDiff(name, "changed", tuple(_changes(a, b, runs)))


def _changes(
    a: Sequence[Statement], b: Sequence[Statement], runs: Sequence[Run]
) -> Iterator[Change]:
    for equal, low_a, high_a, low_b, high_b in edits(runs, len(a), len(b)):
        yield Change(tuple(a[low_a:high_a]), tuple(b[low_b:high_b]), equal)


def _hunks(changes: Sequence[Change], context: int) -> Iterator[list[Change]]:
    """The differences with some equal statements around them."""
    a, b = [s for c in changes for s in c.a], [s for c in changes for s in c.b]
    places: list[Edit] = []
    at_a = at_b = 0
    for change in changes:
        end_a, end_b = at_a + len(change.a), at_b + len(change.b)
        places.append((change.equal, at_a, end_a, at_b, end_b))
        at_a, at_b = end_a, end_b
    for hunk in hunks(places, context):
        yield [Change(tuple(a[i:j]), tuple(b[k:n]), equal) for equal, i, j, k, n in hunk]


def _where(hunk: Sequence[Change]) -> str:
    """The first line of the hunk on each side that has one."""
    sides = [s for c in hunk for s in c.a], [s for c in hunk for s in c.b]
    lines = [str(side[0].line) for side in sides if side]
    return f"lines {lines[0]} and {lines[1]}" if len(lines) == 2 else f"line {lines[0]}"


def _marked(hunk: Sequence[Change]) -> Iterator[tuple[str, Statement]]:
    for change in hunk:
        if change.equal:
            yield from ((" ", statement) for statement in change.a)
        else:
            yield from (("-", statement) for statement in change.a)
            yield from (("+", statement) for statement in change.b)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")
