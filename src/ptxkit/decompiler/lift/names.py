"""What variables are called."""

from __future__ import annotations

import re
from collections.abc import Callable

from ptxkit.cuda.types import BOOL, Pointer, Scalar, Type, Vector
from ptxkit.cuda.words import RESERVED
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.short_products import MUL24, UMUL24
from ptxkit.decompiler.lift.signatures import identifier
from ptxkit.decompiler.lift.values import Value, Variable
from ptxkit.syntax.debug import FunctionNames

#: Names of parameters that a compiler made up.
_NUMBERED = re.compile(r"param_?\d*$|^\W*p?\d*$|^_")
_INDICES = {"x": "i", "y": "j", "z": "k"}
#: Loops that are rolled up later take the letters after these.
_COUNTERS = ("i", "j")
#: What a variable is for that becomes this operation of itself; by the operation's first word.
_GROWTH = {
    "fadd": "sum", "fsub": "sum", "fma": "sum", "fmul": "product", "add": "sum", "mul": "product",
    "max": "largest", "fmax": "largest", "min": "smallest", "fmin": "smallest",
    "shl": "stride", "shr": "stride",
}  # fmt: skip


def given_name(text: str) -> str:
    """The name of a parameter in PTX, if somebody gave it one; else nothing.

    >>> given_name("count"), given_name("k_param_3"), given_name("_Z1kPf_param_0"), given_name("p4")
    ('count', '', '', '')
    """
    return "" if _NUMBERED.search(text) else identifier(text)


class Namer:
    """Gives every variable of a function a name that no other one has."""

    def __init__(
        self,
        program: Program,
        types: dict[Variable, Type],
        taken: set[str],
        known: FunctionNames | None = None,
    ) -> None:
        self.program = program
        self.known = known or FunctionNames()
        """The names that debug information has."""
        self.types = types
        self.taken = set(taken) | RESERVED
        self.given: dict[Variable, list[Value]] = {}
        """What variables are set to."""
        for block in program.flow.order:
            for step in program.flow.blocks[block].statements:
                if step.kind == "set":
                    self.given.setdefault(step.targets[0].variable, []).append(step.args[0])
        self.next: dict[str, int] = {}
        """The number to try first for a wish: those below are taken."""

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
        number = self.next.get(wish, 0)
        while (made := f"{wish}{number or ''}") in self.taken:
            number += 1
        self.next[wish] = number + 1
        self.taken.add(made)
        return made

    def _parameter(self, variable: Variable, number: int) -> str:
        type = self.types[variable]
        if len(self.known.parameters) == len(self.program.parameters):
            found = self.known.parameters[number]
            if found:
                return identifier(found)
        written = given_name(variable.register)
        if written and written not in self.taken:
            return written
        if isinstance(type, Pointer):
            return f"p{number}"
        if isinstance(type, Scalar) and type.is_integer:
            return f"n{number}"
        return f"a{number}"

    def _local(self, variable: Variable, value: Value | None) -> str:
        type = self.types.get(variable)
        if variable.register in self.known.registers:
            return identifier(self.known.registers[variable.register])
        if value is not None and value.op == "builtin" and "." in value.data:
            base, _, axis = value.data.partition(".")
            stem = {"threadIdx": "tid", "blockIdx": "bid", "blockDim": "bdim",
                    "gridDim": "gdim"}[base]  # fmt: skip
            return stem if axis == "x" else f"{stem}_{axis}"
        if value is not None:
            axis = global_index(value, self._builtin)
            if axis:
                return _INDICES[axis]
        if isinstance(type, Pointer):
            return "ptr"
        role = self._role(variable)
        if role:
            return role
        if type == BOOL:
            return "cond"
        if isinstance(type, Vector):
            return "vec"
        if isinstance(type, Scalar) and type.is_float:
            return {64: "d", 32: "f", 16: "h"}[type.bits]
        return "n" if isinstance(type, Scalar) and type.bits == 32 else "w"

    def _builtin(self, value: Value) -> str:
        """The special register that a value is, by itself or through a variable."""
        if value.op == "var":
            given = self.given.get(value.data.variable, ())
            value = given[0] if len(given) == 1 else value
        return str(value.data) if value.op == "builtin" else ""

    def _role(self, variable: Variable) -> str:
        """What a variable is for, from how it becomes something of itself."""
        for value in self.given.get(variable, ()):
            own = [a for a in value.args if a.op == "var" and a.data.variable is variable]
            if not own:
                continue
            if value.op == "add" and any(a.op == "const" for a in value.args):
                return next((name for name in _COUNTERS if name not in self.taken), "n")
            # Sums and products in this one's place, not those that merely read it.
            if value.op == "fma" and value.args[2] is not own[0]:
                continue
            found = _GROWTH.get(value.op.partition(".")[0])
            if found:
                return found
        return ""


def is_product(value: Value) -> bool:
    """Whether a value is a product, be it one of short numbers."""
    return value.op == "mul" or (value.op == "call" and value.data in (MUL24, UMUL24))


def global_index(value: Value, builtin: Callable[[Value], str]) -> str:
    """The axis of ``blockIdx.x * blockDim.x + threadIdx.x``, if a value is that."""
    if value.op != "add":
        return ""
    for product, rest in (value.args, value.args[::-1]):
        thread = builtin(rest)
        if is_product(product) and thread.startswith("threadIdx."):
            axis = thread[-1]
            if {builtin(a) for a in product.args} == {f"blockIdx.{axis}", f"blockDim.{axis}"}:
                return axis
    return ""
