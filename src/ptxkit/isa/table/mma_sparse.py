"""Matrix: mma.sp."""

from ptxkit.isa.forms import InstructionSpec

INSTRUCTIONS: list[InstructionSpec] = []
