"""From effects over values to words: which values get a variable, and in what order all is said.

A value that is used more than once is computed once, by a ``let`` before its first use; one
that reads what changes before a use is computed before that change. The words are a program in
prefix form: each word says how many parts follow it, so no parentheses are needed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from ptxkit.decompiler.neural.numbers import number_word
from ptxkit.decompiler.neural.orders import Orders
from ptxkit.decompiler.neural.program import Effect, Program
from ptxkit.decompiler.neural.unsupported import UnsupportedError
from ptxkit.decompiler.neural.values import COMMUTATIVE, Value, is_literal

Path = tuple[int, ...]
#: A value smaller than this is said again rather than given a variable.
SMALL = 4
_LAZY = {"&&": (0,), "||": (0,)}


@dataclass(slots=True)
class _Site:
    """Where a value is said: the place of the effect, and whether it is always evaluated."""

    path: Path
    always: bool
    asked: bool = False
    """In the condition of a loop, where no variable can be put before it."""


@dataclass(slots=True)
class _Plan:
    """What is decided about the values of a program."""

    sites: dict[int, list[_Site]] = field(default_factory=dict)
    ended: dict[tuple[str, int], Path] = field(default_factory=dict)
    bound: dict[int, Path] = field(default_factory=dict)
    begun: dict[Path, frozenset[str]] = field(default_factory=dict)


def _trivial(value: Value) -> bool:
    if value.operator.startswith("load"):
        return value.size <= 2 * SMALL
    return value.size < SMALL


class Schedule:
    """Says a program in words."""

    def __init__(
        self, program: Program, *, ordered: bool = False, orders: Orders | None = None
    ) -> None:
        self.program = program
        self.ordered = ordered
        self.orders = orders
        self.plan = _Plan()
        self.words: list[str] = []
        self.names: dict[str, str] = {}
        self.variables: dict[int, str] = {}
        self.keys: dict[int, bytes] = {}
        self.roots: list[Value] = []

    def run(self) -> list[str]:
        """All words: parameters, body, end."""
        self._collect(self.program.body, ())
        self._decide()
        self.words = list(self.program.parameters)
        self._block(self.program.body, ())
        return self.words

    # ---- where values are used -----------------------------------------------------------

    def _collect(self, block: list[Effect], prefix: Path) -> None:
        for number, effect in enumerate(block):
            path = (*prefix, number)
            loop = effect.word in ("while", "do")
            for operand in effect.operands:
                self.roots.append(operand)
                self._site(operand, _Site(path, True, loop))
            for state in effect.ends:
                known = self.plan.ended.get(state)
                if known is None or path < known:
                    self.plan.ended[state] = path
            if loop:
                self.plan.begun[path] = frozenset(_set_names(effect.blocks))
            for which, inner in enumerate(effect.blocks):
                self._collect(inner, (*path, which))

    def _site(self, value: Value, site: _Site) -> None:
        self.plan.sites.setdefault(id(value), []).append(site)

    def _decide(self) -> None:
        """Parents before their operands: where a parent is said, its operands are."""
        nodes = {id(v): v for root in self.roots for v in root.walk()}
        for value in sorted(nodes.values(), key=lambda v: -v.serial):
            sites = self.plan.sites.get(id(value), [])
            place = self._binding(value, sites)
            if place is not None:
                self.plan.bound[id(value)] = place
                kept = [s for s in sites if s.asked and self._turns(value, s.path)]
                sites = [_Site(place, True), *kept]
            lazy = _LAZY.get(value.operator)
            if value.operator.startswith("?."):
                lazy = (0,)
            for number, operand in enumerate(value.operands):
                always = lazy is None or number in lazy
                for site in sites:
                    self._site(operand, _Site(site.path, site.always and always, site.asked))

    def _turns(self, value: Value, path: Path) -> bool:
        """Whether a value changes from round to round of a loop."""
        return any(name in self.plan.begun.get(path, ()) for name, _ in value.reads)

    def _binding(self, value: Value, sites: list[_Site]) -> Path | None:
        """Where a value gets its variable; None where it does not need one."""
        # A variable may need one too: where it is set before its old content is used last.
        if is_literal(value) or value.operator in ("symbol", "special", "parameter"):
            return None
        usable = [s for s in sites if not (s.asked and self._turns(value, s.path))]
        if not usable:
            return None
        limit = min((self.plan.ended[s] for s in value.reads if s in self.plan.ended),
                    default=None)  # fmt: skip
        late = limit is not None and any(s.path > limit for s in usable)
        if not late and (len(usable) < 2 or _trivial(value)):
            return None
        if not late and value.loads and not any(s.always for s in usable):
            return None
        if not late and value.operator == "variable":
            return None
        paths = [s.path for s in usable]
        if late and limit is not None:
            paths.append(limit)
        place = _before(paths)
        if not late and value.loads:
            depth = len(place)
            if not any(s.always and len(s.path) == depth for s in usable):
                return None
        return place

    # ---- saying it -----------------------------------------------------------------------

    def _block(self, block: list[Effect], prefix: Path) -> None:
        by_place: dict[int, list[Value]] = {}
        nodes = {id(v): v for root in self.roots for v in root.walk()}
        for identity, path in self.plan.bound.items():
            if path[:-1] == prefix:
                by_place.setdefault(path[-1], []).append(nodes[identity])
        for number, effect in enumerate(block):
            waiting = by_place.get(number, [])
            if waiting:
                self._lets(waiting, effect)
            self._effect(effect, (*prefix, number))
        self.words.append("end")

    def _lets(self, values: list[Value], effect: Effect) -> None:
        """Variables before an effect, in the order in which the effect would compute them."""
        order: dict[int, Value] = {}
        wanted = {id(v) for v in values}

        def visit(value: Value) -> None:
            if id(value) in self.variables:
                return
            for operand in self._operands(value):
                visit(operand)
            if id(value) in wanted:
                order.setdefault(id(value), value)

        for operand in effect.operands:
            visit(operand)
        for value in sorted(values, key=lambda v: v.serial):
            visit(value)
        for value in order.values():
            self.words.append(f"let.{value.type}")
            self._value(value, top=True)
            self.variables[id(value)] = self._new_variable()

    def _new_variable(self) -> str:
        name = f"v{len(self.names)}"
        self.names[f"#{len(self.names)}"] = name
        return name

    def _effect(self, effect: Effect, path: Path) -> None:
        word = effect.word
        head = word.partition(".")[0]
        self.words.append(word)
        if head == "let":
            self._value(effect.operands[0])
            self.names[effect.name] = f"v{len(self.names)}"
            return
        if head == "shared":
            self.words.append(str(effect.count))
        if head == "set":
            self.words.append(self._named(effect.name))
        if word == "do":
            self._block(effect.blocks[0], (*path, 0))
            self._value(effect.operands[0], asked=path)
            return
        for operand in effect.operands:
            self._value(operand, asked=path if word == "while" else None)
        for which, inner in enumerate(effect.blocks):
            self._block(inner, (*path, which))

    def _named(self, variable: str) -> str:
        """The word of a variable that was said before."""
        found = self.names.get(variable)
        if found is None:
            raise UnsupportedError("a variable that is used before it is declared")
        return found

    def _operator(self, value: Value) -> str:
        """In one order, `a > b` is said as `b < a`."""
        return value.operator.replace(">", "<") if self._mirrored(value) else value.operator

    def _mirrored(self, value: Value) -> bool:
        return self.ordered and value.type == "b" and value.operator[0] == ">"

    def _operands(self, value: Value) -> tuple[Value, ...]:
        if self.ordered and value.operator in COMMUTATIVE:
            return tuple(sorted(value.operands, key=self._key))
        if self.orders is not None:
            return self.orders.arranged(value)
        return value.operands[::-1] if self._mirrored(value) else value.operands

    def _key(self, value: Value) -> bytes:
        """The same for values that differ in the order of operands only."""
        known = self.keys.get(id(value))
        if known is None:
            parts = [self._key(o) for o in self._operands(value)]
            payload = "" if value.operator == "variable" else repr(value.payload)
            digest = hashlib.blake2b(f"{self._operator(value)} {value.type} {payload}".encode())
            for part in parts:
                digest.update(part)
            known = self.keys[id(value)] = digest.digest()
        return known

    def _value(self, value: Value, *, top: bool = False, asked: Path | None = None) -> None:
        name = self.variables.get(id(value))
        fresh = asked is not None and self._turns(value, asked)
        if name is not None and not top and not fresh:
            self.words.append(name)
        elif is_literal(value):
            self.words += [f"literal.{value.type}", number_word(value.payload, value.type)]
        elif value.operator == "variable":
            self.words.append(self._named(str(value.payload)))
        elif value.operator in ("special", "parameter", "symbol"):
            self.words.append(str(value.payload))
        else:
            self.words.append(self._operator(value))
            for operand in self._operands(value):
                self._value(operand, asked=asked)


def _set_names(blocks: tuple[list[Effect], ...]) -> set[str]:
    """Variables and arrays that change inside."""
    found: set[str] = set()
    for block in blocks:
        for effect in block:
            if effect.word.startswith("set."):
                found.add(effect.name)
            found |= {name for name, _ in effect.ends}
            found |= _set_names(effect.blocks)
    return found


def _before(paths: list[Path]) -> Path:
    """The last place that comes before all of them and is in a block around all of them."""
    first = min(paths)
    shortest = min(map(len, paths))
    depth = 0
    # Blocks are numbered at odd depths: two places share a block if they agree up to it.
    while depth + 2 < shortest and all(p[: depth + 2] == first[: depth + 2] for p in paths):
        depth += 2
    return (*first[:depth], min(p[depth] for p in paths))


def words_of(program: Program, *, ordered: bool = False, orders: Orders | None = None) -> list[str]:
    """The words of a program.

    `ordered` puts commutative operands into one order, `orders` into that of a PTX function.
    """
    return Schedule(program, ordered=ordered, orders=orders).run()
