"""The recording of a GPU, replayed on the simulator: one kernel for every instruction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tests.gpu.variants import COUNT, Case, cases, inputs, module_text

import ptxkit

RECORDING = Path(__file__).parent / "gpu" / "instructions.npz"

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Replay:
    """A case with its inputs, and what the GPU and the simulator gave."""

    case: Case
    inputs: Words
    gpu: Words
    simulator: Words

    @property
    def opcode(self) -> str:
        """The opcode, such as ``add.rn.f32``."""
        return self.case.text.split(" ")[0]


def replays(file: Path = RECORDING) -> Iterator[Replay]:
    """Every recorded case. A case that the simulator does not know is an error."""
    with np.load(file) as recording:
        recorded = {name: recording[name] for name in recording.files}
    known = [case for case in cases() if case.text in recorded]
    for case in known:
        kernel = ptxkit.load(module_text((case,)), device="cpu")[case.name]
        values = np.ascontiguousarray(inputs(case))
        out = np.zeros((len(case.outputs), COUNT), dtype=np.uint64)
        kernel[1, COUNT](values, out, threads=1)
        yield Replay(case, values, recorded[case.text], out)
