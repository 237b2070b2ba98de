"""The source ``tiers``: CUDA C kernels with their trees, for training a decompiler."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from ptxkit import cuda
from ptxkit.errors import PtxkitError
from ptxkit.synth.assembling import assembler_of
from ptxkit.synth.comparing import digest
from ptxkit.synth.source import (
    Made,
    Rejected,
    Sample,
    Settings,
    Source,
    Target,
    Verification,
    compared,
    misstated,
)
from ptxkit.synth.tiers import sample as programs
from ptxkit.synth.tiers.compiling import Code, compiled
from ptxkit.synth.tiers.grammar import TIERS, make
from ptxkit.synth.tiers.oracle import Oracle, Simulated, Values, named
from ptxkit.toolchain import compile_cuda, nvrtc

NAMES = tuple(name for name, _ in TIERS.values())
# Names are numbered in a tree (v12); a number stands alone.
_NUMBER = re.compile(r"(?<![\w.])(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)")
_NUMBERS = {name: number for number, (name, _) in TIERS.items()}


class TiersSource(Source):
    """Kernels by a typed grammar, compiled by NVRTC many at a time, executed on the simulator."""

    name: ClassVar[str] = "tiers"
    categories: ClassVar[tuple[str, ...]] = NAMES
    text_view: ClassVar[str] = "cuda_source"
    views: ClassVar[tuple[str, ...]] = ("cuda_source", "ast")
    shard_size: ClassVar[int] = 200
    measures: ClassVar[bool] = False
    life: ClassVar[int] = 20_000  # NVRTC keeps nothing

    def sample(self, seed: int, index: int, settings: Settings) -> Sample:
        """The program at a place."""
        tiers = tuple(_NUMBERS[name] for name in self.chosen(settings))
        program = make(seed, index, tiers)
        program = replace(program, ast=cuda.write_canonical(program.module))
        shape = _NUMBER.sub("0", program.ast)
        text = cuda.print_module(program.module)
        category = TIERS[program.tier][0]
        return Sample(index, f"k{index}", category, text, shape, program)

    def provenance(self, settings: Settings) -> dict[str, str]:
        """The compiler and the assembler, where PTX is asked for."""
        if settings.views != "all":
            return {}
        for arch in settings.archs:
            compile_cuda('extern "C" __global__ void k() {}', arch, cache=False)
        return {"compiler": f"NVRTC {nvrtc.load().release}", **assembler_of(settings)}

    def make(
        self, seed: int, samples: Sequence[Sample], settings: Settings, workspace: Path
    ) -> list[Made | Rejected]:
        """Compile a batch as one file, take it apart, execute every kernel."""
        if settings.views == "source":
            return [Made(_views(one), Verification("not executed")) for one in samples]
        measured = self.measured(settings)
        columns = [compiled(samples, arch, settings, measured=measured) for arch in settings.archs]
        simulated = [
            Simulated({n: c.text for n, c in enumerate(column) if isinstance(c, Code)})
            for column in columns
        ]
        return [
            _row(one, number, [column[number] for column in columns], simulated, settings)
            for number, one in enumerate(samples)
        ]

    def replay(self, seed: int, sample: Sample, row: dict[str, Any]) -> str | None:
        """Execute the stored PTX again and compare with numpy and the stored digests."""
        oracle = Oracle(sample.program)
        results = []
        for target in row["targets"]:
            kernels = Simulated({0: target["ptx_forward"]}).kernels(0, "k", oracle)
            results.append(oracle.simulated(kernels))
            wrong = oracle.difference(results[-1])
            if wrong is not None:
                return f"{target['arch']}: {wrong}"
        return misstated(row, _proof(oracle, results))

    def foretold(self, sample: Sample, settings: Settings) -> dict[str, Any]:
        """Both texts, and the launch of the first kernel."""
        launch = _launch(sample.program) if settings.views == "all" else ()
        return {**_views(sample), "launch": list(launch), "features": []}

    def kernels(self, sample: Sample, settings: Settings) -> dict[str, dict[str, str]]:
        """The kernels in the order of their launches."""
        launches = enumerate(sample.program.launches)
        return {"ptx_forward": {f"k{k}": f"{sample.name}_{one.kernel}" for k, one in launches}}

    def checks(self, targets: Sequence[Target], settings: Settings) -> tuple[str, ...]:
        """Assembled and compared with numpy, for every architecture."""
        return compared(targets)


def _views(one: Sample) -> dict[str, str | None]:
    program: programs.Sample = one.program
    return {"cuda_source": one.text, "ast": program.ast}


def _launch(program: programs.Sample) -> tuple[int, ...]:
    launch = program.launches[0]
    return (*launch.grid, *launch.block, launch.dynamic_shared)


def _proof(oracle: Oracle, results: list[Values]) -> Verification:
    """The verification of results that agree."""
    return Verification(
        "verified",
        input_digest=digest(named(oracle.values)),
        output_digest=digest(named(results[0])),
    )


def _row(
    one: Sample,
    number: int,
    codes: list[Code | Rejected],
    simulated: list[Simulated],
    settings: Settings,
) -> Made | Rejected:
    """Execute the code for every architecture, and compare."""
    good = []
    for code in codes:
        if isinstance(code, Rejected):
            return code
        good.append(code)
    program: programs.Sample = one.program
    try:
        oracle = Oracle(program)
        results = [
            oracle.simulated(modules.kernels(number, f"k{number}_", oracle))
            for modules in simulated
        ]
        for code, found in zip(good, results, strict=True):
            wrong = oracle.difference(found)
            if wrong is not None:
                return Rejected("compare", f"{code.proof.arch}: {wrong}")
    except PtxkitError as error:
        return Rejected("execute", str(error).splitlines()[0])
    targets = tuple(code.target(number, settings) for code in good)
    proof = replace(_proof(oracle, results), checks=compared(targets))
    return Made(_views(one), proof, targets, _launch(program))
