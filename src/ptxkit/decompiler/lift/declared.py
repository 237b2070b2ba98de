"""The types of parameters that a mangled name tells."""

from __future__ import annotations

from dataclasses import replace

from ptxkit.cuda.types import BFLOAT16, HALF, SCALARS, VECTORS, Pointer, Scalar, Type, Vector
from ptxkit.syntax.demangle import read
from ptxkit.syntax.mangled import Tree

_NAMED: dict[str, Type] = {
    **{scalar.spelling: scalar for scalar in SCALARS.values()},
    **{vector.spelling: vector for vector in VECTORS.values()},
    HALF.spelling: HALF,
    BFLOAT16.spelling: BFLOAT16,
}
_PACKED: dict[Type, str] = {VECTORS["half2"]: "f16x2", VECTORS["bfloat162"]: "bf16x2"}
#: Pointers through which nothing is read or written here.
_UNTYPED = (Pointer(SCALARS["char"]), Pointer(SCALARS["char"], const=True))


def declared_types(name: str) -> tuple[Type | None, ...]:
    """What the parameters of a function were declared as; None for what has no type here.

    >>> [t.spelling if t else None for t in declared_types("_Z5shiftIfEvPKT_P4FlowS0_")]
    ['const float *', None, 'float']
    >>> declared_types("shift")
    ()
    """
    tree = read(name)
    if tree is None or tree[0] != "function":
        return ()
    return tuple(_type(one, _arguments(tree[1])) for one in tree[3])


def declared_classes(name: str) -> tuple[str, ...]:
    """The classes that parameters are, or point to; nothing where a type here stands for it.

    >>> declared_classes("_Z5shiftIfEvPKN3sim4FlowE6VectorIT_EPS5_")
    ('Flow', 'Vector', '')
    """
    tree = read(name)
    if tree is None or tree[0] != "function":
        return ()
    return tuple(_class(one[1] if one[0] == "pointer" else one) for one in tree[3])


def _class(tree: Tree) -> str:
    """The last word of a class's name."""
    while tree[0] in ("qualified", "template", "scoped"):
        tree = tree[2] if tree[0] == "scoped" else tree[1]
    return tree[1] if tree[0] == "word" and tree[1] not in _NAMED else ""


def declared_rows(name: str) -> tuple[tuple[int, ...], ...]:
    """How long the rows are that parameters point to, from the outer to the inner ones.

    >>> declared_rows("_Z4stepPA600_A400_dPKfi")
    ((600, 400), (), ())
    """
    tree = read(name)
    if tree is None or tree[0] != "function":
        return ()
    return tuple(_rows(one[1]) if one[0] == "pointer" else () for one in tree[3])


def _rows(tree: Tree) -> tuple[int, ...]:
    """The extents of an array."""
    found: list[int] = []
    while tree[0] == "array":
        word = tree[2][1] if tree[2] and tree[2][0] == "word" else ""
        if not word.isdigit():
            return ()
        found.append(int(word))
        tree = tree[1]
    return tuple(found)


def _arguments(name: Tree) -> tuple[Tree, ...]:
    """What the function itself is a template of."""
    while name[0] == "scoped":
        name = name[2]
    return name[2] if name[0] == "template" else ()


def _type(tree: Tree, arguments: tuple[Tree, ...], depth: int = 0) -> Type | None:
    if depth > 8:
        return None
    if tree[0] == "parameter":
        known = tree[1] < len(arguments) and arguments[tree[1]][0] != "parameter"
        return _type(arguments[tree[1]], arguments, depth + 1) if known else None
    if tree[0] == "word":
        return _NAMED.get(tree[1])
    if tree[0] != "pointer" or tree[2] != "*":
        return None
    of, words = tree[1], []
    while of[0] == "array":
        of = of[1]  # rows of elements are elements, one after another
    if of[0] == "qualified":
        of, words = of[1], of[2].split()
    target = _type(of, arguments, depth + 1)
    if target is None or target == SCALARS["void"]:
        return None
    return Pointer(target, const="const" in words, volatile="volatile" in words)


def votes_of(type: Type) -> tuple[int, str]:
    """The width of a number, or of the elements of a vector, and how its bits are taken."""
    if type in _PACKED:
        return 32, _PACKED[type]
    element = type.element if isinstance(type, Vector) else type
    if not isinstance(element, Scalar) or element.kind in ("bool", "void"):
        return 0, ""
    if element.is_float:
        bfloat = "b" if element == BFLOAT16 else ""
        return element.bits, f"{bfloat}f{element.bits}"
    return element.bits, "s" if element.signed else "u"


def agreed(found: Type, declared: Type | None, *, used: bool) -> Type:
    """The type of a parameter: as declared, where that is the same to those who use it.

    >>> agreed(SCALARS["longlong"], SCALARS["long"], used=True).spelling
    'long'
    >>> agreed(Pointer(SCALARS["schar"]), Pointer(SCALARS["char"]), used=True).spelling
    'char *'
    >>> agreed(SCALARS["longlong"], Pointer(SCALARS["int"]), used=False).spelling
    'int *'
    """
    if declared is None:
        return found
    if isinstance(declared, Pointer) and (not used or found in _UNTYPED):
        return declared
    if isinstance(declared, Pointer) and isinstance(found, Pointer):
        # Who reads several at once points to numbers, and says so where that is done.
        several = isinstance(found.target, Vector) and found.target.element == declared.target
        # A byte with a sign has two names.
        byte = found.target == SCALARS["schar"] and declared.target == SCALARS["char"]
        return replace(found, target=declared.target) if several or byte else found
    if isinstance(found, Scalar) and isinstance(declared, Scalar):
        whole = found.is_integer and declared.is_integer and declared.bits == found.bits
        return declared if whole and found.signed == declared.signed else found
    return found
