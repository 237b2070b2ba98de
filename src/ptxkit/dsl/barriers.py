"""mbarriers: threads and copies arrive, others wait for a phase to end.

>>> from ptxkit.dsl import kernel, ptx, smem
>>> @kernel(target="sm_90")
... def waits():
...     full = smem.barriers(4)
...     full.init(1)
...     full.at(2).arrive()
...     full.at(2).wait(0)
...     ptx.ret()
>>> "mbarrier.try_wait.parity" in waits.ptx()
True
"""

from __future__ import annotations

from typing import Any

from ptxkit.dsl.arithmetic import emit, fresh
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import Operand, addr
from ptxkit.dsl.registers import Register
from ptxkit.dsl.views import plus, times

_BYTES = 8


class Barrier:
    """One mbarrier in shared memory."""

    __slots__ = ("base", "offset")

    def __init__(self, base: Register, offset: int = 0) -> None:
        self.base = base
        self.offset = offset

    @property
    def at(self) -> Operand:
        """Its address, as an operand."""
        return addr(self.base, self.offset or None)

    def init(self, arrivals: Any) -> None:
        """Make it ready for so many arrivals a phase; one thread does, before all others."""
        emit("mbarrier.init.shared::cta.b64", self.at, arrivals)

    def arrive(
        self,
        count: Any = None,
        *,
        block: Any = None,
        release: bool = True,
        when: Any = None,
    ) -> None:
        """Arrive; with ``block``, at the barrier in the same place of that block of the cluster.

        That makes what this thread wrote visible to the whole cluster, which takes a while. A
        thread that has only read says ``release=False``.
        """
        more = [] if count is None else [count]
        if block is None:
            emit("mbarrier.arrive.shared::cta.b64", fresh("b64"), self.at, *more, when=when)
            return
        here = self.base if self.offset == 0 else self.base + self.offset
        there = fresh("u32")
        emit("mapa.shared::cluster.u32", there, here, block)
        order = ".release.cluster" if release else ""
        emit(f"mbarrier.arrive{order}.shared::cluster.b64", "_", addr(there), *more, when=when)

    def expect(self, count: Any, when: Any = None) -> None:
        """Arrive, and let the phase wait for so many bytes of copies as well."""
        emit("mbarrier.arrive.expect_tx.shared::cta.b64", fresh("b64"), self.at, count, when=when)

    def wait(self, phase: Any) -> None:
        """Wait until the phase of this parity has ended: 0 for the first, then 1, 0, 1 ..."""
        from ptxkit.dsl.builder import current
        from ptxkit.dsl.namespace import ptx

        target = current().module.parsed_target
        word = "test" if target is not None and target.number < 90 else "try"
        done = fresh("pred")
        with ptx.do_while(~done):
            emit(f"mbarrier.{word}_wait.parity.shared::cta.b64", done, self.at, phase)

    def invalidate(self) -> None:
        """End its use, so that the memory can be something else."""
        emit("mbarrier.inval.shared::cta.b64", self.at)


class Barriers:
    """Several mbarriers one after another: one for each stage of a pipeline."""

    __slots__ = ("base", "count")

    def __init__(self, base: Register, count: int) -> None:
        if count < 1:
            raise DslError(f"{count} barriers are none")
        self.base = base
        self.count = count

    def at(self, stage: Any) -> Barrier:
        """The barrier of a stage, by an int or a register."""
        if isinstance(stage, int):
            if not 0 <= stage < self.count:
                raise DslError(f"there are {self.count} barriers, from 0; not {stage}")
            return Barrier(self.base, _BYTES * stage)
        return Barrier(plus(self.base, times(stage, _BYTES)))

    def init(self, arrivals: Any) -> None:
        """Make all ready for so many arrivals a phase."""
        for stage in range(self.count):
            self.at(stage).init(arrivals)


class Ring:
    """A place in a ring of stages: which one, and the parity of its phase.

    Those who wait for a stage to be filled begin with ``Ring(n)``, those who wait for it to be
    emptied with ``Ring(n, phase=1)``: nobody has filled it yet.
    """

    __slots__ = ("count", "phase", "stage")

    def __init__(self, count: int, *, phase: int = 0) -> None:
        self.count = count
        self.stage: Register = fresh("u32").set(0)
        self.phase: Register = fresh("u32").set(phase)

    def advance(self) -> None:
        """Go on to the next stage; after the last comes the first, in the other phase."""
        self.stage += 1
        wrapped = self.stage == self.count
        emit("xor.b32", self.phase, self.phase, 1, when=wrapped)
        emit("mov.u32", self.stage, 0, when=wrapped)


def fence_init() -> None:
    """Make initialised barriers visible to copies and to other blocks of the cluster."""
    emit("fence.mbarrier_init.release.cluster")


def fence_copies() -> None:
    """Order this thread's writes to shared memory before copies and ``wgmma`` that follow."""
    emit("fence.proxy.async.shared::cta")
