"""The source ``tiers``: CUDA C kernels with their trees, for training a decompiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ptxkit import cuda
from ptxkit.cuda import nodes as n
from ptxkit.errors import PtxkitError
from ptxkit.run import load
from ptxkit.synth.canonical import Library, canonical
from ptxkit.synth.comparing import digest
from ptxkit.synth.source import Made, Rejected, Sample, Settings, Source, Target, Verification
from ptxkit.synth.tiers import sample as programs
from ptxkit.synth.tiers.grammar import TIERS, make
from ptxkit.synth.tiers.verify import difference, evaluated
from ptxkit.toolchain import Cubin, assemble_many, compile_cuda, disassemble
from ptxkit.toolchain.messages import CompilerError

NAMES = tuple(name for name, _ in TIERS.values())
_NUMBERS = {name: number for number, (name, _) in TIERS.items()}
_PROBE = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
_HEADER_LINES = 3  # of canonical PTX: version, target, address size


class TiersSource(Source):
    """Kernels by a typed grammar, compiled by NVRTC many at a time, executed on the simulator."""

    name: ClassVar[str] = "tiers"
    categories: ClassVar[tuple[str, ...]] = NAMES
    text_view: ClassVar[str] = "cuda_source"
    views: ClassVar[tuple[str, ...]] = ("cuda_source", "ast")

    def sample(self, seed: int, index: int, settings: Settings) -> Sample:
        """The program at a place."""
        tiers = tuple(_NUMBERS[name] for name in self.chosen(settings))
        program = make(seed, index, tiers)
        shape = cuda.write(cuda.canonical(program.module, constants=False))
        text = cuda.print_module(program.module)
        category = TIERS[program.tier][0]
        return Sample(index, f"k{index}", category, text, shape, program)

    def provenance(self, settings: Settings) -> dict[str, str]:
        """The compiler and the assembler, where PTX is asked for."""
        if settings.views != "all":
            return {}
        versions = {}
        for arch in settings.archs:
            compile_cuda('extern "C" __global__ void k() {}', arch, cache=False)
            probe = assemble_many([_PROBE], arch, workers=1, cache=False)[0]
            versions["assembler"] = probe.engine
        versions["compiler"] = "NVRTC"
        return versions

    def make(
        self, seed: int, samples: Sequence[Sample], settings: Settings, workspace: Path
    ) -> list[Made | Rejected]:
        """Compile a batch as one file, take it apart, execute every kernel."""
        if settings.views == "source":
            return [Made(_views(one), Verification("not executed")) for one in samples]
        columns = [_targets(samples, arch, settings) for arch in settings.archs]
        return [
            _row(one, [column[number] for column in columns]) for number, one in enumerate(samples)
        ]

    def replay(self, seed: int, sample: Sample, row: dict[str, Any]) -> str | None:
        """Execute the stored PTX again and compare with numpy and the stored digests."""
        proof = row["verification"]
        if proof["verdict"] == "not executed":
            return None
        oracle = _Oracle(sample.program)
        if digest(oracle.inputs()) != proof["input_digest"]:
            return "the inputs have another digest"
        for number, target in enumerate(row["targets"]):
            found = oracle.simulated(target["ptx_forward"])
            wrong = oracle.difference(found)
            if wrong is not None:
                return f"{target['arch']}: {wrong}"
            if number == 0 and digest(_named(found)) != proof["output_digest"]:
                return "the outputs have another digest"
        return None


def _views(one: Sample) -> dict[str, str | None]:
    program: programs.Sample = one.program
    return {"cuda_source": one.text, "ast": cuda.write(cuda.canonical(program.module))}


# ---- compiling ---------------------------------------------------------------------------


def _compiled(samples: Sequence[Sample], arch: str) -> list[Library | Rejected]:
    """All samples in one file; where that fails, halves, until the one to blame is alone."""
    renamed = [one.program.renamed(f"{one.name}_") for one in samples]
    includes = dict.fromkeys(i for program in renamed for i in program.module.includes)
    items = tuple(item for program in renamed for item in program.module.items)
    text = cuda.print_module(n.CudaModule(items, tuple(includes)))
    try:
        library = Library(compile_cuda(text, arch, options=("-w",), cache=False))
        return [library] * len(samples)
    except CompilerError as error:
        if len(samples) == 1:
            return [Rejected("compile", str(error).splitlines()[0])]
    middle = len(samples) // 2
    return [*_compiled(samples[:middle], arch), *_compiled(samples[middle:], arch)]


def _targets(samples: Sequence[Sample], arch: str, settings: Settings) -> list[Target | Rejected]:
    """The PTX of every sample, canonical and raw, assembled together."""
    libraries = _compiled(samples, arch)
    texts: list[str] = []
    raws: list[str] = []
    places: list[int] = []
    for number, (one, library) in enumerate(zip(samples, libraries, strict=True)):
        if isinstance(library, Library):
            kernels = [f"{one.name}_{launch.kernel}" for launch in one.program.launches]
            parts = [library.extract(kernel) for kernel in kernels]
            texts.append(_joined([canonical(p, f"k{number}_{k}") for k, p in enumerate(parts)]))
            raws.append(_joined([part.raw for part in parts]))
            places.append(number)
    cubins = assemble_many(texts, arch, workers=1, batch=True, errors="return", cache=False)
    results: list[Target | Rejected] = [
        item if isinstance(item, Rejected) else Rejected("assemble", "") for item in libraries
    ]
    for number, text, raw, cubin in zip(places, texts, raws, cubins, strict=True):
        if isinstance(cubin, PtxkitError):
            results[number] = Rejected("assemble", str(cubin).splitlines()[0])
            continue
        assert isinstance(cubin, Cubin)
        needs = cubin.resources[f"k{number}_0"]
        results[number] = Target(
            arch,
            text.replace(f"k{number}_", "k"),
            raw,
            None,
            needs.registers,
            needs.shared,
            needs.spills,
            needs.code,
            disassemble(cubin) if settings.sass else None,
        )
    return results


def _joined(texts: Sequence[str]) -> str:
    """Modules as one: the header is said once."""
    first, *others = texts
    return first + "".join("\n".join(text.splitlines()[_HEADER_LINES:]) + "\n" for text in others)


# ---- verifying ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Answers:
    narrow: list[Any]
    wide: list[Any]


class _Oracle:
    """What numpy says about one program."""

    def __init__(self, program: programs.Sample) -> None:
        self.program = program
        self.values = [program.arguments(launch) for launch in program.launches]
        self.answers = [
            _Answers(
                evaluated(program, launch, values, wide=False),
                evaluated(program, launch, values, wide=True),
            )
            for launch, values in zip(program.launches, self.values, strict=True)
        ]

    def inputs(self) -> dict[str, Any]:
        """The arguments of all launches, by name."""
        return _named(self.values)

    def simulated(self, ptx: str) -> list[list[Any]]:
        """What PTX makes of the arguments, on the simulator."""
        module = load(ptx, device="cpu")
        results = []
        for number, (launch, values) in enumerate(
            zip(self.program.launches, self.values, strict=True)
        ):
            found = [v.copy() if hasattr(v, "copy") else v for v in values]
            kernel = module[f"k{number}"]
            kernel[launch.grid, launch.block, launch.dynamic_shared](*found)
            results.append(found)
        return results

    def difference(self, found: list[list[Any]]) -> str | None:
        """Where results are not what numpy says."""
        for launch, values, answer in zip(self.program.launches, found, self.answers, strict=True):
            wrong = difference(values, answer.narrow, answer.wide)
            if wrong is not None:
                return f"'{launch.kernel}': {wrong}"
        return None


def _named(values: list[list[Any]]) -> dict[str, Any]:
    return {f"{k}.{j}": v for k, row in enumerate(values) for j, v in enumerate(row)}


def _row(one: Sample, targets: list[Target | Rejected]) -> Made | Rejected:
    good = tuple(target for target in targets if isinstance(target, Target))
    for target in targets:
        if isinstance(target, Rejected):
            return target
    program: programs.Sample = one.program
    try:
        oracle = _Oracle(program)
        results = [oracle.simulated(target.ptx_forward) for target in good]
    except PtxkitError as error:
        return Rejected("execute", str(error).splitlines()[0])
    for target, found in zip(good, results, strict=True):
        wrong = oracle.difference(found)
        if wrong is not None:
            return Rejected("compare", f"{target.arch}: {wrong}")
    proof = Verification(
        "verified",
        tuple(f"ptx {target.arch} = numpy" for target in good),
        None,
        None,
        digest(oracle.inputs()),
        digest(_named(results[0])),
    )
    launch = program.launches[0]
    return Made(_views(one), proof, good, (launch.grid[0], launch.block[0]))
