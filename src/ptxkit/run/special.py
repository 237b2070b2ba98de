"""Special registers of the simulator: their numbers in native/sim/ops_control.cpp."""

from __future__ import annotations

_VECTORS = "tid ntid ctaid nctaid".split()
_CLUSTER_VECTORS = "clusterid nclusterid cluster_ctaid cluster_nctaid".split()

_NAMES = [
    *(f"%{name}.{axis}" for name in _VECTORS for axis in "xyz"),
    *"%laneid %warpid %nwarpid %lanemask_eq %lanemask_lt %lanemask_le %lanemask_gt".split(),
    *"%lanemask_ge %clock %dynamic_smem_size %total_smem_size".split(),
    *(f"%{name}.{axis}" for name in _CLUSTER_VECTORS for axis in "xyz"),
    *"%cluster_ctarank %cluster_nctarank %clock_hi".split(),
    # Where cooperative groups find the workspace of the grid: its address, upper half first.
    *"%envreg1 %envreg2".split(),
]

#: What is not here reads as 0: counters of the hardware, the number of the multiprocessor.
SPECIAL_NUMBERS = {
    **{name: number for number, name in enumerate(_NAMES)},
    **dict.fromkeys(("%clock64", "%globaltimer", "%globaltimer_lo"), _NAMES.index("%clock")),
    "%globaltimer_hi": _NAMES.index("%clock_hi"),
    "%aggr_smem_size": _NAMES.index("%total_smem_size"),
}
