"""The whole PTX grammar, lossless: parse, look, edit, format.

>>> import ptxkit
>>> m = ptxkit.parse(".func f() { ret; }")
>>> m.emit()
'.func f() { ret; }'
"""

from ptxkit._native import Node, NodeList
from ptxkit.syntax import compare
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.declarations import (
    CallPrototype,
    Declarator,
    FieldInitializer,
    Function,
    InitializerList,
    Parameter,
    ParameterList,
    Variable,
)
from ptxkit.syntax.edit import Editor
from ptxkit.syntax.formatter import format
from ptxkit.syntax.graph import BasicBlock, ControlFlowGraph, Loop
from ptxkit.syntax.module import Module, parse
from ptxkit.syntax.nodes import (
    AddressSize,
    Alias,
    Attribute,
    Block,
    BranchTargets,
    CallTargets,
    DwarfLine,
    Error,
    File,
    FunctionDirective,
    Guard,
    Instruction,
    Label,
    Loc,
    Opcode,
    Pragma,
    Section,
    SectionData,
    SectionLabel,
    Target,
    Version,
)
from ptxkit.syntax.operands import (
    Address,
    Application,
    ArgumentList,
    Expression,
    Float,
    Integer,
    Name,
    Pair,
    Parenthesized,
    SectionName,
    Sink,
    Subscript,
    Unary,
    Vector,
)
from ptxkit.syntax.scopes import Declaration, Scopes, rename
from ptxkit.syntax.statistics import Statistics

__all__ = [
    "Address",
    "AddressSize",
    "Alias",
    "Application",
    "ArgumentList",
    "Attribute",
    "BasicBlock",
    "Block",
    "BranchTargets",
    "CallPrototype",
    "CallTargets",
    "ControlFlowGraph",
    "Declaration",
    "Declarator",
    "DwarfLine",
    "Editor",
    "Error",
    "Expression",
    "FieldInitializer",
    "File",
    "Float",
    "Function",
    "FunctionDirective",
    "Guard",
    "InitializerList",
    "Instruction",
    "Integer",
    "Label",
    "Loc",
    "Loop",
    "Module",
    "Name",
    "Node",
    "NodeList",
    "Opcode",
    "Pair",
    "Parameter",
    "ParameterList",
    "Parenthesized",
    "Pragma",
    "Scopes",
    "Section",
    "SectionData",
    "SectionLabel",
    "SectionName",
    "Sink",
    "Statistics",
    "Subscript",
    "Target",
    "Unary",
    "Variable",
    "Vector",
    "Version",
    "compare",
    "evaluate",
    "format",
    "parse",
    "rename",
]
