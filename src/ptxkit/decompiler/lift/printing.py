"""``printf`` again, from what a compiler makes of it.

The arguments are stored one after the other into local memory, as C lays out a structure of them,
and ``vprintf`` gets the format and that memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit.decompiler.lift.flow import FlowBlock
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.ranges import largest
from ptxkit.decompiler.lift.signatures import Signatures
from ptxkit.decompiler.lift.sums import sum_of
from ptxkit.decompiler.lift.values import Step, Value, is_effect, raw
from ptxkit.run.globals import ModuleMemory

_CONVERSION = re.compile(
    r"%(?:%|[-+ #0]*(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"(?P<length>hh|h|ll|l|j|z|t|)(?P<letter>[diouxXcsfFeEgGaAp]))"
)
_LONG = ("l", "ll", "j", "z", "t")
#: What compilers call texts that stand in the source.
_CONSTANT = re.compile(r"\$str(\$\d+)?|__unnamed_\d+")
_ANYWHERE = 1 << 64
_ESCAPES = {34: '\\"', 92: "\\\\", 10: "\\n", 9: "\\t", 13: "\\r"}


def argument_types(text: str) -> list[str] | None:
    """The types of what a format asks for, by their names in PTX; None for one nobody knows.

    >>> argument_types("%d of %5.2f in %s: %llu %%")
    ['s32', 'f64', 'text', 'u64']
    """
    found: list[str] = []
    if _CONVERSION.sub("", text).count("%"):
        return None
    for match in _CONVERSION.finditer(text):
        found += ["s32"] * [match["width"], match["precision"]].count("*")
        letter = match["letter"]
        if letter is None:
            continue
        if letter in "sp":
            found.append("text" if letter == "s" else "u64")
        elif letter in "fFeEgGaA":
            found.append("f64")
        else:
            sign = "s" if letter in "dic" else "u"
            found.append(sign + ("64" if match["length"] in _LONG else "32"))
    return found


def literal(data: bytes) -> str | None:
    r"""Bytes as a text of C++; None for those that are none.

    >>> print(literal(b'a "b"\n\0\0'))
    "a \"b\"\n"
    """
    text, end, rest = data.partition(b"\0")
    if not end or any(rest):
        return None
    parts = [_ESCAPES.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in text]
    return f'"{"".join(parts)}"'


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a module that stood in the source, where they were used."""

    contents: ModuleMemory
    signatures: Signatures

    def bytes(self, value: Value) -> bytes:
        """What a text holds; nothing for other values."""
        while value.op == "generic":
            value = value.args[0]
        if value.op != "symbol" or value.data[0] != "global":
            return b""
        name = self.signatures.by_name[value.data[1]].node.name
        if not _CONSTANT.fullmatch(name) or name not in self.contents.arrays:
            return b""
        return bytes(self.contents.arrays[name].tobytes())

    def literal(self, value: Value) -> str | None:
        """A text as C++ has it; None for other values."""
        return literal(self.bytes(value))


@dataclass(slots=True)
class _Printer:
    program: Program
    texts: Texts
    uses: Counter[str] = field(default_factory=Counter)
    """How often each local array is named."""

    def run(self) -> None:
        found: list[tuple[FlowBlock, Step, list[Step], Value, str]] = []
        self._count()
        for block in self.program.flow.blocks.values():
            for place, step in enumerate(block.statements):
                if not step.args or step.args[0].op != "function":
                    continue
                call = step.args[0]
                if call.data[:2] != ("direct", "vprintf") or len(call.args) != 2:
                    continue
                array, begin = _place(call.args[1])
                stores = list(_before(block.statements[:place], array, begin)) if array else []
                made = self._printf(call, stores, begin)
                if made is not None:
                    found.append((block, step, stores, made, array))
        named = Counter[str]()
        for _, _, stores, _, array in found:
            named[array] += len(stores) + 1
        mine = {id(store) for _, _, stores, _, _ in found for store in stores}
        for block, step, stores, made, array in found:
            if array and named[array] != self.uses[array]:
                end = self._end_of_others(array, stores, mine)
                if not end:
                    continue  # somebody else looks at that memory
                # What is printed was put behind what the source declares.
                self.texts.signatures.by_name[array].size = end
            step.args[0] = made
            gone = {id(store) for store in stores}
            block.statements[:] = [s for s in block.statements if id(s) not in gone]

    def _end_of_others(self, array: str, stores: list[Step], mine: set[int]) -> int:
        """Where all else in an array ends; 0 where that may be what stores write."""
        first = min((_extent(s.args[0], _bytes(s))[0] for s in stores), default=0)
        accesses = end = 0
        for block in self.program.flow.blocks.values():
            for step in block.statements:
                if id(step) in mine:
                    accesses += _local_parts(step.args[0], array)
                    continue
                places = [(p.args[0], p.data.size) for a in step.args for p in a.walk()
                          if p.op == "load"]  # fmt: skip
                if step.kind == "store":
                    places.append((step.args[0], _bytes(step)))
                for address, size in places:
                    if _local_parts(address, array):
                        low, high = _extent(address, size)
                        if low < 0 or high > first:
                            return 0
                        accesses, end = accesses + 1, max(end, high)
                if step.args and step.args[0].op == "function":
                    call = step.args[0]
                    prints = call.data[:2] == ("direct", "vprintf")
                    accesses += prints and _place(call.args[1])[0] == array
        # Where it is named elsewhere, its address is anybody's.
        return end if accesses == self.uses[array] else 0

    def _count(self) -> None:
        for block in self.program.flow.blocks.values():
            for step in block.statements:
                for value in step.args:
                    for part in value.walk():
                        if part.op == "symbol" and part.data[0] == "local":
                            self.uses[part.data[1]] += 1

    def _printf(self, call: Value, stores: list[Step], begin: int) -> Value | None:
        text = self.texts.literal(call.args[0])
        plain = self.texts.bytes(call.args[0]).partition(b"\0")[0].decode("latin-1")
        types = argument_types(plain) if text is not None else None
        if text is None or types is None:
            return None
        if not types and call.args[1].op == "const":
            return raw("printf", 32, (), (text, (), call.data[-1]))
        stored: dict[int, Value] = {}
        for store in stores:
            for number, value in enumerate(store.args[1:]):
                at = sum_of(store.args[0]).constant - begin + number * value.width // 8
                if at in stored:
                    return None
                stored[at] = value
        values: list[Value] = []
        parts: list[str] = []
        at = 0
        for type in types:
            size = 4 if type.endswith("32") else 8
            at = -(-at // size) * size
            argument = stored.pop(at, None)
            at += size
            if argument is None or argument.width != 8 * size:
                return None
            constant = self.texts.literal(argument) if type == "text" else None
            parts.append(constant if constant is not None else type)
            if constant is None:
                values.append(argument)
        if stored:
            return None
        return raw("printf", 32, tuple(values), (text, tuple(parts), call.data[-1]))


def _local(value: Value) -> str:
    """The local array that an address is the start of."""
    while value.op == "generic":
        value = value.args[0]
    return str(value.data[1]) if value.op == "symbol" and value.data[0] == "local" else ""


def _place(value: Value) -> tuple[str, int]:
    """The local array that an address is in, and how far from its start."""
    while value.op == "generic":
        value = value.args[0]
    total = sum_of(value)
    arrays = [_local(term) for term in total.terms]
    return (arrays[0], total.constant) if len(arrays) == 1 else ("", 0)


def _extent(address: Value, size: int) -> tuple[int, int]:
    """The first byte of its array that an access may touch, and the first that it does not."""
    total = sum_of(address)
    terms = [(t, k) for t, k in total.terms.items() if not _local(t)]
    if any(k < 0 for _, k in terms):
        return -_ANYWHERE, _ANYWHERE
    return total.constant, total.constant + size + sum(largest(t) * k for t, k in terms)


def _local_parts(address: Value, array: str) -> int:
    """How often an address begins in an array: not at all, or once."""
    return [_local(term) for term in sum_of(address).terms].count(array)


def _bytes(store: Step) -> int:
    size: int = store.data.size
    return size


def _before(steps: list[Step], array: str, begin: int) -> Iterator[Step]:
    """The stores into an array from a place on, just before a call, past what only computes."""
    for step in reversed(steps):
        if step.kind == "store":
            total = sum_of(step.args[0])
            if [_local(term) for term in total.terms] != [array] or total.constant < begin:
                return
            yield step
        elif step.kind != "set" or not _only_computes(step):
            return


def _only_computes(step: Step) -> bool:
    once = step.targets[0].variable.definitions == 1
    return once and not any(is_effect(part) for part in step.args[0].walk())


def restore_printf(program: Program, texts: Texts) -> None:
    """Make calls of ``printf`` of those of ``vprintf``, where the format is known."""
    _Printer(program, texts).run()
