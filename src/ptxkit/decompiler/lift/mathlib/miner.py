"""Templates, mined from the compiler: ``*o = f(a)`` is compiled, and looked at.

What was found is kept on disk for each compiler, architecture and set of options.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ptxkit.decompiler.lift import __file__ as _home
from ptxkit.decompiler.lift.flags import PLAIN, Flags
from ptxkit.decompiler.lift.function import lift_function
from ptxkit.decompiler.lift.halves import HALF_HEADERS, is_half
from ptxkit.decompiler.lift.mathlib.known_ways import take_known_ways
from ptxkit.decompiler.lift.mathlib.matcher import Library
from ptxkit.decompiler.lift.mathlib.templates import Node, Recorder, Template
from ptxkit.decompiler.lift.mathlib.terms import Terms
from ptxkit.decompiler.lift.signatures import Signatures
from ptxkit.decompiler.lift.values import Value, apart, raw
from ptxkit.decompiler.lift.written_tables import with_written_tables
from ptxkit.errors import PtxkitError, ToolchainError
from ptxkit.isa.targets import Target
from ptxkit.syntax import Module, Scopes
from ptxkit.toolchain import CompilerWarning, compile_cuda, nvrtc
from ptxkit.toolchain import cache as store

_UNARY = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1
log log2 log10 log1p logb cbrt rcbrt erf erfc erfinv erfcinv erfcx normcdf normcdfinv sinpi cospi
tgamma lgamma round j0 j1 y0 y1""".split()
_BINARY = "pow fmod atan2 hypot rhypot remainder fdim nextafter copysign".split()
_TERNARY = "norm3d rnorm3d".split()
_FAST = "__sinf __cosf __tanf __expf __exp10f __logf __log2f __log10f __powf".split()
_BOTH = {"sincosf": "f32", "sincos": "f64", "sincospif": "f32", "sincospi": "f64"}
_WORDS = {"f32": "float", "f64": "double", "f16": "__half", "bf16": "__nv_bfloat16",
          "f16x2": "__half2", "bf16x2": "__nv_bfloat162", "s32": "int", "u32": "unsigned int",
          "s16": "short", "u16": "unsigned short"}  # fmt: skip
#: The integers that arguments are made of.
INTEGERS = frozenset(("s32", "u32", "s16", "u16"))
#: Powers of integers: a compiler asks the integer whether it is 0, or less.
_WITH_INTEGERS = {"powf": ("f32", "s32"), "pow": ("f64", "s32")}
#: Functions of one half, by how many arguments they take; with a 2 in it, of two at once.
_HALVES = {
    1: """hexp hexp2 hexp10 hlog hlog2 hlog10 hsin hcos hrcp hsqrt hrsqrt htanh hfloor hceil hrint
    htrunc""",
    2: "__hdiv __hadd_sat __hsub_sat __hmul_sat",
    3: "__hfma_sat __hfma_relu",
}
#: The oldest architecture that compilers still know; and what stands for others.
_OLDEST, _USUAL = 75, "sm_90"
#: Numbers of a function that are tried as arguments.
_MOST_NUMBERS = 24
#: Templates of fewer operations would find themselves in everything.
_LEAST = 3


def _functions() -> dict[str, tuple[str, ...]]:
    """Functions by name: the types of their arguments; they give the same type."""
    found: dict[str, tuple[str, ...]] = {}
    for count, names in ((1, _UNARY), (2, _BINARY), (3, _TERNARY)):
        for name in names:
            found[name + "f"] = ("f32",) * count
            found[name] = ("f64",) * count
    for name in _FAST:
        found[name] = found[name[2:]]
    found["__frsqrt_rn"] = ("f32",)
    return found


FUNCTIONS = _functions()


def architecture(module: Module) -> str:
    """The architecture whose templates a module is looked through with."""
    target = module.target
    try:
        return target if target and Target.parse(target).number >= _OLDEST else _USUAL
    except PtxkitError:
        return _USUAL


Fixed = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call to look at: a function, and those of its arguments that are numbers."""

    call: str
    takes: tuple[str, ...]
    fixed: Fixed = ()
    negated: bool = False
    outputs: int = 0
    """How many results come through pointers."""
    positive: bool = False
    """Whether the integer is known to be one: nothing is asked then."""
    squares: str = ""
    """The arguments that are squares, of which a compiler asks no sign."""

    @property
    def gives(self) -> str:
        """The type of the result: that of the arguments, integers apart."""
        floats = (type for type in self.takes if type not in INTEGERS)
        return next(floats, None) or FUNCTIONS[self.call][0]

    @property
    def kernel(self) -> str:
        """The name of the kernel that makes the call."""
        bits = "".join("_x" if f is None else f"_{f:x}" for f in self.fixed)
        type = f"_{self.takes[0]}" if is_half(self.takes[0]) else ""
        type += "".join(f"_{t}" if t in INTEGERS else "_" for t in self.takes).rstrip("_")
        type += "_p" * self.positive + f"_{self.squares}" * bool(self.squares)
        return f"t_{self.call}{type}{bits}{'_minus' if self.negated else ''}"

    @property
    def source(self) -> str:
        """A kernel that does nothing but call the function.

        >>> Wanted("sinf", ("f32",)).source
        'extern "C" __global__ void t_sinf(float *o, float a) { *o = sinf(a); }'
        >>> Wanted("logf", ("f32",), squares="a").source
        'extern "C" __global__ void t_logf_a(float *o, float a) { *o = logf(a * a); }'
        """
        word = _WORDS[self.gives]
        if is_half(self.takes[0]):
            # Structures for C++: they come through pointers.
            taken = "abc"[: len(self.takes)]
            pointers = "".join(f", const {word} *{x}" for x in taken)
            head = f'extern "C" __global__ void {self.kernel}({word} *o{pointers})'
            return f"{head} {{ *o = {self.call}({', '.join(f'*{x}' for x in taken)}); }}"
        fixed = self.fixed or (None,) * len(self.takes)
        read = "__int_as_float(0x{:x})" if word == "float" else "__longlong_as_double(0x{:x})"
        given = [
            letter if f is None else read.format(f) for letter, f in zip("abc", fixed, strict=False)
        ]
        words = [_WORDS[type] for type in self.takes]
        parameters = "".join(
            f", {own} {x}" for own, x in zip(words, given, strict=True) if len(x) == 1
        )
        given = [x if own == word else f"({word}){x}" for own, x in zip(words, given, strict=True)]
        given = [f"{x} * {x}" if x in self.squares else x for x in given]
        if self.negated:
            given = [f"-{x}" for x in given]
        made = f"{'if (b > 0) ' * self.positive}*o = {self.call}({', '.join(given)})"
        if self.outputs:
            made = f"{self.call}({', '.join((*given, *(f'o + {k}' for k in range(self.outputs))))})"
        return f'extern "C" __global__ void {self.kernel}({word} *o{parameters}) {{ {made}; }}'


def mined(wanted: Wanted, module: Module, flags: Flags) -> list[Template]:
    """The templates that a compiled kernel shows, one for each result; none for the simplest."""
    function = module[wanted.kernel]
    program = lift_function(module, function, Scopes(module), Signatures(module), flags)
    take_known_ways(program)
    terms = Terms(program).run()
    arguments = program.parameters[1:]
    places = [(leaf.data.variable, value) for value in terms.places
              if (leaf := _source(value, wanted)).op == "leaf"]  # fmt: skip
    found_holes = {arguments.index(v): value for v, value in places if v in arguments}
    letters = [x for x, f in zip("abc", wanted.fixed or (None,) * 3, strict=False) if f is None]
    holes = [_hole(found_holes[k], letters[k] in wanted.squares, terms)
             for k in sorted(found_holes)]  # fmt: skip
    roots: dict[int, Value] = {}
    for block in program.flow.blocks.values():
        for step in block.statements:
            if step.kind == "store" and step.data.space != "local":
                address = terms.of(step.args[0])
                offset = address.args[1].data if address.op == "add" else 0
                for place, value in enumerate(step.args[1:]):
                    roots[offset // (step.data.width // 8) + place] = terms.of(value)
    if len(roots) != max(wanted.outputs, 1) or len(holes) != len(arguments):
        return []
    found = [_template(wanted, terms, holes, roots[p], p, flags) for p in sorted(roots)]
    return [template for template in found if template is not None]


def _hole(parameter: Value, squared: bool, terms: Terms) -> Value:
    """What a function is called with: a parameter, or its square."""
    squares = (v for v in terms.places if v.op == "fmul" and v.args == (parameter, parameter))
    return next(squares, parameter) if squared else parameter


def _source(value: Value, wanted: Wanted) -> Value:
    """What an argument of a call is: itself, or where it was read from."""
    if is_half(wanted.takes[0]) and value.op == "load" and value.data.count == 1:
        address = value.args[0]
        return address.args[0] if address.op in ("generic", "specific") else address
    return raw("nothing", 1) if is_half(wanted.takes[0]) else value


def _template(
    wanted: Wanted, terms: Terms, holes: list[Value], root: Value, part: int, flags: Flags
) -> Template | None:
    nodes = Recorder(terms, holes).record(root)
    if nodes is None:
        return None
    # What plain C++ has no word for is worth a name, however short it is; and so is the plain
    # name of what has another one beside it that asks for speed.
    nameless = any(n.op == "call" and "assembly=''," not in n.key for n in nodes)
    nameless |= flags.fast and any(n.op == "call" and "name='__" in n.key for n in nodes)
    made = Template(wanted.call, wanted.takes, wanted.gives, nodes, wanted.fixed,
                    wanted.negated, part if wanted.outputs else -1)  # fmt: skip
    return made if nameless or made.operations >= _LEAST else None


@cache
def _fingerprint() -> str:
    """What the lifter is: templates are in its terms."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(Path(_home).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def templates(wanted: Sequence[Wanted], arch: str, flags: Flags) -> list[Template]:
    """The templates of calls; none where nothing can be compiled."""
    headers = sorted({HALF_HEADERS[t] for one in wanted for t in one.takes if is_half(t)})
    text = "\n".join([*(f"#include <{h}>" for h in headers), *(one.source for one in wanted)])
    try:
        known = [nvrtc.load().release, arch, *flags.options, _fingerprint(), text]
        entry = store.key("math", known)
        content = store.read(entry)
        if content is not None:
            return [_read(row) for row in json.loads(content)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompilerWarning)
            module = compile_cuda(text, arch=arch, options=flags.options, cache=False)
    except ToolchainError:
        return []
    module = with_written_tables(module)
    with apart():
        found = [template for one in wanted for template in mined(one, module, flags)]
    store.write(entry, json.dumps([astuple(t) for t in found]).encode())
    return found


def _read(row: list[Any]) -> Template:
    call, takes, gives, nodes, fixed, negated, part = row
    made = tuple(
        Node(op, width, tuple(args), tuple(key) if op == "place" else key, tuple(loop))
        for op, width, args, key, loop in nodes
    )
    return Template(call, tuple(takes), gives, made, tuple(fixed), negated, part)


@cache
def library(arch: str, flags: Flags = PLAIN) -> Library:
    """The functions of the library with any arguments."""
    wanted = [Wanted(name, takes) for name, takes in FUNCTIONS.items()
              if not (flags.fast and name in _FAST)]  # fmt: skip
    # Short ones have too few numbers in them to be suspected.
    wanted += [Wanted(name[2:], FUNCTIONS[name], negated=True)
               for name in _FAST if flags.fast and len(FUNCTIONS[name]) == 1]  # fmt: skip
    wanted += [Wanted(name, (type,), outputs=2) for name, type in _BOTH.items()]
    wanted += [Wanted(name, takes, positive=positive)
               for name, takes in _WITH_INTEGERS.items() for positive in (False, True)]  # fmt: skip
    return Library(templates(wanted, arch, flags))


@cache
def half_library(arch: str, flags: Flags = PLAIN) -> Library:
    """The functions of halves."""
    found: list[Template] = []
    for type in ("f16", "bf16", "f16x2", "bf16x2"):
        wanted = [
            Wanted(_of_pairs(name) if type.endswith("x2") else name, (type,) * count)
            for count, names in _HALVES.items()
            for name in names.split()
            if "relu" not in name or Target.parse(arch).number > _OLDEST
        ]
        found += templates(wanted, arch, flags)
    return Library(found)


def _of_pairs(name: str) -> str:
    """The name of a function for two halves at once.

    >>> _of_pairs("hexp"), _of_pairs("__hdiv"), _of_pairs("__hadd_sat")
    ('h2exp', '__h2div', '__hadd2_sat')
    """
    if name.startswith("h") or name == "__hdiv":
        return name.replace("h", "h2", 1)
    stem, _, rest = name.rpartition("_")
    return f"{stem}2_{rest}"


def _of_squares(name: str, numbers: Sequence[int]) -> list[Wanted]:
    """Calls of a function with squares for arguments, or with a square and a number."""
    takes = FUNCTIONS[name]
    letters = "abc"[: len(takes)]
    found = [Wanted(name, takes, squares=one) for one in letters]
    if len(takes) == 2:
        found.append(Wanted(name, takes, squares=letters))
        for bits in numbers:
            found += [Wanted(name, takes, (None, bits), squares="a"),
                      Wanted(name, takes, (bits, None), squares="b")]  # fmt: skip
    return found


@cache
def specialised(
    arch: str,
    flags: Flags,
    names: frozenset[str],
    numbers: frozenset[tuple[int, int]],
    alone: frozenset[str] = frozenset(),
    *,
    integers: frozenset[str] = frozenset(),
    squares: bool = False,
) -> Library:
    """Functions with their argument negated, or with one of some numbers for it, or for one of two.

    Others may be integers of some types, which compilers ask in the place of what they are made;
    or ``squares``, of which nothing is asked that only numbers below zero answer.

    Some functions call others, of which compilers make one for a number where nobody else calls
    it: those are compiled ``alone``, too.
    """
    wanted: list[Wanted] = []
    for name in sorted(names & FUNCTIONS.keys()):
        takes = FUNCTIONS[name]
        width = int(takes[0][1:])
        given = sorted(bits for w, bits in numbers if w == width)[:_MOST_NUMBERS]
        if squares:
            wanted += _of_squares(name, given)
            continue
        if len(takes) == 1:
            wanted.append(Wanted(name, takes, negated=True))
            wanted += [Wanted(name, takes, (bits,)) for bits in given]
            wanted += [Wanted(name, (type,)) for type in sorted(integers)]
        if len(takes) != 2:
            continue
        for type in sorted(integers):
            some = ((type, type), (type, takes[1]), (takes[0], type))
            wanted += [Wanted(name, own) for own in some]
        for bits in given:
            wanted += [Wanted(name, takes, (None, bits)), Wanted(name, takes, (bits, None))]
            if "s32" in integers:
                wanted.append(Wanted(name, ("s32", takes[1]), (None, bits)))
                wanted.append(Wanted(name, (takes[0], "s32"), (bits, None)))
    found = templates(wanted, arch, flags) if wanted else []
    for one in wanted:
        found += templates([one], arch, flags) if one.call in alone else []
    return Library(found)
