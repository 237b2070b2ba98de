"""What a kernel says about its launches: the directives of PTX as attributes of CUDA C++."""

from __future__ import annotations

from math import prod

from ptxkit.syntax import Function
from ptxkit.syntax.nodes import FunctionDirective


def _values(function: Function) -> dict[str, tuple[int, ...]]:
    return {
        d.name: tuple(map(int, d.values))
        for d in function.directives
        if isinstance(d, FunctionDirective) and all(str(v).isdecimal() for v in d.values)
    }


def launch_bounds(function: Function) -> tuple[int, ...]:
    """``__launch_bounds__`` from ``.maxntid`` or ``.reqntid``, and what may come with it.

    >>> import ptxkit
    >>> launch_bounds(ptxkit.parse(".entry k() .maxntid 8, 8 .minnctapersm 2 { ret; }")["k"])
    (64, 2)
    """
    found = _values(function)
    if ".blocksareclusters" in found:
        return ()
    sizes = found.get(".maxntid") or found.get(".reqntid")
    if not sizes:
        return ()
    least, clusters = found.get(".minnctapersm"), found.get(".maxclusterrank")
    more = (*(least or ((0,) if clusters else ())), *(clusters or ()))
    return (prod(sizes), *more)


def launch_attributes(function: Function) -> tuple[str, ...]:
    """The other attributes: clusters, and how many registers a thread may have.

    >>> import ptxkit
    >>> text = ".entry k() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }"
    >>> launch_attributes(ptxkit.parse(text)["k"])
    ('__cluster_dims__(2, 1, 1)',)
    """
    found = _values(function)
    clusters = found.get(".reqnctapercluster", ())
    size = ", ".join(map(str, clusters))
    made: list[str] = []
    if ".blocksareclusters" in found:
        block = ", ".join(map(str, (*found.get(".reqntid", ()), 1, 1)[:3]))
        made.append(f"__block_size__(({block}), ({size}))")
    elif clusters or ".explicitcluster" in found:
        made.append(f"__cluster_dims__({size})")
    if ".maxnreg" in found and not launch_bounds(function):
        made.append(f"__maxnreg__({found['.maxnreg'][0]})")
    return tuple(made)
