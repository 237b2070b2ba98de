"""``@kernel``: one kernel with a module of its own, made for each set of compile-time values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.errors import DslError
from ptxkit.dsl.functions import function_name
from ptxkit.dsl.heads import check_targets, check_version
from ptxkit.dsl.launching import Plan, Shape
from ptxkit.dsl.module import Module
from ptxkit.isa.targets import TARGET_SINCE, Version

if TYPE_CHECKING:
    import ptxkit.syntax
    from ptxkit.diagnostics import Diagnostic

DEFAULT_TARGET = "sm_75"
OLDEST_VERSION = "8.0"


class Kernel:
    """A kernel written in Python. It is traced once for each set of compile-time values.

    >>> from ptxkit.dsl import addr, kernel, ptr, ptx, u32
    >>> @kernel(target="sm_80")
    ... def fill(out: ptr, value: u32, *, COUNT: int = 1):
    ...     for i in range(COUNT):
    ...         ptx.st.global_.u32(addr(out, 4 * i), value)
    ...     ptx.ret()
    >>> fill.ptx(COUNT=3).count("st.global")
    3
    """

    def __init__(
        self,
        body: Callable[..., Any],
        *,
        target: str = DEFAULT_TARGET,
        version: str | None = None,
        style: str = "ptxkit",
        name: str | None = None,
        directives: Mapping[str, Any] | None = None,
        grid: Any = None,
        block: Any = None,
        shared: Any = None,
        cluster: Any = None,
    ) -> None:
        self.body = body
        self.name = function_name(name, body)
        check_targets([target])
        if version is not None:
            check_version(version)
        self.target = target
        self.version = version or version_for(target)
        self.style = style
        self.directives = dict(directives or {})
        self.__doc__ = body.__doc__
        self.__name__ = body.__name__
        self._made: dict[tuple[tuple[str, Any], ...], Module] = {}
        self._loaded: dict[Any, Any] = {}
        self._shape = Shape(grid, block, shared, cluster)

    def module(self, **constants: Any) -> Module:
        """The module that holds the kernel, for these compile-time values."""
        key = tuple(sorted(constants.items()))
        try:
            found = self._made.get(key)
        except TypeError:
            raise DslError(
                "compile-time values are numbers, texts and the like, not arrays or lists"
            ) from None
        if found is None:
            found = Module(version=self.version, target=self.target, style=self.style)
            found.kernel(name=self.name, constants=constants, **self.directives)(self.body)
            found.all_statements()  # a mistake shows here, and nothing is kept
            self._made[key] = found
        return found

    def ptx(self, **constants: Any) -> str:
        """The PTX text."""
        return self.module(**constants).ptx()

    def parse(self, **constants: Any) -> ptxkit.syntax.Module:
        """The PTX as a parsed module."""
        return self.module(**constants).parse()

    def check(self, **constants: Any) -> list[Diagnostic]:
        """What the checker says about the PTX."""
        from ptxkit.isa import check

        return check(self.parse(**constants))

    def resources(self, **constants: Any) -> Any:
        """Registers, spills and shared memory of the assembled kernel."""
        from ptxkit.toolchain import assemble

        return assemble(self.parse(**constants), arch=self.target).resources[self.name]

    def shared_bytes(self, **constants: Any) -> int:
        """The bytes that the body takes of the launch's shared memory (``smem.dynamic()``)."""
        function = self.module(**constants).last_function()
        return (function.shared_bytes if function is not None else None) or 0

    def load(self, device: str = "auto", **constants: Any) -> Any:
        """The kernel on a device: ``k.load("cpu")[grid, block](x, y)``."""
        from ptxkit.run import load

        key = (device, tuple(sorted(constants.items())))
        if key not in self._loaded:
            self._loaded[key] = load(self.parse(**constants), device)[self.name]
        return self._loaded[key]

    def __getitem__(self, shape: Any) -> Callable[..., Any]:
        """Launch: ``k[grid, block](x, y, 2.0, n)``, on a GPU if there is one."""

        def launch(*arguments: Any, device: str = "auto", **constants: Any) -> Any:
            return self.load(device, **constants)[shape](*arguments)

        return launch

    @cached_property
    def plan(self) -> Plan:
        """How calls on arrays fill in the parameters."""
        if self._shape.grid is None or self._shape.block is None:
            raise DslError(
                f"'{self.name}' needs a grid and a block",
                f"write {self.name}[grid, block](...), or say them once: @kernel(grid=..., "
                "block=...), as numbers or as functions of sizes",
            )
        return Plan(self, self.body, self._shape)

    def __call__(
        self,
        *arguments: Any,
        out: Any = None,
        device: str | None = None,
        stream: Any = None,
        **constants: Any,
    ) -> Any:
        """Launch on arrays of numpy (the simulator), torch, cupy or JAX, and give the results.

        The signature says what they are (``x: Tile("N", f32)``). ``out`` gives arrays for the
        results, ``device`` another device than the one the arrays lie on.
        """
        return self.plan.call(arguments, out=out, device=device, stream=stream, constants=constants)

    def torch_op(self, name: str, *, backward: Any = None, **options: Any) -> Any:
        """The kernel as an operator of torch; see :func:`ptxkit.dsl.torch_op.torch_op`."""
        from ptxkit.dsl.torch_op import torch_op

        return torch_op(self, name, backward=backward, **options)

    def __repr__(self) -> str:
        return f"<kernel {self.name} for {self.target}>"


def version_for(target: str) -> str:
    """The oldest PTX version that is fit for a target.

    >>> version_for("sm_90a"), version_for("sm_60")
    ('8.0', '8.0')
    """
    since = TARGET_SINCE.get(target, OLDEST_VERSION)
    return max(since, OLDEST_VERSION, key=Version.parse)


def kernel(body: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a kernel of a Python function: ``@kernel`` or ``@kernel(target="sm_90a")``.

    ``target``, ``version``, ``style`` and ``name`` are the module's; ``grid``, ``block``,
    ``shared`` and ``cluster`` those of calls on arrays, as values or functions of sizes; the rest
    are directives such as ``maxntid=(128, 1, 1)``.
    """
    own = {key: options.pop(key) for key in _OPTIONS if key in options}

    def decorate(body: Callable[..., Any]) -> Kernel:
        return Kernel(body, directives=options, **own)

    return decorate if body is None else decorate(body)


_OPTIONS = ("target", "version", "style", "name", "grid", "block", "shared", "cluster")
