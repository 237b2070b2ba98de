"""What variables are called."""

from __future__ import annotations

from ptxkit.cuda.types import BOOL, Pointer, Scalar, Type, Vector
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.signatures import RESERVED
from ptxkit.decompiler.lift.values import Value, Variable

_GLOBAL_INDEX = "xyz"


class Namer:
    """Gives every variable of a function a name that no other one has."""

    def __init__(self, program: Program, types: dict[Variable, Type], taken: set[str]) -> None:
        self.program = program
        self.types = types
        self.taken = set(taken) | RESERVED

    def run(self) -> None:
        """Name parameters first, then variables in the order of the text."""
        for number, variable in enumerate(self.program.parameters):
            variable.name = self._free(self._parameter(variable, number))
        if self.program.result is not None:
            self.program.result.name = self._free("result")
        for block in self.program.flow.order:
            for step in self.program.flow.blocks[block].statements:
                for target in step.targets:
                    if not target.variable.name:
                        value = step.args[0] if step.kind == "set" else None
                        target.variable.name = self._free(self._local(target.variable, value))
        for variable in self.program.variables:
            if not variable.name:
                variable.name = self._free(self._local(variable, None))

    def _free(self, wish: str) -> str:
        made, number = wish, 1
        while made in self.taken:
            made = f"{wish}{number}"
            number += 1
        self.taken.add(made)
        return made

    def _parameter(self, variable: Variable, number: int) -> str:
        type = self.types[variable]
        if isinstance(type, Pointer):
            return f"p{number}"
        if isinstance(type, Scalar) and type.is_integer:
            return f"n{number}"
        return f"a{number}"

    def _local(self, variable: Variable, value: Value | None) -> str:
        type = self.types.get(variable)
        if value is not None and value.op == "builtin" and "." in value.data:
            base, _, axis = value.data.partition(".")
            stem = {"threadIdx": "tid", "blockIdx": "bid", "blockDim": "bdim",
                    "gridDim": "gdim"}[base]  # fmt: skip
            return stem if axis == "x" else f"{stem}_{axis}"
        if value is not None:
            axis = global_index(value)
            if axis:
                return {"x": "i", "y": "j", "z": "k"}[axis]
        if type == BOOL:
            return "cond"
        if isinstance(type, Pointer):
            return "ptr"
        if isinstance(type, Vector):
            return "vec"
        if isinstance(type, Scalar) and type.is_float:
            return {64: "d", 32: "f", 16: "h"}[type.bits]
        return "n" if isinstance(type, Scalar) and type.bits == 32 else "w"


def global_index(value: Value) -> str:
    """The axis of ``blockIdx.x * blockDim.x + threadIdx.x``, if a value is that."""
    if value.op != "add":
        return ""
    for product, rest in (value.args, value.args[::-1]):
        if product.op == "mul" and rest.op == "builtin" and rest.data.startswith("threadIdx"):
            axis = rest.data[-1]
            wanted = {f"blockIdx.{axis}", f"blockDim.{axis}"}
            if {a.data for a in product.args if a.op == "builtin"} == wanted:
                return str(axis)
    return ""
