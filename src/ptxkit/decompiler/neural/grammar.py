"""The grammar of answers, as tables: which word may follow, and what it asks for.

A program in prefix form is read with a stack of what is still needed. Each word takes the
need on top and puts its own parts there, so the grammar is a table of needs by words. Names
depend on what has been declared; the table says which kinds of names a need accepts.

>>> grammar = Grammar()
>>> state = grammar.begin(["u64", "u32"])
>>> for word in "ptr.f32 i32 store.f32 p0 p1 literal.f32 2.0 end".split():
...     assert word in grammar.allowed(state)
...     grammar.advance(state, word)
>>> state.finished
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ptxkit.decompiler.neural.operators import ATOMICS, OPERATORS, SPECIALS, value_type
from ptxkit.decompiler.neural.values import ELEMENTS, VALUE_TYPES
from ptxkit.errors import PtxkitError

PARAMETERS = tuple(f"p{k}" for k in range(16))
SHARED = tuple(f"s{k}" for k in range(4))
LOCALS = tuple(f"v{k}" for k in range(48))
LIMITS = {"p": len(PARAMETERS), "s": len(SHARED), "v": len(LOCALS)}
NAMES = (*PARAMETERS, *SHARED, *LOCALS)

#: What a name may stand for. Nothing comes first: it is what an unused name stands for.
KINDS = (
    "nothing",
    *(f"array.{e}" for e in ELEMENTS),
    *(f"number.{t}" for t in VALUE_TYPES),
    *(f"variable.{t}" for t in VALUE_TYPES),
)

_PARAMETER_NEEDS = {
    "parameter.64": (*(f"ptr.{e}" for e in ELEMENTS), "i64"),
    "parameter.32": ("i32",),
    "parameter.f32": ("f32",),
    "parameter.f64": ("f64",),
}
_PTX_NEEDS = {"u64": "parameter.64", "s64": "parameter.64", "b64": "parameter.64",
              "u32": "parameter.32", "s32": "parameter.32", "b32": "parameter.32",
              "f32": "parameter.f32", "f64": "parameter.f64"}  # fmt: skip
BODIES = ("body", "body.loop")
NUMBERS = ("integer", "real", "count")
#: Elements of an array in shared memory at most: four arrays of the widest type have room.
MOST_ELEMENTS = 1024

NEEDS = (
    "none",
    *_PARAMETER_NEEDS,
    *BODIES,
    *(f"value.{t}" for t in VALUE_TYPES),
    "index",
    *(f"array.{e}" for e in ELEMENTS),
    *(f"variable.{t}" for t in VALUE_TYPES),
    *NUMBERS,
)
"""Everything that may be asked for."""

_REAL = re.compile(r"-?(\d+\.\d*(e[-+]?\d+)?|\d+e[-+]?\d+)$")
_INTEGER = re.compile(r"-?\d+$")


def number_need(word: str) -> str:
    """Which kind of number a word is: ``integer``, ``real``, or nothing.

    >>> number_need("-2.5e-05"), number_need("7"), number_need("add.s32")
    ('real', 'integer', '')
    """
    if _INTEGER.match(word):
        return "integer"
    return "real" if _REAL.match(word) else ""


def number_needs(word: str) -> tuple[str, ...]:
    """Everything that a number may be said for.

    >>> number_needs("64"), number_needs("-1"), number_needs("x")
    (('integer', 'count'), ('integer',), ())
    """
    kind = number_need(word)
    if kind == "integer" and 0 < int(word) <= MOST_ELEMENTS:
        return "integer", "count"
    return (kind,) if kind else ()


@dataclass(frozen=True, slots=True)
class Word:
    """What a word asks for once it is said."""

    parts: tuple[str, ...]
    declares: str = ""
    """The kind of the name that exists from then on."""
    group: str = ""
    """The first letter of that name."""
    requires: str = ""
    """A kind of which a name must exist, for the word to make sense."""
    repeats: bool = False
    """Whether more statements may follow it: its need stays."""


def _statements(loop: bool) -> dict[str, Word]:
    body = "body.loop" if loop else "body"
    table: dict[str, Word] = {"end": Word(())}
    more: dict[str, Word] = {
        "if": Word(("value.b", body)),
        "ifelse": Word(("value.b", body, body)),
        "while": Word(("value.b", "body.loop")),
        "do": Word(("body.loop", "value.b")),
        "sync": Word(()),
        "syncwarp": Word(()),
    }
    if loop:
        more["break"] = Word(())
    for t in VALUE_TYPES:
        more[f"let.{t}"] = Word((f"value.{t}",), f"variable.{t}", "v")
        more[f"set.{t}"] = Word((f"variable.{t}", f"value.{t}"), requires=f"variable.{t}")
    for e, t in ELEMENTS.items():
        more[f"store.{e}"] = Word((f"array.{e}", "index", f"value.{t}"), requires=f"array.{e}")
        more[f"shared.{e}"] = Word(("count",), f"array.{e}", "s")
        more[f"dynamic.{e}"] = Word((), f"array.{e}", "s")
    for name, kinds in ATOMICS.items():
        for e in kinds:
            t = value_type(e)
            parts = (f"array.{t}", "index", f"value.{t}")
            more[f"{name}.{e}"] = Word(parts, requires=f"array.{t}")
    for name, word in more.items():
        table[name] = replace(word, repeats=True)
    return table


def _values() -> dict[str, dict[str, Word]]:
    table: dict[str, dict[str, Word]] = {t: {} for t in VALUE_TYPES}
    for name, (operands, result) in OPERATORS.items():
        table[result][name] = Word(tuple(f"value.{t}" for t in operands))
    for t in VALUE_TYPES:
        table[t][f"literal.{t}"] = Word(("real" if t[0] == "f" else "integer",))
    for e, t in ELEMENTS.items():
        table[t][f"load.{e}"] = Word((f"array.{e}", "index"), requires=f"array.{e}")
    table["i32"].update({name: Word(()) for name in SPECIALS})
    return table


def _productions() -> dict[str, dict[str, Word]]:
    values = _values()
    table: dict[str, dict[str, Word]] = {"none": {}}
    for need, words in _PARAMETER_NEEDS.items():
        table[need] = {
            w: Word((), f"array.{w[4:]}" if w.startswith("ptr.") else f"number.{w}", "p")
            for w in words
        }
    for need in BODIES:
        table[need] = _statements(loop=need == "body.loop")
    table.update({f"value.{t}": words for t, words in values.items()})
    table["index"] = {**values["i32"], **values["i64"]}
    for need in NEEDS:
        table.setdefault(need, {})
    return table


PRODUCTIONS = _productions()
"""Need, word: what follows."""

ACCEPTS: dict[str, tuple[str, ...]] = {
    **{f"value.{t}": (f"number.{t}", f"variable.{t}") for t in VALUE_TYPES},
    "index": ("number.i32", "variable.i32", "number.i64", "variable.i64"),
    **{f"array.{e}": (f"array.{e}",) for e in ELEMENTS},
    **{f"variable.{t}": (f"variable.{t}",) for t in VALUE_TYPES},
}
"""Need: the kinds of names that it takes."""

FIXED_WORDS = tuple(dict.fromkeys(w for words in PRODUCTIONS.values() for w in words))
"""Every word of answers but names and numbers."""


def _least() -> dict[str, int]:
    """The fewest words that a need can be met with."""
    least = dict.fromkeys(NEEDS, 1)
    least["none"] = 0
    for t in VALUE_TYPES:
        least[f"value.{t}"] = 2
    least["index"] = 1
    return least


LEAST = _least()


@dataclass(slots=True)
class State:
    """Where a program stands that is being read or written word by word."""

    stack: list[str]
    kinds: dict[str, str] = field(default_factory=dict)
    heights: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {"p": 0, "s": 0, "v": 0})
    pending: Word | None = None
    """A declaration whose value is not yet complete: the name exists after it."""
    height: int = 0
    """How much is needed below that declaration."""

    @property
    def finished(self) -> bool:
        """Whether the program is complete."""
        return not self.stack


class UnknownParameterError(PtxkitError):
    """A parameter of a type that the grammar has no word for."""


class Grammar:
    """Reads words one at a time and says which may come next.

    `tables.py` has the same as arrays, for many programs at once.
    """

    def begin(self, parameters: list[str] | tuple[str, ...]) -> State:
        """Before the first word; parameters as PTX types them."""
        needs = []
        for kind in parameters:
            if kind not in _PTX_NEEDS:
                raise UnknownParameterError(f"a parameter of type .{kind}")
            needs.append(_PTX_NEEDS[kind])
        if len(needs) > len(PARAMETERS):
            raise UnknownParameterError(f"{len(needs)} parameters; {len(PARAMETERS)} at most")
        return State(["body", *reversed(needs)])

    def allowed(self, state: State) -> _Allowed:
        """The words that may come next."""
        return _Allowed(state)

    def advance(self, state: State, word: str) -> None:
        """Take a word."""
        if word not in self.allowed(state):
            raise ValueError(f"'{word}' can't stand where {state.stack[-1]} is needed")
        need = state.stack.pop()
        height = len(state.stack)
        production = PRODUCTIONS[need].get(word)
        if production is None:
            self._settle(state)
            return
        if production.repeats:
            state.stack.append(need)
        if word == "end":
            for name in [n for n, h in state.heights.items() if h == height]:
                state.kinds.pop(name)
                state.heights.pop(name)
        if production.declares:
            state.pending, state.height = production, height
        state.stack.extend(reversed(production.parts))
        self._settle(state)

    def _settle(self, state: State) -> None:
        """A declared name exists once its value is complete."""
        word = state.pending
        if word is None or len(state.stack) > state.height + word.repeats:
            return
        name = f"{word.group}{state.counts[word.group]}"
        state.counts[word.group] += 1
        state.kinds[name] = word.declares
        if word.group != "p":
            state.heights[name] = state.height
        state.pending = None


class _Allowed:
    """The set of words that a state allows."""

    def __init__(self, state: State) -> None:
        self.state = state

    def __contains__(self, word: str) -> bool:
        state = self.state
        if not state.stack:
            return False
        need = state.stack[-1]
        kind = state.kinds.get(word)
        if kind is not None:
            return kind in ACCEPTS.get(need, ())
        if need in NUMBERS:
            return need in number_needs(word)
        production = PRODUCTIONS[need].get(word)
        if production is None:
            return False
        if production.group and state.counts[production.group] >= LIMITS[production.group]:
            return False
        return not production.requires or production.requires in state.kinds.values()
