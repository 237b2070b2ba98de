"""What sources of single kernels share: assemble, execute on the simulator, compare with numpy."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
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
            self._row(seed, one, [column[number] for column in columns])
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
        self, seed: int, one: Sample, targets: list[tuple[Target, int] | Rejected]
    ) -> Made | Rejected:
        good = []
        for result in targets:
            if isinstance(result, Rejected):
                return result
            good.append(result)
        program: Program = one.program
        values = program.values(seed, self.name, one.index)
        expected = program.expected(values)
        outputs: Values = {}
        for number, (target, shared) in enumerate(good):
            try:
                found = self._simulated(program, values, target.ptx_forward, shared)
            except PtxkitError as error:
                return Rejected("execute", f"{target.arch}: {str(error).splitlines()[0]}")
            wrong = difference(found, expected)
            if wrong is not None:
                return Rejected("compare", f"{target.arch}: {wrong}")
            outputs = outputs if number else found
        tolerance = tolerance_of(expected.values())
        proof = Verification(
            "verified",
            tuple(c for t, _ in good for c in (t.check, f"ptx {t.arch} = numpy")),
            tolerance.relative,
            tolerance.absolute,
            digest(values),
            digest(outputs),
        )
        launch = (program.grid, program.block, good[0][1])
        found_targets = tuple(target for target, _ in good)
        return Made({self.text_view: one.text}, proof, found_targets, launch)

    def _simulated(self, program: Program, values: Values, ptx: str, shared: int) -> Values:
        copies = {name: array.copy() for name, array in values.items()}
        kernel = load(ptx, device="cpu", check=False)["forward"]
        kernel[program.grid, program.block, shared](*self.passed(program, copies), threads=1)
        return {one.name: copies[one.name] for one in program.arrays if one.written}

    def replay(self, seed: int, sample: Sample, row: dict[str, Any]) -> str | None:
        """Execute the stored PTX again and compare with numpy and the stored digests."""
        proof = row["verification"]
        if proof["verdict"] == "not executed":
            return None
        program: Program = sample.program
        values = program.values(seed, self.name, sample.index)
        if digest(values) != proof["input_digest"]:
            return "the inputs have another digest"
        expected = program.expected(values)
        for number, target in enumerate(row["targets"]):
            shared = row["launch"][2]
            found = self._simulated(program, values, target["ptx_forward"], shared)
            wrong = difference(found, expected)
            if wrong is not None:
                return f"{target['arch']}: {wrong}"
            if number == 0 and digest(found) != proof["output_digest"]:
                return "the outputs have another digest"
        return None
