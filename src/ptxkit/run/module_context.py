"""What the kernels of a module share while they are lowered: its names, its variables."""

from __future__ import annotations

from functools import cached_property

from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import CheckError, PtxkitError
from ptxkit.isa.checker import Checker
from ptxkit.run.globals import ModuleMemory
from ptxkit.run.layout import Item, kernel_layout
from ptxkit.syntax import Function, Module, Scopes


class UnsupportedError(PtxkitError):
    """An instruction that the simulator does not know; names it and its line."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.render())
        self.diagnostic = diagnostic
        self.diagnostics = (diagnostic,)


class ModuleContext:
    """What the kernels of a loaded module share: its names, its variables.

    Unless told otherwise it refuses what the checker finds errors in: what stands outside of
    functions at once, each function when it is first wanted.
    """

    def __init__(self, module: Module, *, check: bool = True) -> None:
        self.module = module
        self._checker = Checker(module, scopes=self.scopes) if check else None
        self._checked: set[int] = set()
        if self._checker is not None:
            self._checker.check_head()
            _refuse(self._checker)
        self.memory = ModuleMemory(module)
        self._layouts: dict[int, tuple[list[Item], int]] = {}

    def layout(self, kernel: Function) -> tuple[list[Item], int]:
        """The parameters of a kernel and the bytes they take together."""
        if kernel.index not in self._layouts:
            self._layouts[kernel.index] = kernel_layout(kernel)
        return self._layouts[kernel.index]

    def check(self, function: Function) -> None:
        """Refuse a function with errors; the second time it costs nothing."""
        if self._checker is None or function.index in self._checked:
            return
        self._checker.check_function(function)
        _refuse(self._checker)
        self._checked.add(function.index)

    @cached_property
    def scopes(self) -> Scopes:
        """The scopes of the whole module."""
        return Scopes(self.module)


def _refuse(checker: Checker) -> None:
    errors = [one for one in checker.take() if one.severity == "error"]
    if errors:
        raise CheckError(errors)
