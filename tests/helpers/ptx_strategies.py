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
from random import Random

from hypothesis import strategies as st

Tokens = list[str]

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
    head = random.choice(["", "", "\n", "// head\n", "/* head */ "])
    tail = random.choice(["", "\n", "\n\n", " // end", "\r\n"])
    return head + "".join(pieces) + tail


# -- names and numbers -------------------------------------------------------------------------


def identifiers() -> st.SearchStrategy[str]:
    """Any identifier."""
    follow = st.text(_FOLLOW, max_size=5)
    plain = st.builds("{}{}".format, st.sampled_from(_LETTERS), follow)
    marked = st.builds("{}{}{}".format, st.sampled_from("_$%"), st.sampled_from(_FOLLOW), follow)
    return plain | marked


def integer_literals() -> st.SearchStrategy[str]:
    """An integer in any base, signed or unsigned."""
    value = st.integers(0, 2**64 - 1) | st.integers(0, 300)
    form = st.sampled_from(["{}", "{}U", "{:#x}", "{:#X}U", "0{:o}", "{:#b}", "{:#b}U"])
    return st.builds(str.format, form, value)


def float_literals() -> st.SearchStrategy[str]:
    """A float: decimal, or by its bits."""
    decimal = st.sampled_from("1.5 0.0 .5 2. 1e3 1.25e-2 .5E+1 09.5".split())
    single = st.builds("0f{:08X}".format, st.integers(0, 2**32 - 1))
    double = st.builds("0d{:016x}".format, st.integers(0, 2**64 - 1))
    return decimal | single | double


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
    register = st.sampled_from(names.registers)
    memory = st.sampled_from([*names.registers, *names.variables])
    kind = draw(st.integers(0, 9))
    if kind <= 3:
        return [draw(register)]
    if kind == 4:
        return draw(constant_expressions(2))
    if kind == 5:
        return [draw(float_literals())]
    if kind == 6:
        sums: Tokens = draw(st.just([]) | st.builds(lambda e: ["+", *e], constant_expressions(1)))
        return ["[", draw(memory), *sums, "]"]
    if kind == 7:
        elements = draw(st.lists(register, min_size=1, max_size=4))
        return ["{", *_comma_separated([[one] for one in elements]), "}"]
    if kind == 8:
        special = draw(st.sampled_from("%tid.x %ctaid.y %laneid %ntid.z".split()))
        name, dot, part = special.partition(".")
        return [name, dot + part] if dot else [name]
    return draw(st.sampled_from([["_"], ["!", draw(register)], [draw(register), "|", "_"]]))


def _comma_separated(items: Sequence[Tokens]) -> Tokens:
    tokens: Tokens = []
    for number, item in enumerate(items):
        tokens += [",", *item] if number else item
    return tokens


@st.composite
def instructions(draw: st.DrawFn, names: Names) -> Tokens:
    """One instruction, its guard and its semicolon."""
    guard: Tokens = []
    if draw(st.integers(0, 3)) == 0:
        negated = ["!"] if draw(st.booleans()) else []
        guard = ["@", *negated, draw(st.sampled_from(names.registers))]
    kind = draw(st.integers(0, 7))
    if kind == 0 and names.labels:
        return [*guard, "bra", draw(st.sampled_from(names.labels)), ";"]
    if kind == 1:
        return [*guard, "ret", ";"]
    if kind == 2 and names.functions:
        arguments = draw(st.lists(st.sampled_from(names.registers), max_size=3))
        listed = _comma_separated([[one] for one in arguments])
        return [*guard, "call", draw(st.sampled_from(names.functions)), ",", "(", *listed, ")", ";"]
    name, *modifiers = draw(st.sampled_from(_OPCODES)).split(".")
    given = draw(st.lists(operands(names), min_size=1, max_size=4))
    words = ["." + word for word in modifiers]
    return [*guard, name, *words, *_comma_separated(given), ";"]


@st.composite
def blocks(draw: st.DrawFn, names: Names, depth: int = 2) -> Tokens:
    """``{ ... }`` of statements. Labels and registers of the block are added to the names."""
    here = names.inner()
    labels = draw(st.lists(identifiers(), max_size=2, unique=True))
    labels = [one for one in labels if one not in ("WARP_SZ", "call", *here.registers)]
    here.labels += labels
    statements: list[Tokens] = []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.integers(0, 9))
        if kind == 0:
            register = f"%v{len(here.registers)}"
            here.registers.append(register)
            statements.append([".reg", draw(st.sampled_from(_TYPES)), register, ";"])
        elif kind == 1 and depth:
            statements.append(draw(blocks(here, depth - 1)))
        elif kind == 2:
            statements.append([".loc", "1", "2", "3"])
        else:
            statements.append(draw(instructions(here)))
    for label in labels:
        place = draw(st.integers(0, len(statements)))
        statements.insert(place, [label, ":"])
    return ["{", *(token for statement in statements for token in statement), "}"]


# -- modules -----------------------------------------------------------------------------------


@st.composite
def variables(draw: st.DrawFn, name: str) -> Tokens:
    """A declaration at module level."""
    space = draw(st.sampled_from([".global", ".const", ".shared"]))
    kind = draw(st.sampled_from(_TYPES[:5]))
    linkage = draw(st.sampled_from([[], [".visible"], [".weak"]]))
    align = draw(st.sampled_from([[], [".align", "8"]]))
    size = draw(st.integers(1, 3))
    shape = draw(st.sampled_from([[], ["[", str(size), "]"]]))
    tokens: Tokens = [*linkage, space, *align, kind, name, *shape]
    if draw(st.booleans()) and space != ".shared":
        values = draw(st.lists(constant_expressions(1), min_size=1, max_size=size))
        braced = ["{", *_comma_separated(values), "}"]
        tokens += ["=", *(braced if shape else values[0])]
    return [*tokens, ";"]


@st.composite
def functions(draw: st.DrawFn, name: str, names: Names) -> Tokens:
    """A kernel or a function with its body."""
    entry = draw(st.booleans())
    parameters = [f"{name}_{number}" for number in range(draw(st.integers(0, 3)))]
    space = ".param" if entry else draw(st.sampled_from([".param", ".reg"]))
    listed = _comma_separated([[space, draw(st.sampled_from(_TYPES)), one] for one in parameters])
    directives = draw(st.sampled_from([[], [".maxntid", "32", ",", "1"]])) if entry else []
    inner = names.inner()
    inner.functions.append(name)
    (inner.registers if space == ".reg" else inner.variables).extend(parameters)
    count = draw(st.integers(1, 4))
    inner.registers += [f"%r{number}" for number in range(count)]
    opening, *rest = draw(blocks(inner))
    head = [".visible", ".entry"] if entry else [".func"]
    ranges = [".reg", ".b32", "%r", "<", str(count), ">", ";"]
    return [*head, name, "(", *listed, ")", *directives, opening, *ranges, *rest]


@st.composite
def module_tokens(draw: st.DrawFn) -> Tokens:
    """The tokens of a module: head, variables, functions."""
    names = Names([], [])
    tokens = [".version", "8.0", ".target", "sm_90", ".address_size", "64"]
    if draw(st.booleans()):
        tokens += [".file", "1", '"k.cu"']
    for number in range(draw(st.integers(0, 2))):
        tokens += draw(variables(f"g{number}"))
        names.variables.append(f"g{number}")
    for number in range(draw(st.integers(1, 2))):
        tokens += draw(functions(f"f{number}", names))
        names.functions.append(f"f{number}")
    if draw(st.integers(0, 3)) == 0:
        tokens += [".section", ".debug_str", "{", "info", ":", ".b8", "1", ",", "-", "2", "}"]
    return tokens


@st.composite
def modules(draw: st.DrawFn, comments: bool = True) -> str:
    """A module as text."""
    return draw(laid_out(draw(module_tokens()), comments))
