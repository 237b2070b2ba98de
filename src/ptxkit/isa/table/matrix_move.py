"""Matrix: ldmatrix, stmatrix, movmatrix."""

from ptxkit.isa.forms import InstructionSpec

INSTRUCTIONS: list[InstructionSpec] = []
