"""Programs made by machine: stack programs, injection, samples of datasets."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import ptxkit
from ptxkit import inject, stack
from ptxkit.app import graph_view
from ptxkit.app.explore import Panes
from ptxkit.app.inputs import own_words
from ptxkit.app.limits import MOST_PROGRAM, InputRefused, check_cuda, check_text
from ptxkit.app.markup import badge, message, pane, plain_rows, table, text
from ptxkit.app.ptx_view import PtxView
from ptxkit.isa import registers
from ptxkit.syntax import parse

_HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n.func f() {\n"
_MOST_LENGTH = 200


def _operands(words: str, what: str) -> list[str]:
    found = [one for one in words.replace(",", " ").split() if one]
    if len(found) > 16:
        raise InputRefused(f"{len(found)} {what}s are too many for this page; 16 are the most")
    return found


def _program(words: str) -> str:
    if len(words) > MOST_PROGRAM:
        raise InputRefused(
            f"the program has {len(words):,} characters; {MOST_PROGRAM:,} are the most"
        )
    return words


def stack_program(program: str, inputs: str, outputs: str) -> Panes:
    """A program as a stub, and as a picture of its values."""
    ins, outs = _operands(inputs, "input"), _operands(outputs, "output")
    stub, told = stack.report(_program(program), ins, outs, missing="zero")
    names = [one.partition(":")[0] for one in ins], [one.partition(":")[0] for one in outs]
    yield "stub", PtxView(stub.expandtabs(4), "stub.ptx").html(label="stub", link="stack")
    yield "picture", graph_view.dataflow(_statements(stub), *names)
    words = [
        badge(f"{told.executed} executed", "plain", "instructions that found their operands"),
        badge(f"{told.emitted} emitted", "good", "instructions of the stub"),
        badge(f"{told.reused} reused", "plain", "had been computed before"),
        badge(f"{told.folded} folded", "plain", "computed here: their operands are constants"),
        badge(f"{told.idle} idle", "fair" if told.idle else "plain", "found no operands"),
        badge(f"{told.registers} registers", "plain"),
    ]
    if told.missing:
        words.append(badge(f"{told.missing} output without a value: zero", "fair"))
    yield "status", f"<span class='pk-badges'>{''.join(words)}</span>"


def _statements(stub: str) -> list[tuple[str, list[str], list[str]]]:
    """(opcode, registers written, operands read) of the instructions of a stub."""
    module = parse(f"{_HEAD}{stub}\n}}\n")
    found = []
    for one in module["f"].instructions:
        regs = registers(one)
        written = [name.text for name in regs.defined]
        read = [name.text for name in regs.used]
        known = {*written, *read}
        read += [
            op.text for op in one.operands if op.text not in known and op.text[:1] in "0123456789-"
        ]
        found.append((one.opcode, written, read))
    return found


def vary(program: str, inputs: str, length: int, seed: int, fresh: bool) -> Panes:
    """Another program: a random one, or the given one with changes."""
    given = [one.partition(":") for one in _operands(inputs, "input")]
    names = [name for name, _, _ in given]
    seed = int(seed) % (1 << 32)
    source = _source(names, frozenset(kind or "f32" for _, _, kind in given))
    if fresh:
        made = stack.random(max(1, min(int(length), _MOST_LENGTH)), seed, source=source)
    else:
        known = stack.Program(_program(program), inputs=names, isa=source.isa)
        made = stack.mutate(known, seed, changes=2, source=source)
    yield "program", str(made)


def _source(names: list[str], kinds: frozenset[str]) -> stack.Source:
    """Random words that have something to work on: instructions of the inputs' own types."""
    isa = stack.Isa.default()
    fitting = [
        row.name for row in isa.instructions
        if row.arguments and {*row.arguments, *row.results} <= kinds
    ]  # fmt: skip
    weights = {"handling": 0.02, "slot": 0.0, "block": 0.0}
    return stack.Source(names, isa, instructions=fitting or None, weights=weights, guarded=0)


def inject_stub(source: str, program: str, arch: str = "sm_90") -> Panes:
    """A kernel with a hole, and a stack program that fills it; then a run of both."""
    source = check_cuda(check_text(source))
    with own_words(source, "input.cu"):
        template = inject.Template.from_cuda(source, arch, name="input.cu")
    sites = template.sites
    if not sites:
        raise InputRefused(
            "the source has no place for a stub: write one as /* PTX_INJECT name ... */"
        )
    rows = [
        [f"<code>{text(site.name)}</code>", text(", ".join(map(str, site.args.values()))),
         str(len(site.occurrences))]
        for site in sites.values()
    ]  # fmt: skip
    yield "sites", table(("site", "operands", "places in the PTX"), rows, "injection sites")
    stubs = {}
    for name, site in sites.items():
        if not site.occurrences:
            continue
        ins = {k: v for k, v in site.args.items() if v.direction != "out"}
        outs = {k: v for k, v in site.args.items() if v.direction != "in"}
        stubs[name] = stack.compile(_program(program), ins, outs, missing="zero")
    rendered = template.render(stubs)
    marked = _marked(rendered)
    yield (
        "rendered",
        PtxView(rendered.expandtabs(4), "rendered.ptx").html(
            label="PTX with the stub in place", link="inject", marked=marked
        ),
    )
    needs = ptxkit.assemble(rendered, arch).resources
    words = [badge("✓ assembled", "good")]
    words += [
        badge(f"{one}: {r.registers} registers", "plain") for one, r in list(needs.items())[:4]
    ]
    yield "status", f"<span class='pk-badges'>{''.join(words)}</span>"


def _marked(rendered: str) -> dict[int, str]:
    """Lines of a stub that was put in: from its marker to the brace that closes it."""
    marked: dict[int, str] = {}
    depth = 0
    for number, line in enumerate(rendered.splitlines(), 1):
        if depth == 0 and line.lstrip().startswith("{ // "):
            depth = 1
            marked[number] = "pk-injected"
        elif depth:
            marked[number] = "pk-injected"
            bare = line.partition("//")[0]
            # Vectors have braces too, always in pairs.
            depth += bare.count("{") - bare.count("}")
    return marked


def offered() -> Panes:
    """Sources of kernels that are installed, and their categories."""
    from ptxkit import synth

    found = {}
    for name in synth.names():
        try:
            found[name] = tuple(synth.find(name).categories)
        except (ImportError, ptxkit.PtxkitError):
            continue  # a source whose extra is not installed is not offered
    yield "sources", found


def dataset_sample(source: str, category: str, seed: int, index: int) -> Panes:
    """A sample of a dataset: its views, its PTX, and how it was proved."""
    from ptxkit import synth

    if source not in synth.names():  # any other name would be imported
        raise InputRefused(
            f"no source is called '{source[:40]}'; there are: {', '.join(synth.names())}"
        )
    maker = synth.find(source)
    wanted = (category,) if category in maker.categories else ()
    settings = synth.Settings(categories=wanted, backward=False)
    seed, index = max(0, int(seed)), max(0, int(index))
    sample = maker.sample(seed, index, settings)
    yield "view", pane(plain_rows(sample.text), f"{source} sample {sample.name}")
    yield "progress", "compiling and executing it"
    with tempfile.TemporaryDirectory(prefix="ptxkit-") as folder:
        made = maker.make(seed, [sample], settings, Path(folder))[0]
    if isinstance(made, synth.Rejected):
        yield "status", badge(f"rejected in {made.stage}", "bad", made.reason)
        yield "proof", message(f"{made.stage}: {made.reason}", "error")
        return
    proof = made.verification
    kind = "good" if proof.verdict == "verified" else "fair"
    words = [badge(f"✓ {proof.verdict}", kind), badge(sample.category, "plain")]
    words += [badge(one, "plain") for one in made.features[:8]]
    yield "status", f"<span class='pk-badges'>{''.join(words)}</span>"
    target = made.targets[0] if made.targets else None
    if target is not None:
        yield (
            "ptx",
            PtxView(target.ptx_forward, f"{sample.name}.ptx").html(label="PTX", link="sample"),
        )
    yield "proof", _proof(proof, target)


def _proof(proof: Any, target: Any) -> str:
    rows = [["checked", "<br>".join(map(text, proof.checks)) or "nothing"]]
    if proof.relative_tolerance is not None:
        rows.append(["tolerance", text(f"{proof.relative_tolerance:g} relative, "
                                       f"{proof.absolute_tolerance:g} absolute")])  # fmt: skip
    for name in ("input_digest", "output_digest"):
        rows.append(
            [name.replace("_", " "), f"<code>{text(getattr(proof, name) or 'none')}</code>"]
        )
    if target is not None and target.registers is not None:
        rows.append(["registers", str(target.registers)])
    return table(("what", "how"), rows, "verification")
