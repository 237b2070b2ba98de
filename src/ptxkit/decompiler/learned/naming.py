"""Names for parameters and variables, as people would choose them.

A new name is no word of C++, no function or variable of CUDA, and nothing that is known where the
variable is; every use of the variable gets it. So the program stays what it is, which is also
looked at: every use must mean the declaration that it meant before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ptxkit.cuda import nodes as n
from ptxkit.cuda.functions import BUILTINS
from ptxkit.cuda.types import SCALARS, VECTORS, Struct
from ptxkit.cuda.words import RESERVED
from ptxkit.decompiler.learned.contexts import Context, bare_name, contexts
from ptxkit.decompiler.learned.evidence import evident_names, spoken_against
from ptxkit.decompiler.learned.linear import Classifier, Words
from ptxkit.decompiler.learned.moving import moving_names
from ptxkit.decompiler.learned.numbers import plain_stems
from ptxkit.decompiler.learned.planes import paired_names, plane_sizes
from ptxkit.decompiler.learned.scopes import Span, overlap, same_but_for_names, spans

N = TypeVar("N", bound=n.Node)

#: What no variable is called: words of C++, what CUDA declares, types by any of their names.
FORBIDDEN = frozenset((
    *RESERVED, *BUILTINS, *SCALARS, *VECTORS,
    *(word for type in SCALARS.values() for word in type.spelling.split()),
    *(vector.spelling for vector in VECTORS.values()), "dim3", "NULL", "EOF", "linux", "unix",
))  # fmt: skip
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
#: A name that is less probable than this is not taken.
LEAST = 0.1
#: One that says what a variable is for, as ``sum`` does and ``v`` does not, has to be surer.
SURE = 0.2
_LETTERS = 2
#: Of these there may be several, with numbers.
_SEVERAL = {"offset": 10, "cond": 10}


def usable(name: str) -> bool:
    """Whether a variable can be called so in any file.

    >>> usable("row"), usable("register"), usable("fmaxf"), usable("float4"), usable("2d")
    (True, False, False, False, False)
    """
    plain = name.isidentifier() and name.isascii() and not name.startswith("_")
    return plain and name not in FORBIDDEN


def sample(context: Context) -> Words:
    """What the model sees of a name: what was seen of it often counts for a little more."""
    return {word: 1.0 + 0.3 * (count > 1) for word, count in context.words.items()}


def chosen_names(
    function: n.Function, model: Classifier, taken: Collection[str] = (), keep: Collection[str] = ()
) -> dict[str, str]:
    """New names by old ones; what is not in it keeps its name. ``taken`` are names of the file."""
    fixed = {*keep, *_in_texts(function)}
    found = {name: c for name, c in contexts(function).items() if name not in fixed}
    if not found:
        return {}
    known = spans(function)
    used = {*taken, *fixed, *(_mentioned(function) - found.keys())}
    made: dict[str, str] = {}
    evident = evident_names(function)
    for name, first in evident.items():
        for wish in (first, *(f"{first}{k}" for k in range(1, _SEVERAL.get(first, 1)))):
            near = [other for other, label in made.items() if label == wish]
            clash = name not in found or any(overlap(known[name], known[o]) for o in near)
            if not clash and wish not in used:
                made[name] = wish
                break
    names = [name for name in found if name not in made]
    table = model.probabilities([sample(found[name]) for name in names])
    for row, name in enumerate(names):
        for label in spoken_against(found[name], model.labels, found.values()):
            table[row, model.labels.index(label)] = 0.0
    held = {label: [known[name]] for name, label in made.items()}
    said = assigned(table, model.labels, [known[name] for name in names], used, held)
    made |= {names[row]: label for row, label in said.items()}
    sizes = plane_sizes(function, evident)
    if sizes is not None and found.keys() >= {*sizes}:
        stays = found.keys() - made.keys()
        made |= paired_names(sizes, made, {*used, *stays, *made.values()})
    return _without_clashes(made, {name: known[name] for name in found})


def assigned(
    table: Any,
    labels: Sequence[str],
    places: Sequence[tuple[Span, ...]],
    taken: Collection[str],
    held: Mapping[str, list[tuple[Span, ...]]] | None = None,
) -> dict[int, str]:
    """Names by rows of a table of probabilities: the surest first.

    A name that is given, or ``held`` by another, is not given again where that one is known.
    """
    least = np.array([SURE if len(label) > _LETTERS else LEAST for label in labels])
    rows, columns = np.nonzero(table >= least)
    made: dict[int, str] = {}
    holders = {label: list(spans) for label, spans in (held or {}).items()}
    for one in np.argsort(-table[rows, columns], kind="stable"):
        row, label = int(rows[one]), labels[columns[one]]
        others = holders.setdefault(label, [])
        if row in made or label in taken or any(overlap(places[row], other) for other in others):
            continue
        made[row] = label
        others.append(places[row])
    return made


def _without_clashes(made: dict[str, str], known: Mapping[str, tuple[Span, ...]]) -> dict[str, str]:
    """Choices without those that an old name, which stays, stands in the way of."""
    while True:
        stays = {name for name in known if name not in made}
        clashes = [
            old for old, new in made.items() if new in stays and overlap(known[old], known[new])
        ]
        if not clashes:
            return {old: new for old, new in made.items() if old != new}
        for old in clashes:
            del made[old]


def renamed_module(
    tree: n.CudaModule, model: Classifier, keep: Collection[str] = ()
) -> n.CudaModule:
    """A file with the names of parameters and variables chosen anew; ``keep`` stay as they are.

    >>> from ptxkit.cuda import print_module, read
    >>> kernel = read('''(kernel clear (params (param (ptr float) p0) (param int n1))
    ...     (let int i threadIdx.x) (if (< i n1) (then (= ([] p0 i) 0.0f))))''')
    >>> names = Classifier(("out", "n"), {"pointer ": 0, "size ": 1}, np.diag((9.0, 9.0)))
    >>> print(print_module(renamed_module(n.CudaModule((kernel,)), names)), end="")
    __global__ void clear(float *out, int n) {
        int i = threadIdx.x;
        if (i < n) out[i] = 0.0f;
    }
    """
    outside = names_of_file(tree)
    items = []
    for item in tree.items:
        if isinstance(item, n.Function) and item.body is not None:
            item = checked(item, chosen_names(item, model, outside, keep))
            item = checked(item, moving_names(item, outside, keep))
            item = checked(item, plain_stems(item, outside, keep))
        items.append(item)
    return replace(tree, items=tuple(items))


def checked(function: n.Function, names: Mapping[str, str]) -> n.Function:
    """The function with new names; itself where a use would mean another variable."""
    made = with_names(function, names)
    return made if same_but_for_names(function, made) else function


def with_names(node: N, names: Mapping[str, str]) -> N:
    """A tree with variables renamed, wherever they are declared or used."""
    if isinstance(node, n.Name | n.Declare | n.Parameter) and node.name in names:
        changes: dict[str, Any] = {"name": names[node.name]}
    else:
        changes = {}
    return node.rebuilt(lambda part: with_names(part, names), **changes)


def names_of_file(tree: n.CudaModule) -> set[str]:
    """What is declared, called or used as a type anywhere outside of variables of functions."""
    found = set(FORBIDDEN)
    for item in tree.items:
        found.update((item.name, bare_name(item.name)))
        for node in item.walk():
            match node:
                case n.Call(function=name):
                    found.update(name.replace("::", " ").split())
                case n.Declare(type=Struct(name=name)) | n.Parameter(type=Struct(name=name)):
                    found.add(name)
    return found


def _in_texts(function: n.Function) -> set[str]:
    """Words of what is called, which may be an expression, and of names that are more than that."""
    texts = (
        x.function if isinstance(x, n.Call) else x.name
        for s in function.body or ()
        for x in s.walk()
        if isinstance(x, n.Call) or (isinstance(x, n.Name) and not x.name.isidentifier())
    )
    return {word for text in texts for word in _WORD.findall(text)}


def _mentioned(function: n.Function) -> set[str]:
    """Every variable that is named in a function."""
    return {x.name for x in function.walk() if isinstance(x, n.Name | n.Declare | n.Parameter)}
