"""Templates, mined from the compiler: ``*o = f(a)`` is compiled, and looked at.

What was found is kept on disk for each compiler, architecture and set of options.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any

from ptxkit.decompiler.lift import __file__ as _home
from ptxkit.decompiler.lift.function import lift_function
from ptxkit.decompiler.lift.mathlib.matcher import Library
from ptxkit.decompiler.lift.mathlib.templates import Node, Recorder, Template
from ptxkit.decompiler.lift.mathlib.terms import Terms
from ptxkit.decompiler.lift.signatures import Signatures
from ptxkit.errors import ToolchainError
from ptxkit.syntax import Function, Module, Scopes
from ptxkit.toolchain import CompilerWarning, compile_cuda, nvrtc
from ptxkit.toolchain import cache as store

_UNARY = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1
log log2 log10 log1p logb cbrt rcbrt erf erfc erfinv erfcinv erfcx normcdf normcdfinv sinpi cospi
tgamma lgamma round j0 j1 y0 y1""".split()
_BINARY = "pow fmod atan2 hypot rhypot remainder fdim nextafter".split()
_TERNARY = "norm3d rnorm3d".split()
_FAST = "__sinf __cosf __tanf __expf __exp10f __logf __log2f __log10f".split()
_WORDS = {"f32": "float", "f64": "double"}
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
        found[name] = ("f32",)
    found["__powf"] = ("f32", "f32")
    return found


FUNCTIONS = _functions()


def architecture(module: Module) -> str:
    """The architecture whose templates a module is looked through with."""
    return module.target or "sm_90"


def source(name: str, takes: tuple[str, ...]) -> str:
    """A kernel that does nothing but call a function.

    >>> source("sinf", ("f32",))
    'extern "C" __global__ void t_sinf(float *o, float a) { *o = sinf(a); }'
    """
    word = _WORDS[takes[0]]
    letters = "abc"[: len(takes)]
    parameters = "".join(f", {word} {letter}" for letter in letters)
    return (
        f'extern "C" __global__ void t_{name}({word} *o{parameters}) '
        f"{{ *o = {name}({', '.join(letters)}); }}"
    )


def mined(name: str, takes: tuple[str, ...], module: Module, function: Function) -> Template | None:
    """The template that a compiled kernel shows; None for what has too little to it."""
    program = lift_function(module, function, Scopes(module), Signatures(module), False)
    terms = Terms(program).run()
    arguments = program.parameters[1:]
    holes = [value for value in terms.places if value.op == "leaf"
             and value.data.variable in arguments]  # fmt: skip
    holes.sort(key=lambda value: arguments.index(value.data.variable))
    root = None
    for block in program.flow.blocks.values():
        for step in block.statements:
            if step.kind == "store" and step.data.space != "local":
                root = terms.of(step.args[1])
    if root is None or len(holes) != len(takes):
        return None
    nodes = Recorder(terms, holes).record(root)
    if nodes is None:
        return None
    # What plain C++ has no word for is worth a name, however short it is.
    nameless = any(n.op == "call" and "assembly=''," not in n.key for n in nodes)
    if not nameless and sum(bool(n.args) for n in nodes) < _LEAST:
        return None
    return Template(name, takes, takes[0], nodes)


@cache
def _fingerprint() -> str:
    """What the lifter is: templates are in its terms."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(Path(_home).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


@cache
def library(arch: str) -> Library:
    """The templates of an architecture; an empty library where nothing can be compiled."""
    text = "\n".join(source(name, takes) for name, takes in FUNCTIONS.items())
    try:
        entry = store.key("math", [nvrtc.load().release, arch, _fingerprint(), text])
        content = store.read(entry)
        if content is not None:
            return Library([_read(row) for row in json.loads(content)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompilerWarning)
            module = compile_cuda(text, arch=arch)
    except ToolchainError:
        return Library([])
    found = [
        template
        for name, takes in FUNCTIONS.items()
        if (template := mined(name, takes, module, module[f"t_{name}"])) is not None
    ]
    store.write(entry, json.dumps([astuple(t) for t in found]).encode())
    return Library(found)


def _read(row: list[Any]) -> Template:
    call, takes, gives, nodes = row
    made = tuple(
        Node(op, width, tuple(args), tuple(key) if op == "place" else key, tuple(loop))
        for op, width, args, key, loop in nodes
    )
    return Template(call, tuple(takes), gives, made)
