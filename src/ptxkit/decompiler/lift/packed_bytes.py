"""Vectors of bytes that newer compilers put together in a word, and store as that.

``prmt`` joins two bytes, and then two pairs: ``p[i] = make_uchar4(r, g, b, 255)`` again where a
word is stored of which each byte was the low one of something, or a byte of a word that was
loaded. Two halves are a ``ushort2`` in the same way. What ``dp4a`` multiplies with numbers is
written as the products that it was made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.context import Intrinsic
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.reading import exit_values
from ptxkit.decompiler.lift.values import Definition, Step, Value, const

_WORD, _HALF, _BYTE = 32, 16, 8
#: Selectors that put vectors together: two bytes, two pairs, three bytes and one.
_PAIRS = 0x5410
_SELECTORS = frozenset((0x3340, _PAIRS, 0x7210))
_JOIN, _DOT = "__byte_perm", "__dp4a"
#: What says where the bytes of a value come from: what changes its width, and what moves them.
_WIDTHS = frozenset(("zext", "trunc"))
_MOVES = _WIDTHS | {"shl", "shr.u", "or", "and"}
Byte = tuple[Value, int]
"""A value, and which of its bytes."""


def with_packed_bytes(program: Program) -> None:
    """Store such words as vectors; multiply bytes one by one."""
    _Packed(program).run()


@dataclass(slots=True)
class _Packed:
    program: Program
    values: dict[Definition, Value] = field(default_factory=dict)
    """What variables that are set once are set to."""
    places: dict[Definition, tuple[int, int]] = field(default_factory=dict)

    def run(self) -> None:
        steps = [s for b in self.program.flow.blocks.values() for s in b.statements]
        if not any(_is_call(s, _JOIN) or _is_call(s, _DOT) for s in steps):
            return
        for number, block in self.program.flow.blocks.items():
            for place, step in enumerate(block.statements):
                for target in step.targets:
                    self.places[target] = (number, place)
                    if step.kind == "set" and target.variable.definitions == 1:
                        self.values[target] = step.args[0]
        for number, block in self.program.flow.blocks.items():
            for place, step in enumerate(block.statements):
                if step.kind == "store" and _is_word(step):
                    self._store(step, (number, place))
                elif _is_call(step, _DOT):
                    self._dot(step, (number, place))
        self._drop_unread()

    def _drop_unread(self) -> None:
        """Without what words were put together by, where nothing is left that reads them."""
        blocks = self.program.flow.blocks.values()
        uses = Counter(
            part.data
            for block in blocks
            for value in (*(v for s in block.statements for v in s.args), *exit_values(block))
            for part in _variables(value)
        )
        for block in blocks:
            kept: list[Step] = []
            for step in reversed(block.statements):
                if (
                    _is_call(step, _JOIN)
                    and step.targets[0] in self.values
                    and (not uses[step.targets[0]])
                ):
                    for value in step.args:
                        uses.subtract(part.data for part in _variables(value))
                else:
                    kept.append(step)
            block.statements[:] = kept[::-1]

    # ---- stores ------------------------------------------------------------------------------

    def _store(self, step: Step, here: tuple[int, int]) -> None:
        address, word = step.args
        selectors = self._selectors(word)
        if not selectors or not selectors <= _SELECTORS:
            return
        # A byte that was computed by moving it is what it was computed as.
        bytes_ = [self.byte(word, k, _WIDTHS) for k in range(_WORD // _BYTE)]
        if not all(self._stays(value, here) for value, _ in bytes_):
            return
        parts = _halves(bytes_) if selectors == {_PAIRS} else self._low_bytes(bytes_)
        if parts:
            step.args[:] = [address, *parts]
            step.data = replace(step.data, type=f"u{_WORD // len(parts)}", count=len(parts))

    def _selectors(self, word: Value) -> set[int]:
        """How a value was put together."""
        held = self.values.get(word.data) if word.op == "var" else word
        if held is None or not _is_join(held):
            return set()
        return {held.args[2].data}.union(*(self._selectors(one) for one in held.args[:2]))

    def _low_bytes(self, bytes_: list[Byte]) -> list[Value]:
        made: list[Value] = []
        for value, place in bytes_:
            if place and not self._is_loaded(value):
                return []
            made.append(_taken(value, place))
        for value, _ in bytes_:
            if self._is_loaded(value):
                self.program.lift.words.add(value.data)
        return made

    def _is_loaded(self, value: Value) -> bool:
        held = self.values.get(value.data) if value.op == "var" else None
        return held is not None and held.op == "load" and held.width == _WORD

    # ---- products ------------------------------------------------------------------------------

    def _dot(self, step: Step, here: tuple[int, int]) -> None:
        word, factors, start = step.args[0].args
        intrinsic: Intrinsic = step.args[0].data
        factors = self._number(factors)
        if factors.op != "const" or not self._is_made(word):
            return
        bytes_ = [self.byte(word, k) for k in range(_WORD // _BYTE)]
        if not all(self._stays(value, here) for value, _ in bytes_):
            return
        signed = intrinsic.takes[0][0] == "s"
        made: Value | None = None
        for place, (value, taken) in enumerate(bytes_):
            by = (factors.data >> (_BYTE * place)) % (1 << _BYTE)
            by -= (1 << _BYTE) if signed and by >> (_BYTE - 1) else 0
            if not by or (value.op == "const" and not value.data):
                continue
            if self._is_loaded(value):
                self.program.lift.words.add(value.data)
            wide = make("sext" if signed else "zext", _WORD, _taken(value, taken))
            part = make("mul", _WORD, wide, const(by, _WORD))
            made = part if made is None else make("add", _WORD, made, part)
        start = self._number(start)
        step.args[0] = start if made is None else make("add", _WORD, made, start)

    def _number(self, value: Value) -> Value:
        """The number that a variable holds; the value itself where it holds none."""
        held = self.values.get(value.data) if value.op == "var" else None
        return held if held is not None and held.op == "const" else value

    def _is_made(self, word: Value) -> bool:
        """Whether a word was loaded, or its bytes were put together."""
        if self._is_loaded(word):
            return True
        held = self.values.get(word.data) if word.op == "var" else word
        return held is not None and (_is_join(held) or held.op in ("or", "and"))

    # ---- where bytes come from -------------------------------------------------------------------

    def byte(self, value: Value, place: int, through: frozenset[str] = _MOVES) -> Byte:
        """What a byte of a value is a byte of, as far back as it can be told."""
        held = value
        if value.op == "var":
            held = self.values.get(value.data, value)
        if held.op == "const":
            return const((held.data >> (_BYTE * place)) % (1 << _BYTE), _BYTE), 0
        found = self._moved(held, place, through)
        return found if found is not None else (value, place)

    def _moved(self, value: Value, place: int, through: frozenset[str]) -> Byte | None:
        nothing = (const(0, _BYTE), 0)
        if _is_join(value):
            source, selected = divmod((value.args[2].data >> (4 * place)) & 15, 4)
            return self.byte(value.args[source], selected, through) if source < 2 else None
        if value.op not in through or value.width % _BYTE:
            return None
        first = value.args[0]
        if value.op in ("zext", "trunc"):
            if first.width % _BYTE:
                return None
            return self.byte(first, place, through) if place < first.width // _BYTE else nothing
        second = value.args[1]
        if value.op in ("shl", "shr.u"):
            if second.op != "const" or second.data % _BYTE:
                return None
            far = second.data // _BYTE
            at = place - far if value.op == "shl" else place + far
            return self.byte(first, at, through) if 0 <= at < value.width // _BYTE else nothing
        if value.op == "and":
            mask = second.data >> (_BYTE * place) if second.op == "const" else 1
            if mask % (1 << _BYTE) == 0:
                return nothing
            return (
                self.byte(first, place, through)
                if mask % (1 << _BYTE) == (1 << _BYTE) - 1
                else None
            )
        both = [self.byte(one, place, through) for one in value.args]
        found = [one for one in both if one != nothing]
        return None if len(found) > 1 else found[0] if found else nothing

    def _stays(self, value: Value, here: tuple[int, int]) -> bool:
        """Whether a value is the same where it is used as where it was put into a word."""
        return all(self._is_settled(one.data, here) for one in _variables(value))

    def _is_settled(self, version: Definition, here: tuple[int, int]) -> bool:
        if version.variable.definitions == 1:
            return True
        block, until = here
        return not any(
            target.variable is version.variable
            for step in self.program.flow.blocks[block].statements[:until]
            for target in step.targets
        )


def _variables(value: Value) -> Iterator[Value]:
    return (part for part in value.walk() if part.op == "var")


def _halves(bytes_: list[Byte]) -> list[Value]:
    """Two values of which a word is the low halves; none if it is not."""
    made: list[Value] = []
    for low, high in (bytes_[:2], bytes_[2:]):
        if low[0] is not high[0] or low[0].op == "const" or (low[1], high[1]) != (0, 1):
            return []
        value = low[0]
        made.append(value if value.width == _HALF else make("trunc", _HALF, value))
    return made


def _taken(value: Value, place: int) -> Value:
    """A byte of a value."""
    if value.width == _BYTE:
        return value
    if place:
        value = make("shr.u", value.width, value, const(_BYTE * place, value.width))
    return make("trunc", _BYTE, value)


def _is_word(step: Step) -> bool:
    access = step.data
    return access.width == _WORD and access.count == 1 and not access.volatile


def _is_call(step: Step, name: str) -> bool:
    return step.kind == "set" and step.args[0].op == "call" and step.args[0].data.name == name


def _is_join(value: Value) -> bool:
    return value.op == "call" and value.data.name == _JOIN and value.args[2].op == "const"
