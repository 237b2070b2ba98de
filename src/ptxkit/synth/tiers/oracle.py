"""Execute a program twice: in numpy, from its tree, and on the simulator, from its PTX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.errors import PtxkitError
from ptxkit.run import CpuKernel, CpuModule, load
from ptxkit.synth.canonical import joined
from ptxkit.synth.tiers.sample import Sample
from ptxkit.synth.tiers.verify import difference, evaluated, same

Values = list[list[Any]]
"""The arguments of every launch."""


class Oracle:
    """What numpy says about one program."""

    def __init__(self, program: Sample) -> None:
        self.program = program
        self.values: Values = [program.arguments(launch) for launch in program.launches]
        self.narrow = self._evaluated(wide=False)

    def _evaluated(self, *, wide: bool) -> Values:
        pairs = zip(self.program.launches, self.values, strict=True)
        return [evaluated(self.program, launch, values, wide=wide) for launch, values in pairs]

    def simulated(self, kernels: Sequence[CpuKernel]) -> Values:
        """What kernels make of the arguments, on the simulator."""
        results = []
        for launch, values, kernel in zip(self.program.launches, self.values, kernels, strict=True):
            found = [v.copy() if hasattr(v, "copy") else v for v in values]
            # One thread: there is a worker for every processor.
            kernel[launch.grid, launch.block, launch.dynamic_shared](*found, threads=1)
            results.append(found)
        return results

    def difference(self, found: Values) -> str | None:
        """Where results are not what numpy says."""
        if all(same(a, b) for a, b in zip(found, self.narrow, strict=True)):
            return None
        # Only where roundings differ is it asked how much they may do.
        wide = self._evaluated(wide=True)
        for launch, *values in zip(self.program.launches, found, self.narrow, wide, strict=True):
            wrong = difference(*values)
            if wrong is not None:
                return f"'{launch.kernel}': {wrong}"
        return None


class Simulated:
    """The PTX of many samples, loaded as one module, or each alone where that fails."""

    def __init__(self, texts: dict[int, str]) -> None:
        self._texts = texts
        self._whole: CpuModule | None = None
        if texts:
            try:
                self._whole = _loaded(joined(list(texts.values())))
            except PtxkitError:
                self._whole = None

    def kernels(self, number: int, prefix: str, oracle: Oracle) -> list[CpuKernel]:
        """The kernels of one sample."""
        module = self._whole or _loaded(self._texts[number])
        return [module[f"{prefix}{k}"] for k in range(len(oracle.values))]


def _loaded(text: str) -> CpuModule:
    # The assembler is asked about all PTX: our own checker need not be.
    module = load(text, device="cpu", check=False)
    assert isinstance(module, CpuModule)
    return module


def named(values: Values) -> dict[str, Any]:
    """The arguments of all launches, by name."""
    return {f"{k}.{j}": v for k, row in enumerate(values) for j, v in enumerate(row)}
