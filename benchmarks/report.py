"""Rows of measurements, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Bar:
    """What a measurement has to reach: a limit on our figure, or on the ratio to the peer."""

    limit: float
    on: str = "ratio"  # or "ours"

    def text(self, unit: str, higher_is_better: bool) -> str:
        """The bar in words."""
        if self.on == "ratio":
            return f"{self.limit:g}x the peer"
        return f"{'at least' if higher_is_better else 'at most'} {figure(self.limit)} {unit}"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement, ours beside the peer's in the same run."""

    measure: str
    ours: float
    unit: str
    peer_name: str = ""
    peer: float | None = None
    bar: Bar | None = None
    higher_is_better: bool = True
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times better ours is."""
        if not self.peer or not self.ours:
            return None
        return self.ours / self.peer if self.higher_is_better else self.peer / self.ours

    @property
    def met(self) -> bool | None:
        """Whether the bar is reached; None without a bar, or where the peer is missing."""
        if self.bar is None:
            return None
        if self.bar.on == "ratio":
            return None if self.ratio is None else self.ratio >= self.bar.limit
        if self.higher_is_better:
            return self.ours >= self.bar.limit
        return self.ours <= self.bar.limit

    def as_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "measure": self.measure,
            "ours": self.ours,
            "unit": self.unit,
            "peer": self.peer_name or None,
            "peer_value": self.peer,
            "ratio": self.ratio,
            "bar": None if self.bar is None else {"limit": self.bar.limit, "on": self.bar.on},
            "met": self.met,
            "note": self.note or None,
        }


@dataclass(frozen=True, slots=True)
class Settings:
    """How large a run is. The defaults are for ``make bench``; tests take small ones."""

    size: int = 1_000_000
    large_size: int = 34_000_000
    peer_size: int = 60_000
    repeat: int = 7


Benchmark = Callable[[Settings], Iterable[Row]]


def figure(value: float) -> str:
    """Three digits, with separators: 1,230,000, 45.6, 0.00789."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(title: str, rows: Iterable[Row]) -> Table:
    """Rows as a table."""
    made = Table(title=title, title_justify="left")
    made.add_column("measure")
    for column in ("ours", "peer", "ratio"):
        made.add_column(column, justify="right")
    made.add_column("bar")
    made.add_column("met?")
    for row in rows:
        peer = "-"
        if row.peer is not None:
            peer = f"{row.peer_name}: {figure(row.peer)} {row.unit}"
        elif row.peer_name:
            peer = f"{row.peer_name}: not here"
        made.add_row(
            row.measure + (f"\n[dim]{row.note}[/]" if row.note else ""),
            f"{figure(row.ours)} {row.unit}",
            peer,
            "-" if row.ratio is None else f"{row.ratio:,.3g}x",
            "-" if row.bar is None else row.bar.text(row.unit, row.higher_is_better),
            {True: "[green]yes[/]", False: "[red]no[/]", None: "-"}[row.met],
        )
    return made


def show(console: Console, results: dict[str, list[Row]]) -> None:
    """All tables, and how many bars are met."""
    for name, rows in results.items():
        console.print(table(name, rows))
    verdicts = [row.met for rows in results.values() for row in rows if row.met is not None]
    console.print(f"{sum(verdicts)} of {len(verdicts)} bars met")
