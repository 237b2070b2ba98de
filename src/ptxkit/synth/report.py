"""The statistics of a dataset as one HTML file, plots included, that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from ptxkit.synth.dataset import Dataset
from ptxkit.synth.schema import SPLITS
from ptxkit.synth.statistics import Statistics

_STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #5b6570; --ground: #fff;
  --panel: #f4f5f7; --line: #dde1e6; --bar: #3b6ea8; }
@media (prefers-color-scheme: dark) { :root { --text: #dfe3e8; --soft: #98a2ad; --ground: #15181c;
  --panel: #20242a; --line: #343a42; --bar: #6fa3dc; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem;
  color: var(--text); background: var(--ground); }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.05rem; margin: 0 0 .4rem; }
p, summary { color: var(--soft); } p { margin-top: .2rem; }
.numbers, .tables, .plots { display: grid; gap: 1rem; margin: 1.2rem 0; }
.numbers { grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); }
.tables { grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); }
.plots { grid-template-columns: repeat(auto-fit, minmax(28rem, 1fr)); }
section { background: var(--panel); border-radius: 8px; padding: .8rem 1rem; min-width: 0; }
.numbers b { display: block; font-size: 1.5rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
td { padding: .15rem 0; border-top: 1px solid var(--line); } tr:first-child td { border: 0; }
td.n { text-align: right; padding-left: 1rem; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--text); }
svg rect { fill: var(--bar); }
pre { overflow: auto; max-height: 30rem; font-size: 13px; } details { margin: .6rem 0; }
@media (max-width: 32rem) { .plots, .tables { grid-template-columns: 1fr; } }
"""
_BAR, _LABEL, _WIDTH, _VALUE = 16, 150, 260, 60
_RANGES = 16
_TEXTS = ("python_source", "cuda_source", "ast", "stack_program", "cpp_forward", "cuda_forward")


def html(dataset: Dataset, found: Statistics) -> str:
    """The report."""
    plan = dataset.plan
    archs = escape(", ".join(plan.settings.archs))
    duplicates = found.duplicates
    size = f"{found.bytes / max(1, found.rows):,.0f}"
    shapes = f"{100 * duplicates['distinct_shapes'] / max(1, found.rows):.1f}%"
    verified = f"{100 * found.verdicts['verified'] / max(1, found.rows):.0f}%"
    numbers = [("rows", f"{found.rows:,}"), ("verified", verified), ("distinct shapes", shapes),
               ("rejected", f"{found.rejected.total():,}"), ("bytes a row", size)]  # fmt: skip
    tables = [
        _table("Splits", [(split, found.splits[split]) for split in SPLITS]),
        _table("Verdicts", found.verdicts.items()),
        _table("What agreed with what", found.checks.items()),
        _table("Rejected, by stage", found.rejected.items()),
        _table("Duplicates", ((k.replace("_", " "), v) for k, v in duplicates.items())),
        _table("Tools", sorted(plan.tools.items())),
    ]
    plots = [
        _bars("Categories", sorted(found.categories.items())),
        _bars("Opcodes, the most frequent", found.opcodes.most_common(20)),
        _histogram("Tokens of the source", found.source_tokens),
        _histogram("Instructions of the forward kernel", found.instructions),
        _histogram("Registers", found.registers),
    ]
    body = "\n".join(
        [
            f"<h1>{escape(plan.source)}: {found.rows:,} rows</h1>",
            f"<p>Seed {plan.seed}, {plan.count:,} samples, {archs}, {found.bytes:,} bytes.</p>",
            _grid("numbers", [f"<section><b>{b}</b>{a}</section>" for a, b in numbers]),
            _grid("tables", tables),
            _grid("plots", plots),
            *_example(dataset),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(str(dataset.folder.name))}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def _example(dataset: Dataset) -> Iterable[str]:
    """The texts of the first row; its source is open, the others are a click away."""
    row = next(dataset.rows(), None)
    if row is None:
        return
    yield "<h2>The first row</h2>"
    texts = [(key, row[key]) for key in _TEXTS if row.get(key)]
    texts += [("ptx_forward", target["ptx_forward"]) for target in row["targets"][:1]]
    for number, (key, text) in enumerate(texts):
        state = "" if number else " open"
        yield (
            f"<section><details{state}><summary>{key}</summary><pre>{escape(text)}</pre>"
            "</details></section>"
        )


def _grid(kind: str, parts: Iterable[str]) -> str:
    return f'<div class="{kind}">{"".join(parts)}</div>'


def _table(title: str, rows: Iterable[tuple[str, int | str]]) -> str:
    lines = "".join(
        f'<tr><td>{escape(name)}</td><td class="n">{_shown(value)}</td></tr>'
        for name, value in rows
    )
    lines = lines or "<tr><td>none</td></tr>"
    return f"<section><h2>{escape(title)}</h2><table>{lines}</table></section>"


def _shown(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else escape(value)


def _bars(title: str, rows: Sequence[tuple[str, int]]) -> str:
    """A picture of counts, one bar a name."""
    most = max((value for _, value in rows), default=1)
    drawn = []
    for number, (name, value) in enumerate(rows):
        y = number * (_BAR + 4)
        length = _WIDTH * value / most
        drawn.append(
            f'<text x="{_LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(str(name))}</text>'
            f'<rect x="{_LABEL}" y="{y}" width="{length:.1f}" height="{_BAR}"/>'
            f'<text x="{_LABEL + length + 6:.1f}" y="{y + 13}">{value:,}</text>'
        )
    height = len(rows) * (_BAR + 4)
    return (
        f"<section><h2>{escape(title)}</h2>"
        f'<svg viewBox="0 0 {_LABEL + _WIDTH + _VALUE} {height}" role="img">{"".join(drawn)}</svg>'
        "</section>"
    )


def _histogram(title: str, values: Sequence[int]) -> str:
    """How often values fall into ranges of equal width; the largest hundredth is one range."""
    if not values:
        return ""
    ordered = sorted(values)
    low, high = ordered[0], ordered[round(0.99 * (len(ordered) - 1))]
    width = -(-(high - low + 1) // _RANGES)
    last = (high - low) // width
    counts = Counter(min((value - low) // width, last + 1) for value in values)
    rows = [(_range(low + n * width, width), counts[n]) for n in range(last + 1)]
    if counts[last + 1]:
        rows.append((f"{low + (last + 1) * width:,} to {ordered[-1]:,}", counts[last + 1]))
    return _bars(title, rows)


def _range(first: int, width: int) -> str:
    """A range of whole numbers.

    >>> _range(4, 1), _range(10, 5)
    ('4', '10 to 14')
    """
    return f"{first:,}" if width == 1 else f"{first:,} to {first + width - 1:,}"
