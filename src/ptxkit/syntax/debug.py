"""What debug information says: names of parameters and variables (``nvcc -G``).

The compiler writes DWARF into ``.section .debug_info`` as bytes. A register is coded there as the
letters of its name, so that a variable can be found where PTX keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit.errors import PtxkitError
from ptxkit.syntax.module import Module
from ptxkit.syntax.nodes import Section, SectionData

_SIZES = {".b8": 1, ".b16": 2, ".b32": 4, ".b64": 8}
_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)")
_OFFSET = re.compile(r"\.debug_\w+(?:\+(\d+))?")
_REGISTER = re.compile(r"%[A-Za-z]+\d+", re.ASCII)

# Of the DWARF standard, what is needed here.
_PARAMETER, _VARIABLE, _FUNCTION = 0x05, 0x34, 0x2E
_LOCATION, _NAME, _ORIGIN, _SPECIFICATION = 0x02, 0x03, 0x31, 0x47
_LINKAGE, _MIPS_LINKAGE = 0x6E, 0x2007
_STRING, _INDIRECT_STRING = 0x08, 0x0E
_IN_REGISTER = 0x90
#: Sizes of forms that have one, by the form.
_FIXED = {0x01: 8, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x0E: 4, 0x10: 4, 0x11: 1,
          0x12: 2, 0x13: 4, 0x14: 8, 0x17: 4, 0x19: 0, 0x20: 8}  # fmt: skip
#: Blocks of bytes, by the form: the size of their length, 0 for one of variable length.
_BLOCKS = {0x0A: 1, 0x03: 2, 0x04: 4, 0x09: 0, 0x18: 0}
_VARYING = (0x0D, 0x0F, 0x15)


@dataclass(frozen=True, slots=True)
class FunctionNames:
    """The names in one function, as its source has them."""

    parameters: tuple[str, ...] = ()
    registers: dict[str, str] = field(default_factory=dict)
    """Names of variables by the register that holds them, where it holds no other one."""


class DebugInfoError(PtxkitError):
    """Debug information that is cut short or of a kind that is not known."""


def debug_names(module: Module) -> dict[str, FunctionNames]:
    """The names that debug information has, by function; nothing where there is none.

    >>> import ptxkit
    >>> source = '''extern "C" __global__ void k(int *data, int count) {
    ...     int sum = 3 * count;
    ...     *data = sum;
    ... }'''
    >>> found = debug_names(ptxkit.compile_cuda(source, debug=True))["k"]
    >>> found.parameters, list(found.registers.values())
    (('data', 'count'), ['data', 'count', 'sum'])
    """
    sections = {s.name: s for s in module.children if isinstance(s, Section)}
    if ".debug_info" not in sections or ".debug_abbrev" not in sections:
        return {}
    try:
        return _Reader({name: _Bytes.of(section) for name, section in sections.items()}).run()
    except (DebugInfoError, LookupError, ValueError):
        return {}


@dataclass(slots=True)
class _Bytes:
    """A section's bytes, and what is written in it as a symbol."""

    data: bytearray = field(default_factory=bytearray)
    symbols: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, section: Section) -> _Bytes:
        made = cls()
        for part in section.children:
            if not isinstance(part, SectionData):
                continue
            size = _SIZES[part.type]
            for item in part.items:
                number = int(item, 0) if _NUMBER.fullmatch(item) else 0
                if not _NUMBER.fullmatch(item):
                    made.symbols[len(made.data)] = item
                made.data += (number % (1 << 8 * size)).to_bytes(size, "little")
        return made

    def number(self, at: int, size: int) -> int:
        if at + size > len(self.data):
            raise DebugInfoError("the debug information is cut short")
        return int.from_bytes(self.data[at : at + size], "little")

    def varying(self, at: int) -> tuple[int, int]:
        """A number of as many bytes as it needs, and where it ends."""
        value = shift = 0
        while True:
            byte = self.number(at, 1)
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value, at

    def text(self, at: int) -> tuple[str, int]:
        end = self.data.find(0, at)
        if end < 0:
            raise DebugInfoError("a name has no end")
        return self.data[at:end].decode("utf-8", "replace"), end + 1


@dataclass(slots=True)
class _Entry:
    """One thing that is described: its kind, and what is said about it."""

    tag: int
    depth: int
    words: dict[int, str] = field(default_factory=dict)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Where in the section other attributes stand, and which form they have."""


class _Reader:
    def __init__(self, sections: dict[str, _Bytes]) -> None:
        self.sections = sections
        self.info = sections[".debug_info"]
        self.entries: dict[int, _Entry] = {}

    def run(self) -> dict[str, FunctionNames]:
        at = 0
        while at + 11 <= len(self.info.data):
            at = self._unit(at)
        found: dict[str, FunctionNames] = {}
        for name, inside in self._functions():
            parameters = [self._name(e) for e in inside if e.tag == _PARAMETER]
            known = found[name] = FunctionNames(tuple(parameters))
            several: set[str] = set()
            for entry in inside:
                word = self._name(entry)
                for register in self._registers(entry):
                    if word and known.registers.setdefault(register, word) != word:
                        several.add(register)
            for register in several:
                del known.registers[register]
        return found

    def _functions(self) -> Iterator[tuple[str, list[_Entry]]]:
        """Functions, and the parameters and variables in each; those of inlined ones are not."""
        name, depth = "", 0
        inside: list[_Entry] = []
        for entry in self.entries.values():
            if name and entry.depth <= depth:
                yield name, inside
                name, inside = "", []
            own = entry.tag == _PARAMETER and entry.depth == depth + 1
            if entry.tag == _FUNCTION:
                linkage = entry.words.get(_LINKAGE) or entry.words.get(_MIPS_LINKAGE)
                name, depth = linkage or self._name(entry), entry.depth
            elif name and (own or entry.tag == _VARIABLE):
                inside.append(entry)
        if name:
            yield name, inside

    # ---- entries -------------------------------------------------------------------------

    def _unit(self, start: int) -> int:
        """Read a compilation unit; where the next one begins."""
        info = self.info
        end = start + 4 + info.number(start, 4)
        version = info.number(start + 4, 2)
        if not 2 <= version <= 4:
            raise DebugInfoError(f"DWARF of version {version} is not known")
        shapes = self._abbreviations(self._offset(info, start + 6, 4))
        at, depth = start + 11, 0
        while at < min(end, len(info.data)):
            here = at
            code, at = info.varying(at)
            if not code:
                depth -= 1
                continue
            tag, nested, attributes = shapes[code]
            entry = self.entries[here] = _Entry(tag, depth)
            for attribute, form in attributes:
                at = self._attribute(entry, attribute, form, at, start)
            depth += nested
        return end

    def _abbreviations(self, at: int) -> dict[int, tuple[int, bool, list[tuple[int, int]]]]:
        source = self.sections[".debug_abbrev"]
        found: dict[int, tuple[int, bool, list[tuple[int, int]]]] = {}
        while True:
            code, at = source.varying(at)
            if not code:
                return found
            tag, at = source.varying(at)
            nested, at = bool(source.number(at, 1)), at + 1
            attributes: list[tuple[int, int]] = []
            while True:
                attribute, at = source.varying(at)
                form, at = source.varying(at)
                if not attribute and not form:
                    break
                attributes.append((attribute, form))
            found[code] = tag, nested, attributes

    def _attribute(self, entry: _Entry, attribute: int, form: int, at: int, unit: int) -> int:
        info = self.info
        if form == _STRING:
            entry.words[attribute], at = info.text(at)
            return at
        if form == _INDIRECT_STRING:
            strings = self.sections.get(".debug_str", _Bytes())
            entry.words[attribute] = strings.text(self._offset(info, at, 4))[0]
            return at + 4
        if attribute in (_ORIGIN, _SPECIFICATION) and form in _FIXED:
            base = 0 if form == 0x10 else unit
            entry.places[attribute] = base + self._offset(info, at, _FIXED[form]), form
        else:
            entry.places[attribute] = at, form
        if form in _FIXED:
            return at + _FIXED[form]
        if form in _VARYING:
            return info.varying(at)[1]
        if form in _BLOCKS:
            first, length = self._block(info, at, form)
            return first + length
        raise DebugInfoError(f"the form {form} of DWARF is not known")

    def _block(self, source: _Bytes, at: int, form: int) -> tuple[int, int]:
        size = _BLOCKS[form]
        if not size:
            length, first = source.varying(at)
            return first, length
        return at + size, source.number(at, size)

    def _offset(self, source: _Bytes, at: int, size: int) -> int:
        """A place in a section: a number, or a sum of the section's name and one."""
        symbol = source.symbols.get(at)
        if symbol is None:
            return source.number(at, size)
        found = _OFFSET.fullmatch(symbol)
        if found is None:
            raise DebugInfoError(f"'{symbol}' is no place in a section")
        return int(found[1] or 0)

    def _name(self, entry: _Entry) -> str:
        seen = 0
        while _NAME not in entry.words and seen < 4:
            place = entry.places.get(_ORIGIN) or entry.places.get(_SPECIFICATION)
            other = self.entries.get(place[0]) if place is not None else None
            if other is None:
                return ""
            entry, seen = other, seen + 1
        return entry.words.get(_NAME, "")

    # ---- places --------------------------------------------------------------------------

    def _registers(self, entry: _Entry) -> Iterator[str]:
        place = entry.places.get(_LOCATION)
        if place is None:
            return
        at, form = place
        if form in _BLOCKS:
            yield from _coded(self.info, *self._block(self.info, at, form))
        else:
            yield from self._listed(self._offset(self.info, at, _FIXED.get(form, 4)))

    def _listed(self, at: int) -> Iterator[str]:
        """The registers that hold a variable one after the other."""
        source = self.sections.get(".debug_loc", _Bytes())
        while at + 16 <= len(source.data):
            ends = at not in source.symbols and not source.number(at, 8)
            if ends and at + 8 not in source.symbols and not source.number(at + 8, 8):
                return
            length = source.number(at + 16, 2)
            yield from _coded(source, at + 18, length)
            at += 18 + length


def _coded(source: _Bytes, at: int, length: int) -> Iterator[str]:
    """The register that a place is, if it is one: its number is the letters of its name."""
    if not length or source.number(at, 1) != _IN_REGISTER:
        return
    number, _ = source.varying(at + 1)
    name = number.to_bytes((number.bit_length() + 7) // 8, "big").decode("latin-1")
    if _REGISTER.fullmatch(name):
        yield name
