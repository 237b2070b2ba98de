"""What no certificate speaks of: functions are compared, not the head of a file.

>>> import ptxkit
>>> odd = ptxkit.parse(".version 8.0 .target sm_90 .entry k() { frob.u32 %r1, %r2; ret; }")
>>> next(not_compared(odd, ["k"], "sm_90"))
"there is no instruction 'frob' (line 1): it is kept as it stands, and no assembler was asked..."
>>> m = ptxkit.parse(".version 6.0 .target sm_35 .address_size 32 .entry k() .reqntid 64 { ret; }")
>>> for line in not_compared(m, ["k"], "sm_90"):
...     print(line)
not compared: the PTX has .target sm_35, and this is compiled for sm_90
not compared: the PTX has .address_size 32, and compilers make 64-bit addresses only...
not compared: 'k' has .reqntid 64, which CUDA C++ cannot ask for: other blocks can be launched, too
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.isa import known_names
from ptxkit.syntax import Function, Module
from ptxkit.syntax.nodes import AddressSize, FunctionDirective


def not_compared(module: Module, names: Sequence[str], arch: str) -> Iterator[str]:
    """A line for each thing that may differ between PTX and what is compiled again for ``arch``.

    The ``.version`` always may: it is that of the compiler.
    """
    target = module.target
    if target and target != arch:
        yield f"not compared: the PTX has .target {target}, and this is compiled for {arch}"
    if any(node.value == 32 for node in module.children if isinstance(node, AddressSize)):
        yield (
            "not compared: the PTX has .address_size 32, and compilers make 64-bit addresses only: "
            "what computes with 32-bit ones cannot be proved"
        )
    instructions = (one for function in module.functions for one in function.instructions)
    odd = next((one for one in instructions if one.name not in known_names()), None)
    if odd is not None:
        yield (
            f"there is no instruction '{odd.name}' (line {odd.line}): it is kept as it stands, "
            "and no assembler was asked for it"
        )
    for name in names:
        block = _required_block(module[name])
        if block:
            yield (
                f"not compared: '{name}' has .reqntid {block}, which CUDA C++ cannot ask for: "
                "other blocks can be launched, too"
            )


def _required_block(function: Function) -> str:
    """The one size of blocks that a kernel takes, where it is not written as an attribute."""
    found = {d.name: d.values for d in function.directives if isinstance(d, FunctionDirective)}
    if ".blocksareclusters" in found:
        return ""  # there is an attribute for both together
    return ", ".join(map(str, found.get(".reqntid", ())))
