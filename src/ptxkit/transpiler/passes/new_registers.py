"""Registers as Python names: the first instruction that writes one makes it.

``ptx.add.s32(r[3], r[1], 4)`` becomes ``r3 = ptx.add.s32.new(r1, 4)``. Compilers number
registers in the order they come to them, and ``ptx.registers`` does so, too; where they come in
another order, that is said with the range, ``"%r<28> 7 1-3"``.

A register that is read before it is written, or first written by what gives no single result,
stays ``r[3]``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap

from ptxkit.dsl.declarations import CONVENTIONS
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.instructions import result_of
from ptxkit.dsl.pools import TYPES_BY_PREFIX, order_text, pool_type
from ptxkit.syntax import Instruction
from ptxkit.transpiler.tree import (
    NO_NAMES,
    Argument,
    Entry,
    FunctionSuite,
    Group,
    Line,
    Names,
    Site,
    Symbol,
    mapped,
    quoted,
    used_symbols,
    walk,
)

_WIDTH = 94


class Range:
    """A range of registers that new ones are taken from."""

    __slots__ = ("line", "numbers", "prefix", "type")

    def __init__(self, line: Line, type: str, prefix: str) -> None:
        self.line = line
        self.type = type
        self.prefix = prefix
        self.numbers: list[int] = []
        """Numbers of registers in the order they are made."""


class Made:
    """A line that makes registers."""

    __slots__ = ("line", "numbers", "predicate", "range", "said", "symbols", "word")

    def __init__(self, line: Line, range: Range, symbols: list[Symbol]) -> None:
        self.line = line
        self.range = range
        self.symbols = symbols
        self.numbers = [int(symbol.ptx.removeprefix(range.prefix)) for symbol in symbols]
        self.word = "new"
        """The method that makes them."""
        self.predicate: Made | None = None
        """The second result of ``a|p``."""
        self.said: list[tuple[str, Argument]] = []
        """What the method must be told."""


class NewRegisters:
    """The pass."""

    name = "new registers"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Give Python names to registers, but for those made by the lines to skip."""
        ranges = _ranges(function.body)
        if not ranges:
            return function
        made, kept = _made(function.body, ranges, skip)
        names: dict[Symbol, str] = {}
        for one in made:
            for symbol in one.symbols:
                names[symbol] = function.free_name(symbol.ptx, symbol)
        new = _numbered(made)
        first, others = _declaration(ranges, kept)

        def change(line: Line) -> Sequence[Entry]:
            if line in new:
                return new[line]
            if line is first[0]:
                return [first[1]]
            return () if line in others else [line]

        sites = [_site(one.line) for one in made]
        body = mapped(function.body, change)
        return function.rewritten(body, sites, names)


def _site(line: Line) -> Site:
    assert line.node is not None
    return Site(line.node.index, line.node.index + 99, line.node.index)


def _index(line: Line) -> int:
    return -1 if line.node is None else line.node.index


def _ranges(body: Sequence[Entry]) -> dict[str, Range]:
    """The ranges at the head of a function by type, where one call can declare them all."""
    found: dict[str, Range] = {}
    lines: list[Line] = []
    for at, entry in enumerate(body):
        if isinstance(entry, Line) and entry.kind == "register" and not entry.suffixes:
            type = entry.call.removeprefix("reg.")
            shape = str(entry.arguments[0])[1:-1] if len(entry.arguments) == 1 else ""
            if entry.keywords or not shape.endswith(">") or type not in CONVENTIONS:
                if lines:
                    break
                continue
            if type in found or (lines and body[at - 1] is not lines[-1]):
                break
            found[type] = Range(entry, type, shape.partition("<")[0])
            lines.append(entry)
        elif lines:
            break
    return found


def _made(
    body: Sequence[Entry], ranges: dict[str, Range], skip: frozenset[int]
) -> tuple[list[Made], set[str]]:
    """The lines that make registers, and the ranges that are still needed by name."""
    seen: set[Symbol] = set()
    named: set[Symbol] = set()
    kept: set[str] = set()
    made: list[Made] = []
    uses = Counter(symbol for line in walk(body) for symbol in used_symbols(line))
    for line in walk(body):
        one = None
        if line.kind == "instruction" and line.arguments and _index(line) not in skip:
            one = _result(line, ranges)
        used = list(used_symbols(line))
        if one is not None:
            count = len(one.symbols) + (one.predicate is not None)
            written, used = used[:count], used[count:]
            if one.predicate is not None and uses[written[-1]] > 1:
                one, used = None, used + written
        if one is not None:
            fresh = len(set(written)) == count and seen.isdisjoint(written)
            if fresh and not set(written).intersection(used):
                seen.update(written)
                named.update(written)
                made.append(one)
                if one.predicate is not None:
                    made.append(one.predicate)
            else:
                used += written
        for symbol in used:
            if symbol.kind == "element" or (symbol.kind == "register" and symbol not in named):
                kept.add(symbol.python.partition("[")[0])
        seen.update(used)
    return made, kept


def _result(line: Line, ranges: dict[str, Range]) -> Made | None:
    """The registers that a line writes, where they are what ``.new`` would make."""
    node = line.node
    first = line.arguments[0]
    if not isinstance(node, Instruction) or line.call.startswith("ptx.unchecked"):
        return None
    if ".tight()" in line.suffixes or (line.suffixes and line.call.startswith("ptx.asm.")):
        return None
    try:
        type, count = result_of(node.opcode)
    except DslError:
        return None
    if isinstance(first, Symbol):
        return _single(line, first, type, ranges) if not count else None
    if not isinstance(first, Group):
        return None
    symbols = [part for part in first.parts if isinstance(part, Symbol)]
    if len(symbols) != len(first.parts) or not symbols:
        return None
    if first.opening == "pair(" and not count:
        made = _single(line, symbols[0], type, ranges)
        predicate = _single(line, symbols[1], "pred", ranges)
        if made is None or made.said or predicate is None:
            return None
        made.word, made.predicate = "paired", predicate
        return made
    if first.opening != "[":
        return None
    if node.name == "mov" and not count and len(symbols) == 2:
        width = node.opcode.rpartition(".b")[2]
        if not width.isdecimal():
            return None
        made = _several(line, symbols, f"b{int(width) // 2}", ranges)
        if made is not None:
            made.word = "halves"
        return made
    return _several(line, symbols, type, ranges) if count == len(symbols) else None


def _single(line: Line, symbol: Symbol, type: str, ranges: dict[str, Range]) -> Made | None:
    return _several(line, [symbol], type, ranges)


def _several(line: Line, symbols: list[Symbol], type: str, ranges: dict[str, Range]) -> Made | None:
    """Registers of one range whose numbers follow each other."""
    if any(symbol.kind != "register" or symbol.python[-1] != "]" for symbol in symbols):
        return None
    range = ranges.get(symbols[0].type)
    if range is None:
        return None
    python = f"{range.line.target}["
    if not all(symbol.python.startswith(python) for symbol in symbols):
        return None
    made = Made(line, range, symbols)
    if any(after - before != 1 for before, after in pairwise(made.numbers)):
        return None
    if pool_type(type, ranges) != range.type:
        made.said.append(("type", quoted(range.type)))
    return made


def _numbered(made: Sequence[Made]) -> dict[Line, list[Entry]]:
    """The lines as they make registers; ranges get to know in which order."""
    found: dict[Line, list[Entry]] = {}
    for one in made:
        line = one.line
        one.range.numbers += one.numbers
        if line in found:  # the predicate beside the result
            continue
        call = f"{line.call}.{one.word}"
        keywords = [*line.keywords, *one.said]
        new = Line(line.kind, call, line.arguments[1:], keywords, node=line.node)
        new.target = one.symbols[0] if len(one.symbols) == 1 else Group("", one.symbols, "")
        found[line] = [new, *_said_after(line)]
    return found


def _said_after(line: Line) -> list[Entry]:
    """What is said of a statement, as statements after it."""
    found: list[Entry] = []
    for suffix in line.suffixes:
        word, _, rest = suffix.partition("(")
        found.append(Line(word[1:], f"ptx{word}", [rest[:-1]] if rest != ")" else []))
    return found


class RegisterRanges(Line):
    """``ptx.registers(...)``, over several lines where orders are long."""

    __slots__ = ()

    def text(self, names: Names = NO_NAMES) -> str:
        """The statement."""
        one = super().text(names)
        if len(one) <= _WIDTH:
            return one
        begin = one.partition("(")[0]
        rows: list[str] = []
        for argument in self.arguments:
            pieces = wrap(str(argument)[1:-1], _WIDTH - 8, break_long_words=False)
            texts = [f"{piece} " for piece in pieces[:-1]] + pieces[-1:]
            rows += [f'    "{text}"' for text in texts]
            rows[-1] += ","
        return "\n".join([f"{begin}(", *_packed(rows), ")"])


def _packed(rows: Sequence[str]) -> list[str]:
    """Short arguments share a line."""
    made: list[str] = []
    for row in rows:
        if made and made[-1].endswith(",") and len(made[-1]) + len(row) <= _WIDTH:
            made[-1] += row[3:]
        else:
            made.append(row)
    return made


def _declaration(ranges: dict[str, Range], kept: set[str]) -> tuple[tuple[Line, Line], set[Line]]:
    """One call for all ranges, the line it stands for, and the lines it makes needless."""
    texts = []
    targets = []
    for range in ranges.values():
        shape = str(range.line.arguments[0])[1:-1]
        plain = TYPES_BY_PREFIX.get(range.prefix) == range.type
        said = shape if plain else f"{range.type} {shape}"
        texts.append(quoted(said + order_text(range.numbers)))
        targets.append(str(range.line.target))
    lines = [range.line for range in ranges.values()]
    made = RegisterRanges("register", "ptx.registers", texts, node=lines[0].node)
    if kept.intersection(targets):
        made.target = ", ".join(targets)
    return (lines[0], made), set(lines[1:])
