"""Values of a kernel as a graph in which equal values are one node.

The compiler sees values, not spellings: `a - 2.0f` and `a + -2.0f`, a variable and the
expression it stands for, `int` and `unsigned` where an addition does not care. The graph has
one form for what the compiler makes the same, so that a model has one answer to learn.

Types are those of PTX arithmetic: ``b`` (a predicate), ``i32`` and ``i64`` (without sign; the
operators that care carry one), ``f16``, ``f32``, ``f64``. An operator is a word with its type:
``+.f32``, ``/.s32``, ``<.u64``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.neural.unsupported import UnsupportedError

VALUE_TYPES = ("b", "i32", "i64", "f16", "f32", "f64")
ELEMENTS = {
    "f32": "f32", "f64": "f64", "f16": "f16", "i32": "i32", "i64": "i64",
    "s8": "i32", "u8": "i32", "s16": "i32", "u16": "i32",
}  # fmt: skip
"""What arrays hold, and the type of a value once it is loaded."""

COMMUTATIVE = frozenset(
    [f"{o}.{t}" for o in ("+", "*") for t in ("i32", "i64", "f16", "f32", "f64")]
    + [f"{o}.{t}" for o in ("&", "|", "^") for t in ("i32", "i64")]
    + [f"{o}.{t}" for o in ("min", "max") for t in ("s32", "u32", "s64", "u64")]
    + [f"{o}.{t}" for o in ("==", "!=") for t in ("i32", "i64", "f16", "f32", "f64")]
    + ["&&", "||", "fminf", "fmaxf", "fmin", "fmax", "hypotf", "hypot"]
)
"""Operators whose two operands may change places."""

MOST = 20_000
"""Words that a value may have when it is written out in full. A few variables that each use the
one before twice would have more than any machine can hold."""

State = tuple[str, int]
"""Something that changes while a kernel runs, and which of its contents is meant."""


@dataclass(slots=True, eq=False)
class Value:
    """A node of the graph: an operator, its operands, and what else it needs to be told apart."""

    operator: str
    operands: tuple[Value, ...]
    payload: str | float | int | None
    type: str
    reads: frozenset[State] = field(default=frozenset())
    """Variables and arrays it depends on, in which of their states."""
    size: int = 1
    loads: bool = False
    serial: int = 0

    def walk(self) -> list[Value]:
        """All nodes below and this one, operands first, each once."""
        found: dict[int, Value] = {}
        stack: list[tuple[Value, bool]] = [(self, False)]
        while stack:
            node, done = stack.pop()
            if done:
                found.setdefault(id(node), node)
            elif id(node) not in found:
                stack.append((node, True))
                stack.extend((o, False) for o in reversed(node.operands))
        return list(found.values())


@dataclass(slots=True)
class Graph:
    """The nodes of one function; `node` gives the one that exists where there is one."""

    known: dict[tuple[object, ...], Value] = field(default_factory=dict)

    def node(
        self,
        operator: str,
        operands: tuple[Value, ...],
        type: str,
        payload: str | float | int | None = None,
        reads: frozenset[State] = frozenset(),
    ) -> Value:
        """The node with this operator and these operands."""
        # repr tells 0.0 from -0.0 and 1 from 1.0, which compare equal.
        key = (operator, tuple(id(o) for o in operands), type, repr(payload), reads)
        found = self.known.get(key)
        if found is None:
            for operand in operands:
                reads = reads | operand.reads
            size = 1 + sum(o.size for o in operands)
            if size > MOST:
                raise UnsupportedError("a value that is too large when it is written out")
            found = Value(
                operator,
                operands,
                payload,
                type,
                reads,
                size,
                operator.startswith("load") or any(o.loads for o in operands),
                len(self.known),
            )
            self.known[key] = found
        return found

    def has(self, operator: str, operands: tuple[Value, ...], type: str) -> bool:
        """Whether there is a node with this operator and these operands."""
        nothing: frozenset[State] = frozenset()
        return (operator, tuple(id(o) for o in operands), type, "None", nothing) in self.known

    def literal(self, value: float | int, type: str) -> Value:
        """A number."""
        return self.node("literal", (), type, value)

    def symbol(self, name: str) -> Value:
        """An array: a parameter or a piece of shared memory."""
        return self.node("symbol", (), "array", name)

    def special(self, name: str) -> Value:
        """``threadIdx.x`` and its kin."""
        return self.node("special", (), "i32", name)

    def variable(self, name: str, type: str, version: int) -> Value:
        """What a variable holds after so many assignments."""
        return self.node("variable", (), type, name, frozenset([(name, version)]))

    def load(self, element: str, array: Value, index: Value, version: int) -> Value:
        """An element of an array, as it is after so many stores."""
        reads = frozenset([(f"[{array.payload}]", version)])
        return self.node(f"load.{element}", (array, index), ELEMENTS[element], None, reads)


def is_literal(node: Value) -> bool:
    """Whether it is a number."""
    return node.operator == "literal"


def bits_of(type: str) -> int:
    """How wide values of a type are."""
    return 1 if type == "b" else int(type[1:])


def wrapped(value: int, bits: int) -> int:
    """An integer as the signed number that has its low bits.

    >>> wrapped(0xFFFFFFFF, 32)
    -1
    """
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
