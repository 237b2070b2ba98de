"""What the sources of kernels teach: pairs of what the lifter says and what the author wrote."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from ptxkit.cuda import nodes as n
from ptxkit.cuda.printer import print_function
from ptxkit.decompiler.engines import FORMS
from ptxkit.decompiler.isolation import isolated
from ptxkit.decompiler.learned.closeness import closeness, function_text
from ptxkit.decompiler.learned.contexts import bare_name
from ptxkit.decompiler.learned.forms import Question, only, questions, rewritten
from ptxkit.decompiler.learned.labels import labelled_names
from ptxkit.decompiler.learned.linear import Words
from ptxkit.decompiler.learned.naming import sample
from ptxkit.decompiler.learned.scopes import Span
from ptxkit.decompiler.lift.lifter import lift_module
from ptxkit.decompiler.metrics import reading_cost
from ptxkit.decompiler.verify.certificates import compiled, paired
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.errors import PtxkitError, UsageError
from ptxkit.syntax import Module
from ptxkit.toolchain import CompilerWarning, compile_cuda

#: The readable forms of the lifter; longer functions, and more questions, take too long.
_READABLE, _MOST_INSTRUCTIONS, _MOST_QUESTIONS = 6, 400, 12


@dataclass(frozen=True, slots=True)
class NameSeen:
    """A name that is known."""

    kernel: str
    kind: str
    rule: str
    """What the lifter calls it."""
    words: Words
    wanted: str
    places: tuple[Span, ...]
    """Where it is known."""


@dataclass(frozen=True, slots=True)
class FormSeen:
    """A question about a form of which the compiler makes the same PTX."""

    question: Question
    closer: float
    """By how much the other form is closer to what the author wrote."""
    cheaper: float
    """By how much it is easier to read, by the rule."""


@dataclass(slots=True)
class Seen:
    """What one file teaches."""

    group: str
    """Files of one group are held out together."""
    names: list[NameSeen] = field(default_factory=list)
    forms: list[FormSeen] = field(default_factory=list)
    failed: str = ""


def study(folder: Path, arch: str = "sm_90", workers: int = 1) -> list[Seen]:
    """Study every ``.cu`` file below a folder; the second part of a path says its group."""
    paths = sorted(folder.rglob("*.cu"))
    if not paths:
        raise UsageError(f"there is no .cu file in '{folder}'")
    one = partial(_file, folder, arch=arch)
    if workers <= 1:
        return [one(path) for path in paths]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(one, paths))


def _file(folder: Path, path: Path, arch: str) -> Seen:
    seen = Seen("/".join(path.relative_to(folder).parts[:2]))
    source = path.read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompilerWarning)
        try:
            module = compile_cuda(source, arch=arch, name=path.name)
            found = labelled_names(source, arch, path.name)
        except PtxkitError as error:
            seen.failed = str(error).partition("\n")[0]
            return seen
        seen.names = [
            NameSeen(
                one.kernel, one.context.kind, one.context.name, sample(one.context), one.wanted,
                one.places,
            )
            for one in found
        ]  # fmt: skip
        for function in module.kernels:
            text = function_text(source, bare_name(function.name))
            if text and len(function.instructions) <= _MOST_INSTRUCTIONS:
                _kernel(isolated(module, function), function.name, text, arch, seen)
    return seen


def _kernel(module: Module, name: str, text: str, arch: str, seen: Seen) -> None:
    """The other forms of what would be taken for a kernel."""
    taken = _taken(module, name, arch)
    if taken is None:
        return
    tree, base = taken
    own, partner = tree.kernels[0], base.kernels[0].name
    near, cost = closeness(_inner(own), text), reading_cost(tree, own.name)
    asked = questions(own)
    for place in range(0, len(asked), -(-len(asked) // _MOST_QUESTIONS) or 1):
        question = asked[place]
        other_form = rewritten(own, only(place))
        changed = replace(tree, items=tuple(other_form if i is own else i for i in tree.items))
        again = compiled(changed, arch).module
        if again is not None and partner in again and same_ptx(base, again, partner):
            closer = closeness(_inner(other_form), text) - near
            seen.forms.append(FormSeen(question, closer, cost - reading_cost(changed, own.name)))


def _taken(module: Module, name: str, arch: str) -> tuple[n.CudaModule, Module] | None:
    """The first form of the lifter with identical PTX, or else the first, and what it becomes."""
    first: tuple[n.CudaModule, Module] | None = None
    trees: list[n.CudaModule] = []
    for options in FORMS[:_READABLE]:
        try:
            tree = lift_module(module, options)
        except Exception:  # A fault of the lifter, which `decompile` reports, teaches nothing.
            continue
        if tree in trees or len(tree.kernels) != 1:
            continue
        trees.append(tree)
        other = compiled(tree, arch).module
        partner = paired(module, other).get(name) if other is not None else None
        if other is None or partner is None:
            continue
        if same_ptx(module, other, name, partner):
            return tree, other
        first = first or (tree, other)
    return first


def _inner(function: n.Function) -> str:
    """The parameters and the body of a function as text."""
    text = print_function(function)
    written = next(name for name in (function.name, bare_name(function.name)) if f"{name}(" in text)
    return text[text.index(f"{written}(") + len(written) :]


def groups(seen: Sequence[Seen], count: int) -> list[list[Seen]]:
    """The files in so many parts, each group of files in one of them.

    >>> [[s.group for s in part] for part in groups([Seen("a"), Seen("b"), Seen("a")], 2)]
    [['a', 'a'], ['b']]
    """
    order = sorted({one.group for one in seen})
    return [[s for s in seen if order.index(s.group) % count == part] for part in range(count)]
