"""The sugar, in the order it is put on: each pass is one file of this folder."""

from __future__ import annotations

from ptxkit.transpiler.passes.control_flow import ControlFlow
from ptxkit.transpiler.passes.expressions import Expressions
from ptxkit.transpiler.passes.new_registers import NewRegisters
from ptxkit.transpiler.passes.operators import Operators
from ptxkit.transpiler.rewriting import Pass

PASSES: tuple[Pass, ...] = (ControlFlow(), NewRegisters(), Operators(), Expressions())
