"""What costs time on a GPU, counted by instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """Counts of one instruction over a launch.

    >>> row = ProfileRow(9, None, "ld.global.f32 %f1, [%rd1];", 2, 48, 0, 2, 10, 8, 0, 0, 0)
    >>> row.active_lanes, row.sectors_per_request
    (0.75, 5.0)
    """

    line: int
    """Line in the PTX."""
    location: tuple[str, int] | None
    """File and line of the ``.loc`` above it."""
    text: str
    warp_executions: int
    """How often a warp, or a part of one that had diverged, ran it."""
    executions: int
    """How often a thread ran it; lanes whose guard was false do not count."""
    divergent_branches: int
    """How often a branch sent lanes of one warp different ways."""
    requests: int
    """Accesses of global memory, one a warp."""
    sectors: int
    """32-byte sectors those touched."""
    ideal_sectors: int
    """The fewest that could hold the same bytes."""
    shared_requests: int
    """Accesses of shared memory, one a warp."""
    wavefronts: int
    """Passes over the 32 banks those took."""
    ideal_wavefronts: int
    """The fewest for as many lanes and bytes."""

    @property
    def active_lanes(self) -> float:
        """The share of the 32 lanes that took part, from 0 to 1."""
        return self.executions / (32 * self.warp_executions) if self.warp_executions else 0.0

    @property
    def sectors_per_request(self) -> float:
        """Sectors of one access of global memory, on average."""
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def bank_conflicts(self) -> int:
        """Passes over the banks that a better layout would save."""
        return self.wavefronts - self.ideal_wavefronts

    def as_dict(self) -> dict[str, Any]:
        """The counts and what follows from them, as plain data."""
        return {
            **asdict(self),
            "active_lanes": self.active_lanes,
            "sectors_per_request": self.sectors_per_request,
            "bank_conflicts": self.bank_conflicts,
        }


def table(rows: Iterable[ProfileRow]) -> list[tuple[str, ...]]:
    """The rows as text for people, the heading first; columns without numbers are left out.

    >>> row = ProfileRow(9, ("k.cu", 3), "bar.sync 0;", 2, 64, 0, 0, 0, 0, 0, 0, 0)
    >>> table([row])[1]
    ('9', 'bar.sync 0;', 'k.cu:3', '64', '100%')
    """
    rows = list(rows)
    divergent = any(row.divergent_branches for row in rows)
    on_global = any(row.requests for row in rows)
    on_shared = any(row.shared_requests for row in rows)
    columns: list[tuple[str, Callable[[ProfileRow], str], bool]] = [
        ("line", lambda r: str(r.line), True),
        ("instruction", lambda r: r.text, True),
        ("source", _location, any(row.location for row in rows)),
        ("executions (threads)", lambda r: f"{r.executions:,}", True),
        ("active lanes", lambda r: f"{r.active_lanes:.0%}" if r.warp_executions else "", True),
        ("divergent (warps)", lambda r: _number(r.divergent_branches), divergent),
        ("sectors/request", lambda r: _average(r.sectors, r.requests), on_global),
        ("ideal sectors", lambda r: _average(r.ideal_sectors, r.requests), on_global),
        ("bank passes/request", lambda r: _average(r.wavefronts, r.shared_requests), on_shared),
        ("conflicts (passes)", _conflicts, on_shared),
    ]
    shown = [(name, text) for name, text, wanted in columns if wanted]
    return [
        tuple(name for name, _ in shown),
        *(tuple(text(row) for _, text in shown) for row in rows),
    ]


def _location(row: ProfileRow) -> str:
    return "" if row.location is None else f"{row.location[0].rpartition('/')[2]}:{row.location[1]}"


def _conflicts(row: ProfileRow) -> str:
    return f"{row.bank_conflicts:,}" if row.shared_requests else ""


def _number(value: int) -> str:
    return f"{value:,}" if value else ""


def _average(total: int, count: int) -> str:
    return f"{total / count:.4g}" if count else ""
