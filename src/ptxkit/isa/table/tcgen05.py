"""Matrix: tcgen05."""

from ptxkit.isa.forms import InstructionSpec

INSTRUCTIONS: list[InstructionSpec] = []
