"""Bits that must be of one type, and the type that has their votes."""

from __future__ import annotations

from collections import Counter
from math import gcd

from ptxkit.cuda.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    SCALARS,
    VECTORS,
    Scalar,
    Type,
    Vector,
)

FLOATS = frozenset("f16 bf16 f32 f64 f16x2 bf16x2".split())


#: A part of vectors: bits, how many parts there are, and which one it is.
Lane = tuple[int, int, int]


class Cell:
    """Bits that must be of one type: a variable, the elements of an array."""

    __slots__ = ("accesses", "parent", "pointee", "pointer", "stored", "stride", "votes")

    def __init__(self) -> None:
        self.parent: Cell | None = None
        self.votes: Counter[str] = Counter()
        self.pointer = 0
        self.pointee: dict[int | Lane, Cell] = {}
        """What it points to, by width in bits; the parts of vectors each by itself."""
        self.accesses: Counter[tuple[int, int]] = Counter()
        """How it is accessed: (bits, count)."""
        self.stored = False
        self.stride = 0
        """What all distances from it are multiples of, in bytes; 0 where there is none."""

    @property
    def used(self) -> bool:
        """Whether anything is accessed through it, or computed with it."""
        root = self.find()
        return bool(root.accesses) or any(root.votes.values())

    def find(self) -> Cell:
        """The cell that stands for all that were joined with it."""
        at = self
        while (above := at.parent) is not None:
            if above.parent is not None:
                at.parent = above.parent
            at = above
        return at

    def join(self, other: Cell) -> None:
        """Make two cells one."""
        pending = [(self, other)]
        while pending:
            one, two = pending.pop()
            one, two = one.find(), two.find()
            if one is two:
                continue
            two.parent = one
            one.votes += two.votes
            one.pointer += two.pointer
            one.accesses += two.accesses
            one.stored = one.stored or two.stored
            one.stride = gcd(one.stride, two.stride)
            for width, cell in two.pointee.items():
                if width in one.pointee:
                    pending.append((one.pointee[width], cell))
                else:
                    one.pointee[width] = cell

    def element(self, width: int | Lane) -> Cell:
        """What it points to, of a width, or a part of the vectors there."""
        root = self.find()
        if width not in root.pointee:
            root.pointee[width] = Cell()
        return root.pointee[width].find()


def is_float(cell: Cell) -> bool:
    """Whether anything takes it for a floating-point number."""
    return any(cell.votes[f] for f in FLOATS)


def is_number(cell: Cell) -> bool | None:
    """Whether most take it for a whole number, and not for one of floating point; None: nobody."""
    numbers = cell.votes["s"] + cell.votes["u"] + cell.votes["b"]
    floats = max(cell.votes[f] for f in ("f32", "f64"))
    return None if numbers == floats == 0 else numbers > floats


_WORDS = {8: ("schar", "uchar"), 16: ("short", "ushort"), 32: ("int", "uint"),
          64: ("longlong", "ulonglong")}  # fmt: skip


_FLOAT_TYPES: dict[str, Type] = {
    "f16": HALF, "bf16": BFLOAT16, "f32": FLOAT, "f64": DOUBLE,
    "f16x2": VECTORS["half2"], "bf16x2": VECTORS["bfloat162"],
}  # fmt: skip


def scalar_type(votes: Counter[str], width: int) -> Type:
    """The type that has the votes."""
    if width == 1:
        return BOOL
    if width == 128:
        return Scalar("int128", "unsigned __int128", "int", 128, False, 6)
    numbers = votes["s"] + votes["u"] + votes["b"] + votes["word"]
    floats = {16: ("f16", "bf16"), 32: ("f32", "f16x2", "bf16x2"), 64: ("f64",)}.get(width, ())
    best = max(floats, key=lambda f: votes[f], default="")
    # Two halves are loaded as any other word is: that says nothing against them.
    against = numbers - votes["word"] if best.endswith("x2") else numbers
    if best and votes[best] and votes[best] >= against:
        return _FLOAT_TYPES[best]
    if votes["looks"] and not votes["no"] and not numbers and width in (32, 64):
        return FLOAT if width == 32 else DOUBLE  # nothing else is known about it
    if width == 8 and votes["bool"] > votes["s"] + votes["u"] and not votes["wide"]:
        return BOOL
    signed_word, unsigned_word = _WORDS[width]
    if width < 32:
        return SCALARS[signed_word if votes["s"] > votes["u"] else unsigned_word]
    return SCALARS[unsigned_word if votes["u"] > votes["s"] else signed_word]


def vector_type(element: Type, count: int) -> Vector | None:
    """The built-in vector of some elements."""
    if not isinstance(element, Scalar):
        return None
    word = {"schar": "char"}.get(element.word, element.word)
    return VECTORS.get(f"{word}{count}")
