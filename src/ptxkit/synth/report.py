"""The statistics of a dataset as one HTML file, plots included, that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from ptxkit.synth.dataset import Dataset
from ptxkit.synth.statistics import Statistics

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem .15rem 0; text-align: left; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; } svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
svg rect { fill: #3b6ea8; } pre { background: #f4f5f7; padding: .8rem; overflow-x: auto; }
@media (prefers-color-scheme: dark) { body { color: #dfe3e8; background: #15181c; }
  svg rect { fill: #6fa3dc; } pre { background: #20242a; } }
"""
_BAR, _LABEL, _WIDTH = 18, 210, 480


def html(dataset: Dataset, found: Statistics) -> str:
    """The report."""
    plan = dataset.plan
    example = next(dataset.rows(), None)
    parts = [
        f"<h1>{escape(plan.source)}: {found.rows:,} rows</h1>",
        f"<p>Seed {plan.seed}, {plan.count:,} samples, "
        f"{escape(', '.join(plan.settings.archs))}. {found.bytes:,} bytes, "
        f"{found.bytes / max(1, found.rows):,.0f} a row.</p>",
        _table("Splits", found.splits.items()),
        _table("Verdicts", found.verdicts.items()),
        _table("What agreed with what", found.checks.items()),
        _table("Rejected, by stage", found.rejected.items()),
        _table("Duplicates", ((k.replace("_", " "), v) for k, v in found.duplicates.items())),
        _bars("Categories", sorted(found.categories.items())),
        _bars("Opcodes, the 30 most frequent", found.opcodes.most_common(30)),
        _histogram("Tokens of the source", found.source_tokens),
        _histogram("Instructions of the forward kernel", found.instructions),
        _histogram("Registers", found.registers),
    ]
    if example is not None:
        parts.append("<h2>The first row</h2>")
        for key in ("python_source", "cuda_source", "ast", "stack_program", "cuda_forward"):
            if example.get(key):
                parts.append(f"<h3>{key}</h3><pre>{escape(example[key])}</pre>")
        for target in example["targets"][:1]:
            parts.append(f"<h3>ptx_forward</h3><pre>{escape(target['ptx_forward'])}</pre>")
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(str(dataset.folder.name))}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def _table(title: str, rows: Iterable[tuple[str, int]]) -> str:
    lines = "".join(
        f'<tr><td>{escape(str(name))}</td><td class="n">{value:,}</td></tr>' for name, value in rows
    )
    return f"<h2>{escape(title)}</h2><table>{lines or '<tr><td>none</td></tr>'}</table>"


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
        f'<h2>{escape(title)}</h2><svg viewBox="0 0 {_LABEL + _WIDTH + 90} {height}" '
        f'width="{_LABEL + _WIDTH + 90}" height="{height}" role="img">{"".join(drawn)}</svg>'
    )


def _histogram(title: str, values: Sequence[int]) -> str:
    """How often values fall into each of some twenty ranges of equal width."""
    if not values:
        return ""
    low, high = min(values), max(values)
    width = max(1, -(-(high - low + 1) // 20))
    counts = Counter((value - low) // width for value in values)
    rows = [
        (f"{low + n * width} to {low + (n + 1) * width - 1}", counts.get(n, 0))
        for n in range((high - low) // width + 1)
    ]
    return _bars(title, rows)
