"""Finding a function by the name that people write, whatever the compiler made of it.

>>> pick("kernel", "saxpy", ["_Z5saxpyPfS_fi", "fill"])
'_Z5saxpyPfS_fi'
>>> pick("kernel", "saxpi", ["_Z5saxpyPfS_fi", "fill"])
Traceback (most recent call last):
ptxkit.errors.UnknownNameError: no kernel is called 'saxpi'; there are: \
_Z5saxpyPfS_fi = saxpy(float*, float*, float, int), fill
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ptxkit.errors import AmbiguousNameError, UnknownNameError
from ptxkit.syntax.demangle import demangle, read, write


def pick(what: str, wanted: str, names: Iterable[str]) -> str:
    """The one name that is meant; an error that lists them if there is none, or several.

    A name as it stands in the PTX always wins. ``what`` says what they are the names of.
    """
    known = tuple(dict.fromkeys(names))
    found = find(wanted, known)
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousNameError(what, wanted, found, [both(name) for name in found])
    raise UnknownNameError(what, wanted, known, [both(name) for name in known])


@lru_cache(maxsize=4096)
def spellings(name: str) -> tuple[str, ...]:
    """The ways to write a mangled name, the most exact first; without spaces that mean nothing.

    >>> spellings("_ZN2ns3mapIfEEvPT_")
    ('void ns::map<float>(float*)', 'ns::map<float>(float*)', 'ns::map<float>', 'ns::map', ...)
    """
    tree = read(name)
    if tree is None:
        return (normal(name),)
    found = [demangle(name)]
    if tree[0] == "function":
        found.append(write(("function", tree[1], None, tree[3])))
        tree = tree[1]
    while tree[0] == "method":
        tree = tree[1]
    whole = tree
    while whole[0] == "template":
        whole = whole[1]
    last = whole[2] if whole[0] == "scoped" else whole
    arguments = tree[2:] if tree[0] == "template" else ()
    found += [write(tree), write(whole)]
    found += [write(("template", last, *arguments)) if arguments else "", write(last)]
    return tuple(dict.fromkeys(normal(text) for text in found if text))


def find(wanted: str, names: Iterable[str]) -> list[str]:
    """The names that a spelling means: itself, or those that say it most exactly.

    >>> find("map", ["_Z3mapIfEvPT_", "_Z3mapIiEvPT_", "fill"])
    ['_Z3mapIfEvPT_', '_Z3mapIiEvPT_']
    >>> find("map<int>", ["_Z3mapIfEvPT_", "_Z3mapIiEvPT_", "fill"])
    ['_Z3mapIiEvPT_']
    """
    candidates = list(dict.fromkeys(names))
    if wanted in candidates:
        return [wanted]
    key = normal(wanted)
    return [name for name in candidates if name.startswith("_Z") and key in spellings(name)]


def both(name: str) -> str:
    """A name with what it means behind it, for lists.

    >>> both("_Z5saxpyPfS_fi"), both("saxpy")
    ('_Z5saxpyPfS_fi = saxpy(float*, float*, float, int)', 'saxpy')
    """
    shown = demangle(name)
    return name if shown == name else f"{name} = {shown}"


_CONST = re.compile(r"\bconst ((?:unsigned |signed )?(?:long long|long|short|[\w:]+)(?: int)?)")


def normal(text: str) -> str:
    """A spelling with only the spaces that count, ``const`` behind what it is about.

    >>> normal("f< vec<int> >( const unsigned int * , T&)")
    'f<vec<int>>(unsigned int const*,T&)'
    """
    text = re.sub(r"\s+", " ", text.strip())
    text = _CONST.sub(r"\1 const", text)
    return re.sub(r" ?([^\w ]) ?", r"\1", text)
