"""Asks the simulator to watch a run, and reads what was seen: findings, profile, trace."""

from __future__ import annotations

from typing import Any

from ptxkit._native import Node, Observation
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.facts import Row, registers_of, rows_of
from ptxkit.run.findings import Finding, OtherAccess
from ptxkit.run.function_state import Register
from ptxkit.run.lower import Lowering
from ptxkit.run.places import describe_offset, source_place
from ptxkit.run.profile import ProfileRow
from ptxkit.run.shape import LaunchError
from ptxkit.run.trace import MemoryAccess, Trace, TraceRecord, address_registers
from ptxkit.run.values import reading, typed
from ptxkit.run.watch import Digest, Point, TraceRequest, Watch
from ptxkit.syntax import Instruction

_VALUE_BYTES = 16
_PointRow = tuple[int, int, bool, list[tuple[int, int]], bool]


class Observable:
    """A lowered kernel with what observers must know of it; made once, used by many runs."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.module = lowering.module
        self.layout = sorted(lowering.shared_layout, key=lambda row: row[1])
        self._tree = lowering.module.walk()
        self._facts: list[list[Row]] = [
            rows_of(lowering, index) for index in range(len(lowering.functions))
        ]
        self._nodes = [lowering.program.nodes(i) for i in range(len(lowering.functions))]
        self._places: dict[int, tuple[tuple[int, int], tuple[int, int]]] | None = None
        """For each instruction the first and the last of its operations."""
        self._looked: tuple[tuple[Point, ...], list[_PointRow]] | None = None
        """The last points that were asked for: many launches have the same."""

    # -- before the run ------------------------------------------------------------------

    def watch(self, watch: Watch) -> Observation:
        """What to hand to the run; read it afterwards with the methods below."""
        observation = Observation()
        for rows in self._facts:
            observation.add_function(rows)
        if watch.sanitize:
            observation.sanitize(watch.findings_limit, self._red_zones())
        if watch.profile:
            observation.profile()
        if watch.trace is not None:
            one = watch.trace
            observation.trace(one.thread, one.block, one.limit, one.last)
        if watch.conflicts:
            observation.watch_conflicts()
        if watch.points:
            if self._looked is None or self._looked[0] is not watch.points:
                self._looked = watch.points, [self._point(point) for point in watch.points]
            running = [n for n, point in enumerate(watch.points) if point.running]
            observation.look_at(self._looked[1], *([running] if running else []))
        return observation

    def _point(self, point: Point) -> _PointRow:
        """Where a point is: a jump may be part of the comparison before it."""
        if self._places is None:
            self._places = {}
            for function, nodes in enumerate(self._nodes):
                for at, number in enumerate(nodes):
                    here = function, at
                    self._places[number] = self._places.get(number, (here, here))[0], here
        found = self._places.get(point.instruction.index)
        if found is None:
            raise LaunchError(f"line {point.instruction.line} has no place of its own in a run")
        function, at = found[point.after]
        known = self.lowering.functions[function].registers
        places = [(known[one].slot, known[one].bytes) for one in point.registers]
        return function, at, point.after, places, point.tuples

    def _red_zones(self) -> list[tuple[int, int]]:
        """The bytes between shared variables, where they were laid out with some."""
        if not self.lowering.padding:
            return []
        return [
            (offset + size, offset + size + self.lowering.padding)
            for _, offset, size in self.layout
            if size
        ]

    # -- after the run -------------------------------------------------------------------

    def instruction(self, where: tuple[int, int]) -> Instruction | None:
        """The instruction of an operation; None for the end of a function's body."""
        node = self._tree[self._nodes[where[0]][where[1]] - 1]
        return node if isinstance(node, Instruction) else None

    def read(self, observation: Observation, watch: Watch) -> dict[str, Any]:
        """What was seen, as the fields of a report."""
        return {
            "findings": self.findings(observation),
            "profile": self.profile(observation),
            "digests": tuple(
                Digest(visits, tuple(values), frozenset(tuples), full)
                for visits, values, tuples, full in observation.digests()
            ),
            "conflicts": self.conflicts(observation) if watch.conflicts else None,
            "trace": None if watch.trace is None else self.trace(observation, watch.trace),
        }

    @staticmethod
    def conflicts(observation: Observation) -> frozenset[int] | None:
        """The addresses of the bytes that depend on races."""
        rows = observation.conflicts()
        if rows is None:
            return None
        return frozenset(word + n for word, mask in rows for n in range(4) if mask >> n & 1)

    def leaks(self, allocations: list[tuple[int, int, int]]) -> tuple[Finding, ...]:
        """Memory of malloc that a launch has left: one finding for each call."""
        calls: dict[int, list[tuple[int, int]]] = {}
        for address, size, node in allocations:
            calls.setdefault(node, []).append((address, size))
        found = []
        for number, lost in calls.items():
            node = self._tree[number - 1]
            total = sum(size for _, size in lost)
            message = f"{total:,} bytes of malloc were not freed before the kernel ended"
            found.append(
                Finding(
                    "leak",
                    self.module.diagnostic("note", "leak", message, node.span),
                    None,
                    None,
                    source_place(self.module, node),
                    "global",
                    *lost[0],
                    count=len(lost),
                )
            )
        return tuple(found)

    def findings(self, observation: Observation) -> tuple[Finding, ...]:
        """What the sanitizer found."""
        rows = observation.findings()
        racing = {
            where for row in rows if row["kind"] == "race" for where in (row["where"], row["other"])
        }
        # A read that races with the write it should have waited for is told of once.
        return tuple(
            self._finding(row)
            for row in rows
            if row["kind"] != "uninitialized" or row["where"] not in racing
        )

    def _finding(self, row: dict[str, Any]) -> Finding:
        node = self._tree[self._nodes[row["where"][0]][row["where"][1]] - 1]
        variable = (
            describe_offset(self.layout, row["address"]) if row["space"] == "shared" else None
        )
        other = None
        if row["other"] is not None:
            there = self._tree[self._nodes[row["other"][0]][row["other"][1]] - 1]
            other = OtherAccess(
                there.line,
                row["other_thread"],
                source_place(self.module, there),
                " ".join(there.text.split()),
            )
        message = row["message"]
        if row["kind"] == "unwritten-register":
            name = self._register_at(row["where"][0], node, row["address"])
            message = f"'{name}' is read, and nothing has been written to it"
        return Finding(
            row["kind"],
            self.module.diagnostic(row["severity"], row["kind"], message, node.span),
            row["thread"],
            row["block"],
            source_place(self.module, node),
            row["space"],
            row["address"],
            row["bytes"],
            variable,
            other,
            row["count"],
        )

    def _register_at(self, function: int, node: Node, slot: int) -> str:
        """The name of a register that an instruction reads, by its place."""
        if not isinstance(node, Instruction):
            return "a result"
        used, _ = registers_of(self.lowering, self.lowering.functions[function], node)
        return next((name for name, one in used if one.slot == slot), "a register")

    def profile(self, observation: Observation) -> tuple[ProfileRow, ...]:
        """The counts by instruction, in the order of the text."""
        sums: dict[int, list[int]] = {}
        for nodes, rows in zip(self._nodes, observation.counts(), strict=False):
            for number, counts in zip(nodes, rows, strict=True):
                if number not in sums:
                    sums[number] = list(counts)
                else:  # a further operation of the same instruction adds only its accesses
                    sums[number][3:] = [
                        a + b for a, b in zip(sums[number][3:], counts[3:], strict=True)
                    ]
        found = []
        for number, total in sorted(sums.items()):
            node = self._tree[number - 1]
            if isinstance(node, Instruction):
                text = " ".join(node.text.split())
                place = source_place(self.module, node)
                found.append(ProfileRow(node.line, place, text, *total))
        return tuple(found)

    def trace(self, observation: Observation, request: TraceRequest) -> Trace:
        """What the traced thread did."""
        records = [self._record(*row) for row in observation.events()]
        return Trace(records, observation.events_left_out, request.last)

    def _record(
        self,
        function: int,
        at: int,
        active: bool,
        reads: bytes,
        writes: bytes,
        accesses: list[tuple[str, int, int, bool]],
    ) -> TraceRecord:
        instruction = self.instruction((function, at))
        state = self.lowering.functions[function]
        types: dict[str, str] = {}
        read: dict[str, Any] = {}
        written: dict[str, Any] = {}
        location = None
        if instruction is not None:
            used, defined = registers_of(self.lowering, state, instruction)
            words = [m[1:] for m in instruction.modifiers if m[1:] in SCALAR_TYPES]
            pointers = address_registers(instruction)
            read = _values(used, reads, words, types, pointers, written=False)
            if writes:
                written = _values(defined, writes, words, types, pointers, written=True)
            location = source_place(self.module, instruction)
        return TraceRecord(
            instruction,
            state.node.name,
            active,
            read,
            written,
            tuple(MemoryAccess(*access) for access in accesses),
            types,
            location,
        )


def _values(
    named: list[tuple[str, Register]],
    data: bytes,
    words: list[str],
    types: dict[str, str],
    pointers: set[str],
    *,
    written: bool,
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for number, (name, register) in enumerate(named):
        scalar = register.type
        if name not in pointers:
            scalar = reading(register.type, register.bytes, words, written=written)
        types[name] = scalar
        start = _VALUE_BYTES * number
        values[name] = typed(scalar, register.bytes, data[start : start + _VALUE_BYTES])
    return values
