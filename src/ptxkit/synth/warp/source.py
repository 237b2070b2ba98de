"""The source ``warp``: Python kernels for NVIDIA Warp with all their views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ptxkit.errors import PtxkitError, UsageError
from ptxkit.run import CpuModule, load
from ptxkit.synth.assembling import Assembled, assembled, assembler_of
from ptxkit.synth.canonical import Library, canonical
from ptxkit.synth.comparing import difference, digest, tolerance_of
from ptxkit.synth.source import (
    Made,
    Rejected,
    Sample,
    Settings,
    Source,
    Target,
    Verification,
    misstated,
)
from ptxkit.synth.streams import Stream
from ptxkit.synth.warp import launching, tree
from ptxkit.synth.warp.adapter import Batch, CudaCode, Warp, WarpError, load_warp
from ptxkit.synth.warp.cleaning import split
from ptxkit.synth.warp.evaluator import evaluate
from ptxkit.synth.warp.grammar import CATEGORIES, generate
from ptxkit.synth.warp.launching import Result
from ptxkit.synth.warp.printer import shape, source

T = TypeVar("T")
#: Gradients add up many products: they are compared with more room.
GRADIENT_SLACK = 10.0
_ENTRY = "_cuda_kernel_"


class WarpSource(Source):
    """Kernels by a typed grammar, compiled by Warp, executed three ways."""

    name: ClassVar[str] = "warp"
    origin: ClassVar[str] = (
        "C++ and CUDA views are the output of NVIDIA Warp (Apache 2.0), PTX that of NVIDIA's "
        "compilers."
    )
    categories: ClassVar[tuple[str, ...]] = CATEGORIES
    text_view: ClassVar[str] = "python_source"
    views: ClassVar[tuple[str, ...]] = (
        "python_source",
        "cpp_forward",
        "cpp_backward",
        "cuda_forward",
        "cuda_backward",
    )
    launch_shared: ClassVar[bool] = True

    def sample(self, seed: int, index: int, settings: Settings) -> Sample:
        """The kernel at a place."""
        program = generate(seed, index, self.chosen(settings))
        return Sample(
            index, program.name, program.category, source(program), shape(program), program
        )

    def provenance(self, settings: Settings) -> dict[str, str]:
        """Warp, and the assembler where PTX is asked for."""
        versions = {"warp-lang": str(load_warp().config.version)}
        if settings.views == "all":
            for arch in settings.archs:
                _check_arch(arch)
            versions |= assembler_of(settings)
        return versions

    def make(
        self, seed: int, samples: Sequence[Sample], settings: Settings, workspace: Path
    ) -> list[Made | Rejected]:
        """Compile a batch with Warp, take it apart, execute every kernel."""
        warp = _warp(workspace)
        if settings.views == "source":
            return _sources_only(warp, samples, settings)
        return _Maker(warp, seed, samples, settings).make()

    def replay(self, seed: int, sample: Sample, row: dict[str, Any]) -> str | None:
        """Execute the stored PTX again and compare with numpy and the stored digests."""
        program: tree.Program = sample.program
        values, seeds = prepared(seed, program, any(t["ptx_backward"] for t in row["targets"]))
        results = []
        expected = _numpy(program, values)
        for target in row["targets"]:
            forward = load(target["ptx_forward"], check=False)
            backward = load(target["ptx_backward"], check=False) if target["ptx_backward"] else None
            found = launching.on_simulator(program, values, forward, backward, seeds)
            wrong = difference(found.values, expected)
            if wrong is not None:
                return f"{target['arch']}: {wrong}"
            results.append(found)
        return misstated(row, _proof(values, expected, results[0]))

    def foretold(self, sample: Sample, settings: Settings) -> dict[str, Any]:
        """What the tree says: the Python source, the launch, the features."""
        program: tree.Program = sample.program
        return {
            "python_source": sample.text,
            "launch": list(program.launch),
            "features": list(program.features),
        }

    def kernels(self, sample: Sample, settings: Settings) -> dict[str, dict[str, str]]:
        """The kernel, and its gradient where that is asked for."""
        names = ("forward", "backward") if settings.backward else ("forward",)
        return {f"ptx_{name}": {name: f"{sample.name}{_ENTRY}{name}"} for name in names}

    def checks(self, targets: Sequence[Target], settings: Settings) -> tuple[str, ...]:
        """Assembled, and three ways of executing compared."""
        found = [*(target.check for target in targets), "warp-cpu = numpy"]
        for target in targets:
            found.append(f"ptx {target.arch} = numpy")
            if settings.backward:
                found.append(f"ptx {target.arch} gradient = wp.Tape")
        return tuple(found)


_PLAIN = """import warp as wp


@wp.kernel
def plain_0(a: wp.array(dtype=wp.float32)):
    a[wp.tid()] = 1.0
"""
_opened: dict[Path, Warp] = {}


def _warp(workspace: Path) -> Warp:
    if workspace not in _opened:
        _opened[workspace] = Warp(workspace)
    return _opened[workspace]


def _check_arch(arch: str) -> None:
    if not arch.removeprefix("sm_").isdecimal() or not arch.startswith("sm_"):
        raise UsageError(f"'{arch}' is no architecture that Warp compiles for; write such as sm_90")


def _owners(samples: Sequence[Sample]) -> dict[str, str]:
    """To which kernel each name belongs that the Python sources define."""
    found = {}
    for sample in samples:
        program: tree.Program = sample.program
        tag = program.name.rpartition("_")[2]
        found[program.name] = program.name
        for function in program.functions:
            found[f"{function.name}_{tag}"] = program.name
        for struct in program.structs:
            found[f"{struct.name}_{tag}"] = program.name
    return found


def _sources_only(
    warp: Warp, samples: Sequence[Sample], settings: Settings
) -> list[Made | Rejected]:
    def generate_sources(part: Sequence[Sample]) -> tuple[str, str]:
        return warp.sources([sample.text for sample in part], backward=settings.backward)

    results: list[Made | Rejected] = []
    for found in _in_halves(samples, generate_sources):
        if isinstance(found.value, Rejected):
            results.append(found.value)
            continue
        owners = _owners(found.samples)
        cpp, cuda = (split(text, owners) for text in found.value)
        for sample in found.samples:
            views = _views(sample, cpp[sample.name].texts(), cuda[sample.name].texts(), settings)
            program: tree.Program = sample.program
            results.append(
                Made(views, Verification("not executed"), (), program.launch, program.features)
            )
    return results


def _views(
    sample: Sample, cpp: tuple[str, str], cuda: tuple[str, str], settings: Settings
) -> dict[str, str | None]:
    return {
        "python_source": sample.text,
        "cpp_forward": cpp[0],
        "cpp_backward": cpp[1] if settings.backward else None,
        "cuda_forward": cuda[0],
        "cuda_backward": cuda[1] if settings.backward else None,
    }


@dataclass(frozen=True, slots=True)
class _Part:
    """Samples that were compiled together, or one that can't be."""

    samples: Sequence[Sample]
    value: Any


def _in_halves(samples: Sequence[Sample], compile: Callable[[Sequence[Sample]], T]) -> list[_Part]:
    """Compile together; where that fails, halves, until the one to blame is alone."""
    try:
        return [_Part(samples, compile(samples))]
    except WarpError as error:
        if len(samples) == 1:
            _blame(error, compile)
            return [_Part(samples, Rejected("compile", str(error)))]
    middle = len(samples) // 2
    return [*_in_halves(samples[:middle], compile), *_in_halves(samples[middle:], compile)]


def _blame(error: WarpError, compile: Callable[[Sequence[Sample]], T]) -> None:
    """Make sure that it was the sample: where the plainest kernel fails too, it is the machine."""
    plain = Sample(
        0, "plain_0", "plain", _PLAIN, "", tree.Program("plain_0", "plain", (), (), (), ())
    )
    try:
        compile([plain])
    except WarpError:
        raise PtxkitError(f"Warp compiles nothing any more: {error}") from error


@dataclass(frozen=True, slots=True)
class _Compiled:
    batch: Batch
    cpp: str
    cuda: dict[str, CudaCode]
    """By architecture."""


class _Maker:
    """Makes the rows of one batch."""

    def __init__(
        self, warp: Warp, seed: int, samples: Sequence[Sample], settings: Settings
    ) -> None:
        self._warp = warp
        self._seed = seed
        self._samples = samples
        self._settings = settings

    def make(self) -> list[Made | Rejected]:
        results: list[Made | Rejected] = []
        for part in _in_halves(self._samples, self._compile):
            if isinstance(part.value, Rejected):
                results.append(part.value)
            else:
                results += self._rows(part.samples, part.value)
        return results

    def _compile(self, samples: Sequence[Sample]) -> _Compiled:
        texts = [sample.text for sample in samples]
        batch = self._warp.batch(texts, backward=self._settings.backward)
        cuda = {arch: self._warp.compile_cuda(batch, arch) for arch in self._settings.archs}
        return _Compiled(batch, self._warp.compile_cpu(batch), cuda)

    def _rows(self, samples: Sequence[Sample], compiled: _Compiled) -> list[Made | Rejected]:
        owners = _owners(samples)
        archs = self._settings.archs
        cpp = split(compiled.cpp, owners)
        cuda = split(compiled.cuda[archs[0]].source, owners)
        targets: list[list[Target | Rejected]] = [
            self._targets(samples, arch, compiled.cuda[arch]) for arch in archs
        ]
        results: list[Made | Rejected] = []
        for number, sample in enumerate(samples):
            views = _views(
                sample, cpp[sample.name].texts(), cuda[sample.name].texts(), self._settings
            )
            own = [column[number] for column in targets]
            refused = next((item for item in own if isinstance(item, Rejected)), None)
            if refused is not None:
                results.append(refused)
                continue
            good = tuple(item for item in own if isinstance(item, Target))
            proof = self._verify(sample, number, compiled, good)
            if isinstance(proof, Rejected):
                results.append(proof)
                continue
            program: tree.Program = sample.program
            results.append(Made(views, proof, good, program.launch, program.features))
        self._warp.forget(compiled.batch)
        return results

    def _targets(
        self, samples: Sequence[Sample], arch: str, code: CudaCode
    ) -> list[Target | Rejected]:
        """The PTX of every sample, canonical and raw, assembled together."""
        library = Library(code.ptx)
        directions = ("forward", "backward") if self._settings.backward else ("forward",)
        texts: list[str] = []
        raws: list[str] = []
        for number, sample in enumerate(samples):
            for direction in directions:
                kernel = library.extract(f"{sample.name}{_ENTRY}{direction}")
                # Names of their own, so that all are assembled in one go.
                texts.append(canonical(kernel, f"k{number}_{direction}"))
                raws.append(kernel.raw)
        step = len(directions)
        proofs: list[Any] = [None] * len(texts)
        for place in range(step):
            # Rows tell what the forward kernel needs, and of the other one that it assembles.
            proofs[place::step] = assembled(
                texts[place::step], arch, self._settings, measured=place == 0
            )
        results: list[Target | Rejected] = []
        for number, sample in enumerate(samples):
            own = slice(number * step, (number + 1) * step)
            refused = next((one for one in proofs[own] if isinstance(one, Rejected)), None)
            if refused is not None:
                results.append(refused)
                continue
            forward = proofs[own][0]
            assert isinstance(forward, Assembled)
            plain = [text.replace(f"k{number}_", "") for text in texts[own]]
            results.append(
                forward.target(
                    plain[0],
                    raws[own][0] if step == 1 else _joined(raws[own]),
                    self._settings,
                    backward=plain[1] if step > 1 else None,
                    shared=code.shared.get(f"{sample.name}{_ENTRY}forward", 0),
                )
            )
        return results

    def _verify(
        self, sample: Sample, number: int, compiled: _Compiled, targets: tuple[Target, ...]
    ) -> Verification | Rejected:
        """Numpy, Warp's CPU backend and the PTX on the simulator must agree."""
        program: tree.Program = sample.program
        values, seeds = prepared(self._seed, program, self._settings.backward)
        try:
            expected = _numpy(program, values)
            native = launching.on_warp_cpu(
                self._warp, compiled.batch, number, program, values, seeds
            )
            simulated = [_simulate(program, values, target, seeds) for target in targets]
        except PtxkitError as error:
            return Rejected("execute", str(error).splitlines()[0])
        checks = [("warp-cpu = numpy", native.values, expected, 1.0)]
        for target, result in zip(targets, simulated, strict=True):
            checks.append((f"ptx {target.arch} = numpy", result.values, expected, 1.0))
            if seeds is not None:
                name = f"ptx {target.arch} gradient = wp.Tape"
                checks.append((name, result.gradients, native.gradients, GRADIENT_SLACK))
        for name, found, reference, slack in checks:
            wrong = difference(found, reference, slack=slack)
            if wrong is not None:
                return Rejected("compare", f"{name}: {wrong}")
        listed = (*(target.check for target in targets), *(name for name, *_ in checks))
        return replace(_proof(values, expected, simulated[0]), checks=listed)


def _proof(values: launching.Values, expected: dict[str, Any], found: Result) -> Verification:
    """The verification of results that agree."""
    tolerance = tolerance_of(expected.values())
    return Verification(
        "verified",
        relative_tolerance=tolerance.relative,
        absolute_tolerance=tolerance.absolute,
        input_digest=digest(values),
        output_digest=digest(found.values),
        gradient_digest=digest(found.gradients) if found.gradients else None,
    )


def _joined(raws: Sequence[str]) -> str:
    """Forward and backward as one module: what both use is declared once."""
    first, second = (raw.splitlines() for raw in raws)
    common = 0
    known = set(first)
    while common < len(second) and second[common] in known and not _is_entry(second[common]):
        common += 1
    return "\n".join([*first, *second[common:]]) + "\n"


def _is_entry(line: str) -> bool:
    return ".entry" in line or ".func" in line


def prepared(
    seed: int, program: tree.Program, backward: bool
) -> tuple[launching.Values, dict[str, Any] | None]:
    """Inputs, and the gradients of the outputs where it is differentiated."""
    values = launching.inputs(program, Stream(seed, "warp", "inputs", program.name))
    if not backward:
        return values, None
    stream = Stream(seed, "warp", "gradients", program.name)
    return values, {
        item.name: stream.reals(values[item.name].shape, 0.5, 1.5).astype(values[item.name].dtype)
        for item in launching.differentiable(program)
        if item.role == "output"
    }


def _numpy(program: tree.Program, values: launching.Values) -> dict[str, Any]:
    found = launching.copied(values)
    evaluate(program, found)
    return {item.name: found[item.name] for item in launching.arrays_of(program)}


def _simulate(
    program: tree.Program, values: launching.Values, target: Target, seeds: dict[str, Any] | None
) -> Result:
    forward = load(target.ptx_forward, check=False)
    backward: CpuModule | None = (
        load(target.ptx_backward, check=False) if target.ptx_backward else None
    )
    return launching.on_simulator(program, values, forward, backward, seeds)
