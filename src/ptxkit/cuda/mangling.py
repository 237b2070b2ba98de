"""Names of kernels as C++ has them: mangled by the compiler, or plain where that gives the same."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.cuda.nodes import Function
from ptxkit.cuda.types import Pointer, Type
from ptxkit.syntax.demangle import demangle, read
from ptxkit.syntax.mangled import BUILTINS

_LETTERS = {word: letter for letter, word in BUILTINS.items()}
#: Names of CUDA for a number: mangled as that.
_LETTERS |= dict.fromkeys(("cudaTextureObject_t", "cudaSurfaceObject_t"), "y")
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def mangled(name: str, types: Iterable[Type]) -> str:
    """The symbol of a function outside of namespaces, and no template, by its parameters.

    >>> from ptxkit.cuda.types import FLOAT, INT
    >>> mangled("saxpy", [Pointer(FLOAT, const=True), Pointer(FLOAT), FLOAT, INT])
    '_Z5saxpyPKfPffi'
    >>> mangled("copy", [Pointer(FLOAT), Pointer(FLOAT)])
    '_Z4copyPfS_'
    """
    known: dict[str, str] = {}
    return f"_Z{len(name)}{name}" + ("".join(_one(t, known)[1] for t in types) or "v")


def _one(type: Type, known: dict[str, str]) -> tuple[str, str]:
    """A type in full, and as it is written where some types were written before."""
    if not isinstance(type, Pointer):
        word = type.spelling
        if word in _LETTERS:
            return _LETTERS[word], _LETTERS[word]
        named = f"{len(word)}{word}"
        return _written(named, named, known)
    full, short = _one(type.target, known)
    qualifiers = "V" * type.volatile + "K" * type.const
    if qualifiers:
        full, short = _written(qualifiers + full, qualifiers + short, known)
    return _written("P" + full, "P" + short, known)


def _written(full: str, short: str, known: dict[str, str]) -> tuple[str, str]:
    if full in known:
        return full, known[full]
    number = len(known)
    digits = "" if not number else _DIGITS[number - 1] if number <= 36 else ""
    # Longer signatures than anyone writes: what never equals a symbol.
    known[full] = f"S{digits}_" if number <= 36 else "?"
    return full, short


def plain_name(function: Function) -> str:
    """The name that the compiler makes a kernel's symbol of; empty where there is none.

    >>> from ptxkit.cuda import nodes as n
    >>> from ptxkit.cuda.types import INT, VOID
    >>> one = n.Function("_Z4fillPi", (n.Parameter(Pointer(INT), "x"),), (), VOID, linkage="C")
    >>> plain_name(one)
    'fill'
    """
    return demangled_name(function) if function.kernel else ""


def demangled_name(function: Function) -> str:
    """The same of any function.

    >>> from ptxkit.cuda import nodes as n
    >>> from ptxkit.cuda.types import FLOAT
    >>> x = n.Parameter(FLOAT, "x")
    >>> demangled_name(n.Function("_Z3addf", (x,), (), FLOAT, False, linkage="C"))
    'add'
    """
    if function.linkage != "C":
        return ""
    tree = read(function.name)
    if tree is None or tree[0] != "function" or tree[1][0] != "word":
        return ""
    name = str(tree[1][1])
    same = mangled(name, [p.type for p in function.parameters]) == function.name
    return name if same else ""


def explained(function: Function) -> str:
    """What a mangled name says, for those who read it; empty for other names."""
    found = demangle(function.name) if function.linkage == "C" else function.name
    return found if found != function.name else ""
