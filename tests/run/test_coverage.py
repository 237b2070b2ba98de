"""The whole instruction table on the simulator: what it does not simulate, and nothing else."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tests.run.coverage import Outcome, outcomes

#: The rows that are not simulated: wgmma, tensor maps, tcgen05, multimem.
NOT_SIMULATED = frozenset(
    """
    cp.async.bulk.tensor cp.reduce.async.bulk.tensor cp.async.bulk.prefetch.tensor
    tensormap.replace tensormap.cp_fenceproxy
    multimem.ld_reduce multimem.st multimem.red
    wgmma.mma_async wgmma.fence wgmma.commit_group wgmma.wait_group
    tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld tcgen05.ld.red
    tcgen05.st tcgen05.wait::ld tcgen05.wait::st tcgen05.cp tcgen05.shift tcgen05.commit
    tcgen05.fence::before_thread_sync tcgen05.fence::after_thread_sync tcgen05.mma
    tcgen05.mma.ws
    """.split()
)
#: The variants of other rows that are not simulated, one opcode a line; ``python -m
#: tests.run.test_coverage`` writes them anew.
FURTHER = Path(__file__).with_name("unsimulated.txt")


@lru_cache(maxsize=1)
def _outcomes() -> tuple[Outcome, ...]:
    return tuple(outcomes())


def _further() -> list[str]:
    """The variants outside of those rows that cannot be lowered."""
    return sorted(
        {one.variant.opcode for one in _outcomes() if one.reason and one.root not in NOT_SIMULATED}
    )


def test_exactly_these_rows_are_not_simulated() -> None:
    rows: dict[str, list[Outcome]] = {}
    for one in _outcomes():
        rows.setdefault(one.root, []).append(one)
    wholly = {root for root, found in rows.items() if all(one.reason for one in found)}
    # istypep and sured.p are rows of few forms; they stand in the list of variants.
    assert wholly - {"istypep", "sured.p"} == NOT_SIMULATED
    for root in NOT_SIMULATED:
        for one in rows[root]:
            assert "not simulated" in one.reason
            assert one.variant.opcode in one.reason


def test_exactly_these_variants_are_not_simulated() -> None:
    assert _further() == FURTHER.read_text().split()


if __name__ == "__main__":
    FURTHER.write_text("\n".join(_further()) + "\n")
