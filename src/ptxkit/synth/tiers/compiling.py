"""From samples to PTX: compiled as one file, taken apart, and shown to the assembler."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ptxkit.synth.assembling import Assembled, assembled
from ptxkit.synth.canonical import Library, canonical, joined
from ptxkit.synth.source import Rejected, Sample, Settings, Target
from ptxkit.synth.tiers import sample as programs
from ptxkit.toolchain import CompilerError, compile_cuda

_INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)
# Each as it stands in canonical text, and nowhere else.
_EFFECTS = (" st.", " atom.", " red.")
_JOINED = (" ld.shared.v", "used_bytes_mask")
# Nothing of what the second leaves out is used: headers are read in half the time.
_OPTIONS = ("-w", "--minimal")


@dataclass(frozen=True, slots=True)
class Code:
    """The PTX of a sample; kernels are called ``k{number}_0`` and so on in it."""

    text: str
    raw: str
    proof: Assembled

    def target(self, number: int, settings: Settings) -> Target:
        """The column of the row, with the kernels called ``k0`` and so on."""
        return self.proof.target(self.text.replace(f"k{number}_", "k"), self.raw, settings)


def compiled(
    samples: Sequence[Sample], arch: str, settings: Settings, *, measured: bool
) -> list[Code | Rejected]:
    """The PTX of every sample, canonical and raw, for which the assembler made code."""
    libraries = _libraries(samples, arch)
    texts: dict[int, tuple[str, str]] = {}
    found: dict[int, Code | Rejected] = {}
    for number, (one, library) in enumerate(zip(samples, libraries, strict=True)):
        if isinstance(library, Rejected):
            found[number] = library
            continue
        kernels = [f"{one.name}_{launch.kernel}" for launch in one.program.launches]
        parts = [library.extract(kernel) for kernel in kernels]
        text = joined([canonical(part, f"k{number}_{k}") for k, part in enumerate(parts)])
        useless = _useless(text)
        if useless is not None:
            found[number] = useless
        else:
            texts[number] = text, joined([part.raw for part in parts])
    proofs = assembled([text for text, _ in texts.values()], arch, settings, measured=measured)
    for (number, own), proof in zip(texts.items(), proofs, strict=True):
        found[number] = proof if isinstance(proof, Rejected) else Code(*own, proof)
    return [found[number] for number in range(len(samples))]


def _useless(text: str) -> Rejected | None:
    """Why a kernel is not worth a row, or cannot be one."""
    if any(word in text for word in _JOINED):
        # Five neighbours are loaded as four and one, as two, one and two, or with a byte mask: it
        # depends on where NVRTC's memory lies. Each way has a joined load, so each is noticed.
        return Rejected("compile", "NVRTC joins its loads now in one way, now in another")
    if not any(word in text for word in _EFFECTS):
        return Rejected("compile", "the compiler left nothing of it")
    return None


def _libraries(samples: Sequence[Sample], arch: str) -> list[Library | Rejected]:
    """All samples in one file; where that fails, halves, until the one to blame is alone."""
    text = "".join(_apart(one) for one in samples)
    # What one of them includes stands before all.
    includes = dict.fromkeys(i for one in samples for i in one.program.module.includes)
    text = "".join(f"#include <{include}>\n" for include in includes) + text
    try:
        library = Library(compile_cuda(text, arch, options=_OPTIONS, cache=False))
        return [library] * len(samples)
    except CompilerError as error:
        if len(samples) == 1:
            return [Rejected("compile", str(error).splitlines()[0])]
    middle = len(samples) // 2
    return [*_libraries(samples[:middle], arch), *_libraries(samples[middle:], arch)]


def _apart(one: Sample) -> str:
    """The text of a sample with a prefix on every name that others could have, too.

    A local variable of such a name gets it as well, and means what it did.
    """
    program: programs.Sample = one.program
    names = "|".join(map(re.escape, sorted(program.own_names())))
    body = _INCLUDE.sub("", one.text)
    return re.sub(rf"\b(?=(?:{names})\b)", f"{one.name}_", body)
