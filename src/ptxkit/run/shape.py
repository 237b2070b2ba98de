"""The shape of a launch: grid, block, shared bytes, stream, cluster; checked before it runs.

Both devices take a launch as ``k[grid, block, shared_bytes, stream]``, with
``.with_options(cluster=(x, y, z), cooperative=True)`` where a kernel needs more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.errors import PtxkitError, UsageError, shown
from ptxkit.syntax import Function, Module
from ptxkit.syntax.module import functions_by_name
from ptxkit.syntax.nodes import FunctionDirective
from ptxkit.syntax.spelling import pick

Dimensions = tuple[int, int, int]

#: The largest extents that any GPU takes.
_LIMITS = {"grid": (2**31 - 1, 65535, 65535), "block": (1024, 1024, 64), "cluster": (16, 16, 16)}
#: How many of them at most, together.
_TOTALS = {"block": (1024, "threads"), "cluster": (16, "blocks")}


class LaunchError(PtxkitError):
    """A launch that cannot be: wrong arguments, grid or block."""


def pick_kernel(module: Module, name: str) -> Function:
    """The kernel that a name of PTX or of C++ means; an error that lists them if none."""
    if not isinstance(name, str):
        raise UsageError(f"a loaded module is indexed by a kernel's name, not {name!r}")
    functions = functions_by_name(module)
    found = functions.get(name)
    if found is not None and found.is_entry and found.has_body:
        return found
    return functions[pick("kernel", name, (kernel.name for kernel in module.kernels))]


def is_whole(value: Any, least: int, most: int = 2**63 - 1) -> bool:
    """Whether a value is a whole number in a range; true and false are none.

    >>> is_whole(np.int8(3), 0, 9), is_whole(True, 0, 9), is_whole(2.0, 0, 9)
    (True, False, False)
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and least <= int(value) <= most


def whole_numbers(value: Any, what: str) -> tuple[int, ...]:
    """One to three whole numbers, given as one or as a sequence.

    >>> whole_numbers((2, 3), "grid")
    (2, 3)
    >>> whole_numbers(1.5, "grid")
    Traceback (most recent call last):
    ptxkit.run.shape.LaunchError: the grid must be one to three whole numbers, such as 4 or ...
    """
    parts = (value,) if isinstance(value, (int, np.integer)) else value
    fits = isinstance(parts, (tuple, list, np.ndarray)) and 1 <= len(parts) <= 3
    if not fits or not all(is_whole(n, -(2**63)) for n in parts):
        raise LaunchError(
            f"the {what} must be one to three whole numbers, such as 4 or (4, 2), "
            f"not {shown(value)}"
        )
    return tuple(int(n) for n in parts)


def how_to_launch(kernel: str) -> LaunchError:
    """The error for a kernel that is called without the shape of its launch."""
    return LaunchError(
        f"'{kernel}' needs a grid and a block: launch it as k[grid, block](...), "
        "such as k[4, 256](...)"
    )


def dimensions(value: int | Sequence[int], what: str) -> Dimensions:
    """A grid, a block or a cluster as three numbers.

    >>> dimensions(4, "grid"), dimensions((2, 3), "block")
    ((4, 1, 1), (2, 3, 1))
    """
    numbers = whole_numbers(value, what)
    if not all(n > 0 for n in numbers):
        raise LaunchError(f"the {what} must be positive whole numbers, not {shown(value)}")
    x, y, z = (*numbers, 1, 1)[:3]
    most, unit = _TOTALS.get(what, (None, ""))
    if most is not None and x * y * z > most:
        raise LaunchError(f"a {what} has {most} {unit} at most, not {x * y * z}")
    for extent, limit, axis in zip((x, y, z), _LIMITS[what], "xyz", strict=True):
        if extent > limit:
            raise LaunchError(f"the {what}'s {axis} is {limit} at most, not {extent}")
    return x, y, z


@dataclass(frozen=True, slots=True)
class LaunchRules:
    """What the directives of a kernel ask of its launches.

    >>> import ptxkit
    >>> LaunchRules.of(ptxkit.parse(".entry k() .reqntid 32, 2 { ret; }")["k"]).required_block
    (32, 2, 1)
    """

    required_block: Dimensions | None = None
    most_threads: int | None = None
    required_cluster: Dimensions | None = None
    most_cluster_blocks: int | None = None
    needs_cluster: bool = False
    blocks_are_clusters: bool = False

    @classmethod
    def of(cls, function: Function) -> LaunchRules:
        """Read ``.reqntid``, ``.maxntid`` and the cluster directives of a kernel."""
        found = {
            node.name.removeprefix("."): node.values
            for node in function.directives
            if isinstance(node, FunctionDirective)
        }

        def extents(name: str) -> Dimensions | None:
            values = found.get(name)
            x, y, z = (*(values or ()), 1, 1, 1)[:3]
            return (x, y, z) if values else None

        largest = extents("maxntid")
        rank = found.get("maxclusterrank")
        return cls(
            required_block=extents("reqntid"),
            most_threads=math.prod(largest) if largest else None,
            required_cluster=extents("reqnctapercluster"),
            most_cluster_blocks=rank[0] if rank else None,
            needs_cluster="explicitcluster" in found,
            blocks_are_clusters="blocksareclusters" in found,
        )


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """A checked launch. ``cluster`` is None where neither the kernel nor the caller has one."""

    grid: Dimensions
    block: Dimensions
    shared: int = 0
    stream: Any = None
    cluster: Dimensions | None = None
    cooperative: bool = False

    def __str__(self) -> str:
        """The launch as it was written, for messages."""
        text = f"[{_plain(self.grid)}, {_plain(self.block)}"
        text += f", {self.shared}]" if self.shared else "]"
        options = [f"cluster={_plain(self.cluster)}"] if self.cluster else []
        options += ["cooperative=True"] if self.cooperative else []
        return text + (f".with_options({', '.join(options)})" if options else "")


def _plain(numbers: Dimensions) -> str:
    x, y, z = numbers
    return str(x) if y == z == 1 else f"({x}, {y})" if z == 1 else f"({x}, {y}, {z})"


def launch_shape(
    kernel: str,
    rules: LaunchRules,
    key: Any,
    *,
    cluster: int | Sequence[int] | None = None,
    cooperative: bool = False,
) -> LaunchShape:
    """Read ``k[key]`` with its options and check it against the kernel's directives.

    >>> str(launch_shape("k", LaunchRules(), ((4, 2), 256, 1024), cluster=2))
    '[(4, 2), 256, 1024].with_options(cluster=2)'
    >>> launch_shape("k", LaunchRules(required_block=(64, 1, 1)), (4, 32))
    Traceback (most recent call last):
    ptxkit.run.shape.LaunchError: 'k' says .reqntid 64: its block must be 64, not 32
    """
    if not isinstance(key, tuple) or not 2 <= len(key) <= 4:
        raise LaunchError(
            f"launch '{kernel}' as k[grid, block](...) or k[grid, block, shared_bytes, stream](...)"
        )
    grid, block = dimensions(key[0], "grid"), dimensions(key[1], "block")
    shared = 0 if len(key) < 3 or key[2] is None else key[2]
    if not is_whole(shared, 0):
        raise LaunchError(
            f"the shared bytes of a launch must be a whole number from 0, not {shown(shared)}"
        )
    if not isinstance(cooperative, bool | np.bool_):
        raise LaunchError(f"cooperative is True or False, not {shown(cooperative)}")
    shape = LaunchShape(
        grid,
        block,
        int(shared),
        key[3] if len(key) > 3 else None,
        rules.required_cluster if cluster is None else dimensions(cluster, "cluster"),
        bool(cooperative),
    )
    _check_block(kernel, rules, shape)
    _check_cluster(kernel, rules, shape)
    return shape


def _check_block(kernel: str, rules: LaunchRules, shape: LaunchShape) -> None:
    required = rules.required_block
    if required is not None and shape.block != required:
        raise LaunchError(
            f"'{kernel}' says .reqntid {', '.join(map(str, _shown(required)))}: its block must be "
            f"{_plain(required)}, not {_plain(shape.block)}"
        )
    threads = math.prod(shape.block)
    if rules.most_threads is not None and threads > rules.most_threads:
        raise LaunchError(
            f"'{kernel}' says .maxntid: its block has {rules.most_threads} threads at most, "
            f"not {threads}"
        )


def _shown(numbers: Dimensions) -> tuple[int, ...]:
    x, y, z = numbers
    return (x, y, z) if z > 1 else (x, y) if y > 1 else (x,)


def _check_cluster(kernel: str, rules: LaunchRules, shape: LaunchShape) -> None:
    cluster = shape.cluster
    if cluster is None:
        return
    required, most = rules.required_cluster, rules.most_cluster_blocks
    if required is not None and cluster != required:
        raise LaunchError(
            f"'{kernel}' says .reqnctapercluster: its cluster is {_plain(required)}, "
            f"not {_plain(cluster)}"
        )
    if most is not None and math.prod(cluster) > most:
        raise LaunchError(
            f"'{kernel}' says .maxclusterrank: its cluster has {most} blocks at most, "
            f"not {math.prod(cluster)}"
        )
    whole = all(g % c == 0 for g, c in zip(shape.grid, cluster, strict=True))
    if not rules.blocks_are_clusters and not whole:
        raise LaunchError(
            f"the grid {_plain(shape.grid)} of '{kernel}' is not made of whole clusters of "
            f"{_plain(cluster)}; each extent must be a multiple"
        )


def require_cluster(kernel: str, rules: LaunchRules, shape: LaunchShape) -> None:
    """Refuse a launch without a cluster of a kernel that says it needs one."""
    if rules.needs_cluster and shape.cluster is None:
        raise LaunchError(
            f"'{kernel}' says .explicitcluster: launch it as "
            f"k{shape}.with_options(cluster=(x, y, z))(...)"
        )
