"""Texture."""

from ptxkit.isa.forms import InstructionSpec

INSTRUCTIONS: list[InstructionSpec] = []
