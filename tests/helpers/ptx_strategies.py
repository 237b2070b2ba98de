"""Hypothesis strategies that write PTX: whole modules, with any white space and comments.

A strategy for a construct gives its tokens, a list of strings. ``laid_out`` puts trivia between
them. Names are declared before they are used, registers in scope, labels where a branch may go;
types are not looked at, so the texts parse but need not assemble.

    @given(modules())
    def test_round_trip(text): assert ptxkit.parse(text).emit() == text
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

Tokens = list[str]
T = TypeVar("T")

_LETTERS = "abcxyzABC"
_FOLLOW = _LETTERS + "0123456789_$"
_OPERATORS = "+ - * / % << >> < <= > >= == != & | ^ && ||".split()
_TYPES = ".b8 .b16 .b32 .b64 .u32 .s64 .f16 .f32 .f64".split()
_OPCODES = (
    "add.s32 sub.f32 mul.lo.u32 mad.rn.f64 setp.lt.s32 mov.b32 cvt.u64.u32 selp.b32 "
    "cp.async.bulk.shared::cluster.global bar.sync tcgen05.mma.cta_group::1.kind::f16 future.op"
).split()
#: What may stand between two tokens where something must, and where nothing needs to.
_SPACES = [" ", " ", " ", "\n", "\n    ", "\t", "\r\n", "\n\n", "  "]
_COMMENTS = ["/* c */", "/**/", "/* a\n b */", " // c\n", "\n// a; b\n", "\n# line\n", " /* } */ "]


# -- trivia ------------------------------------------------------------------------------------


def may_touch(left: str, right: str) -> bool:
    """Say whether two tokens are still two when nothing stands between them."""
    alone = ",;(){}[]:@"
    if left in alone or right in alone:
        return True
    a, b = left[-1], right[0]
    word = a.isalnum() or a in "_$"
    if word and (b.isalnum() or b in "_$."):
        # "add" ".s32" and "%tid" ".x", but not "1" ".5"
        return b == "." and not left[0].isdigit() and not right[1:2].isdigit()
    if a in "%." or (b == "%" and not word):
        return False
    operators = set("+-*/<>=!&|^~?%")
    return not (a in operators and b in operators)


def laid_out(tokens: Sequence[str], comments: bool = True) -> st.SearchStrategy[str]:
    """The tokens as text, with white space and comments between them; at its simplest, spaces."""
    return st.builds(lambda seed: lay_out(tokens, seed, comments), st.integers(0, 2**32))


def lay_out(tokens: Sequence[str], seed: int, comments: bool = True) -> str:
    """The tokens as text, with trivia chosen by a seed; a space between any two for seed 0."""
    if seed == 0:
        return " ".join(tokens)
    # A draw for each gap would be most of the time that a test takes.
    random = Random(seed)
    choices = [*_SPACES, *(_COMMENTS if comments else [])]
    pieces: list[str] = []
    for number, token in enumerate(tokens):
        if number:
            before = tokens[number - 1]
            gap = random.choice(["", "", *choices] if may_touch(before, token) else choices)
            # "/" and a comment would read as another comment.
            pieces.append(f" {gap} " if before.endswith("/") or token.startswith("/") else gap)
        pieces.append(token)
    heads, tails = ["", "\n"], ["", "\n", "\n\n", "\r\n"]
    if comments:
        heads += ["// head\n", "/* head */ "]
        tails.append(" // end")
    return random.choice(heads) + "".join(pieces) + random.choice(tails)


# -- choices -----------------------------------------------------------------------------------

# Strategies are made once: to make one costs more than to draw from it.
_NUMBER = st.integers(0, 719)  # a multiple of every small number
_YES = st.booleans()


def _pick(draw: st.DrawFn, choices: Sequence[T]) -> T:
    return choices[draw(_NUMBER) % len(choices)]


def _several(draw: st.DrawFn, choices: Sequence[T], least: int, most: int) -> list[T]:
    return [_pick(draw, choices) for _ in range(least + draw(_NUMBER) % (most - least + 1))]


# -- names and numbers -------------------------------------------------------------------------


@cache
def identifiers() -> st.SearchStrategy[str]:
    """Any identifier."""
    follow = st.text(_FOLLOW, max_size=5)
    plain = st.builds("{}{}".format, st.sampled_from(_LETTERS), follow)
    marked = st.builds("{}{}{}".format, st.sampled_from("_$%"), st.sampled_from(_FOLLOW), follow)
    return plain | marked


@cache
def integer_literals() -> st.SearchStrategy[str]:
    """An integer in any base, signed or unsigned."""
    value = st.integers(0, 2**64 - 1) | st.integers(0, 300)
    form = st.sampled_from(["{}", "{}U", "{:#x}", "{:#X}U", "0{:o}", "{:#b}", "{:#b}U"])
    return st.builds(str.format, form, value)


@cache
def float_literals() -> st.SearchStrategy[str]:
    """A float: decimal, or by its bits."""
    decimal = st.sampled_from("1.5 0.0 .5 2. 1e3 1.25e-2 .5E+1 09.5".split())
    single = st.builds("0f{:08X}".format, st.integers(0, 2**32 - 1))
    double = st.builds("0d{:016x}".format, st.integers(0, 2**64 - 1))
    return decimal | single | double


@cache
def constant_expressions(depth: int = 3) -> st.SearchStrategy[Tokens]:
    """A constant expression over integers, as tokens."""
    leaf = st.builds(lambda text: [text], integer_literals() | st.just("WARP_SZ"))
    if depth == 0:
        return leaf
    inner = constant_expressions(depth - 1)
    return st.one_of(
        leaf,
        st.builds(lambda sign, a: [sign, *a], st.sampled_from("-+~!"), inner),
        st.builds(lambda t, a: ["(", t, ")", *a], st.sampled_from([".s64", ".u64"]), inner),
        st.builds(lambda a: ["(", *a, ")"], inner),
        st.builds(lambda a, op, b: [*a, op, *b], inner, st.sampled_from(_OPERATORS), inner),
        st.builds(lambda a, b, c: [*a, "?", *b, ":", *c], inner, inner, inner),
    )


# -- statements --------------------------------------------------------------------------------


@dataclass
class Names:
    """What is declared where a statement stands."""

    registers: list[str]
    labels: list[str]
    variables: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)

    def inner(self) -> Names:
        """The names that a block inside sees."""
        return Names([*self.registers], [*self.labels], [*self.variables], [*self.functions])


@st.composite
def operands(draw: st.DrawFn, names: Names) -> Tokens:
    """One operand of an instruction."""
    return _operand(draw, names)


def _operand(draw: st.DrawFn, names: Names) -> Tokens:
    register = _pick(draw, names.registers)
    kind = draw(_NUMBER) % 10
    if kind <= 3:
        return [register]
    if kind == 4:
        return draw(constant_expressions(2))
    if kind == 5:
        return [draw(float_literals())]
    if kind == 6:
        base = _pick(draw, [*names.registers, *names.variables])
        return ["[", base, *(["+", *draw(constant_expressions(1))] if draw(_YES) else []), "]"]
    if kind == 7:
        elements = _several(draw, names.registers, 1, 4)
        return ["{", *_comma_separated([[one] for one in elements]), "}"]
    if kind == 8:
        return list(_pick(draw, [("%tid", ".x"), ("%ctaid", ".y"), ("%laneid",)]))
    return _pick(draw, [["_"], ["!", register], [register, "|", "_"]])


def _comma_separated(items: Sequence[Tokens]) -> Tokens:
    tokens: Tokens = []
    for number, item in enumerate(items):
        tokens += [",", *item] if number else item
    return tokens


@st.composite
def instructions(draw: st.DrawFn, names: Names) -> Tokens:
    """One instruction, its guard and its semicolon."""
    return _instruction(draw, names)


def _instruction(draw: st.DrawFn, names: Names) -> Tokens:
    guard: Tokens = []
    if draw(_NUMBER) % 4 == 0:
        guard = ["@", *(["!"] if draw(_YES) else []), _pick(draw, names.registers)]
    kind = draw(_NUMBER) % 8
    if kind == 0 and names.labels:
        return [*guard, "bra", _pick(draw, names.labels), ";"]
    if kind == 1:
        return [*guard, "ret", ";"]
    if kind == 2 and names.functions:
        listed = _comma_separated([[one] for one in _several(draw, names.registers, 0, 3)])
        return [*guard, "call", _pick(draw, names.functions), ",", "(", *listed, ")", ";"]
    name, *modifiers = _pick(draw, _OPCODES).split(".")
    given = [_operand(draw, names) for _ in range(1 + draw(_NUMBER) % 4)]
    return [*guard, name, *("." + word for word in modifiers), *_comma_separated(given), ";"]


@st.composite
def blocks(draw: st.DrawFn, names: Names, depth: int = 2) -> Tokens:
    """``{ ... }`` of statements that know the names outside, with names of its own."""
    return _block(draw, names, depth)


def _block(draw: st.DrawFn, names: Names, depth: int) -> Tokens:
    here = names.inner()
    labels = list(dict.fromkeys(draw(identifiers()) for _ in range(draw(_NUMBER) % 3)))
    labels = [one for one in labels if one not in ("WARP_SZ", *here.registers)]
    here.labels += labels
    statements: list[Tokens] = []
    for _ in range(draw(_NUMBER) % 5):
        kind = draw(_NUMBER) % 10
        if kind == 0:
            register = f"%v{len(here.registers)}"
            here.registers.append(register)
            statements.append([".reg", _pick(draw, _TYPES), register, ";"])
        elif kind == 1 and depth:
            statements.append(_block(draw, here, depth - 1))
        elif kind == 2:
            statements.append([".loc", "1", "2", "3"])
        else:
            statements.append(_instruction(draw, here))
    for label in labels:
        statements.insert(draw(_NUMBER) % (len(statements) + 1), [label, ":"])
    return ["{", *(token for statement in statements for token in statement), "}"]


# -- modules -----------------------------------------------------------------------------------


def _variable(draw: st.DrawFn, name: str) -> Tokens:
    space = _pick(draw, [".global", ".const", ".shared"])
    linkage = _pick(draw, [[], [".visible"], [".weak"]])
    align = _pick(draw, [[], [".align", "8"]])
    size = 1 + draw(_NUMBER) % 3
    shape = ["[", str(size), "]"] if draw(_YES) else []
    tokens: Tokens = [*linkage, space, *align, _pick(draw, _TYPES[:5]), name, *shape]
    if draw(_YES) and space != ".shared":
        values = [draw(constant_expressions(1)) for _ in range(size)]
        tokens += ["=", *(["{", *_comma_separated(values), "}"] if shape else values[0])]
    return [*tokens, ";"]


def _function(draw: st.DrawFn, name: str, names: Names) -> Tokens:
    entry = draw(_YES)
    parameters = [f"{name}_{number}" for number in range(draw(_NUMBER) % 4)]
    space = ".param" if entry else _pick(draw, [".param", ".reg"])
    listed = _comma_separated([[space, _pick(draw, _TYPES), one] for one in parameters])
    directives = [".maxntid", "32", ",", "1"] if entry and draw(_YES) else []
    inner = names.inner()
    inner.functions.append(name)
    (inner.registers if space == ".reg" else inner.variables).extend(parameters)
    count = 1 + draw(_NUMBER) % 4
    inner.registers += [f"%r{number}" for number in range(count)]
    opening, *rest = _block(draw, inner, 2)
    head = [".visible", ".entry"] if entry else [".func"]
    ranges = [".reg", ".b32", "%r", "<", str(count), ">", ";"]
    return [*head, name, "(", *listed, ")", *directives, opening, *ranges, *rest]


@st.composite
def module_tokens(draw: st.DrawFn) -> Tokens:
    """The tokens of a module: head, variables, functions."""
    names = Names([], [])
    tokens = [".version", "8.0", ".target", "sm_90", ".address_size", "64"]
    if draw(_YES):
        tokens += [".file", "1", '"k.cu"']
    for number in range(draw(_NUMBER) % 3):
        tokens += _variable(draw, f"g{number}")
        names.variables.append(f"g{number}")
    for number in range(1 + draw(_NUMBER) % 2):
        tokens += _function(draw, f"f{number}", names)
        names.functions.append(f"f{number}")
    if draw(_NUMBER) % 4 == 0:
        tokens += [".section", ".debug_str", "{", "info", ":", ".b8", "1", ",", "-", "2", "}"]
    return tokens


@st.composite
def modules(draw: st.DrawFn, comments: bool = True) -> str:
    """A module as text."""
    tokens = draw(_MODULE_TOKENS)
    return lay_out(tokens, draw(_SEED), comments)


_MODULE_TOKENS = module_tokens()
_SEED = st.integers(0, 2**32)
