"""The assembler's word on the PTX of a batch: machine code made of it, or the text checked alone.

The best machine code takes as long as everything else together for small kernels, unoptimised
code half of that. Without any the assembler still reads and checks every instruction, but never
has to find registers for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxkit.errors import PtxkitError
from ptxkit.synth.source import Rejected, Settings, Target
from ptxkit.toolchain import (
    CompilerError,
    Cubin,
    Resources,
    accept_many,
    assemble,
    assemble_many,
    disassemble,
)

_PROBE = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


def assembler_of(settings: Settings) -> dict[str, str]:
    """The assembler with its version; refuses architectures that it does not know."""
    found = {}
    for arch in settings.archs:
        found["assembler"] = assemble(_PROBE, arch, cache=False).engine
    return found


@dataclass(frozen=True, slots=True)
class Assembled:
    """PTX that the assembler takes."""

    arch: str
    made: bool
    """Whether machine code was made of it."""
    needs: Resources | None = None
    """What the best machine code of its first kernel needs; None where that was not made."""

    def target(
        self,
        forward: str,
        raw: str,
        settings: Settings,
        *,
        backward: str | None = None,
        shared: int = 0,
    ) -> Target:
        """The column of a row; `shared` bytes come with the launch."""
        if self.needs is None:
            return Target(self.arch, forward, raw, backward, self.made)
        texts = [forward, backward] if backward else [forward]
        return Target(
            self.arch,
            forward,
            raw,
            backward,
            True,
            self.needs.registers,
            self.needs.shared + shared,
            self.needs.spills,
            self.needs.code,
            # Alone: the code of a batch is that of all its kernels.
            "\n".join(disassemble(assemble(text, self.arch, cache=False)) for text in texts)
            if settings.sass
            else None,
        )


def assembled(
    texts: Sequence[str], arch: str, settings: Settings, *, measured: bool = True
) -> list[Assembled | Rejected]:
    """Ask about many modules together; no two may define one name.

    Where machine code is to be made but not `measured`, it is not optimised.
    """
    results: list[Assembled | Rejected] = []
    if not (settings.assemble and measured):
        for refusal in accept_many(texts, arch, generate=settings.assemble):
            good = Assembled(arch, settings.assemble)
            results.append(good if refusal is None else _refused(refusal))
        return results
    cubins = assemble_many(texts, arch, workers=1, batch=True, errors="return", cache=False)
    for cubin in cubins:
        if isinstance(cubin, Cubin):
            results.append(Assembled(arch, True, cubin.resources[min(cubin.resources)]))
        else:
            results.append(_refused(cubin))
    return results


def _refused(error: PtxkitError) -> Rejected:
    if not isinstance(error, CompilerError):
        raise error  # no assembler, no room: not the kernel's fault
    return Rejected("assemble", str(error).splitlines()[0])
