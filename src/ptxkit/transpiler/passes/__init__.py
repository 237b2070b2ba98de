"""The sugar, in the order it is put on: each pass is one file of this folder."""

from __future__ import annotations

from ptxkit.transpiler.passes.control_flow import ControlFlow
from ptxkit.transpiler.rewriting import Pass

PASSES: tuple[Pass, ...] = (ControlFlow(),)
