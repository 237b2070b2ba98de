"""Arrays of structures: parameters and shared arrays of parts at fixed places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

from ptxkit.cuda.types import VECTORS, Pointer, Type, Vector
from ptxkit.decompiler.lift.context import Access
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.reading import exit_values
from ptxkit.decompiler.lift.sums import Sum, sum_of
from ptxkit.decompiler.lift.values import Value, Variable

#: What holds structures: a parameter that points to them, or an array by its name.
Holder = Variable | str
#: Where an access is, and how many bits of how many elements it takes.
Part = tuple[int, int, int]
#: What has more bytes than this is no structure that anybody reads whole.
_LARGEST = 1 << 12
#: Compilers make no more turns of a loop one.
_MOST_AT_ONCE = 64
_HALVES = (VECTORS["half2"], VECTORS["bfloat162"])
_ADDRESS = 64
_DIFFERENCES = frozenset(("add", "sub"))
_COMPARISONS = frozenset(("eq", "ne", "lt.u", "le.u", "gt.u", "ge.u"))


@dataclass(eq=False, slots=True)
class Record:
    """What some parameters point to: structures, one after another."""

    wish: str
    """What the class is called; nothing where nobody says."""
    size: int
    parts: frozenset[Part]
    alignment: int
    vector: Vector | None = None
    """The vector that each is, where the function's name tells."""
    lanes: tuple[int, int] | None = None
    """The bits and the number of the parts of the vector that each is, where accesses tell."""

    def place(self, total: Sum) -> tuple[Sum, int]:
        """The bytes up to a structure, and those from there on to an access."""
        inside = total.constant % self.size
        return Sum(total.terms, total.constant - inside), inside

    @property
    def certain(self) -> bool:
        """Whether it cannot be an array of numbers, whatever these are."""
        known = bool(self.wish) or self.vector is not None or self.lanes is not None
        return known or len({p[1:] for p in self.parts}) > 1


@dataclass(eq=False, slots=True)
class _Uses:
    """How a parameter is used."""

    totals: list[tuple[Sum, Access]] = field(default_factory=list)
    moves: list[Sum] = field(default_factory=list)
    """How far from it pointers begin that go on from there, and how far these are moved."""
    otherwise: bool = False
    """Whether anything but an access takes it."""
    beside: list[_Uses] = field(default_factory=list)
    """What it is compared with: places of one array, though two parameters say where they are."""


def find_records(
    program: Program,
    base: Callable[[Value], Value | None],
    declared: Sequence[Type | None],
    classes: Sequence[str],
) -> dict[Holder, Record]:
    """The parameters that point to structures, those of one class to the same ones; and arrays."""
    derived = _derived(program)
    uses = _uses(program, base, derived)
    at_once = _at_once(program)
    groups: dict[object, list[Variable]] = {}
    vectors: dict[object, Vector] = {}
    for number, variable in enumerate(program.parameters):
        one = uses.get(variable)
        if one is None or any(_spoils(two) for two in _together(one)):
            continue
        type = declared[number] if number < len(declared) else None
        target = type.target if isinstance(type, Pointer) else None
        key: object = (classes[number] if number < len(classes) else "") or variable
        if isinstance(target, Vector) and target not in _HALVES:
            vectors[target] = target
            key = target
        elif type is not None:
            continue
        # What is compared is one array, whatever it is of.
        with_it = next((k for k, some in groups.items()
                        if any(uses[v] in _together(one) for v in some)), key)  # fmt: skip
        groups.setdefault(with_it, []).append(variable)
    found: dict[Holder, Record] = {}
    for name, one in uses.items():
        if isinstance(name, str) and not one.otherwise:
            record = _record([one], "", None, array=True, at_once=at_once)
            if record is not None and not any(access.volatile for _, access in one.totals):
                found[name] = record
    for key, variables in groups.items():
        wish = key if isinstance(key, str) else ""
        for some in (variables, *([v] for v in variables)):
            apart = any(two not in [uses[v] for v in some] for v in some for two in uses[v].beside)
            if apart or not found.keys().isdisjoint(some):
                continue
            record = _record([uses[v] for v in some], wish, vectors.get(key), at_once=at_once)
            if record is not None:
                found |= dict.fromkeys(some, record)
    return found | {v: found[of] for v, of in derived.items() if of in found}


def _together(one: _Uses) -> list[_Uses]:
    """What points into the same array as something, and that itself."""
    found = [one]
    for each in found:
        found += [other for other in each.beside if other not in found]
    return found


def _spoils(one: _Uses) -> bool:
    return one.otherwise or any(access.volatile for _, access in one.totals)


def _derived(program: Program) -> dict[Variable, Variable]:
    """Variables that point into what a parameter points to, wherever they are set; and which."""
    found: dict[Variable, Variable] = {v: v for v in program.parameters if v.width == 64}
    sets: dict[Variable, list[Value]] = {}
    other: set[Variable] = set(program.parameters)
    for block in program.flow.blocks.values():
        for step in block.statements:
            for target in step.targets:
                if step.kind == "set" and target.variable.width == 64:
                    sets.setdefault(target.variable, []).append(step.args[0])
                else:
                    other.add(target.variable)
    changed = True
    while changed:
        changed = False
        for variable, values in sets.items():
            if variable in found or variable in other:
                continue
            starts = [_start(value, variable, found) for value in values]
            of = {found[s] for s in starts if s is not None and s is not variable}
            if None not in starts and len(of) == 1:
                found[variable] = of.pop()
                changed = True
    return {v: of for v, of in found.items() if v is not of}


def _start(value: Value, own: Variable, known: Mapping[Variable, Variable]) -> Variable | None:
    """The one pointer that a value begins with."""
    found = [
        (t.data.variable, times) for t, times in sum_of(value).terms.items()
        if t.op == "var" and (t.data.variable is own or t.data.variable in known)
    ]  # fmt: skip
    return found[0][0] if len(found) == 1 and found[0][1] == 1 else None


def holder_of(base: Value) -> Holder | None:
    """What an address begins with, if that may hold structures."""
    if base.op == "var":
        variable: Variable = base.data.variable
        return variable
    return str(base.data[1]) if base.op == "symbol" and base.data[0] == "shared" else None


class _Every(dict[Holder, _Uses]):
    """Uses of parameters, and of whatever arrays there are."""

    def of(self, base: Value | None) -> _Uses | None:
        """The uses of what an address begins with."""
        holder = holder_of(base) if base is not None else None
        if isinstance(holder, str):
            return self.setdefault(holder, _Uses())
        return self.get(holder) if holder is not None else None


def _uses(
    program: Program,
    base: Callable[[Value], Value | None],
    derived: Mapping[Variable, Variable],
) -> dict[Holder, _Uses]:
    """How parameters and arrays are used; what points into one is used as that."""
    found = _Every({v: _Uses() for v in program.parameters if v.width == 64})
    found |= {v: found[of] for v, of in derived.items()}
    seen: set[Value] = set()
    pending: list[Value] = []

    numbers = _single_values(program)

    def accessed(address: Value, access: Access) -> None:
        start = base(address)
        terms = sum_of(address).terms
        own = found.of(start)
        if start is not None and own is not None:
            own.totals.append((sum_of(address).without(start), access))
            pending.extend(t for t in terms if t is not start)
        else:
            pending.append(address)

    for values, store, target in _steps(program):
        if target is not None and target in derived:
            known = {**derived, **{of: of for of in derived.values()}}
            start = _start(values[0], target, known)
            terms = sum_of(values[0]).terms
            first = next(t for t in terms if t.op == "var" and t.data.variable is start)
            found[target].moves.append(sum_of(values[0]).without(first))
            pending.extend(t for t in terms if t is not first)
        elif store is None:
            pending.extend(values)
        else:
            accessed(values[0], store)
            pending.extend(values[1:])
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            if one.op in ("var", "symbol"):
                own = found.of(one)
                if own is not None:
                    own.otherwise = True
            elif one.op in ("load", "atomic"):
                accessed(one.args[0], one.data if one.op == "load" else one.data[1])
                pending.extend(one.args[1:])
            elif (apart := _apart(one, found)) is not None:
                one_end, other_end, rest = apart
                one_end.moves.append(_spelled_out(rest, numbers))
                if one_end is not other_end:
                    one_end.beside.append(other_end)
                    other_end.beside.append(one_end)
                pending.extend(rest.terms)
            else:
                pending.extend(one.args)
    return {variable: one for variable, one in found.items() if one.totals or one.beside}


def _single_values(program: Program) -> dict[Variable, Value]:
    """What variables are that are set once."""
    found: dict[Variable, list[Value | None]] = {}
    for block in program.flow.blocks.values():
        for step in block.statements:
            for target in step.targets:
                value = step.args[0] if step.kind == "set" else None
                found.setdefault(target.variable, []).append(value)
    return {v: some[0] for v, some in found.items() if len(some) == 1 and some[0] is not None}


def _spelled_out(total: Sum, values: Mapping[Variable, Value]) -> Sum:
    """A sum with what variables are in their place: it may be so many whole structures."""
    made = Sum({}, total.constant)
    for term, times in total.terms.items():
        value = values.get(term.data.variable) if term.op == "var" else None
        made.add(Sum({term: 1}) if value is None else sum_of(value), times)
    return made


def _apart(value: Value, found: _Every) -> tuple[_Uses, _Uses, Sum] | None:
    """How far two places of one array are apart, if a value is that, or compares the two."""
    compares = value.op in _COMPARISONS and value.args[0].width == _ADDRESS
    if value.op in _DIFFERENCES:
        total = sum_of(value)
    elif compares:
        total = Sum()
        for argument, factor in zip(value.args, (1, -1), strict=True):
            total.add(sum_of(argument), factor)
    else:
        return None
    known = [(t, k, own) for t, k in total.terms.items() if (own := found.of(t)) is not None]
    if sorted(k for _, k, _ in known) != [-1, 1]:
        return None
    (one, _, first), (two, _, second) = known
    # Of two parameters a comparison tells that they are of one array, a difference does not.
    if first is not second and not compares:
        return None
    return first, second, total.without(one).without(two)


def _steps(
    program: Program,
) -> Iterator[tuple[Sequence[Value], Access | None, Variable | None]]:
    for block in program.flow.blocks.values():
        for step in block.statements:
            target = step.targets[0].variable if step.kind == "set" else None
            yield step.args, step.data if step.kind == "store" else None, target
        yield exit_values(block), None, None


def _at_once(program: Program) -> tuple[int, ...]:
    """How many turns of a loop a compiler may have made one, the most first: what counters tell."""
    found: set[int] = set()
    for block in program.flow.blocks.values():
        for step in block.statements:
            if step.kind != "set" or step.targets[0].variable.width != 32:
                continue
            total = sum_of(step.args[0])
            own = [t for t in total.terms if t.op == "var"
                   and t.data.variable is step.targets[0].variable]  # fmt: skip
            if len(own) == len(total.terms) == 1 and total.terms[own[0]] == 1:
                found.add(abs(total.constant))
    return tuple(sorted((n for n in found if 1 < n <= _MOST_AT_ONCE), reverse=True))


def _repeats(accesses: Sequence[tuple[Sum, Access]], stride: int, times: int) -> bool:
    """Whether a stride is that of so many structures: each of them is read as the others are."""
    if not stride or stride % times:
        return False  # or of one place alone
    size = stride // times
    each: dict[int, set[Part]] = {number: set() for number in range(times)}
    for total, access in accesses:
        place = total.constant % stride
        each[place // size].add((place % size, access.width, access.count))
    return len(each[0]) > 1 and all(some == each[0] for some in each.values())


def _record(
    uses: Sequence[_Uses],
    wish: str,
    vector: Vector | None,
    *,
    array: bool = False,
    at_once: Sequence[int] = (),
) -> Record | None:
    accesses = [access for one in uses for access in one.totals]
    if not accesses:
        return None
    moves = [move for one in uses for move in one.moves]
    stride = gcd(
        *(times for total, _ in accesses for times in total.terms.values()),
        *(times for move in moves for times in (*move.terms.values(), move.constant)),
    )
    stride //= next((n for n in at_once if _repeats(accesses, stride, n)), 1)
    if vector is not None:
        size = vector.size
        if stride % size:
            return None
    else:
        # Of one structure alone nothing but its name tells that there are no numbers in a row.
        size = stride if stride or not wish else _LARGEST
    if not 0 < size <= _LARGEST:
        return None
    parts = frozenset((t.constant % size, a.width, a.count) for t, a in accesses)
    if vector is not None:
        shape: tuple[int, int] | None = (vector.element.bits, vector.count)
    else:
        shape = None if wish or array else _shape(parts, stride)
    if shape is not None:
        one = _singles(parts - {(0, *shape)})
        fits = one and {width for _, width, _ in one} == {shape[0]}
        if fits:
            return Record(wish, size, one, size, vector, None if vector else shape)
        if vector is not None:
            return None
    if not stride and any(t.constant < 0 for t, _ in accesses):
        return None
    largest = max(width // 8 * count for _, width, count in parts)
    # Where two numbers are read at once that are set one by one, they are two.
    end = _end(parts)
    if end is None and (wish or array):
        parts = _singles(parts)
        end = _end(parts)
    if end is None or len(parts) < 2:
        return None
    size = size if stride else -(-end // largest) * largest
    return None if end > size or size % largest else Record(wish, size, parts, largest)


def _shape(parts: Iterable[Part], size: int) -> tuple[int, int] | None:
    """The bits and the number of the parts of vectors that structures of a size are all read as."""
    found = [part for part in parts if part[0] == 0 and part[1] * part[2] == 8 * size]
    return found[0][1:] if len(found) == 1 and found[0][2] in (2, 4) else None


def _singles(parts: Iterable[Part]) -> frozenset[Part]:
    """Each number by itself, of what is accessed several at once."""
    return frozenset((at + k * width // 8, width, 1)
                     for at, width, count in parts for k in range(count))  # fmt: skip


def _end(parts: Iterable[Part]) -> int | None:
    """Where the last one ends, if each begins where one may, and after those before it."""
    end = 0
    for at, width, count in sorted(parts):
        bytes = width // 8 * count
        if at < end or at % bytes:
            return None
        end = at + bytes
    return end
