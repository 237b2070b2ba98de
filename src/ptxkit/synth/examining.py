"""One row of a dataset against what its plan says it must be.

A row is a function of the plan and its index. What needs no compiler is made again and compared:
names, texts, hashes, the launch, the list of checks. PTX is made again from the raw PTX, and
executed. Nothing is left out because the row says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxkit.errors import PtxkitError
from ptxkit.synth.canonical import Library, canonical, joined
from ptxkit.synth.plan import Plan
from ptxkit.synth.schema import identity, row, split_of
from ptxkit.synth.source import Made, Sample, Source, Target, Verification

_TEXTS = ("ptx_forward", "ptx_backward")
_NUMBERS = ("registers", "shared_bytes", "spill_bytes", "code_bytes")
#: What the engine adds to a row, whatever its source makes of it.
_OWN = ("id", "source", "seed", "index", "name", "category")
_HASHES = ("shape_hash", "content_hash", "minhash")
_SHOWN = 60


def examined(source: Source, plan: Plan, sample: Sample, found: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the row of a sample; its PTX is executed where nothing else is."""
    sound = True
    for fault in _told(source, plan, sample, found):
        sound = False
        yield fault
    if not sound or plan.settings.views == "source":
        return
    try:
        wrong = source.replay(plan.seed, sample, found)
    except PtxkitError as error:
        wrong = f"it does not run: {str(error).splitlines()[0]}"
    if wrong is not None:
        yield wrong


def foretold(source: Source, plan: Plan, sample: Sample) -> dict[str, Any]:
    """The columns of a row that follow from the plan alone."""
    empty = row(source, plan.seed, sample, Made({}, Verification("")))
    known = {key: empty[key] for key in (*_OWN, *_HASHES)}
    known["split"] = split_of(empty["shape_hash"])
    return known | source.foretold(sample, plan.settings)


def _told(source: Source, plan: Plan, sample: Sample, found: dict[str, Any]) -> Iterator[str]:
    """All but execution."""
    for key, expected in foretold(source, plan, sample).items():
        if found[key] != expected:
            yield f"the {key} is {_short(found[key])}, not {_short(expected)}"
    proof, targets = found["verification"], found["targets"]
    if not isinstance(proof, dict) or not isinstance(targets, list) or None in targets:
        yield "it has no verification, or no targets"
        return
    if any(not isinstance(number, int) for number in found["launch"] or ()):
        yield f"the launch is {_short(found['launch'])}, not whole numbers"
        return
    executed = plan.settings.views == "all"
    verdict = "verified" if executed else "not executed"
    if proof["verdict"] != verdict:
        yield f"the verdict is {_short(proof['verdict'])}, not {verdict!r}"
    if not executed:
        if targets or any(value for key, value in proof.items() if key != "verdict"):
            yield "it has targets or a verification, though nothing was to be compiled"
        return
    archs = [target["arch"] for target in targets]
    if len(archs) != len(plan.settings.archs) or not all(map(_is, archs, plan.settings.archs)):
        yield f"the architectures are {_short(archs)}, not {list(plan.settings.archs)}"
        return
    for target in targets:
        for fault in _ptx(source, plan, sample, target):
            yield f"{target['arch']}: {fault}"
    checks = source.checks([Target(**target) for target in targets], plan.settings)
    if checks is not None and proof["checks"] != list(checks):
        yield f"the checks are {_short(proof['checks'])}, not {_short(list(checks))}"


def _is(arch: Any, asked: str) -> bool:
    """Whether an architecture is the one that was asked for.

    >>> _is("sm_90", "sm_90"), _is("sm_90a", "sm_90"), _is("sm_80", "sm_90")
    (True, True, False)
    """
    return arch in (asked, f"{asked}a", f"{asked}f")


def _ptx(source: Source, plan: Plan, sample: Sample, target: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the PTX for one architecture, to look at."""
    settings = plan.settings
    raw = target["ptx_raw"]
    if not target["ptx_forward"]:
        yield "there is no ptx_forward"
        return
    if settings.sass and not target["sass"]:
        yield "there is no sass"
    if settings.raw is False and raw is not None:
        yield "there is a ptx_raw, though none was to be kept"
        return
    if not settings.sass and target["sass"] is not None:
        yield "there is a sass, though none was asked for"
    numbers = any(target[key] is not None for key in _NUMBERS)
    if not target["assembled"] and numbers:
        yield "it has numbers of machine code, but says that none was made"
    elif numbers and not source.measured(settings):
        yield "it has numbers of machine code, though none was to be measured"
    named = source.kernels(sample, settings)
    if not named:
        return
    if target["assembled"] is not settings.assemble:
        yield f"assembled is {target['assembled']}, not {settings.assemble}"
    if settings.raw and not raw:
        yield "there is no ptx_raw"
        return
    readable = True
    for column in _TEXTS:
        stored, kernels = target[column], named.get(column)
        if bool(stored) is not bool(kernels):
            yield f"there is {'a' if stored else 'no'} {column}"
        elif kernels:
            try:
                made = _remade(stored, raw, kernels)
            except PtxkitError as error:
                readable = False
                yield f"{column}: {str(error).splitlines()[0]}"
                continue
            if made != stored:
                yield f"{column} is not the canonical form of {'ptx_raw' if raw else 'its code'}"
    if raw and readable:
        yield from _raw(raw, named)


def _remade(stored: str, raw: str | None, kernels: dict[str, str]) -> str:
    """A column of PTX once more, from the raw PTX where there is one."""
    library = Library(raw or stored)
    return joined([canonical(library.extract(raw_name if raw else name), name)
                   for name, raw_name in kernels.items()])  # fmt: skip


def _raw(raw: str, named: dict[str, dict[str, str]]) -> Iterator[str]:
    """What is wrong with raw PTX beside its code: it has these kernels and nothing else."""
    library = Library(raw)
    names = [name for kernels in named.values() for name in kernels.values()]
    if set(library.kernels) != set(names):
        yield f"ptx_raw has the kernels {_short(library.kernels)}, not {_short(names)}"
        return
    # Kernels share variables: every line is to be one of some kernel's.
    known = {line for name in names for line in library.extract(name).raw.splitlines()}
    other = next((line for line in raw.splitlines() if line not in known), None)
    if other is not None:
        yield f"ptx_raw has a line beside its kernels: {_short(other)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def rejected_faults(
    source: Source, plan: Plan, sample: Sample, found: dict[str, Any]
) -> Iterator[str]:
    """What is wrong with what is told of a rejected sample."""
    known = foretold(source, plan, sample)
    expected = {key: known[key] for key in ("source", "name", "category", "shape_hash", "index")}
    expected |= {"id": identity(source, plan.seed, sample), "text": sample.text}
    for key, value in expected.items():
        if found[key] != value:
            yield f"the {key} is {_short(found[key])}, not {_short(value)}"
    for key in ("stage", "reason"):
        if not found[key]:
            yield f"a rejected sample has no {key}"
