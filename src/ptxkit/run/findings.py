"""What the sanitizer found, and faults, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import PtxkitError
from ptxkit.run.counts import Counts

if TYPE_CHECKING:
    from ptxkit.run.trace import Trace

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class OtherAccess:
    """The second thread that has a part in a finding."""

    line: int
    """Line of its instruction in the PTX."""
    thread: Triple
    location: tuple[str, int] | None = None
    """File and line of the ``.loc`` above that instruction."""
    text: str = ""
    """The instruction."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a sanitizer reports. ``str(finding)`` is the text for people."""

    kind: str
    """``"race"``, ``"uninitialized"``, ``"unwritten-register"``, ``"out-of-bounds"``,
    ``"divergent-barrier"``, ``"invalid-mask"``, ``"inactive-lane"`` or ``"leak"``."""
    diagnostic: Diagnostic
    """Severity, message, line and column of the instruction."""
    thread: Triple | None
    block: Triple | None
    """None for leaks, which are known at the end of the kernel."""
    location: tuple[str, int] | None = None
    """File and line of the ``.loc`` above the instruction."""
    space: str = ""
    """``"shared"``, ``"local"`` or ``"global"`` where there is an address."""
    address: int = 0
    size: int = 0
    """Bytes of the access."""
    variable: str | None = None
    """What lies at the address, or next to it."""
    other: OtherAccess | None = None
    count: int = 1
    """How often the same two instructions did this."""

    @property
    def line(self) -> int:
        """Line of the instruction in the PTX."""
        return self.diagnostic.line

    @property
    def severity(self) -> str:
        """``"error"``, ``"warning"``, or ``"note"`` for what may be meant so."""
        return self.diagnostic.severity

    def __str__(self) -> str:
        lines = [self.diagnostic.render()]
        if self.thread is not None:
            lines.append(f"in thread {self.thread} of block {self.block}{_from(self.location)}")
        if self.space:
            near = f", {self.variable}" if self.variable else ""
            lines.append(f"at {self.space} address {self.address:#x}{near}")
        if self.other is not None:
            lines.append(
                f"the other: thread {self.other.thread}, line {self.other.line}"
                f"{_from(self.other.location)}: {self.other.text}"
            )
        if self.count > 1:
            lines.append(f"{self.count:,} times")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The finding as plain data, ready for `json.dumps`."""
        other = self.other
        return {
            "kind": self.kind,
            "severity": self.severity,
            "message": self.diagnostic.message,
            "line": self.line,
            "location": self.location,
            "thread": self.thread,
            "block": self.block,
            "space": self.space,
            "address": self.address,
            "size": self.size,
            "variable": self.variable,
            "other": None
            if other is None
            else {
                "line": other.line,
                "thread": other.thread,
                "location": other.location,
                "text": other.text,
            },
            "count": self.count,
        }


def _from(location: tuple[str, int] | None) -> str:
    return "" if location is None else f" ({location[0]}:{location[1]})"


#: Places of a deadlock that a message names.
_PLACES = 8


def describe_waiting(waiting: dict[tuple[int, str], int]) -> str:
    """Where the threads of a deadlock wait, by line and reason, the most first.

    >>> describe_waiting({(9, "at a barrier"): 31, (4, "at a barrier"): 1})
    ': 31 wait at a barrier (line 9), 1 waits at a barrier (line 4)'
    >>> describe_waiting({})
    ''
    """
    if not waiting:
        return ""
    rows = sorted(waiting.items(), key=lambda row: (-row[1], row[0]))
    shown = [
        f"{threads:,} {'waits' if threads == 1 else 'wait'} {why} (line {line})"
        for (line, why), threads in rows[:_PLACES]
    ]
    if len(rows) > _PLACES:
        shown.append(f"others in {len(rows) - _PLACES} more places")
    return f": {', '.join(shown)}"


class SimulationError(PtxkitError):
    """A kernel did what a debugger would stop at, or a sanitizer reports.

    ``kind`` is such as ``"out-of-bounds"``, ``"misaligned"``, ``"deadlock"``,
    ``"step-limit"``, ``"time-limit"``, ``"trap"``, ``"race"``; ``diagnostic`` has line and
    column of the instruction.
    """

    def __init__(
        self,
        kind: str,
        diagnostic: Diagnostic,
        thread: Triple,
        block: Triple,
        address: int,
        location: tuple[str, int] | None = None,
        findings: tuple[Finding, ...] = (),
    ) -> None:
        super().__init__(kind, diagnostic, thread, block, address, location, findings)
        self.kind = kind
        self.diagnostic = diagnostic
        self.thread = thread
        self.block = block
        self.address = address
        self.line = diagnostic.line
        self.location = location
        """File and line of the ``.loc`` above the instruction."""
        self.findings = findings
        """What the sanitizer found before the run ended."""
        self.trace: Trace | None = None
        """What the traced thread did until then, where one was traced."""
        self.counts = Counts()
        """The executions of every instruction until then, where they were counted."""
        self.warp_instructions = 0
        """How many instructions all warps ran until then."""

    @classmethod
    def of(cls, findings: tuple[Finding, ...]) -> SimulationError:
        """The error that stands for findings of a run that ended by itself."""
        first = next(one for one in findings if one.severity != "note")
        return cls(
            first.kind,
            first.diagnostic,
            first.thread or (0, 0, 0),
            first.block or (0, 0, 0),
            first.address,
            first.location,
            findings,
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What this error tells, one by one."""
        return (*(one.diagnostic for one in self.findings), self.diagnostic)

    @property
    def other(self) -> OtherAccess | None:
        """The second thread that has a part in it, for a race."""
        ours = next((one for one in self.findings if one.diagnostic == self.diagnostic), None)
        return None if ours is None else ours.other

    def __str__(self) -> str:
        shown = [str(one) for one in self.findings]
        if all(one.diagnostic != self.diagnostic for one in self.findings):
            place = f"in thread {self.thread} of block {self.block}{_from(self.location)}"
            shown.append(f"{self.diagnostic.render()}\n{place}")
        return "\n".join(shown)
