"""The two sizes of a plane: what ends columns is its width, what ends rows its height.

People call them by names that belong together. A model that names one at a time may know one of
them, or neither.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar

#: What the two are called, the columns first: those that nobody mistakes, then those of matrices.
_PAIRS = (("width", "height"), ("w", "h"), ("W", "H"), ("nx", "ny"), ("cols", "rows"),
          ("columns", "rows"))  # fmt: skip
_OF_MATRICES = frozenset("mnkMNK")
_SIDES_OF_MATRICES = 3
_OF_ROWS = frozenset(down for _, down in _PAIRS)
#: The name of what has none.
_NUMBERED = re.compile(r"[a-z]\d+")
#: Names that say nothing about a size.
_VAGUE = frozenset("a b c d e f p q r s t u v x y z".split())
_COMPARED = frozenset(("<", "<=", ">", ">="))


def plane_sizes(function: n.Function, places: Mapping[str, str]) -> tuple[str, str] | None:
    """The parameters that end columns and rows; None where there are not two such ones.

    ``places`` are names of variables that are known to be a ``"row"`` or a ``"col"``.

    >>> from ptxkit.cuda import read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int a) (param int b))
    ...     (if (&& (< i a) (< j (- b 1))) (then (= ([] x (+ (* j a) i)) 0.0f))))''')
    >>> plane_sizes(kernel, {"i": "col", "j": "row"})
    ('a', 'b')
    """
    sizes = {
        p.name for p in function.parameters if isinstance(p.type, Scalar) and p.type.is_integer
    }
    ends: dict[str, set[str]] = {"col": set(), "row": set()}
    for one, other in _compared(function):
        place = places.get(one, "")
        if place in ends and other in sizes:
            ends[place].add(other)
    if len(ends["col"]) != 1 or len(ends["row"]) != 1 or ends["col"] == ends["row"]:
        return None
    return min(ends["col"]), min(ends["row"])


def paired_names(
    sizes: tuple[str, str], named: Mapping[str, str], taken: Collection[str]
) -> dict[str, str]:
    """Names for the sizes of a plane that belong together; nothing where they do already.

    ``named`` are the names that were chosen, ``taken`` those that neither may have.

    >>> paired_names(("n2", "n3"), {"n2": "nx", "n3": "b"}, ())
    {'n3': 'ny'}
    >>> paired_names(("n2", "n3"), {"n1": "k", "n2": "n", "n3": "m"}, ())
    {}
    """
    across, down = (named.get(size, size) for size in sizes)
    letters = sum(name in _OF_MATRICES for name in named.values())
    if (across, down) in _PAIRS or (
        {across, down} <= _OF_MATRICES and letters >= _SIDES_OF_MATRICES
    ):
        return {}
    weak = _says_nothing(across), _says_nothing(down)
    for wanted in (
        *(pair for pair in _PAIRS if across == pair[0] and (weak[1] or down in _OF_ROWS)),
        *(pair for pair in _PAIRS if down == pair[1] and weak[0]),
        *(_PAIRS if all(weak) else ()),
    ):
        made = {size: name for size, name in zip(sizes, wanted, strict=True)
                if named.get(size, size) != name}  # fmt: skip
        if not any(name in taken for name in made.values()):
            return made
    return {}


def _says_nothing(name: str) -> bool:
    return name in _VAGUE or name in _OF_MATRICES or bool(_NUMBERED.fullmatch(name))


def _compared(function: n.Function) -> Iterator[tuple[str, str]]:
    """Names that stand on two sides of a comparison, numbers beside them or not."""
    for statement in function.body or ():
        for part in statement.walk():
            if isinstance(part, n.Binary) and part.operator in _COMPARED:
                left, right = _name(part.left), _name(part.right)
                if left and right:
                    yield left, right
                    yield right, left


def _name(node: n.Expression) -> str:
    match node:
        case n.Name(name=name):
            return name
        case n.Cast(operand=inner) | n.Binary("+" | "-", inner, n.Literal()):
            return _name(inner)
    return ""
