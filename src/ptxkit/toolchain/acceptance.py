"""Ask the assembler whether it takes PTX, without looking at the machine code.

ptxas reads and checks a whole file before it generates code, which is most of its work. An
error of our own at the very end keeps it from going on: where that is all it complains about,
everything else is accepted. Where code is to be generated, it is that of the fastest kind.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ptxkit.errors import PtxkitError
from ptxkit.toolchain import assembler, locate, process, ptxas_messages
from ptxkit.toolchain.batch import Source, assemble_many, join

_MOST_KERNELS = 1024
_UNOPTIMISED = 0
_HEAD = re.compile(r"\.version [\d.]+\n\.target [\w, ]+\n\.address_size \d+\n")
_REFUSED = b"\n.func ptxkit_refused() { .reg .b64 %r;\n    add.f32 %r, %r, %r;\n}\n"


def accept_many(
    sources: Sequence[Source], arch: str, *, generate: bool = False
) -> list[PtxkitError | None]:
    """For every module None where the assembler takes it for an architecture, or its refusal.

    Modules whose names do not clash are asked about together, some ten times faster than they
    are assembled. Code generation can still refuse what this takes, for want of registers or
    shared memory: with `generate` machine code is made of everything, unoptimised, in half the
    time of the best code. Where there is no ptxas, everything is assembled.

    >>> head = ".version 8.0\\n.target sm_80\\n.address_size 64\\n"
    >>> good = head + ".visible .entry a() { ret; }"
    >>> bad = head + ".visible .entry b() { mov.b32 %r1, 1; ret; }"
    >>> [one is None for one in accept_many([good, bad], "sm_90")]
    [True, False]
    """
    job = assembler.plan(b"", arch, (), "auto")
    if job.engine != "ptxas":
        results = assemble_many(
            sources, arch, batch=True, errors="return", cache=False, opt_level=_UNOPTIMISED
        )
        return [one if isinstance(one, PtxkitError) else None for one in results]
    found: list[PtxkitError | None] = [None] * len(sources)
    whole = _together(sources)
    if whole is not None and _accepted(whole, job.arch, generate=generate):
        return found
    groups, alone = join(sources, _MOST_KERNELS)
    for group in groups:
        if not _accepted(group.text(), job.arch, generate=generate):
            alone += [part.index for part in group.parts]
    for index in alone:
        try:
            assembler.assemble(sources[index], arch, cache=False, opt_level=_UNOPTIMISED)
        except PtxkitError as error:
            found[index] = error
    return found


def _together(sources: Sequence[Source]) -> bytes | None:
    """All modules as one, without a look inside; None for those of several headers.

    Where names clash ptxas refuses it, and it is taken apart again.
    """
    first = sources[0] if sources else ""
    head = _HEAD.match(first) if isinstance(first, str) else None
    if head is None:
        return None
    parts = [head[0]]
    for source in sources:
        if not isinstance(source, str) or not source.startswith(head[0]):
            return None
        parts.append(source[head.end() :])
    return "\n".join(parts).encode("utf-8", "surrogateescape")


def _accepted(text: bytes, arch: str, *, generate: bool) -> bool:
    """Whether ptxas makes code, or whether our own error is the only one, and so the last thing
    that it read."""
    ptxas = locate.require("ptxas").path
    with tempfile.TemporaryDirectory(prefix="ptxkit-") as folder:
        file, cubin = Path(folder) / "source.ptx", Path(folder) / "source.cubin"
        file.write_bytes(text if generate else text + _REFUSED)
        options = [f"--gpu-name={arch}", f"--opt-level={_UNOPTIMISED}"]
        done = process.run(ptxas, [*options, "-o", cubin, file])
        if generate:
            return done.code == 0 and cubin.exists()
    ours = text.count(b"\n") + 3
    errors = [one for one in ptxas_messages.remarks(done.everything) if one.severity == "error"]
    return done.code != 0 and [one.line for one in errors] == [ours]
