"""What sources of single kernels share: assemble, execute on the simulator, compare with numpy."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from ptxkit.errors import PtxkitError
from ptxkit.run import load
from ptxkit.syntax import parse
from ptxkit.synth.assembling import assembled
from ptxkit.synth.canonical import Library, canonical
from ptxkit.synth.comparing import difference, digest, tolerance_of
from ptxkit.synth.program import Program, Values
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


def _renamed(ptx: str, old: str, new: str) -> str:
    """PTX with another name for its kernel, and for what is called after it.

    >>> _renamed(".entry k(.param .u64 k_0) { mask k; }", "k", "copy")
    '.entry copy(.param .u64 copy_0) { mask copy; }'
    """
    return re.sub(rf"(?<![\w$%.]){re.escape(old)}(?![A-Za-z0-9$])", new, ptx)


@dataclass(frozen=True, slots=True)
class Compiled:
    """PTX as a compiler wrote it."""

    text: str
    kernel: str
    shared: int = 0
    """Bytes of shared memory that the launch brings."""


class ProgramSource(Source):
    """Kernels by a grammar of programs, compiled one by one."""

    text_view: ClassVar[str] = "python_source"
    views: ClassVar[tuple[str, ...]] = ("python_source",)

    @abstractmethod
    def program(self, seed: int, index: int, category: str) -> Program:
        """The program at a place."""

    @abstractmethod
    def compile(self, program: Program, arch: str, workspace: Path) -> Compiled | Rejected:
        """The PTX of a program."""

    @abstractmethod
    def passed(self, program: Program, values: Values) -> list[Any]:
        """The arguments as the PTX takes them."""

    def sample(self, seed: int, index: int, settings: Settings) -> Sample:
        """The program at a place; categories take turns."""
        chosen = self.chosen(settings)
        program = self.program(seed, index, chosen[index % len(chosen)])
        return Sample(index, program.name, program.category, program.text, program.shape(), program)

    def make(
        self, seed: int, samples: Sequence[Sample], settings: Settings, workspace: Path
    ) -> list[Made | Rejected]:
        """Compile every sample, assemble all together, execute each."""
        if settings.views == "source":
            verdict = Verification("not executed")
            return [Made({self.text_view: one.text}, verdict) for one in samples]
        columns = [self._targets(samples, arch, settings, workspace) for arch in settings.archs]
        return [
            self._row(seed, one, [column[number] for column in columns], settings)
            for number, one in enumerate(samples)
        ]

    def _targets(
        self, samples: Sequence[Sample], arch: str, settings: Settings, workspace: Path
    ) -> list[tuple[Target, int] | Rejected]:
        """The PTX of every sample, for the architecture it says that it is for.

        Triton makes code for sm_90a where it is asked for sm_90.
        """
        own = arch
        texts: dict[int, tuple[str, str, int]] = {}
        found: dict[int, tuple[Target, int] | Rejected] = {}
        for number, one in enumerate(samples):
            code = self.compile(one.program, arch, workspace)
            if isinstance(code, Rejected):
                found[number] = code
                continue
            module = parse(code.text)
            own = module.target or arch
            part = Library(module).extract(code.kernel)
            # Some compilers count the kernels of a process in their names.
            raw = _renamed(part.raw, code.kernel, one.name)
            texts[number] = canonical(part, f"k{number}_forward"), raw, code.shared
        proofs = assembled([text for text, *_ in texts.values()], own, settings)
        for (number, (text, raw, shared)), proof in zip(texts.items(), proofs, strict=True):
            if isinstance(proof, Rejected):
                found[number] = proof
            else:
                plain = text.replace(f"k{number}_", "")
                found[number] = proof.target(plain, raw, settings), shared
        return [found[number] for number in range(len(samples))]

    def _row(
        self,
        seed: int,
        one: Sample,
        targets: list[tuple[Target, int] | Rejected],
        settings: Settings,
    ) -> Made | Rejected:
        good = []
        for result in targets:
            if isinstance(result, Rejected):
                return result
            good.append(result)
        codes = [(target.arch, target.ptx_forward, shared) for target, shared in good]
        proof = self._proved(seed, one, codes)
        if isinstance(proof, Rejected):
            return proof
        found = tuple(target for target, _ in good)
        proof = replace(proof, checks=self.checks(found, settings))
        program: Program = one.program
        launch = (program.grid, program.block, good[0][1])
        return Made({self.text_view: one.text}, proof, found, launch)

    def _proved(
        self, seed: int, one: Sample, codes: Sequence[tuple[str, str, int]]
    ) -> Verification | Rejected:
        """Execute the PTX for every architecture, and compare with numpy."""
        program: Program = one.program
        values = program.values(seed, self.name, one.index)
        expected = program.expected(values)
        outputs: Values = {}
        for number, (arch, ptx, shared) in enumerate(codes):
            try:
                found = self._simulated(program, values, ptx, shared)
            except PtxkitError as error:
                return Rejected("execute", f"{arch}: {str(error).splitlines()[0]}")
            wrong = difference(found, expected)
            if wrong is not None:
                return Rejected("compare", f"{arch}: {wrong}")
            outputs = outputs if number else found
        tolerance = tolerance_of(expected.values())
        return Verification(
            "verified",
            relative_tolerance=tolerance.relative,
            absolute_tolerance=tolerance.absolute,
            input_digest=digest(values),
            output_digest=digest(outputs),
        )

    def checks(self, targets: Sequence[Target], settings: Settings) -> tuple[str, ...]:
        """Assembled and compared with numpy, for every architecture."""
        return compared(targets)

    def foretold(self, sample: Sample, settings: Settings) -> dict[str, Any]:
        """The text; the compiler decides about the shared memory of the launch."""
        launch: dict[str, Any] = {} if settings.views == "all" else {"launch": []}
        return {self.text_view: sample.text, "features": [], **launch}

    def kernels(self, sample: Sample, settings: Settings) -> dict[str, dict[str, str]]:
        """One kernel, called after its sample in the raw PTX."""
        return {"ptx_forward": {"forward": sample.name}}

    def _simulated(self, program: Program, values: Values, ptx: str, shared: int) -> Values:
        copies = {name: array.copy() for name, array in values.items()}
        kernel = load(ptx, device="cpu", check=False)["forward"]
        kernel[program.grid, program.block, shared](*self.passed(program, copies), threads=1)
        return {one.name: copies[one.name] for one in program.arrays if one.written}

    def replay(self, seed: int, sample: Sample, row: dict[str, Any]) -> str | None:
        """Execute the stored PTX again and compare with numpy and the stored digests."""
        program: Program = sample.program
        grid, block, shared = row["launch"]
        if (grid, block) != (program.grid, program.block):
            return f"the launch is {grid}, {block}, not {program.grid}, {program.block}"
        codes = [(target["arch"], target["ptx_forward"], shared) for target in row["targets"]]
        proof = self._proved(seed, sample, codes)
        return proof.reason if isinstance(proof, Rejected) else misstated(row, proof)
