"""From samples to PTX: compiled as one file, taken apart, and shown to the assembler."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ptxkit.errors import PtxkitError
from ptxkit.synth.canonical import Library, canonical
from ptxkit.synth.source import Rejected, Sample, Settings, Target
from ptxkit.synth.tiers import sample as programs
from ptxkit.toolchain import (
    Cubin,
    Resources,
    accept_many,
    assemble_many,
    compile_cuda,
    disassemble,
)
from ptxkit.toolchain.messages import CompilerError

_INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)
_EFFECT = re.compile(r"^ +(?:@!?%\w+ )?(?:st|atom|red)\.", re.MULTILINE)
_HEADER_LINES = 3  # of canonical PTX: version, target, address size
# Nothing of what the second leaves out is used: headers are read in half the time.
_OPTIONS = ("-w", "--minimal")


@dataclass(frozen=True, slots=True)
class Code:
    """The PTX of a sample; kernels are called ``k{number}_0`` and so on in it."""

    arch: str
    text: str
    raw: str
    check: str
    """What the assembler was asked."""
    needs: Resources | None = None
    sass: str | None = None

    def target(self, number: int) -> Target:
        """The column of the row, with the kernels called ``k0`` and so on."""
        text = self.text.replace(f"k{number}_", "k")
        if self.needs is None:
            return Target(self.arch, text, self.raw)
        needs = self.needs
        return Target(
            self.arch,
            text,
            self.raw,
            None,
            needs.registers,
            needs.shared,
            needs.spills,
            needs.code,
            self.sass,
        )


def compiled(samples: Sequence[Sample], arch: str, settings: Settings) -> list[Code | Rejected]:
    """The PTX of every sample, canonical and raw."""
    libraries = _libraries(samples, arch)
    found: list[Code | Rejected] = []
    for number, (one, library) in enumerate(zip(samples, libraries, strict=True)):
        if isinstance(library, Rejected):
            found.append(library)
            continue
        kernels = [f"{one.name}_{launch.kernel}" for launch in one.program.launches]
        parts = [library.extract(kernel) for kernel in kernels]
        text = joined([canonical(part, f"k{number}_{k}") for k, part in enumerate(parts)])
        raw = joined([part.raw for part in parts])
        found.append(_useless(text) or Code(arch, text, raw, ""))
    places = [number for number, code in enumerate(found) if isinstance(code, Code)]
    codes = [code for code in found if isinstance(code, Code)]
    ask = _assembled if settings.resources or settings.sass else _accepted
    for number, result in zip(places, ask(codes, arch, settings), strict=True):
        found[number] = result
    return found


def _useless(text: str) -> Rejected | None:
    """Why a kernel is not worth a row, or cannot be one."""
    if "used_bytes_mask" in text:
        # Loads of three neighbours are joined with room to spare: as four, or as two and one.
        return Rejected("compile", "NVRTC joins its loads now in one way, now in another")
    if not _EFFECT.search(text):
        return Rejected("compile", "the compiler left nothing of it")
    return None


def _accepted(codes: Sequence[Code], arch: str, settings: Settings) -> list[Code | Rejected]:
    """What the assembler takes; no machine code is made of it."""
    refusals = accept_many([code.text for code in codes], arch)
    check = f"ptx {arch} accepted by the assembler"
    return [
        Code(arch, code.text, code.raw, check) if refusal is None else _refused(refusal)
        for code, refusal in zip(codes, refusals, strict=True)
    ]


def _assembled(codes: Sequence[Code], arch: str, settings: Settings) -> list[Code | Rejected]:
    """The same with what the machine code needs."""
    texts = [code.text for code in codes]
    cubins = assemble_many(texts, arch, workers=1, batch=True, errors="return", cache=False)
    results: list[Code | Rejected] = []
    for code, cubin in zip(codes, cubins, strict=True):
        if isinstance(cubin, PtxkitError):
            results.append(_refused(cubin))
            continue
        assert isinstance(cubin, Cubin)
        # Those of the first kernel, where there are two.
        needs = cubin.resources[min(cubin.resources)]
        sass = disassemble(cubin) if settings.sass else None
        results.append(Code(arch, code.text, code.raw, f"ptx {arch} assembled", needs, sass))
    return results


def _refused(error: PtxkitError) -> Rejected:
    return Rejected("assemble", str(error).splitlines()[0])


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


def joined(texts: Sequence[str]) -> str:
    """Modules as one: the header is said once."""
    first, *others = texts
    return first + "".join(text.split("\n", _HEADER_LINES)[-1] for text in others)
