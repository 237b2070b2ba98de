"""The special registers of PTX: what ``mov`` may read of the thread, the launch and the machine.

``tests/isa/test_special_registers.py`` gives every row to ptxas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ptxkit.isa.actuals import Actual
from ptxkit.isa.targets import Requirement

#: The element names of a vector register; ``.r .g .b .a`` say the same.
COMPONENTS = ("x", "y", "z", "w")
_COLOURS = dict(zip("rgba", COMPONENTS, strict=True))


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """One special register: its name with '%', its type, its meaning in one line.

    ``components`` is empty for a scalar. ``widths`` are bit widths that ptxas also reads
    the register at, besides that of its type (a heritage of PTX 1.x).
    """

    name: str
    type: str
    components: tuple[str, ...]
    requirement: Requirement
    summary: str
    widths: tuple[int, ...] = ()

    @property
    def is_vector(self) -> bool:
        """True for registers such as ``%tid`` that have elements."""
        return bool(self.components)

    def actual(self, component: str = "") -> Actual:
        """The register, or one element of it, as an operand to check.

        >>> SPECIAL_REGISTERS["%tid"].actual("x").type
        'u32'
        """
        width = 1 if component else max(1, len(self.components))
        return Actual("special", self.type, width=width, widths=self.widths)


def find_special_register(text: str) -> tuple[SpecialRegister, str] | None:
    """The register that an operand such as ``%tid.x`` names, with its component.

    >>> register, component = find_special_register("%ctaid.y")
    >>> register.name, component
    ('%ctaid', 'y')
    >>> find_special_register("%tid.q") is None
    True
    """
    name, _, component = text.partition(".")
    register = SPECIAL_REGISTERS.get(name)
    if register is None:
        return None
    component = _COLOURS.get(component, component)
    if component and component not in register.components:
        return None
    return register, component


def _rows() -> dict[str, SpecialRegister]:
    found: dict[str, SpecialRegister] = {}

    def row(
        name: str,
        summary: str,
        type: str = "u32",
        *,
        needs: str = "1.0",
        vector: bool = False,
        widths: tuple[int, ...] = (),
    ) -> None:
        components = COMPONENTS if vector else ()
        requirement = Requirement.parse(needs)
        found[name] = SpecialRegister(name, type, components, requirement, summary, widths)

    row("%tid", "Index of the thread in its CTA.", vector=True, widths=(16,))
    row("%ntid", "Threads of the CTA in each dimension.", vector=True, widths=(16,))
    row("%laneid", "Index of the thread in its warp.", needs="1.3")
    row("%warpid", "Index of the warp in its CTA; may change while the thread runs.", needs="1.3")
    row("%nwarpid", "Most warp indices there can be.", needs="2.0/20")
    row("%ctaid", "Index of the CTA in the grid.", vector=True, widths=(16,))
    row("%nctaid", "CTAs of the grid in each dimension.", vector=True, widths=(16,))
    row("%smid", "Index of the multiprocessor; may change while the thread runs.", needs="1.3")
    row("%nsmid", "Most multiprocessor indices there can be; not all need exist.", needs="2.0/20")
    row("%gridid", "Number of the grid among all launches of the context.", "u64", widths=(16, 32))

    cluster = "7.8/90"
    row("%is_explicit_cluster", "Whether the launch named a cluster shape.", "pred", needs=cluster)
    row("%clusterid", "Index of the cluster in the grid.", needs=cluster, vector=True)
    row("%nclusterid", "Clusters of the grid in each dimension.", needs=cluster, vector=True)
    row("%cluster_ctaid", "Index of the CTA in its cluster.", needs=cluster, vector=True)
    row("%cluster_nctaid", "CTAs of the cluster in each dimension.", needs=cluster, vector=True)
    row("%cluster_ctarank", "Flat index of the CTA in its cluster.", needs=cluster)
    row("%cluster_nctarank", "CTAs of the cluster.", needs=cluster)

    row("%lanemask_eq", "Mask with the bit of this lane alone.", needs="2.0/20")
    row("%lanemask_le", "Mask of the lanes up to this one.", needs="2.0/20")
    row("%lanemask_lt", "Mask of the lanes below this one.", needs="2.0/20")
    row("%lanemask_ge", "Mask of the lanes from this one on.", needs="2.0/20")
    row("%lanemask_gt", "Mask of the lanes above this one.", needs="2.0/20")

    row("%clock", "Low half of the cycle counter.")
    row("%clock_hi", "High half of the cycle counter.", needs="5.0/20")
    row("%clock64", "Cycle counter.", "u64", needs="2.0/20")
    for index in range(8):
        needs = "1.3" if index < 4 else "3.0/20"
        row(f"%pm{index}", "Performance-monitor counter.", needs=needs)
    for index in range(8):
        row(f"%pm{index}_64", "Performance-monitor counter of 64 bits.", "u64", needs="4.0/50")
    for index in range(32):
        row(f"%envreg{index}", "Read-only value that the driver defines.", needs="2.0")
    row("%globaltimer", "Nanosecond timer of the whole device.", "u64", needs="3.1/30")
    row("%globaltimer_lo", "Low half of the nanosecond timer.", needs="3.1/30")
    row("%globaltimer_hi", "High half of the nanosecond timer.", needs="3.1/30")

    reserved = "7.6/80"
    row("%reserved_smem_offset_begin", "Where reserved shared memory begins.", needs=reserved)
    row("%reserved_smem_offset_end", "Where reserved shared memory ends.", needs=reserved)
    row("%reserved_smem_offset_cap", "Bytes of reserved shared memory.", needs=reserved)
    for index in range(2):
        row(f"%reserved_smem_offset_{index}", "An offset in reserved shared memory.",
            needs=reserved)  # fmt: skip
    row("%total_smem_size", "Bytes of shared memory of the CTA, static and dynamic.",
        needs="4.1/20")  # fmt: skip
    row("%aggr_smem_size", "Bytes of shared memory with what is reserved.", needs="8.1/90")
    row("%dynamic_smem_size", "Bytes of dynamic shared memory that the launch asked for.",
        needs="4.1/20")  # fmt: skip
    row("%current_graph_exec", "Handle of the device graph that is running, or zero.", "u64",
        needs="8.0/50")  # fmt: skip
    return found


#: Every special register by its name with '%' (vectors without their component).
SPECIAL_REGISTERS: Mapping[str, SpecialRegister] = MappingProxyType(_rows())
