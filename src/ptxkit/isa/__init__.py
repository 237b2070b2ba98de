"""The one instruction table, and what follows from it: ``check``, docs, completion.

>>> from ptxkit import isa
>>> isa.lookup("mul.wide.u32").root
'mul.wide'

Names load on first use: the table alone needs no parser.
"""

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptxkit.isa.checker import check
    from ptxkit.isa.dataflow import Registers, registers
    from ptxkit.isa.forms import Form, InstructionSpec, OperandSpec, Slot
    from ptxkit.isa.registry import known_names, lookup, table
    from ptxkit.isa.special_registers import SPECIAL_REGISTERS, SpecialRegister
    from ptxkit.isa.targets import Requirement, Target, Version
    from ptxkit.isa.types import SCALAR_TYPES, ScalarType, register_fits

_EXPORTS = {
    "SCALAR_TYPES": "types",
    "SPECIAL_REGISTERS": "special_registers",
    "Form": "forms",
    "InstructionSpec": "forms",
    "OperandSpec": "forms",
    "Registers": "dataflow",
    "Requirement": "targets",
    "ScalarType": "types",
    "Slot": "forms",
    "SpecialRegister": "special_registers",
    "Target": "targets",
    "Version": "targets",
    "check": "checker",
    "known_names": "registry",
    "lookup": "registry",
    "register_fits": "types",
    "registers": "dataflow",
    "table": "registry",
}

__all__ = [
    "SCALAR_TYPES",
    "SPECIAL_REGISTERS",
    "Form",
    "InstructionSpec",
    "OperandSpec",
    "Registers",
    "Requirement",
    "ScalarType",
    "Slot",
    "SpecialRegister",
    "Target",
    "Version",
    "check",
    "known_names",
    "lookup",
    "register_fits",
    "registers",
    "table",
]


def __getattr__(name: str) -> object:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'ptxkit.isa' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ptxkit.isa.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
