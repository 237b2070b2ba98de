"""From a candidate to its verdict: compile it, then try certificates, the strongest first."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile

from ptxkit.cuda import CudaModule, print_module
from ptxkit.cuda.words import is_free
from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.vectors import with_scalars
from ptxkit.decompiler.verify.asked import (
    NotOneModuleError,
    Options,
    asked_options,
    bare_name,
    compiled_as_asked,
    functions_options,
)
from ptxkit.decompiler.verify.dataflow import Proof, same_dataflow
from ptxkit.decompiler.verify.execution import (
    DEVICES,
    MOST,
    WANTED,
    same_execution,
    seen_to_differ,
)
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.decompiler.verify.quotients import short_divisions, with_long_divisions
from ptxkit.decompiler.verify.trials import Experience
from ptxkit.decompiler.verify.verdict import LEVELS, Verdict
from ptxkit.deep import deeply
from ptxkit.errors import PtxkitError, UnknownNameError, UsageError
from ptxkit.isa.targets import Target
from ptxkit.syntax import Module
from ptxkit.toolchain import CompilerError, CompilerWarning, compile_cuda
from ptxkit.toolchain.aside import UnfinishedCompilationError

DEFAULT_ARCH = "sm_90"
#: The weakest certificate that says more than that it compiles.
WEAKEST = "E3"
#: The share of all time that one proof may take; its own limits let most take much less.
PROOF = 0.25
#: What errors call a candidate that has no name.
CANDIDATE = "candidate.cu"


@dataclass(frozen=True, slots=True)
class Compiled:
    """E0: a candidate as PTX, or why there is none."""

    module: Module | None
    error: str = ""
    lines: tuple[int, ...] = ()
    """The lines of its text that have errors."""
    options: Options = ()
    """What it was compiled with, as it asked for."""
    own: Mapping[str, Options] = field(default_factory=dict)
    """And what single functions of it were, by their names in C++."""

    def asked(self, symbol: str) -> Options:
        """All that a function of the module was compiled with."""
        own = next((o for name, o in self.own.items() if name in (symbol, bare_name(symbol))), ())
        return tuple(dict.fromkeys((*self.options, *own)))


def compiled(
    candidate: CudaModule | str,
    arch: str = DEFAULT_ARCH,
    *,
    separate: bool = False,
    line_info: bool = False,
    name: str = CANDIDATE,
) -> Compiled:
    """Compile a candidate; with ``separate`` device functions are kept though nobody calls them.

    Errors call it by its ``name``.

    >>> compiled("__global__ void k() { nothing(); }").error
    'it does not compile: candidate.cu:1:23: error[cuda]: identifier "nothing" is undefined'
    """
    text = candidate if isinstance(candidate, str) else print_module(candidate)
    options, own = asked_options(text), functions_options(text)

    def module(options: Options) -> Module:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompilerWarning)
            return compile_cuda(
                text, arch=arch, name=name, line_info=line_info, cache=False,
                options=(*options, *(("-rdc=true",) if separate else ())),
            )  # fmt: skip

    try:
        return Compiled(compiled_as_asked(text, module), options=options, own=own)
    except NotOneModuleError as error:
        return Compiled(None, f"it cannot be compiled as it asks for: {error}")
    except UnfinishedCompilationError as error:
        return Compiled(None, f"not verified: {error}")
    except CompilerError as error:
        lines = str(error).splitlines()
        first = next((line for line in lines if ": error" in line), lines[0])
        found = tuple(one.line for one in error.diagnostics if one.severity == "error")
        return Compiled(None, f"it does not compile: {first}", found)


def architecture(module: Module) -> str:
    """What to compile candidates for: what the module was compiled for, if that is still known.

    >>> import ptxkit
    >>> architecture(ptxkit.parse(".version 8.0 .target sm_80"))
    'sm_80'
    >>> architecture(ptxkit.parse(".version 6.0 .target sm_30"))
    'sm_90'
    """
    target = module.target
    try:
        return target if target and Target.parse(target).number >= 75 else DEFAULT_ARCH
    except PtxkitError:
        return DEFAULT_ARCH


def certify(
    original: Module,
    candidate: Module,
    kernel: str,
    other: str | None = None,
    *,
    prove: bool = True,
    execute: bool = True,
    wanted: int = WANTED,
    most: int = MOST,
    device: str = "cpu",
    known: Experience | None = None,
    least: str = WEAKEST,
    thorough: bool = False,
    budget: Budget = UNLIMITED,
    share: float = PROOF,
) -> Verdict:
    """What can be said about a compiled candidate's kernel.

    ``known`` is what launches with other candidates for the same kernel have shown. Levels
    below ``least`` are not tried, nor is E2 without ``prove`` and E3 without ``execute``.
    With ``thorough``, more is tried to prove that they are equal, and nothing else. When the time
    of the ``budget`` is over it ends with what is proved until then; a proof may take a ``share``.
    """
    other = other or kernel
    if other not in candidate:
        there = ", ".join(f.name for f in candidate.kernels) or "none"
        reason = f"it has no kernel '{other}'; there are: {there}"
        return Verdict(True, reasons=(reason,), missing=True)
    if same_ptx(original, candidate, kernel, other):
        return Verdict(True, same_ptx=True)
    if LEVELS.index(least) > LEVELS.index("E2"):
        return Verdict(True, reasons=("E1: it is other PTX; nothing less was asked for",))
    reasons = []
    proof = Proof(False, "it was tried before")
    # Without ways that few launches come to, both still do what they did.
    plain = with_long_divisions(original), with_long_divisions(candidate)
    if prove:
        part = budget.part(share)
        proof = same_dataflow(*plain, kernel, other, thorough=thorough, budget=part)
    if proof.equal:
        wrong = ""
        if execute and original[kernel].is_entry:
            wrong = seen_to_differ(original, candidate, kernel, other)
        if not wrong:
            return Verdict(True, same_dataflow=True)
        return Verdict(True, reasons=(f"E2: it seemed to be proved, but a run shows: {wrong}",))
    reasons.append(f"E2: {proof.reason}")
    if not original[kernel].is_entry:
        reasons.append("E3: only kernels can be run")
    run = execute and not thorough and least == WEAKEST and original[kernel].is_entry
    if not run:
        return Verdict(True, reasons=tuple(reasons))
    run_as = original, candidate
    if device == "cpu" and short_divisions(plain[0], kernel) == short_divisions(plain[1], other):
        run_as = plain
    execution = same_execution(
        *run_as, kernel, other, wanted=wanted, most=most, device=device, known=known,
        budget=budget,
    )  # fmt: skip
    if not execution.equal:
        reasons.append(f"E3: {execution.reason}")
    return Verdict(True, execution=execution, reasons=tuple(reasons))


@deeply
def verify(
    original: Module,
    candidate: CudaModule | str,
    kernel: str | None = None,
    *,
    arch: str | None = None,
    execute: bool = True,
    device: str = "cpu",
    name: str = CANDIDATE,
) -> Verdict:
    """The verdict on a candidate for a kernel of a module, or for all of its kernels.

    E3 runs on the simulator; with ``device="cuda"`` on the GPU as well. ``name`` is what the
    compiler's errors call the candidate.

    >>> import ptxkit
    >>> source = "__global__ void k(int *x) { x[threadIdx.x] = %d; }"
    >>> original = ptxkit.compile_cuda(source % 1, arch="sm_90")
    >>> verify(original, source % 1).level, verify(original, source % 2).level
    ('E1', 'E0')
    """
    if device not in DEVICES:
        raise UnknownNameError("device", device, DEVICES)
    _check_kinds(original, candidate)
    original = with_scalars(original)
    arch = arch or architecture(original)
    kernels = [original[kernel].name] if kernel is not None else to_certify(original)
    if not kernels:
        raise UsageError(f"{original.filename} has no function with a body: nothing to compare")
    separate = any(not original[one].is_entry for one in kernels)
    made = compiled(candidate, arch, separate=separate, name=name)
    if made.module is None:
        return Verdict(reasons=(f"E0: {made.error}",))
    partners = paired(original, made.module)
    parts: dict[str, Verdict] = {}
    for one in kernels:
        partner = partners.get(one, one)
        found = certify(original, made.module, one, partner, execute=execute, device=device)
        parts[one] = replace(found, options=made.asked(partner))
    return Verdict.of(parts)


def _check_kinds(original: object, candidate: object) -> None:
    if not isinstance(original, Module):
        raise UsageError(f"the original is no module but a {type(original).__name__}; parse it")
    if not isinstance(candidate, CudaModule | str):
        kind = type(candidate).__name__
        raise UsageError(f"a candidate is CUDA C++ as text, or a tree of it, and no {kind}")


def to_certify(module: Module) -> list[str]:
    """The functions that a verdict is about: the kernels, else all functions with a body."""
    kernels = [f.name for f in module.kernels if f.has_body]
    return kernels or [f.name for f in module.functions if f.has_body]


def paired(original: Module, candidate: Module) -> dict[str, str]:
    """Which kernel of a candidate stands for which.

    That of the same name; or of the same name in C++, since one of the two may be mangled; or, for
    a name that C++ cannot write, the one that is left. A kernel with another name is another
    kernel: a host asks for it by its name.
    """
    names = [f.name for f in original.kernels]
    others = [f.name for f in candidate.kernels]
    left = [name for name in others if name not in names]
    found = {name: name for name in names if name in others}
    for name in [name for name in names if name not in found]:
        foreign = not is_free(name)
        partner = next((one for one in left if bare_name(one) == bare_name(name)), None)
        if partner is None and foreign:
            # The longest name that the two begin with, past what C++ has no letters for.
            partner = max(left, key=lambda one: _alike(one, name), default=None)
        if partner is not None:
            left.remove(partner)
            found[name] = partner
    return found


def _alike(one: str, other: str) -> int:
    """How many letters the beginnings of two names have in common.

    >>> _alike("float_", "float"), _alike("k_1", "k$1")
    (5, 2)
    """
    first, second = (re.sub(r"\W|_", "", name, flags=re.ASCII) for name in (one, other))
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
