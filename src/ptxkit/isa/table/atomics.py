"""Atomics and reductions."""

from ptxkit.isa.forms import InstructionSpec

INSTRUCTIONS: list[InstructionSpec] = []
