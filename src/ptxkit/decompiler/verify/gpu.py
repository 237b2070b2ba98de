"""E3 on a GPU: launches that the simulator found sound, run again on real hardware.

The simulator goes first: it says which launches stay inside of their memory and come to an end,
which no GPU does. Some of them then run on the GPU, the original twice: where it does not agree
with itself, the order of its threads decides, and nothing is compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.decompiler.verify.inputs import InputMaker, Inputs
from ptxkit.decompiler.verify.trials import Trial
from ptxkit.decompiler.verify.usage import Usage
from ptxkit.run import load
from ptxkit.run.cuda_driver import check, current, current_device
from ptxkit.run.layout import Item, kernel_layout
from ptxkit.syntax import Module

#: Launches to repeat on the GPU.
LAUNCHES = 12
_ROUNDINGS = frozenset((".rn", ".rz", ".rm", ".rp", ".rna", ".rs"))


def unfused(module: Module) -> Module:
    """The module with ``.rn`` written where it is the default.

    Without it an assembler may fuse a product and a sum (PTX ISA, ``add`` and ``mul``), and may
    do so in one of two equal programs only.

    >>> import ptxkit
    >>> m = ptxkit.parse(".version 8.0 .target sm_80 .func f() { .reg .f32 a; add.f32 a, a, a; }")
    >>> unfused(m)["f"].instructions[0].text
    'add.rn.f32 a, a, a;'
    """
    edit = module.edit()
    for one in module.instructions:
        plain = one.name in ("add", "sub", "mul") and not _ROUNDINGS & set(one.modifiers)
        if plain and one.opcode.endswith((".f32", ".f64")):
            opcode = next(node for node in one.children if node.kind == "Opcode")
            edit.replace(opcode, opcode.text.replace(one.name, f"{one.name}.rn", 1))
    return edit.apply()


@dataclass(slots=True)
class _Left:
    """What one run left behind."""

    memory: list[bytes]
    surfaces: list[bytes]
    variables: dict[str, bytes]


class OnGpu:
    """Two kernels side by side on the current GPU."""

    def __init__(
        self,
        modules: tuple[Module, Module],
        names: tuple[str, str],
        items: list[Item],
        usage: Usage,
        variables: dict[str, int],
        uninitialised: dict[str, int],
    ) -> None:
        self.device = current_device()
        self.names = names
        self.loaded: list[Any] = [load(unfused(module), device="cuda") for module in modules]
        self.maker = InputMaker(items, usage, uninitialised, self._reserve)
        self._items = [
            kernel_layout(module[name])[0] for module, name in zip(modules, names, strict=True)
        ]
        self._reserved: list[int] = []
        self._initial = [self._variables(side, variables) for side in (0, 1)]

    def close(self) -> None:
        """Give the memory back."""
        with current(self.device) as driver:
            for address in self._reserved:
                driver.cuMemFree(address)
        self._reserved.clear()

    def difference(self, trial: Trial) -> str | None:
        """What differs after a launch; None where nothing does; empty where it says nothing."""
        inputs = self.maker.make(trial)
        first = self._run(0, trial, inputs)
        if first != self._run(0, trial, inputs):
            return ""
        second = self._run(1, trial, inputs)
        for arena, a, b in zip(inputs.arenas, first.memory, second.memory, strict=True):
            if a != b:
                return f"the memory of '{arena.origin}' differs"
        if first.surfaces != second.surfaces:
            return "a surface differs"
        for name in first.variables.keys() & second.variables.keys():
            if first.variables[name] != second.variables[name]:
                return f"the variable '{name}' differs"
        return None

    def _reserve(self, size: int) -> int:
        with current(self.device) as driver:
            place = check(driver.cuMemAlloc(size), f"allocating {size} bytes on the GPU")
        self._reserved.append(int(place))
        return int(place)

    def _variables(self, side: int, wanted: dict[str, int]) -> dict[str, tuple[int, bytes]]:
        """Where the module's variables lie, and what they hold at first."""
        declared = {d.name for v in self.loaded[side].module.variables for d in v.declarators}
        found: dict[str, tuple[int, bytes]] = {}
        handle = self.loaded[side]._on(self.device)
        with current(self.device) as driver:
            for name in wanted:
                if name not in declared:
                    continue
                status, place, size = driver.cuModuleGetGlobal(handle, name.encode())
                # A variable that is private to the module has no name for the driver.
                if int(status) == 0:
                    found[name] = int(place), self._read(driver, int(place), int(size))
        return found

    def _read(self, driver: Any, place: int, size: int) -> bytes:
        data = np.empty(size, np.uint8)
        check(driver.cuMemcpyDtoH(data.ctypes.data, place, size), "copying from the GPU")
        return data.tobytes()

    def _write(self, driver: Any, place: int, data: Any) -> None:
        check(driver.cuMemcpyHtoD(place, data.ctypes.data, data.nbytes), "copying to the GPU")

    def _run(self, side: int, trial: Trial, inputs: Inputs) -> _Left:
        loaded, held = self.loaded[side], self._initial[side]
        before = [surface.array.copy() for surface in inputs.surfaces]
        with current(self.device) as driver:
            for arena in inputs.arenas:
                self._write(driver, arena.base, arena.before)
            for name, (place, start) in held.items():
                value = inputs.variables.get(name)
                if value is None or value.nbytes != len(start):
                    value = np.frombuffer(start, np.uint8)
                self._write(driver, place, value)
            launcher = loaded[self.names[side]][trial.grid, trial.block, trial.shared]
            if trial.cluster or trial.cooperative:
                launcher = launcher.with_options(
                    cluster=(trial.cluster, 1, 1) if trial.cluster else None,
                    cooperative=trial.cooperative,
                )
            launcher(*inputs.typed(self._items[side]))
            loaded.synchronize()
            left = _Left(
                [self._read(driver, a.base, a.whole.nbytes) for a in inputs.arenas],
                [surface.array.tobytes() for surface in inputs.surfaces],
                {name: self._read(driver, place, len(s)) for name, (place, s) in held.items()},
            )
        for surface, old in zip(inputs.surfaces, before, strict=True):
            if surface.writable:
                surface.array[...] = old
        return left
