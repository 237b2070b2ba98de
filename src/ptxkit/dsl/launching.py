"""Calling a kernel on arrays: sizes that agree, results made, a grid as a function of the sizes.

>>> import numpy as np
>>> from ptxkit.dsl import Size, Tile, cdiv, f32, kernel, ptx, reg, sreg, view
>>> @kernel(target="sm_80", grid=lambda N: cdiv(N, 128), block=128)
... def add(x: Tile("N", f32), y: Tile("N", f32), out: Tile("N", f32, out=True), n: Size("N")):
...     i = reg.u32(init=sreg.ctaid.x) * 128 + reg.u32(init=sreg.tid.x)
...     with ptx.if_(i < n):
...         view(out, f32).store(i, value=view(x, f32).load(i) + view(y, f32).load(i))
...     ptx.ret()
>>> add(np.arange(4, dtype=np.float32), np.ones(4, dtype=np.float32))
array([1., 2., 3., 4.], dtype=float32)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.arrays import ArrayFacts, facts, finished, new_array
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.specs import Size, Stride, Tile
from ptxkit.run import LaunchError

if TYPE_CHECKING:
    from ptxkit.dsl.kernels import Kernel


#: Launches that are kept ready, each for its sizes.
_MOST_LAUNCHERS = 256


def cdiv(size: Any, by: Any) -> Any:
    """How many pieces of a size it takes: the quotient rounded up.

    >>> cdiv(1000, 128)
    8
    """
    return -(-size // by)


@dataclass(frozen=True, slots=True)
class Shape:
    """The launch of a kernel: each part a value, or a function of sizes by their names."""

    grid: Any
    block: Any
    shared: Any = None
    cluster: Any = None

    def resolved(self, kernel: str, names: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Grid, block, shared bytes and cluster for sizes and compile-time values."""
        grid, block, shared, cluster = (
            _value(what, kernel, getattr(self, what), names)
            for what in ("grid", "block", "shared", "cluster")
        )
        return grid, block, shared, cluster


def _value(what: str, kernel: str, value: Any, names: Mapping[str, Any]) -> Any:
    if not callable(value):
        return value
    wanted = list(inspect.signature(value).parameters)
    missing = [name for name in wanted if name not in names]
    if missing:
        known = ", ".join(names) or "none"
        raise LaunchError(
            f"the {what} of '{kernel}' is a function of {', '.join(missing)}, which no argument "
            f"says; there are: {known}"
        )
    return value(**{name: names[name] for name in wanted})


class Plan:
    """How the parameters of one kernel are filled in by a call."""

    def __init__(self, kernel: Kernel, body: Callable[..., Any], shape: Shape) -> None:
        self.kernel = kernel
        self.shape = shape
        self._launchers: dict[Any, Any] = {}
        found = inspect.signature(body, eval_str=True).parameters.values()
        self.specs: dict[str, Any] = {
            one.name: one.annotation for one in found if one.kind is not one.KEYWORD_ONLY
        }
        self.constants = {one.name: one.default for one in found if one.kind is one.KEYWORD_ONLY}
        self.outs = {
            name: spec
            for name, spec in self.specs.items()
            if isinstance(spec, Tile) and spec.is_out
        }
        self.given = [
            name
            for name, spec in self.specs.items()
            if name not in self.outs and not isinstance(spec, (Size, Stride))
        ]
        for name, spec in self.specs.items():
            if isinstance(spec, Stride) and not isinstance(self.specs.get(spec.argument), Tile):
                raise DslError(f"'{name}' is {spec}, and '{spec.argument}' is no array")

    def tiles(self, arrays: Mapping[str, ArrayFacts], memory: bool = True) -> dict[str, Any]:
        """The sizes that arrays give to names; ``memory`` says whether to check strides."""
        sizes: dict[str, Any] = {}
        for name, array in arrays.items():
            self.specs[name].unify(name, array, sizes)
            if memory:
                self.specs[name].check_memory(name, array)
        return sizes

    def bind(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """The arguments of a call by their names."""
        if len(arguments) != len(self.given):
            wanted = ", ".join(f"{name}: {self.specs[name]!r}" for name in self.given) or "none"
            raise LaunchError(
                f"'{self.kernel.name}' is called with {len(self.given)} arguments, not "
                f"{len(arguments)}; there should be: {wanted}"
            )
        return dict(zip(self.given, arguments, strict=True))

    def arrays(self, values: Mapping[str, Any]) -> dict[str, ArrayFacts]:
        """The facts of those arguments that are arrays."""
        return {
            name: facts(name, value)
            for name, value in values.items()
            if isinstance(self.specs[name], Tile)
        }

    def outputs(
        self, arguments: Sequence[Any], memory: bool = True
    ) -> list[tuple[tuple[Any, ...], str]]:
        """The shapes and types of the results, without a launch."""
        sizes = self.tiles(self.arrays(self.bind(arguments)), memory)
        return [(spec.shape(sizes, name), spec.type.name) for name, spec in self.outs.items()]

    # -- the call ----------------------------------------------------------------------------

    def call(
        self,
        arguments: Sequence[Any],
        *,
        out: Any = None,
        device: str | None = None,
        stream: Any = None,
        constants: Mapping[str, Any],
    ) -> Any:
        """Launch on arrays; gives the results, one or a tuple of them."""
        values = self.bind(arguments)
        arrays = self.arrays(values)
        sizes = self.tiles(arrays)
        place = _place(self.kernel.name, arrays)
        like = next(iter(arrays.values()), None)
        made = self._results(out, sizes, like, place)
        for name, value in made.items():
            arrays[name] = facts(name, value)
            self.specs[name].unify(name, arrays[name], sizes)
            self.specs[name].check_memory(name, arrays[name])
        _place(self.kernel.name, arrays)
        chosen = device or place
        known = self._known(constants, sizes)
        launcher = self._launcher(chosen, stream, known, sizes)
        if launcher is not None:
            launcher(*[self._argument(name, values, arrays, sizes, known) for name in self.specs])
        if like is not None and like.library == "jax" and place != "cpu":
            _synchronize()
        results = [finished(value, like) for value in made.values()]
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def _results(
        self, out: Any, sizes: Mapping[str, Any], like: ArrayFacts | None, place: str
    ) -> dict[str, Any]:
        if out is not None:
            given = list(out) if isinstance(out, (tuple, list)) else [out]
            if len(given) != len(self.outs):
                raise LaunchError(
                    f"'{self.kernel.name}' has {len(self.outs)} results, and out= gives "
                    f"{len(given)}"
                )
            return dict(zip(self.outs, given, strict=True))
        return {
            name: new_array(like, spec.shape(sizes, name), spec.type.name, place)
            for name, spec in self.outs.items()
        }

    def _known(self, constants: Mapping[str, Any], sizes: Mapping[str, Any]) -> dict[str, Any]:
        """The compile-time values: given, or sizes of that name, or as they are by default."""
        known = dict(constants)
        for name, default in self.constants.items():
            if name not in known and default is inspect.Parameter.empty and name in sizes:
                known[name] = int(sizes[name])
        return known

    def _launcher(
        self, device: str, stream: Any, known: Mapping[str, Any], sizes: Mapping[str, Any]
    ) -> Any:
        """The kernel with its launch; None where the grid is empty, as arrays are."""
        key = (device, tuple(known.items()), tuple(sizes.items()))
        if stream is None and key in self._launchers:
            return self._launchers[key]
        kernel = self.kernel
        shape = self.shape.resolved(kernel.name, {**self.constants, **known, **sizes})
        grid, block, shared, cluster = shape
        found = None
        if 0 not in sizes.values() or 0 not in (grid if isinstance(grid, tuple) else (grid,)):
            shared = kernel.shared_bytes(**known) if shared is None else shared
            found = kernel.load(device, **known)[grid, block, shared, stream]
            if cluster is not None:
                found = found.with_options(cluster=cluster)
        if stream is None:
            if len(self._launchers) >= _MOST_LAUNCHERS:
                self._launchers.clear()
            self._launchers[key] = found
        return found

    def _argument(
        self,
        name: str,
        values: Mapping[str, Any],
        arrays: Mapping[str, ArrayFacts],
        sizes: Mapping[str, Any],
        known: Mapping[str, Any],
    ) -> Any:
        spec = self.specs[name]
        if isinstance(spec, Size):
            if spec.name not in sizes:
                raise LaunchError(f"'{name}' is {spec}, and no argument has such a dimension")
            return sizes[spec.name]
        if isinstance(spec, Stride):
            return arrays[spec.argument].strides[spec.axis]
        if not isinstance(spec, Tile):
            return values[name]
        array = arrays[name]
        if spec.is_inout and array.library == "jax":
            raise LaunchError(f"argument '{name}' is changed by the kernel; JAX's arrays never are")
        if spec.box is None:
            return array.argument()
        constants = {**self.constants, **known}
        box = tuple(constants[one] if isinstance(one, str) else one for one in spec.box)
        swizzle = constants[spec.swizzle] if isinstance(spec.swizzle, str) else spec.swizzle
        return _tensor_map(
            array.address(), array.shape, box, spec.type.name, array.strides, swizzle
        )


@lru_cache(maxsize=256)
def _tensor_map(
    address: int,
    shape: tuple[int, ...],
    box: tuple[int, ...],
    type: str,
    strides: tuple[int, ...],
    swizzle: int,
) -> bytes:
    from ptxkit.run import tensor_map

    return tensor_map(address, shape, box, type, strides=strides, swizzle=swizzle)


def _place(kernel: str, arrays: Mapping[str, ArrayFacts]) -> str:
    places = {array.place: name for name, array in arrays.items()}
    if len(places) > 1:
        (one, first), (other, second), *_ = places.items()
        raise LaunchError(
            f"arguments of '{kernel}' lie apart: '{first}' on {one}, '{second}' on {other}"
        )
    return next(iter(places), "cpu")


def _synchronize() -> None:
    from ptxkit.run.cuda_driver import check, current, current_device

    with current(current_device()) as driver:
        check(driver.cuCtxSynchronize(), "waiting for the GPU")
