"""From PTX to the most readable CUDA C++ that could be certified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ptxkit.cuda import CudaModule, print_module
from ptxkit.cuda import nodes as n
from ptxkit.decompiler.engines import ENGINES, Candidate, Engine, engine, isolated
from ptxkit.decompiler.learned.habits import habits
from ptxkit.decompiler.learned.naming import renamed_module
from ptxkit.decompiler.learned.preferred import preferred
from ptxkit.decompiler.lift.flags import Flags
from ptxkit.decompiler.lift.lifter import Options, compile_flags, lift_module
from ptxkit.decompiler.lift.names import given_name
from ptxkit.decompiler.links import commented, links, source_places
from ptxkit.decompiler.metrics import reading_cost
from ptxkit.decompiler.plain import with_plain_names
from ptxkit.decompiler.refine.search import EFFORT
from ptxkit.decompiler.symbols import renamed_kernels, writable
from ptxkit.decompiler.variants import best_form
from ptxkit.decompiler.verify import Verdict, architecture, verify
from ptxkit.decompiler.verify.certificates import to_certify
from ptxkit.deep import deeply, is_deep
from ptxkit.errors import (
    MissingExtraError,
    PtxkitError,
    ToolchainError,
    UnknownNameError,
    UsageError,
)
from ptxkit.syntax import Module, parse
from ptxkit.syntax.debug import debug_names

#: Who chooses what PTX does not say: the model, or nobody.
CHOICES = ("learned", "plain")


class DecompileError(PtxkitError):
    """A module that cannot be decompiled; the message says why."""


@dataclass(frozen=True, slots=True)
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


@deeply
def decompile(
    module: Module | str | bytes,
    engine: str = "auto",
    *,
    arch: str | None = None,
    beams: int = 4,
    verify: bool = True,
    names: str = "learned",
    forms: str = "learned",
    effort: int = EFFORT,
    comments: bool = False,
) -> Decompiled:
    """Turn PTX back into CUDA C++.

    ``engine`` is ``"auto"`` (every engine that is installed; the verifier chooses) or the name of
    one. Candidates are compiled for ``arch``, the module's own where NVRTC still knows it. With
    ``verify=False`` nothing is compiled, and the lifted form is returned without a certificate.
    What PTX does not say is chosen by a small model of how people write: ``names`` of parameters
    and variables, and which of the ``forms`` that are the same PTX; ``"plain"`` leaves both as the
    engine has them.
    ``effort`` is how many instructions may be compiled, for each function, to find code that
    compiles to the same PTX; 0 for no such search.
    ``comments`` notes at statements which lines of the PTX they are, and of the source where the
    PTX says so.

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
        module = parse(module)
    for option, value in (("names", names), ("forms", forms)):
        if value not in CHOICES:
            raise UnknownNameError(f"choice of {option}", value, CHOICES)
    functions = to_certify(module)
    if not functions:
        raise DecompileError(f"{module.filename} has no function with a body: nothing to decompile")
    if beams < 1:
        raise UsageError(f"the number of beams must be 1 at least, not {beams}")
    if effort < 0:
        raise UsageError(f"effort is a number of instructions, 0 or more, not {effort}")
    engines, notes = _engines(engine)
    arch = arch or architecture(module)
    module, renamed = writable(module)
    notes += renamed + renamed_kernels(module, functions)
    functions = to_certify(module)
    lifted, lift_notes = _lifted(module, functions)
    notes += lift_notes
    if not verify:
        others = [e for e in engines if e.name != "symbolic"]
        if engine != "auto" and others:
            lifted = _first(others[0], module, functions, beams)
        notes.append("not verified, as asked")
        tree, maker, verdict = lifted, engine if engine != "auto" else "symbolic", Verdict()
    else:
        try:
            tree, maker, verdict = _chosen(module, functions, lifted, engines, arch, beams, effort)
            if forms == "learned" and verdict.compiles:
                separate = any(not module[name].is_entry for name in functions)
                tree = preferred(tree, habits().forms, arch, separate=separate)
                tree = with_plain_names(tree, arch, separate=separate)
        except ToolchainError as error:
            reason = f"not verified: {error}"
            tree, maker, verdict = lifted, "symbolic", Verdict(reasons=(reason,))
        except RecursionError:
            if not is_deep():
                raise  # there is a larger stack
            reason = "not verified: the code is nested too deeply"
            tree, maker, verdict = lifted, "symbolic", Verdict(reasons=(reason,))
        if not verdict.equivalent:
            notes += verdict.reasons
    if names == "learned":
        tree = renamed_module(tree, habits().names, _names_known(module))
    text = print_module(tree)
    if comments:
        text = commented(text, links(module, text, arch), source_places(module))
    return Decompiled(text, tree, maker, verdict, tuple(notes))


def _names_known(module: Module) -> set[str]:
    """Names that the source had: nobody knows better ones."""
    known = debug_names(module).values()
    found = {name for one in known for name in (*one.parameters, *one.registers.values())}
    return found | {given_name(p.name) for f in module.functions for p in f.parameters}


_told: set[str] = set()


def _engines(name: str) -> tuple[list[Engine], list[str]]:
    """The engines to ask, and what is to be said about those that are not there."""
    if name != "auto":
        return [engine(name)], []
    found: list[Engine] = []
    notes: list[str] = []
    for one in ENGINES:
        try:
            found.append(engine(one))
        except MissingExtraError as error:
            if one not in _told:
                notes.append(f"the {one} engine was not asked: {error}")
                _told.add(one)
    return found, notes


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


def _lifted(module: Module, names: Sequence[str]) -> tuple[CudaModule, list[str]]:
    """The lifted module; where something in it cannot be lifted, everything else."""
    flags = compile_flags(module)
    try:
        return _lift(module, flags), []
    except PtxkitError as error:
        first = error
    trees: list[CudaModule] = []
    notes: list[str] = []
    for name in names:
        try:
            trees.append(_lift(isolated(module, module[name]), flags))
        except PtxkitError as error:
            notes.append(f"'{name}' cannot be lifted: {str(error).partition(chr(10))[0]}")
    if not trees:
        raise DecompileError(str(first)) from first
    return _joined(trees), notes


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
) -> tuple[CudaModule, str, Verdict]:
    """For each function the best candidate: the highest level, then the easiest to read."""
    parts: dict[str, Verdict] = {}
    symbolic = any(one.name == "symbolic" for one in engines)
    makers = dict.fromkeys(names, "symbolic")
    tree = lifted
    # One file has one set of options: that of the whole module, for all of its functions.
    flags = compile_flags(module)
    for name in names:
        part = isolated(module, module[name])
        best: tuple[tuple[int, float], Candidate, Verdict] | None = None
        for other in engines:
            if other.name == "symbolic":
                form, verdict = best_form(part, name, arch, flags, effort)
                found = [(form, verdict)]
            else:
                proposed = other.propose(part, part[name], beams=beams)
                found = [(c, verify(part, c.tree, name, arch=arch)) for c in proposed]
            for candidate, verdict in found:
                if symbolic and other.name != "symbolic" and not verdict.equivalent:
                    continue  # what is not proved does not take the place of the lifted form
                key = verdict.rank, -reading_cost(candidate.tree, name)
                if best is None or key > best[0]:
                    best = key, candidate, verdict
        if best is None:
            parts[name] = verify(part, lifted, name, arch=arch)
            continue
        _, chosen, parts[name] = best
        makers[name] = chosen.engine
        tree = chosen.tree if len(names) == 1 else _replaced(tree, chosen.tree, name)
    maker = "+".join(sorted(set(makers.values())))
    if len(names) > 1:
        # What was put together is certified again as one file.
        joined = verify(module, tree, arch=arch)
        if not joined.equivalent and tree != lifted:
            plain = verify(module, lifted, arch=arch)
            if plain.rank > joined.rank:
                return lifted, "symbolic", plain
        return tree, maker, joined
    return tree, maker, Verdict.of(parts)


def _replaced(tree: CudaModule, other: CudaModule, name: str) -> CudaModule:
    """A file with one function, and what that needs, taken from another file."""
    own = {(type(item), item.name) for item in tree.items}
    extra = [i for i in other.items if (type(i), i.name) not in own]
    items = [next((o for o in other.items if o.name == name and isinstance(o, n.Function)), item)
             if isinstance(item, n.Function) and item.name == name else item
             for item in tree.items]  # fmt: skip
    place = next(k for k, item in enumerate(items) if isinstance(item, n.Function))
    return replace(
        tree,
        items=(*items[:place], *extra, *items[place:]),
        includes=tuple(dict.fromkeys((*tree.includes, *other.includes))),
    )
