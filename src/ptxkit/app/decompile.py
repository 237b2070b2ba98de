"""Decompiling in the open: every candidate with its verdict, the tree, what a model looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.app import verdicts
from ptxkit.app.explore import Panes
from ptxkit.app.inputs import read
from ptxkit.app.limits import InputRefused
from ptxkit.app.markup import message, pane, plain_rows, table, text
from ptxkit.app.ptx_view import PtxView
from ptxkit.app.tree_view import tree
from ptxkit.cuda import print_module
from ptxkit.decompiler import Candidate, Verdict
from ptxkit.decompiler.engines import ENGINES, engine
from ptxkit.decompiler.isolation import isolated
from ptxkit.decompiler.links import links
from ptxkit.decompiler.metrics import reading_cost
from ptxkit.decompiler.verify import architecture, verify
from ptxkit.errors import MissingExtraError, PtxkitError, UnknownNameError
from ptxkit.syntax import Function, Module

#: Words of PTX that the picture of attention has room for, and words of an answer.
_MOST_WORDS, _MOST_ANSWER = 240, 160


def candidates(text: str, which: str = "auto", beams: int = 4, kernel: str = "") -> Panes:
    """Candidates as they are proposed and certified; the best one in full."""
    given = read(text)
    module = given.module
    if given.diagnostics or module.diagnostics:
        first = (*given.diagnostics, *module.diagnostics)[0]
        raise InputRefused(first.render())
    names = [one.name for one in module.functions if one.has_body]
    if not names:
        raise InputRefused("no function here has a body: there is nothing to decompile")
    name = kernel if kernel in names else names[0]
    yield "kernels", {"names": names, "chosen": name}
    part = isolated(module, module[name])
    yield "ptx", PtxView(part.emit(), part.filename).html(link="decompile")
    arch = architecture(part)
    found: list[tuple[Candidate, Verdict]] = []
    notes: list[str] = []
    if which not in ("auto", *ENGINES):
        raise UnknownNameError("engine", which, ENGINES)
    for one in list(ENGINES) if which == "auto" else [which]:
        yield "progress", f"asking the {one} engine"
        try:
            proposed = _proposed(one, part, part[name], beams)
        except MissingExtraError as error:
            notes.append(f"the {one} engine was not asked: {error}")
            continue
        except PtxkitError as error:
            notes.append(f"the {one} engine: {error}")
            continue
        if not proposed:
            notes.append(f"the {one} engine has nothing to propose for this kernel")
        for number, candidate in enumerate(proposed, 1):
            yield "progress", f"certifying {one} {number} of {len(proposed)}"
            if any(candidate.tree == other.tree for other, _ in found):
                continue
            found.append((candidate, verify(part, candidate.tree, name, arch=arch)))
            yield from _shown(part, name, arch, found, notes)
        if one == "neural" and proposed:
            yield "progress", "looking at its attention"
            yield "attention", _attention(part, part[name])
    yield from _shown(part, name, arch, found, notes)


def _proposed(which: str, part: Module, function: Function, beams: int) -> Sequence[Candidate]:
    return engine(which).propose(part, function, beams=max(1, min(int(beams), 8)))


def _shown(
    part: Module, name: str, arch: str, found: list[tuple[Candidate, Verdict]], notes: list[str]
) -> Panes:
    said = "".join(f"<p class='pk-aside'>{text(note)}</p>" for note in notes)
    if not found:
        yield "candidates", said
        return
    order = sorted(found, key=lambda row: (-row[1].rank, reading_cost(row[0].tree, name)))
    rows = []
    for place, (candidate, verdict) in enumerate(order, 1):
        source = print_module(candidate.tree)
        reasons = "".join(f"<p class='pk-aside'>{text(one)}</p>" for one in verdict.reasons[:3])
        rows.append([
            str(place), text(candidate.engine), verdicts.badges(verdict),
            f"{candidate.score:.3f}" if candidate.engine != "symbolic" else "",
            str(len(source.splitlines())), f"{reading_cost(candidate.tree, name):.0f}",
            f"<details><summary>show</summary>{reasons}<pre class='pk-code'>{text(source)}</pre>"
            "</details>",
        ])  # fmt: skip
    head = ("", "engine", "verdict", "score", "lines", "reading cost", "source")
    yield "candidates", said + table(head, rows, "candidates")
    best, verdict = order[0]
    source = print_module(best.tree)
    linked = links(part, source, arch) if verdict.compiles else {}
    head_line = f"<div class='pk-head'>{verdicts.badges(verdict, best.engine)}</div>"
    body = pane(plain_rows(source, linked), "best candidate", link="decompile", wrap=True)
    yield "cuda", head_line + body
    yield "tree", tree(best.tree)


def _attention(part: Module, function: Function) -> str:
    """A heat map: for each word of the answer, the words of PTX that the model looked at."""
    from ptxkit.decompiler.neural.engine import NeuralEngine, words_of_function
    from ptxkit.decompiler.neural.inspect import look

    made = NeuralEngine()
    words = words_of_function(part, function)
    answers = made.decoder.answers([words], beams=1)[0]
    if not answers:
        return message("the model has no answer to look into")
    seen = look(made.decoder, words, answers[0])
    return heat_map(seen.source, seen.answer, seen.attention, seen.generated)


def heat_map(source: Sequence[str], answer: Sequence[str], weights: Any, generated: Any) -> str:
    """An SVG picture; rows are words of the answer, columns words of PTX."""
    columns, rows = min(len(source), _MOST_WORDS), min(len(answer), _MOST_ANSWER)
    left, top, cell = 116, 118, 13
    strongest = float(weights[:rows, :columns].max()) or 1.0
    parts = [
        f"<text transform='translate({left + c * cell + 10} {top - 6}) rotate(-60)'>"
        f"{text(source[c][:18])}</text>"
        for c in range(columns)
    ]
    for r in range(rows):
        y = top + r * cell
        parts.append(
            f"<text x='{left - 8}' y='{y + 10}' text-anchor='end'>{text(answer[r][:16])}</text>"
        )
        for c in range(columns):
            share = float(weights[r, c]) / strongest
            if share >= 0.04:
                parts.append(
                    f"<rect x='{left + c * cell}' y='{y}' width='{cell - 1}' height='{cell - 1}' "
                    f"fill-opacity='{share:.2f}'><title>{text(answer[r])} ← {text(source[c])}: "
                    f"{float(weights[r, c]):.1%}; from the vocabulary with "
                    f"{float(generated[r]):.0%}</title></rect>"
                )
    cut = len(source) > columns or len(answer) > rows
    note = (
        f"<p class='pk-aside'>of {len(answer)} words and {len(source)} the first {rows} and "
        f"{columns} are drawn</p>" if cut else ""
    )  # fmt: skip
    width, height = left + columns * cell + 60, top + rows * cell + 8
    return (
        "<div class='pk-pane pk-picture' tabindex='0' role='region' aria-label='attention'>"
        f"{note}<svg class='pk-heat' role='img' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}' aria-label='attention of {rows} words of the answer to "
        f"{columns} words of PTX'>{''.join(parts)}</svg></div>"
    )
