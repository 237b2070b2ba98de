"""From PTX to the most readable CUDA C++ that could be certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ptxkit.cuda import CudaModule, print_module
from ptxkit.cuda import nodes as n
from ptxkit.decompiler.budget import SECONDS, Budget
from ptxkit.decompiler.contest import Answer, best_answer
from ptxkit.decompiler.engines import ENGINES, TRAINED, Candidate, Engine, engine
from ptxkit.decompiler.isolation import isolated
from ptxkit.decompiler.learned.habits import habits
from ptxkit.decompiler.learned.naming import renamed_module
from ptxkit.decompiler.learned.preferred import preferred
from ptxkit.decompiler.lift.flags import Flags
from ptxkit.decompiler.lift.lifter import Options, compile_flags, lift_module
from ptxkit.decompiler.lift.names import given_name
from ptxkit.decompiler.links import commented, links, source_places
from ptxkit.decompiler.plain import with_plain_names
from ptxkit.decompiler.refine.search import EFFORT
from ptxkit.decompiler.symbols import renamed_kernels, writable
from ptxkit.decompiler.tidy import plain_updates, tidied
from ptxkit.decompiler.unsaid import not_compared
from ptxkit.decompiler.vectors import with_scalars
from ptxkit.decompiler.verify import Verdict, architecture, certify, compiled, same_ptx, verify
from ptxkit.decompiler.verify.certificates import paired, to_certify
from ptxkit.deep import deeply, is_deep
from ptxkit.errors import (
    ArchitectureError,
    MissingExtraError,
    PtxkitError,
    ToolchainError,
    UnknownNameError,
    UsageError,
)
from ptxkit.isa.targets import Target
from ptxkit.syntax import Function, Module, parse
from ptxkit.syntax.debug import debug_names
from ptxkit.toolchain import cache, locate
from ptxkit.toolchain.aside import limited

#: A function with more instructions stays as it was lifted first, unless more than so many times of
#: what that took is left: other forms take as long to lift, and compilers longer.
_LONG, _TIMES = 2000, 3.0
#: The share of all time after which no function is worked on: some is left to write it well.
_SHARE = 0.9
Report = Callable[[int, int], None]
"""Is told how many functions are done, and of how many."""
#: Who chooses what PTX does not say: the model, or nobody.
CHOICES = ("learned", "plain")


class DecompileError(PtxkitError):
    """A module that cannot be decompiled; the message says why."""


@dataclass(frozen=True, slots=True, repr=False)
class Decompiled:
    """CUDA C++ for a module of PTX, and what is known about it."""

    cuda: str
    """The source text."""
    ast: CudaModule
    engine: str
    """What proposed it; several names joined by ``+`` where kernels differ in that."""
    verdict: Verdict
    notes: tuple[str, ...] = ()
    """What the reader should know: an engine that was not there, what is unproven and why."""

    @property
    def badge(self) -> str:
        """The verdict and the engine in a few words."""
        return f"{self.verdict.badge} {self.engine}"

    def __repr__(self) -> str:
        """One line: the text is in `cuda`, and long."""
        return f"<Decompiled {self.badge}, {self.cuda.count(chr(10))} lines>"


@deeply
def decompile(
    module: Module | str | bytes,
    engine: str = "auto",
    *,
    kernel: str | None = None,
    arch: str | None = None,
    beams: int = 4,
    verify: bool = True,
    names: str = "learned",
    forms: str = "learned",
    effort: int = EFFORT,
    seconds: float = SECONDS,
    comments: bool = False,
    weights: str | Path | None = None,
    report: Report | None = None,
) -> Decompiled:
    """Turn PTX back into CUDA C++.

    ``engine`` is ``"auto"`` (every engine that is installed; the verifier chooses) or the name of
    one. Where nothing that it proposes is proved, the lifted form is returned, and a note says why.
    ``kernel`` is the function to decompile, with all that it uses; else it is all of the module.
    Candidates are compiled for ``arch``, the module's own where NVRTC still knows it. With
    ``verify=False`` nothing is compiled and nothing certified: it is the first form of the lifter,
    or the first proposal of the engine that was named.
    What PTX does not say is chosen by a small model of how people write: ``names`` of parameters
    and variables, and which of the ``forms`` that are the same PTX; ``"plain"`` leaves both as the
    engine has them.
    ``effort`` is how many instructions may be compiled, for each function, to find code that
    compiles to the same PTX; 0 for no such search.
    ``seconds`` of computing are spent on each function at most; what is not proved by then is
    returned as it is, and a note says so.
    ``comments`` notes at statements which lines of the PTX they are, and of the source where the
    PTX says so. ``weights`` is a folder of `ptxkit train` for the neural engine; else it is the one
    of the package. ``report`` is called with how many functions are done, and of how many.

    >>> import ptxkit
    >>> source = '''extern "C" __global__ void scale(float *x, float a, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) x[i] = a * x[i];
    ... }'''
    >>> d = ptxkit.decompile(ptxkit.compile_cuda(source))
    >>> d.verdict.compiles, d.verdict.equivalent, d.engine
    (True, True, 'symbolic')
    """
    if not isinstance(module, Module):
        if not isinstance(module, str | bytes | bytearray | memoryview):
            raise UsageError(
                f"decompile needs a module, or PTX as str or bytes, not {type(module).__name__}; "
                "of a function it takes the module, of a file Path('k.ptx').read_bytes()"
            )
        module = parse(module)
    _refuse_twice(module)
    if kernel is not None:
        module = _only(module, kernel)
    for option, value in (("names", names), ("forms", forms)):
        if value not in CHOICES:
            raise UnknownNameError(f"choice of {option}", value, CHOICES)
    functions = to_certify(module)
    if not functions:
        raise DecompileError(f"{module.filename} has no function with a body: nothing to decompile")
    if not isinstance(beams, int) or beams < 1:
        raise UsageError(f"the number of beams must be 1 at least, not {beams!r}")
    if not isinstance(effort, int) or effort < 0:
        raise UsageError(f"effort is a number of instructions, 0 or more, not {effort!r}")
    if not isinstance(seconds, int | float) or not seconds > 0:
        raise UsageError(f"the seconds for a function must be more than 0, not {seconds!r}")
    engines, notes = _engines(engine, weights)
    if verify and not locate.find("nvrtc") and locate.find("nvcc") and _is_news(_SLOW):
        notes.append(_SLOW)
    asked = arch is not None
    arch = str(Target.parse(arch)) if arch is not None else architecture(module)
    module, renamed = writable(with_scalars(module))
    notes += renamed + renamed_kernels(module, functions)
    functions = to_certify(module)
    budget = Budget(seconds * len(functions))
    lifted, failed = _lifted(module, functions)
    notes += [f"'{name}' cannot be lifted: {why}" for name, why in failed.items()]
    functions = [name for name in functions if name not in failed]
    if not verify:
        others = [e for e in engines if e.name != "symbolic"]
        if engine != "auto" and others:
            lifted = _first(others[0], module, functions, beams)
        notes.append("not verified, as asked")
        tree, maker, verdict = lifted, engine if engine != "auto" else "symbolic", Verdict()
    else:
        try:
            tree, maker, verdict, said = _chosen(
                module, functions, lifted, engines, arch, beams, effort, budget, report
            )
            notes += said
            if forms == "learned" and budget.over:
                notes.append(f"written as lifted: {budget.reason}")
            elif forms == "learned" and verdict.compiles:
                separate = any(not module[name].is_entry for name in functions)
                tree = preferred(tree, habits().forms, arch, separate=separate)
                tree = with_plain_names(tree, arch, separate=separate)
                parts = verdict.parts or {functions[0]: verdict}
                tree, parts = tidied(
                    tree, arch, separate=separate, original=module, verdicts=parts, budget=budget
                )
                tree, verdict = plain_updates(tree), Verdict.of(parts)
            verdict = _with_options(verdict, tree)
        except ToolchainError as error:
            if asked and isinstance(error, ArchitectureError):
                raise
            reason = f"not verified: {error}"
            tree, maker, verdict = lifted, "symbolic", Verdict(reasons=(reason,))
        except RecursionError:
            if not is_deep():
                raise  # there is a larger stack
            reason = "not verified: the code is nested too deeply"
            tree, maker, verdict = lifted, "symbolic", Verdict(reasons=(reason,))
        if failed:
            own = verdict.parts or {functions[0]: verdict}
            left_out = {
                name: Verdict(reasons=(f"not verified: it cannot be lifted ({why})",))
                for name, why in failed.items()
            }
            verdict = Verdict.of({**own, **left_out})
        elif not verdict.equivalent:
            notes += verdict.reasons
        if verdict.compiles:
            notes += not_compared(module, functions, arch)
    if names == "learned":
        tree = renamed_module(tree, habits().names, _names_known(module))
    text = print_module(tree)
    if comments:
        text = commented(text, links(module, text, arch), source_places(module))
    return Decompiled(text, tree, maker, verdict, tuple(notes))


def _with_options(verdict: Verdict, tree: CudaModule) -> Verdict:
    """A verdict that says what each function has to be compiled with."""
    own = {item.name: item.options for item in tree.items if isinstance(item, n.Function)}
    parts = {
        name: replace(part, options=(*tree.options, *own.get(name, ())))
        for name, part in verdict.parts.items()
    }
    return Verdict.of(parts) if parts else replace(verdict, options=tree.options)


def _names_known(module: Module) -> set[str]:
    """Names that the source had: nobody knows better ones."""
    known = debug_names(module).values()
    found = {name for one in known for name in (*one.parameters, *one.registers.values())}
    return found | {given_name(p.name) for f in module.functions for p in f.parameters}


def _only(module: Module, name: str) -> Module:
    """One function of a module, and what that uses."""
    function = module[name]
    if not function.has_body:
        raise DecompileError(f"'{function.name}' has no body in {module.filename}")
    return isolated(module, function)


def _refuse_twice(module: Module) -> None:
    """Two functions of one name: nobody could say which of them is meant."""
    seen: dict[str, Function] = {}
    for function in module.functions:
        first = seen.setdefault(function.name, function) if function.has_body else function
        if first is not function:
            raise DecompileError(
                f"{module.filename}:{function.line}:{function.column}: the function "
                f"'{function.name}' is defined at line {first.line} already; rename one of them"
            )


_told: set[str] = set()


def _engines(name: str, weights: str | Path | None = None) -> tuple[list[Engine], list[str]]:
    """The engines to ask, and what is to be said about those that are not there."""
    if weights is not None and name not in ("auto", *TRAINED):
        raise UsageError(f"the {name} engine has no weights: leave them out, or the engine")
    if name != "auto":
        return [engine(name, weights)], []
    found: list[Engine] = []
    notes: list[str] = []
    for one in ENGINES:
        try:
            found.append(engine(one, weights))
        except MissingExtraError as error:
            if weights is not None:
                raise
            note = f"the {one} engine was not asked: {error}"
            if _is_news(note):
                notes.append(note)
    return found, notes


#: What to say where candidates are compiled one process at a time.
_SLOW = (
    "candidates are compiled by nvcc, some ten times as slowly as by NVRTC, so that fewer are "
    "tried: run: pip install 'ptxkit[cuda]'"
)


def _is_news(note: str) -> bool:
    """Whether nobody was told so yet, by this process or by one before it that kept it."""
    name = cache.key("told", [note])
    if note in _told or cache.read(name) is not None:
        return False
    _told.add(note)
    cache.write(name, b"told")
    return True


def _lift(module: Module, flags: Flags) -> CudaModule:
    """The lifted module; a fault of the lifter itself is an error like any other."""
    try:
        return lift_module(module, Options(flags=flags))
    except PtxkitError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise DecompileError(
            f"the lifter failed on {module.filename} ({what}); please report it with the file"
        ) from error


def _lifted(module: Module, names: Sequence[str]) -> tuple[CudaModule, dict[str, str]]:
    """The lifted module; where something in it cannot be lifted, everything else, and why."""
    flags = compile_flags(module)
    try:
        return _lift(module, flags), {}
    except PtxkitError as error:
        first = error
    trees: list[CudaModule] = []
    failed: dict[str, str] = {}
    for name in names:
        try:
            trees.append(_lift(isolated(module, module[name]), flags))
        except PtxkitError as error:
            failed[name] = str(error).partition(chr(10))[0]
    if not trees:
        raise DecompileError(str(first)) from first
    return _joined(trees), failed


def _joined(trees: Sequence[CudaModule]) -> CudaModule:
    """One file from several; of what has the same name, the first."""
    items: dict[tuple[type, str], n.StructDefinition | n.Declare | n.Function] = {}
    for tree in trees:
        for item in tree.items:
            items.setdefault((type(item), item.name), item)
    includes = dict.fromkeys(include for tree in trees for include in tree.includes)
    options = dict.fromkeys(option for tree in trees for option in tree.options)
    return CudaModule(tuple(items.values()), tuple(includes), tuple(options))


def _first(one: Engine, module: Module, names: Sequence[str], beams: int) -> CudaModule:
    trees = []
    for name in names:
        found = one.propose(module, module[name], beams=beams)
        if not found:
            raise DecompileError(f"the {one.name} engine has nothing to propose for '{name}'")
        trees.append(found[0].tree)
    return _joined(trees)


def _chosen(
    module: Module,
    names: Sequence[str],
    lifted: CudaModule,
    engines: Sequence[Engine],
    arch: str,
    beams: int,
    effort: int,
    budget: Budget,
    report: Report | None,
) -> tuple[CudaModule, str, Verdict, list[str]]:
    """For each function the best answer, put together as one file; and what to say about it."""
    notes: list[str] = []
    answers: dict[str, Answer] = {}
    symbolic = [one for one in engines if one.name == "symbolic"]
    tree = lifted
    # Nothing but lifting was done until now.
    total = sum(len(module[name].instructions) for name in names)
    lifting = (budget.seconds - budget.left) / max(1, total)
    # What plain arithmetic is, is one thing for all functions of a file.
    flags = compile_flags(module)
    for done, name in enumerate(names):
        if report is not None:
            report(done, len(names))
        part = isolated(module, module[name])
        own = budget.part(_SHARE / len(names))
        size = len(part[name].instructions)
        if size > _LONG and own.left < _TIMES * lifting * size:
            why = f"not verified: {budget.seconds:g} seconds are too few for {size:,} instructions"
            as_lifted = Candidate(lifted, "symbolic")
            answers[name] = Answer(as_lifted, Verdict(reasons=(why,)), math.inf)
            continue
        with limited(partial(getattr, own, "left")):
            found = best_answer(
                part, name, engines, arch, beams=beams, effort=effort, flags=flags, budget=own
            )
            if not symbolic and (found is None or not found.verdict.equivalent):
                notes.append(_unproved(engines[0].name, name, found))
                found = None
            if found is None:
                found = best_answer(
                    part, name, [engine("symbolic")], arch, effort=effort, flags=flags, budget=own
                )
        assert found is not None  # the lifter has a form of everything
        answers[name] = found
    chosen = {name: answer.candidate.tree for name, answer in answers.items()}
    for name, other in chosen.items():
        tree = other if len(names) == 1 else _replaced(tree, other, {name, *_alike(chosen, other)})
    maker = "+".join(sorted({answer.candidate.engine for answer in answers.values()}))
    if len(names) == 1:
        return tree, maker, Verdict.of({names[0]: answers[names[0]].verdict}), notes
    # What was proved is worth the time of a compiler; what was not even begun is not.
    late = any(answer.cost == math.inf for answer in answers.values())
    with limited(partial(getattr, budget, "left")) if late else nullcontext():
        tree, joined = _joined_verdict(module, tree, answers, arch, budget)
    if not joined.equivalent and tree != lifted and not budget.over:
        plain = verify(module, lifted, arch=arch)
        if plain.rank > joined.rank:
            return lifted, "symbolic", plain, notes
    notes += proved_alone(joined, {name: answer.verdict for name, answer in answers.items()})
    return tree, maker, joined, notes


def proved_alone(whole: Verdict, alone: Mapping[str, Verdict]) -> list[str]:
    """What to say of functions that are proved, but not in a file with the others.

    What a function uses may be another thing for the others.

    >>> proved_alone(Verdict(True), {"k": Verdict(True, same_dataflow=True)})
    ["'k' is E2 in a file of its own, not in one with the others: decompile it alone (--kernel k)"]
    """
    return [
        f"'{name}' is {verdict.level} in a file of its own, not in one with the others: "
        f"decompile it alone (--kernel {name})"
        for name, verdict in alone.items()
        if verdict.equivalent and not whole.parts.get(name, Verdict()).equivalent
    ]


def _unproved(engine: str, name: str, found: Answer | None) -> str:
    """Why a function is not what an engine made of it."""
    if found is None:
        return f"the {engine} engine has nothing to propose for '{name}': this is the lifted form"
    why = found.verdict.reasons[-1] if found.verdict.reasons else "nothing was tried"
    return (
        f"nothing that the {engine} engine proposes for '{name}' is proved ({why}): "
        "this is the lifted form"
    )


def _joined_verdict(
    module: Module, tree: CudaModule, answers: dict[str, Answer], arch: str, budget: Budget
) -> tuple[CudaModule, Verdict]:
    """A file that answers were put into, and the verdict on it.

    Where the compiler makes the same of a function in the file as of the function alone, it is
    what was certified; the others are certified again.
    """
    separate = any(not module[name].is_entry for name in answers)
    made = compiled(tree, arch, separate=separate)
    if made.module is None:
        # Functions with options of their own may not go together.
        items = (replace(i, options=()) if isinstance(i, n.Function) else i for i in tree.items)
        tree = replace(tree, items=tuple(items))
        made = compiled(tree, arch, separate=separate)
    if made.module is None:
        return tree, Verdict(reasons=(f"E0: {made.error}",))
    partners = paired(module, made.module)
    parts: dict[str, Verdict] = {}
    for name, answer in answers.items():
        partner = partners.get(name, name)
        verdict = answer.verdict
        alone = None
        if partner in made.module and verdict.equivalent and not verdict.same_ptx:
            alone = compiled(answer.candidate.tree, arch, separate=separate).module
        if alone is not None:
            own = paired(module, alone).get(name, name)
            if own in alone and same_ptx(alone, made.module, own, partner):
                parts[name] = verdict
                continue
        parts[name] = certify(module, made.module, name, partner, budget=budget)
    return tree, Verdict.of(parts)


def _alike(files: Mapping[str, CudaModule], file: CudaModule) -> set[str]:
    """The functions of a file that no other one has, or has in another form: what is called."""
    forms: dict[str, set[n.Function]] = {}
    for other in files.values():
        for item in other.items:
            if isinstance(item, n.Function) and not item.kernel and item.name not in files:
                forms.setdefault(item.name, set()).add(item)
    mine = {item.name for item in file.items if isinstance(item, n.Function)}
    return {name for name, found in forms.items() if len(found) == 1 and name in mine}


def _replaced(tree: CudaModule, other: CudaModule, names: Collection[str]) -> CudaModule:
    """A file with some functions, and what these need, taken from another file."""
    own = {(type(item), item.name) for item in tree.items}
    extra = [i for i in other.items if (type(i), i.name) not in own]
    options = tuple(option for option in other.options if option not in tree.options)
    new = {i.name: replace(i, options=options) for i in other.items
           if isinstance(i, n.Function) and i.name in names}  # fmt: skip
    items = [new.get(i.name, i) if isinstance(i, n.Function) else i for i in tree.items]
    place = next(k for k, item in enumerate(items) if isinstance(item, n.Function))
    return replace(
        tree,
        items=(*items[:place], *extra, *items[place:]),
        includes=tuple(dict.fromkeys((*tree.includes, *other.includes))),
    )
