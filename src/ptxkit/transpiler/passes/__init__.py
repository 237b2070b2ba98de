"""The sugar, in the order it is put on: each pass is one file of this folder."""

from __future__ import annotations

from ptxkit.transpiler.passes.addresses import Addresses
from ptxkit.transpiler.passes.block_notes import BlockNotes
from ptxkit.transpiler.passes.constants import Constants
from ptxkit.transpiler.passes.control_flow import ControlFlow
from ptxkit.transpiler.passes.expressions import Expressions
from ptxkit.transpiler.passes.inline_assembly import InlineAssembly
from ptxkit.transpiler.passes.joined_loads import JoinedLoads
from ptxkit.transpiler.passes.line_tables import LineTables
from ptxkit.transpiler.passes.loop_conditions import LoopConditions
from ptxkit.transpiler.passes.mbarrier_waits import MbarrierWaits
from ptxkit.transpiler.passes.new_registers import NewRegisters
from ptxkit.transpiler.passes.operators import Operators
from ptxkit.transpiler.passes.register_lists import RegisterLists
from ptxkit.transpiler.passes.register_names import RegisterNames
from ptxkit.transpiler.passes.repeats import Repeats
from ptxkit.transpiler.passes.unused_names import UnusedNames
from ptxkit.transpiler.rewriting import Pass

PASSES: tuple[Pass, ...] = (
    LineTables(),
    ControlFlow(),
    BlockNotes(),
    InlineAssembly(),
    MbarrierWaits(),
    NewRegisters(),
    RegisterLists(),
    Operators(),
    Expressions(),
    Addresses(),
    RegisterNames(),
    Constants(),
    Repeats(),
    JoinedLoads(),
    LoopConditions(),
    UnusedNames(),
)
