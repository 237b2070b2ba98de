"""Stack programs: their text, their items, and everything else that can be one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ptxkit import _native
from ptxkit.errors import UsageError
from ptxkit.stack import words
from ptxkit.stack.errors import StackError

if TYPE_CHECKING:
    from ptxkit.stack.isa import Isa

Items = npt.NDArray[np.uint64]
#: What `compile` takes for a program.
ProgramLike = Any


class Program:
    """A program in packed form, with what its items mean: an instruction set and inputs.

    >>> from ptxkit import stack
    >>> p = stack.Program("x y add.rn.f32 2.5:f32 mul.rn.f32", inputs=("x", "y"))
    >>> len(p), str(p)
    (5, 'x y add.rn.f32 2.5 mul.rn.f32')
    >>> p.items.shape
    (5, 2)
    """

    __slots__ = ("data", "inputs", "isa")

    def __init__(
        self,
        program: ProgramLike = (),
        *,
        inputs: Iterable[str] = (),
        isa: Isa | None = None,
    ) -> None:
        from ptxkit.stack.isa import Isa

        self.isa = isa or Isa.default()
        self.inputs = tuple(inputs)
        if isinstance(program, Program):
            program = program.words()
        self.data = encode(program, self.isa, input_words(self.inputs))

    @staticmethod
    def from_items(items: Items | bytes, *, inputs: Iterable[str] = (), isa: Isa) -> Program:
        """A program from its packed form; the items are checked when it is compiled."""
        made = Program((), inputs=inputs, isa=isa)
        made.data = to_bytes(items)
        return made

    @property
    def items(self) -> Items:
        """The items as rows of two 64-bit words; a copy that can be changed."""
        made: Items = np.frombuffer(self.data, np.uint64).reshape(-1, 2).copy()
        return made

    def __len__(self) -> int:
        return len(self.data) // 16

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Program)
            and self.inputs == other.inputs
            and self.isa.is_like(other.isa)
            and self.data == other.within(self.isa).data
        )

    def __hash__(self) -> int:
        # What the set does not list may have another number in an equal program.
        items = self.items
        heads = items[:, 0]
        listed = self.isa.listed
        numbered = (heads & np.uint64(0xFF)) == words.INSTRUCTION
        heads[numbered & ((heads >> np.uint64(32)) >= listed)] = words.INSTRUCTION
        return hash((items.tobytes(), self.inputs))

    def within(self, isa: Isa) -> Program:
        """The same program for another object of an equal instruction set.

        Opcodes that an open set does not list have the numbers in which that object met them.
        """
        if isa is self.isa:
            return self
        return _restore(self.data, self.inputs, isa, self.isa.unlisted(self.data))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.data, self.inputs, self.isa, self.isa.unlisted(self.data))

    def words(self) -> list[str]:
        """The words of the text, one for each item."""
        return decode(self.data, self.isa, self.inputs)

    def __str__(self) -> str:
        return " ".join(self.words())

    def __repr__(self) -> str:
        text = str(self)
        return f"<Program of {len(self)} items: {text if len(text) < 60 else text[:57] + '...'}>"


def _restore(
    data: bytes, inputs: tuple[str, ...], isa: Isa, unlisted: Mapping[int, str]
) -> Program:
    """A program whose set called the numbers ``unlisted`` by these names."""
    if unlisted:
        data = b"".join(
            words.item(kind, guard=guard, stack=stack, payload=payload,
                       index=isa.number(unlisted[index])
                       if kind == words.INSTRUCTION and index in unlisted else index)
            for kind, guard, stack, index, payload in words.unpack(data)
        )  # fmt: skip
    return Program.from_items(data, inputs=inputs, isa=isa)


def refuse_block_word(name: str, what: str) -> None:
    """A name that would hide a word of blocks makes programs that are not what they look like."""
    if name in words.BLOCKS:
        raise UsageError(
            f"an {what} can't be called '{name}': that word is part of the language; "
            f"take another name, such as '{name}_'"
        )


def input_words(names: Sequence[str]) -> dict[str, bytes]:
    """What the names of inputs become."""
    for name in names:
        refuse_block_word(name, "input")
        if not isinstance(name, str) or not words.NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not a name for an input")
    return {name: words.item(words.INPUT, index=n) for n, name in enumerate(names)}


def to_bytes(items: Any) -> bytes:
    """The packed items of one program as bytes."""
    if isinstance(items, bytes):
        if len(items) % 16:
            raise UsageError(f"a packed program has 16 bytes an item; {len(items)} is no multiple")
        return items
    if items.dtype != np.uint64 or items.ndim != 2 or items.shape[1] != 2:
        raise UsageError(
            f"a packed program is an array of uint64 with two columns, not of {items.dtype} with "
            f"the shape {items.shape}"
        )
    return np.ascontiguousarray(items).tobytes()


def encode(
    program: ProgramLike,
    isa: Isa,
    names: Mapping[str, bytes],
    table: dict[str, bytes] | None = None,
) -> bytes:
    """Turn text, a sequence of words and numbers, or packed items into items.

    ``names`` are the inputs or arguments; they hide instructions of the same name.
    ``table`` has them and the words of the set together, where the caller keeps that.
    """
    if isinstance(program, np.ndarray | bytes):
        return to_bytes(program)
    text = program if isinstance(program, str) else None
    if text is not None:
        program = _split(text)
    elif not isinstance(program, list | tuple):
        raise UsageError(
            "a program is a text, a list of words and numbers, a Program or a numpy array, "
            f"not {type(program).__name__}"
        )

    def other(word: object, at: int) -> bytes:
        try:
            return _encode_one(word, isa, names)
        except StackError as error:
            raise error.within(item=at, place=_place(text, at)) from None

    if table is None:
        table = {**isa.words, **names} if names else isa.words
    return _native.encode_stack(program, table, other)


def _split(text: str) -> list[str]:
    """The words of a text; ``;`` begins a comment that ends with the line."""
    return [word for line in text.splitlines() for word in line.partition(";")[0].split()]


def _place(text: str | None, item: int) -> tuple[int, int] | None:
    """Line and column of a word of a text."""
    for number, line in enumerate(text.splitlines() if text else (), 1):
        for found in re.finditer(r"\S+", line.partition(";")[0]):
            if item == 0:
                return number, found.start() + 1
            item -= 1
    return None


def _encode_one(word: object, isa: Isa, names: Mapping[str, bytes]) -> bytes:
    if isinstance(word, str):
        return _encode_word(word, isa, names)
    if isinstance(word, tuple) and len(word) == 2 and isinstance(word[1], str):
        return _constant(word[0], word[1], isa)
    if isinstance(word, bool | np.bool_):
        return _constant(bool(word), "pred", isa)
    if isinstance(word, int | np.integer):
        return _constant(int(word), _typed(word, "b32"), isa)
    if isinstance(word, float | np.floating):
        return _constant(float(word), _typed(word, "f32"), isa)
    raise StackError(
        f"{word!r} is neither a word nor a number",
        hint="constants are numbers, or pairs such as (7, 'u64')",
    )


def _typed(word: object, otherwise: str) -> str:
    """The type of a numpy scalar; Python's own numbers have none."""
    names = {"f": "f", "i": "s", "u": "u"}
    if isinstance(word, np.generic):
        return f"{names[word.dtype.kind]}{8 * word.dtype.itemsize}"
    return otherwise


def _constant(value: object, kind: str, isa: Isa, guard: int = 0) -> bytes:
    try:
        number = isa.stack_number(kind)
    except UsageError as error:
        raise StackError(str(error)) from None
    bits = isa.stacks[number].bits(value, kind)
    return words.item(words.CONSTANT, guard=guard, stack=number, payload=bits)


def _encode_word(word: str, isa: Isa, names: Mapping[str, bytes]) -> bytes:
    guard = 0
    if word.startswith("@"):
        guard = words.GUARDED | (words.NEGATED if word.startswith("@!") else 0)
        word = word[2:] if guard & words.NEGATED else word[1:]
    found = names.get(word) or isa.words.get(word)
    if found is None:
        found = _uncommon(word, isa)
    if not guard:
        return found
    if found[0] in (words.IF, words.ELSE, words.END, words.REPEAT, words.WHILE):
        raise StackError(f"'{word}' can't be guarded", hint="put the block into an 'if' block")
    return bytes((found[0], guard)) + found[2:]


def _uncommon(word: str, isa: Isa) -> bytes:
    """Constants, large indices, and opcodes that the set does not list."""
    if not word.isascii() or not word.isprintable():
        raise StackError(f"{word!r} is not a word of PTX")
    if word[:1].isdigit() or word[:1] in "-+." or word.partition(":")[0] in _SPELLED:
        number, colon, kind = word.partition(":")
        if not colon:
            kind = _kind_of(number)
        return _constant(number, kind, isa)
    indexed = words.read_indexed(word)
    if indexed is not None:
        return _indexed(*indexed, isa)
    return words.item(words.INSTRUCTION, index=isa.number(word))


_SPELLED = frozenset("inf nan true false".split())


def _kind_of(number: str) -> str:
    if number in ("true", "false"):
        return "pred"
    digits = number.lstrip("+-")
    whole = digits.isdigit() or digits[:2].lower() in ("0x", "0b", "0o")
    return "b32" if whole else "f32"


def _indexed(word: str, index: int, isa: Isa) -> bytes:
    kind = words.counted(word)
    if kind is not None:
        _within(word, index, words.LARGEST_INDEX)
        return words.item(kind, index=index)
    handled = words.handling(word)
    if handled is not None:
        stack, kind = handled
        slots = kind in (words.TO_SLOT, words.FROM_SLOT)
        _within(word, index, words.SLOTS - 1 if slots else words.LARGEST_INDEX)
        return words.item(kind, stack=isa.stack_number(stack), index=index)
    number = isa.number(word)
    bounds = isa.row(number).immediate
    if bounds is None:
        raise StackError(f"'{word}' takes no immediate")
    if not bounds[0] <= index <= bounds[1]:
        raise StackError(f"the immediate of '{word}' goes from {bounds[0]} to {bounds[1]}, "
                         f"not {index}")  # fmt: skip
    return words.item(words.INSTRUCTION, index=number, payload=index - bounds[0])


def _within(word: str, index: int, largest: int) -> None:
    if index > largest:
        raise StackError(f"the number of '{word}' goes up to {largest}, not {index}")


def decode(
    data: bytes, isa: Isa, inputs: Sequence[str], arguments: Sequence[str] = ()
) -> list[str]:
    """The words of packed items."""
    made: list[str] = []
    for at, (kind, guard, stack, index, payload) in enumerate(words.unpack(data)):
        try:
            word = _decode_one(kind, stack, index, payload, isa, inputs, arguments)
        except IndexError:
            raise StackError("its number is out of range", item=at) from None
        if guard & words.GUARDED and kind not in (words.IF, words.ELSE, words.END, words.REPEAT,
                                                  words.WHILE):  # fmt: skip
            word = ("@!" if guard & words.NEGATED else "@") + word
        made.append(word)
    return made


def _decode_one(
    kind: int,
    stack: int,
    index: int,
    payload: int,
    isa: Isa,
    inputs: Sequence[str],
    arguments: Sequence[str],
) -> str:
    if kind == words.INSTRUCTION:
        row = isa.row(index)
        if row.immediate is None:
            return row.name
        low, high = row.immediate
        return f"{row.name}#{low + payload % (high - low + 1)}"
    if kind == words.CONSTANT:
        text = isa.stacks[stack].text(payload)
        name = isa.stacks[stack].name
        return text if name == _kind_of(text) else f"{text}:{name}"
    if kind in (words.INPUT, words.ARGUMENT):
        return (inputs if kind == words.INPUT else arguments)[index]
    if kind == words.CALL:
        return isa.routines[index].name
    name = isa.stacks[stack].name if kind < words.IF and kind != words.NOTHING else ""
    word = words.shown(kind, name, index)
    if word is None:
        raise IndexError
    return word
