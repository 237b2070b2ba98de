"""Measure engines: on a split of a ``tiers`` dataset, or on a folder of PTX and CUDA files."""

from __future__ import annotations

import random
import re
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ptxkit import cuda
from ptxkit.cuda import CudaModule
from ptxkit.decompiler.budget import SECONDS, Budget
from ptxkit.decompiler.choose import decompile
from ptxkit.decompiler.contest import best_answer
from ptxkit.decompiler.engines import engine as find_engine
from ptxkit.decompiler.isolation import isolated
from ptxkit.decompiler.learned.closeness import function_text
from ptxkit.decompiler.metrics import readability, tree_similarity, walk
from ptxkit.decompiler.neural.forms import same_program
from ptxkit.decompiler.verify import Verdict, architecture
from ptxkit.decompiler.verify.certificates import to_certify
from ptxkit.decompiler.workers import Unfinished, limited
from ptxkit.errors import (
    ArchitectureError,
    PtxkitError,
    UnknownNameError,
    UsageError,
    import_extra,
)
from ptxkit.isa.targets import Target
from ptxkit.syntax import Module, parse
from ptxkit.syntax.demangle import short_name
from ptxkit.synth.dataset import Dataset
from ptxkit.synth.merge import REJECTED
from ptxkit.synth.schema import SPLITS
from ptxkit.toolchain import CompilerError, CompilerWarning, compile_cuda, locate

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PICTURES = (".png", ".svg", ".pdf")
#: A sample has as many kernels of each of these sizes (instructions), as far as there are.
_SIZES = (60, 200, 600, 2000)
#: The share of the seconds for a program that are seconds of computing for its decompilation.
_SHARE = 0.8
#: Above this the tree edit distance, which is cubic, is not computed.
_MOST_NODES = 400


@dataclass(frozen=True, slots=True)
class Item:
    """One program to decompile, and what is known of where it came from."""

    name: str
    group: str
    ptx: str
    tree: str | None = None
    """The tree that it was compiled from, as an S-expression."""
    lines: int | None = None
    """Lines of the source, without blank ones and comments."""


@dataclass(frozen=True, slots=True)
class Row:
    """How one engine did on one item."""

    name: str
    group: str
    engine: str
    level: str = "none"
    compiles: bool = False
    equivalent: bool = False
    exact: bool | None = None
    similarity: float | None = None
    gotos: int = 0
    assembly: int = 0
    statements: int = 0
    lines: int = 0
    lines_ratio: float | None = None
    coverage: float | None = None
    seconds: float = 0.0
    reason: str = ""
    instructions: int = 0
    launches: int = 0
    """Launches of both on the simulator that said something."""
    differs: bool = False
    """Whether one of them was seen to end otherwise."""
    overdue: bool = False
    """Whether it was ended because it took too long."""
    text: str = ""
    """What was answered: whoever asks why it is not proved need not do it again."""


# ---- what to measure on --------------------------------------------------------------------


def dataset_items(folder: Path, split: str, arch: str | None = None) -> Iterator[Item]:
    """The rows of a split of a ``tiers`` dataset."""
    dataset = Dataset(folder)
    if dataset.plan.source != "tiers":
        raise UsageError(
            f"'{folder}' is a dataset of {dataset.plan.source}; evaluate one of ptxkit synth tiers"
        )
    splits = {about["split"] for about in dataset.files.values()} - {REJECTED}
    if split not in splits:
        raise UnknownNameError("split", split, [one for one in SPLITS if one in splits])
    for row in dataset.rows(split):
        targets = [t for t in row["targets"] if arch in (None, t["arch"])]
        if targets:
            source = row["cuda_source"]
            yield Item(row["id"], row["category"], targets[0]["ptx_forward"], row["ast"],
                       source_lines(source))  # fmt: skip


def folder_items(
    paths: Sequence[Path],
    arch: str,
    most: int = 2000,
    *,
    sample: int | None = None,
    seed: int = 0,
    left_out: list[str] | None = None,
) -> Iterator[Item]:
    """The kernels of PTX files, and CUDA files, below some folders.

    Kernels with more instructions than ``most`` are left out, and files of a folder that cannot
    be read or compiled: ``left_out`` gets a sentence for each of those. A file that was named is
    an error then. With ``sample`` it is so many of the kernels, drawn with ``seed``: as many from
    every folder, and of every class of sizes there, as far as there are as many.
    """
    Target.parse(arch)  # one that is none is not the fault of every file
    chosen = None if sample is None else _drawn(_files(paths), most, sample, seed)
    for path in _files(paths):
        names = None if chosen is None else chosen.get(path, set())
        if names is not None and not names:
            continue
        try:
            yield from _file_items(path, arch, most, names)
        except ArchitectureError:
            raise  # so is every file
        except PtxkitError as error:
            why = f"'{path}': {str(error).partition(chr(10))[0]}"
            if path in paths or left_out is None:
                raise UsageError(why) from error
            left_out.append(why)


def _drawn(paths: Iterator[Path], most: int, count: int, seed: int) -> dict[Path, set[str]]:
    """Which functions of which files to take: of each folder and size in turn, at random."""
    classes: dict[tuple[int, str], list[tuple[Path, str]]] = {}
    for path in paths:
        for name, size in _sized(path, most):
            bound = next((place for place, s in enumerate(_SIZES) if size <= s), len(_SIZES))
            classes.setdefault((bound, path.parent.name), []).append((path, name))
    order = random.Random(seed)
    left = [names for _, names in sorted(classes.items())]
    for names in left:
        order.shuffle(names)
    chosen: dict[Path, set[str]] = {}
    while left and count > 0:
        for names in left[:count]:
            path, name = names.pop()
            chosen.setdefault(path, set()).add(name)
        count -= len(left)
        left = [names for names in left if names]
    return chosen


def _sized(path: Path, most: int) -> list[tuple[str, int]]:
    """The kernels of a file and their instructions; of one in CUDA the file itself."""
    return [(path.stem, 0)] if path.suffix == ".cu" else _kernels(_module(path), most)


def _kernels(module: Module, most: int) -> list[tuple[str, int]]:
    sizes = [(name, len(module[name].instructions)) for name in to_certify(module)]
    return [(name, size) for name, size in sizes if size <= most]


def _module(path: Path) -> Module:
    text = path.read_text(encoding="utf-8", errors="replace")
    return parse(text.rstrip("\0"), filename=path.name)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.suffix in (".ptx", ".cu"))
            if not found:
                raise UsageError(f"'{path}' is a folder without *.ptx and *.cu files")
            yield from found
        elif path.suffix in (".ptx", ".cu") and path.exists():
            yield path
        else:
            raise UsageError(f"'{path}' is no dataset, no folder, no .ptx and no .cu file")


def _file_items(path: Path, arch: str, most: int, names: set[str] | None) -> Iterator[Item]:
    if path.suffix == ".cu":
        text = path.read_text(encoding="utf-8", errors="replace")
        yield from _source_items(path, text, _compiled(path, text, arch), most)
        return
    module = _module(path)
    for name, _ in _kernels(module, most):
        if names is None or name in names:
            part = isolated(module, module[name])
            yield Item(f"{path.stem}:{name}", path.resolve().parent.name, part.emit())


def _compiled(path: Path, text: str, arch: str) -> Module:
    """A CUDA file as PTX: by ``nvcc`` where it needs headers or names of the host's compiler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompilerWarning)
        try:
            return compile_cuda(text, arch=arch, name=path.name)
        except CompilerError as error:
            if not locate.find("nvcc"):
                raise
            try:
                return compile_cuda(text, arch=arch, name=path.name, compiler="nvcc")
            except CompilerError:
                raise error from None  # it is wrong for both


def _source_items(path: Path, text: str, module: Module, most: int) -> Iterator[Item]:
    """Every kernel of a CUDA file by itself.

    One of several is compared with the lines of its own definition: whose the other functions
    and declarations of the file are is not known.
    """
    group = path.resolve().parent.name
    names = to_certify(module)
    short = _kernels(module, most)
    if len(names) == 1 and short:
        yield Item(path.stem, group, module.emit(), lines=source_lines(text))
        return
    for name, _ in short:
        own = function_text(text, short_name(name).rpartition("::")[2])
        part = isolated(module, module[name])
        yield Item(f"{path.stem}:{name}", group, part.emit(), lines=source_lines(own) or None)


def source_lines(text: str) -> int:
    """Lines that say something.

    >>> source_lines("// a\\nint i; /* b */\\n\\nint j;\\n")
    2
    """
    plain = _COMMENTS.sub("", text)
    return sum(1 for line in plain.splitlines() if line.strip())


# ---- measuring -----------------------------------------------------------------------------


def measure(
    item: Item,
    engine: str,
    beams: int = 1,
    arch: str | None = None,
    seconds: float | None = None,
    weights: Path | None = None,
) -> Row:
    """Decompile one item with one engine, and compare; in so many seconds of computing."""
    start = time.perf_counter()
    row = Row(item.name, item.group, engine)
    try:
        module = parse(item.ptx, filename=item.name)
        row = replace(row, instructions=_instructions(module))
        tree, text, verdict = _answer(module, engine, arch, beams, seconds or SECONDS, weights)
    except Exception as error:
        # One program must not end the measuring of all others.
        reason = str(error).partition("\n")[0]
        if not isinstance(error, PtxkitError):
            reason = f"ptxkit failed ({type(error).__name__}: {reason}); please report it"
        seconds = time.perf_counter() - start
        return replace(row, seconds=seconds, reason=reason)
    seconds = time.perf_counter() - start
    counted = readability(tree)
    exact, similarity = _against(item, module, tree, engine, beams, weights)
    lines = source_lines(text)
    run = verdict.execution
    return replace(
        row,
        level=verdict.level,
        compiles=verdict.compiles,
        equivalent=verdict.equivalent,
        exact=exact,
        similarity=similarity,
        gotos=counted.gotos,
        assembly=counted.assembly,
        statements=counted.statements,
        lines=lines,
        lines_ratio=lines / item.lines if item.lines else None,
        coverage=verdict.coverage,
        seconds=seconds,
        reason="" if verdict.equivalent else "; ".join(verdict.reasons),
        launches=len(run.tried) if run is not None else 0,
        differs=run is not None and run.different,
        text=text,
    )


def _answer(
    module: Module,
    engine: str,
    arch: str | None,
    beams: int,
    seconds: float,
    weights: Path | None,
) -> tuple[CudaModule, str, Verdict]:
    """What an engine makes of a module. One that guesses is measured without the lifter's help."""
    names = to_certify(module)
    if engine in ("auto", "symbolic") or len(names) > 1:
        each = seconds / max(1, len(names))
        own = None if engine == "symbolic" else weights
        found = decompile(module, engine, arch=arch, beams=beams, seconds=each, weights=own)
        if found.engine == "symbolic" and engine not in ("auto", "symbolic"):
            raise UsageError("; ".join(found.notes))
        return found.ast, found.cuda, found.verdict
    best = best_answer(
        module, names[0], [find_engine(engine, weights)], arch or architecture(module), beams=beams,
        budget=Budget(seconds),
    )  # fmt: skip
    if best is None:
        raise UsageError(f"the {engine} engine has nothing to propose")
    return best.candidate.tree, cuda.print_module(best.candidate.tree), best.verdict


def _instructions(module: Module) -> int:
    return sum(len(module[name].instructions) for name in to_certify(module))


def _against(
    item: Item,
    module: Module,
    chosen: CudaModule,
    engine: str,
    beams: int,
    weights: Path | None,
) -> tuple[bool | None, float | None]:
    """Whether the engine's first proposal is the tree it came from, and how near it is.

    The same tree is one that differs at most in what the compiler merges.
    """
    if item.tree is None:
        return None, None
    tree = chosen
    names = to_certify(module)
    if engine not in ("auto", "symbolic") and len(names) == 1:
        # Without a verifier to choose for it.
        proposed = find_engine(engine, weights).propose(module, module[names[0]], beams=beams)
        if not proposed:
            return False, 0.0
        tree = proposed[0].tree
    gold = cuda.read(item.tree)
    if isinstance(gold, CudaModule) and same_program(tree, gold):
        return True, 1.0
    mine = cuda.canonical(_named_alike(tree))
    gold = cuda.canonical(_named_alike(gold))
    if mine == gold:
        return True, 1.0
    small = max(_nodes(mine), _nodes(gold)) <= _MOST_NODES
    return False, tree_similarity(mine, gold) if small else None


def _named_alike(tree: cuda.Node) -> cuda.Node:
    """A tree without what is not part of the program's meaning: linkage and includes."""
    if isinstance(tree, cuda.Function):
        tree = CudaModule((tree,))
    assert isinstance(tree, CudaModule)
    items = [replace(i, linkage="") if isinstance(i, cuda.Function) else i for i in tree.items]
    return CudaModule(tuple(items))


def _nodes(tree: cuda.Node) -> int:
    return sum(1 for _ in walk(tree))


def evaluate(
    items: Iterator[Item],
    engines: Sequence[str],
    *,
    beams: int = 1,
    arch: str | None = None,
    limit: int | None = None,
    workers: int = 1,
    seconds: float | None = None,
    weights: Path | None = None,
    progress: Callable[[list[Row], int], None] | None = None,
) -> list[Row]:
    """Measure engines on items; the rows in the order of the items.

    A program may take so many ``seconds``: what is not proved shortly before they are over is not.
    ``weights`` are those of the neural engine, where they are not those of the package.
    One that takes more of them on a clock is given up, and its row says so.
    ``progress`` is called with the rows there are and with how many there will be: at the start,
    and after each.
    """
    if beams < 1:
        raise UsageError(f"the number of beams must be 1 at least, not {beams}")
    for name in engines:
        if name != "auto":
            find_engine(name, weights)  # an unknown one is an error now, not later
    own = None if seconds is None else min(SECONDS, _SHARE * seconds)
    work = [
        (item, name, beams, arch, own, weights) for item in islice(items, limit) for name in engines
    ]
    rows: list[Row] = []
    if progress is not None:
        progress(rows, len(work))
    alone = workers == 1 and seconds is None
    results = map(_measure, work) if alone else limited(
        _measure, work, workers=workers, seconds=seconds
    )  # fmt: skip
    for (item, name, *_), found in zip(work, results, strict=True):
        if isinstance(found, Unfinished):
            size = _instructions(parse(item.ptx))
            found = Row(item.name, item.group, name, seconds=found.seconds, reason=found.reason,
                        instructions=size, overdue=found.overdue)  # fmt: skip
        rows.append(found)
        if progress is not None:
            progress(rows, len(work))
    return rows


def _measure(work: tuple[Item, str, int, str | None, float | None, Path | None]) -> Row:
    item, name, beams, arch, seconds, weights = work
    return measure(item, name, beams, arch or architecture(parse(item.ptx)), seconds, weights)


# ---- summing up ----------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, Any]]]:
    """For each engine and group, and for all groups together, the shares and medians.

    >>> rows = [Row("a", "t", "symbolic", "E1", True, True, lines_ratio=1.0, statements=4),
    ...         Row("b", "t", "symbolic", "E0", True, False, lines_ratio=2.0, statements=6)]
    >>> found = summary(rows)["symbolic"]["all"]
    >>> found["count"], found["compiles"], found["equivalent"], found["lines_ratio"]
    (2, 1.0, 0.5, 1.5)
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for engine in dict.fromkeys(row.engine for row in rows):
        mine = [row for row in rows if row.engine == engine]
        groups = {"all": mine}
        for group in sorted({row.group for row in mine}):
            groups[group] = [row for row in mine if row.group == group]
        found[engine] = {name: _summed(part) for name, part in groups.items()}
    return found


def _summed(rows: Sequence[Row]) -> dict[str, Any]:
    count = len(rows)
    levels = {level: sum(r.level == level for r in rows) / count for level in ("E1", "E2", "E3")}
    statements = sum(r.statements for r in rows)
    return {
        "count": count,
        "compiles": sum(r.compiles for r in rows) / count,
        **levels,
        "equivalent": sum(r.equivalent for r in rows) / count,
        "differs": sum(r.differs for r in rows) / count,
        "overdue": sum(r.overdue for r in rows) / count,
        "exact": _mean([float(r.exact) for r in rows if r.exact is not None]),
        "similarity": _mean([r.similarity for r in rows if r.similarity is not None]),
        "without_goto": sum(r.gotos == 0 and r.lines > 0 for r in rows) / count,
        "assembly": sum(r.assembly for r in rows) / statements if statements else 0.0,
        "lines_ratio": _median([r.lines_ratio for r in rows if r.lines_ratio is not None]),
        "seconds": _median([r.seconds for r in rows]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Everything as plain data, ready for `json.dumps`."""
    return {"summary": summary(rows), "rows": [asdict(row) for row in rows]}


def check_picture(path: Path) -> None:
    """Complain about what cannot be drawn: another form of file, or nothing to draw with."""
    if path.suffix.lower() not in _PICTURES:
        raise UsageError(f"a plot is a {', '.join(_PICTURES)} file, not '{path.name}'")
    import_extra("matplotlib", extra="evaluate")


def plot(rows: Sequence[Row], path: Path) -> None:
    """Bars for each group: what compiles, what is proved at which level."""
    check_picture(path)
    matplotlib: Any = import_extra("matplotlib", extra="evaluate")
    matplotlib.use("Agg")
    pyplot: Any = import_extra("matplotlib.pyplot", extra="evaluate")
    found = summary(rows)
    figure, axes = pyplot.subplots(
        len(found), 1, figsize=(max(6, 1.1 * max(map(len, found.values()))), 3.2 * len(found)),
        squeeze=False,
    )  # fmt: skip
    colours = {"E1": "#2b6cb0", "E2": "#63a4dd", "E3": "#b5d4f0"}
    for axis, (engine, groups) in zip(axes[:, 0], found.items(), strict=True):
        names = list(groups)
        bottom = [0.0] * len(names)
        for level, colour in colours.items():
            heights = [100 * groups[name][level] for name in names]
            axis.bar(names, heights, bottom=bottom, color=colour, label=level)
            bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
        compiles = [100 * groups[name]["compiles"] for name in names]
        axis.plot(names, compiles, "k_", markersize=18, label="compiles")
        axis.set_ylim(0, 105)
        axis.set_ylabel("% of programs")
        axis.set_title(engine)
        axis.tick_params(axis="x", rotation=30)
        # Beside the bars: there is no place that none of them may reach.
        axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
