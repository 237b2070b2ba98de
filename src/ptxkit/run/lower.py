"""From a parsed kernel to a program of the simulator.

Registers become slots of 32 lanes, constants become slots too, and every instruction
becomes one or a few operations named like it. What the simulator has no operation for is
an error that names instruction and line, before anything runs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache

from ptxkit._native import NO_SLOT, Node, Program
from ptxkit.errors import UsageError
from ptxkit.isa.match import match
from ptxkit.isa.operands import plan
from ptxkit.isa.special_registers import find_special_register
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.function_state import FunctionState, Register
from ptxkit.run.layout import (
    MAX_LOCAL,
    MAX_SHARED,
    align,
    parameter_layout,
    scalar_bytes,
    variable_size,
)
from ptxkit.run.module_context import ModuleContext, UnsupportedError
from ptxkit.run.special import SPECIAL_NUMBERS
from ptxkit.syntax import (
    Declarator,
    Function,
    Instruction,
    Name,
    Parameter,
    Unary,
    Variable,
    evaluate,
)
from ptxkit.syntax.scopes import Declaration

#: What frames of threads are made of, in bytes.
_FRAME = 16


class Lowering:
    """Lowers one kernel and the functions it may call.

    ``padding`` bytes are left free after each shared variable, for those who look for accesses
    past its end.
    """

    def __init__(self, context: ModuleContext, dynamic_base: int = 0, padding: int = 0) -> None:
        self.context = context
        self.module = context.module
        self.memory = context.memory
        self.scopes = context.scopes
        self.program = Program()
        self.constants: dict[tuple[int, int], int] = {}
        self.numbers: dict[str, int] = {}
        self.pending: list[Function] = []
        self.state: FunctionState
        self.kernel: Function
        self.kernel_parameters: dict[str, int] = {}
        self.shared: dict[int | str, int] = {}  # offsets, by declaring node or name
        self.shared_top = 0
        self.dynamic_base = dynamic_base
        self.dynamic_alignment = 0  # of the dynamic arrays that are used; 0: none
        self.padding = padding
        self.shared_layout: list[tuple[str, int, int]] = []  # name, offset, bytes
        self.functions: dict[int, FunctionState] = {}
        self.current: Instruction | None = None
        self.noted: list[tuple[int, int]] | None = None  # constants, while an instruction is noted
        from ptxkit.run.lowering import LOWERINGS
        from ptxkit.run.patterns import repeated

        self.lowerings = LOWERINGS
        self.repeated = repeated

    # -- whole program -------------------------------------------------------------------

    def lower(self, kernel: Function) -> Program:
        """The program of a kernel."""
        self.kernel = kernel
        items, parameter_bytes = self.context.layout(kernel)
        self.kernel_parameters = {item.name: item.offset for item in items}
        self.function_number(kernel)
        while self.pending:
            self._function(self.pending.pop(0))
        shared = align(self.shared_top, self.dynamic_alignment or 16)
        if not self.padding and shared > MAX_SHARED:
            raise self.unsupported(
                kernel,
                f"the shared variables take {shared:,} bytes; a block has {MAX_SHARED:,} at most",
            )
        self.program.set_entry(self.numbers[kernel.name], shared, parameter_bytes)
        return self.program

    def function_number(self, function: Function) -> int:
        """The number of a function; it is lowered if it was not yet."""
        found = self.numbers.get(function.name)
        if found is None:
            found = self.numbers[function.name] = self.program.add_function(function.name)
            self.program.set_address(self.memory.functions[function.name], found)
            self.pending.append(function)
        return found

    def _function(self, node: Function) -> None:
        body = node.body
        if body is None:
            raise self.unsupported(
                node, f"the function '{node.name}' has no body here, and is none of CUDA's own"
            )
        self.context.check(node)
        state = self.state = FunctionState(
            self.numbers[node.name], node, self.scopes.scope_of(body)
        )
        self.functions[state.index] = state
        self.current = None
        parameters: list[tuple[int, int]] = []
        results: list[tuple[int, int]] = []
        if node != self.kernel:
            results = [self._parameter_place(one) for one in node.return_parameters]
            parameters = [self._parameter_place(one) for one in node.parameters]
            self._enter(node, parameters, results)
        inner = [self.scopes.scope_of(block) for block in body.find("Block")]
        ranges = any(scope.ranges for scope in inner)
        state.hidden = None if ranges else {name for scope in inner for name in scope.names}
        for child in body.find("Label", "Variable", "Instruction"):
            if isinstance(child, Instruction):
                self._instruction(child)
            elif isinstance(child, Variable):
                self._variable(child)
            else:
                key = child.parent.index, child.name
                state.labels[key] = self.program.size(state.index)
        self.current = None
        self.leave()
        self._resolve()
        if state.local_bytes > MAX_LOCAL:
            raise self.unsupported(
                node,
                f"the local variables take {state.local_bytes:,} bytes; a thread has "
                f"{MAX_LOCAL:,} at most",
            )
        self.program.set_frame(
            state.index, state.register_bytes, align(state.local_bytes, _FRAME), parameters, results
        )

    def _parameter_place(self, one: Parameter) -> tuple[int, int]:
        items, size = parameter_layout((one,))
        offset = self.local_place(size, items[0].alignment)
        if one.space != "reg":
            self.state.locals[one.index] = offset
        return offset, size

    def local_place(self, size: int, alignment: int) -> int:
        """Room in the frame of each thread."""
        state = self.state
        state.local_bytes = align(state.local_bytes, max(8, alignment))
        offset = state.local_bytes
        state.local_bytes += size
        return offset

    def _variable_place(self, size: int, alignment: int) -> int:
        """Room for a local variable: nothing is behind it, so that what goes there is a fault."""
        state = self.state
        state.local_bytes = align(state.local_bytes, max(_FRAME, alignment))
        spare = -size % _FRAME // alignment * alignment
        return self.local_place(spare + size, alignment) + spare

    def _enter(
        self, node: Function, parameters: list[tuple[int, int]], results: list[tuple[int, int]]
    ) -> None:
        """Bring parameters in .reg space into their registers."""
        for one, (place, _) in zip(node.parameters, parameters, strict=True):
            if one.space == "reg":
                self.load_place(self.parameter_register(one), place)
        for one, (place, _) in zip(node.return_parameters, results, strict=True):
            if one.space == "reg":
                self.state.register_results.append((one, place))

    def leave(self) -> None:
        """Return from the function, with results in .reg space put into their places."""
        for one, place in self.state.register_results:
            self.store_place(self.parameter_register(one), place)
        self.emit("ret", [])

    def parameter_register(self, one: Parameter) -> Register:
        """The register that a parameter in .reg space is."""
        key = one.index, one.name
        if key not in self.state.registers:
            self.state.registers[key] = self.new_register(one.type)
        return self.state.registers[key]

    def store_place(self, register: Register, place: int) -> None:
        """Copy a register into the frame."""
        slot, size = register.slot, register.bytes
        if register.type == "pred":
            slot, size = self.new_register("b32").slot, 4
            ones, zeros = self.constant(1, 4), self.constant(0, 4)
            self.emit("selp.b32", [slot, ones, zeros, register.slot])
        at = self.program.add_list(self.state.index, [slot])
        self.emit("st", [NO_SLOT], immediate=place, target=_frame_bits(size), list=at, list_size=1,
                  width=size)  # fmt: skip

    def load_place(self, register: Register, place: int) -> None:
        """Copy a part of the frame into a register."""
        predicate = register.type == "pred"
        slot = self.new_register("b32").slot if predicate else register.slot
        size = 4 if predicate else register.bytes
        at = self.program.add_list(self.state.index, [slot])
        self.emit("ld", [NO_SLOT], immediate=place, target=_frame_bits(size), list=at, list_size=1,
                  width=size)  # fmt: skip
        if predicate:
            zeros = self.constant(0, 4)
            self.emit("setp.ne.u32", [register.slot, NO_SLOT, slot, zeros, NO_SLOT])

    def _variable(self, node: Variable) -> None:
        space = node.space
        if space == "reg":
            return  # those are made when they are used
        for one in node.declarators:
            if space in ("local", "param"):
                self.state.locals[one.index] = self._variable_place(*variable_size(node, one))
            elif space.startswith("shared"):
                size, alignment = variable_size(node, one)
                self.shared[one.index] = self._shared_place(one.name, size, alignment)

    def _shared_place(self, name: str, size: int, alignment: int) -> int:
        if size == 0:
            self.dynamic_alignment = max(self.dynamic_alignment, alignment, 16)
            offset = self.dynamic_base
        else:
            offset = align(self.shared_top, alignment)
            self.shared_top = offset + size + self.padding
        self.shared_layout.append((name, offset, size))
        return offset

    def _resolve(self) -> None:
        state = self.state
        for at, name in state.fixups:
            target = self._label(name)
            self.program.set_target(state.index, at, target)
        for at, name in state.table_fixups:
            self.program.set_list(state.index, at, self._label(name))
        for target in set(state.labels.values()):
            self.program.set_leader(state.index, target)

    def _label(self, name: Name) -> int:
        for ancestor in name.ancestors:
            found = self.state.labels.get((ancestor.index, name.text))
            if found is not None:
                return found
        raise self.unsupported(name, f"the label '{name.text}' is not declared")

    # -- errors --------------------------------------------------------------------------

    def unsupported(self, node: Node, message: str) -> UnsupportedError:
        """An error at a node."""
        return UnsupportedError(self.module.diagnostic("error", "simulator", message, node.span))

    # -- operands ------------------------------------------------------------------------

    def emit(self, operation: str, slots: list[int], **fields: int) -> int:
        """Add one operation for the current instruction, under its guard."""
        guard = self.current.guard if self.current is not None else None
        if guard is not None:
            fields.setdefault("guard", self.register(guard.predicate).slot)
        if "immediate" in fields:  # addresses wrap, as their sums do
            fields["immediate"] = (fields["immediate"] + 2**63) % 2**64 - 2**63
        return self.program.emit(
            self.state.index,
            operation,
            slots,
            node=(self.current or self.state.node).index,
            negated=bool(guard is not None and guard.negated),
            **fields,
        )

    def register(self, node: Node) -> Register:
        """The register a name means."""
        if not isinstance(node, Name):
            raise self.unsupported(node, f"'{node.text}' is not a register")
        declaration = self.scopes.resolve(node)
        if declaration is None or declaration.kind != "register":
            raise self.unsupported(node, f"'{node.text}' is not a declared register")
        if node.selector_length:
            raise self.unsupported(node, f"the selector of '{node.text}' is not simulated here")
        return self._named_register(node, declaration)

    def _named_register(self, node: Name, declaration: Declaration) -> Register:
        return self.declared_register(node.identifier, declaration)

    def declared_register(self, name: str, declaration: Declaration) -> Register:
        """The register of a name with its declaration; a new one at the first use."""
        key = declaration.node.index, name
        found = self.state.registers.get(key)
        if found is None:
            found = self.state.registers[key] = self.new_register(declaration.type)
        return found

    def selected(self, node: Node) -> tuple[int, str]:
        """The slot of a 32-bit operand and its selector, such as ``.h0``."""
        if not isinstance(node, Name):
            return self.source(node, "b32"), ""
        declaration = self.scopes.resolve(node)
        if declaration is None or declaration.kind != "register":
            return self.source(node, "b32"), ""
        return self._named_register(node, declaration).slot, node.selector

    def new_register(self, scalar: str) -> Register:
        """A fresh slot for a value of a type."""
        size, taken = _register_bytes(scalar)
        slot = self.state.register_bytes
        self.state.register_bytes = slot + taken
        return Register(slot, size, scalar)

    def constant(self, value: int, size: int) -> int:
        """The slot of a constant."""
        value &= (1 << (8 * size)) - 1
        key = value, size
        if self.noted is not None:
            self.noted.append(key)
        found = self.constants.get(key)
        if found is None:
            found = self.constants[key] = self.program.add_constant(value, size)
        return found

    def source(self, node: Node, scalar: str) -> int:
        """The slot of a source operand of a type: a register or a constant."""
        if scalar == "pred":
            return self.predicate(node)
        size = scalar_bytes(scalar)
        if isinstance(node, Name):
            declaration = self.scopes.resolve(node)
            if declaration is not None and declaration.kind == "register":
                if node.selector_length:
                    return self.register(node).slot  # which says that it is none for here
                return self._named_register(node, declaration).slot
            if declaration is None and self.is_special(node):
                return self.special(node, scalar).slot
            if node.text != "WARP_SZ":
                return self._symbol_slot(node, declaration, 0, size)
        if node.kind == "Expression" and node.children[0].kind == "Name":
            first = node.children[0]
            offset = sum(int(evaluate(child) or 0) for child in node.children[1:])
            return self._symbol_slot(first, self.scopes.resolve(first), offset, size)
        return self.constant(self.literal(node, scalar), size)

    def is_special(self, node: Node) -> bool:
        """Say whether an operand is a special register such as ``%tid.x``."""
        return (
            isinstance(node, Name)
            and find_special_register(node.text.replace(" ", "")) is not None
            and self.scopes.resolve(node) is None
        )

    def special(self, node: Node, scalar: str, register: Register | None = None) -> Register:
        """The value of a special register, in a register or a fresh one."""
        if register is None:
            kind = scalar if scalar == "pred" else f"b{8 * scalar_bytes(scalar)}"
            register = self.new_register(kind)
        if scalar == "pred":
            self.emit("special.pred", [register.slot])
        else:
            number = SPECIAL_NUMBERS.get(node.text.replace(" ", ""), len(SPECIAL_NUMBERS))
            self.emit("special", [register.slot], immediate=number, width=register.bytes)
        return register

    def literal(self, node: Node, scalar: str) -> int:
        """The bits of a constant operand as a value of a type."""
        value = evaluate(node)
        if value is None:
            raise self.unsupported(node, f"'{node.text}' is not simulated as an operand")
        if isinstance(value, float):
            kind = SCALAR_TYPES[scalar].name
            if node.kind == "Float" and node.text[:2].lower() in ("0f", "0d"):
                bits = int(node.text[2:], 16)
                if node.text[1] in "fF" and kind in ("f64",):
                    return int.from_bytes(struct.pack("<d", value), "little")
                if node.text[1] in "dD" and kind in ("f32",):
                    return int.from_bytes(struct.pack("<f", value), "little")
                return bits
            return int.from_bytes(
                struct.pack("<d" if kind in ("f64", "b64") else "<f", value), "little"
            )
        if value == 1 and scalar == "pred":
            return 0xFFFFFFFF
        return int(value)

    def predicate(self, node: Node) -> int:
        """The slot of a source predicate, negated ones through a fresh register."""
        if isinstance(node, Unary) and node.operator == "!":
            inner = self.predicate(node.children[0])
            fresh = self.new_register("pred")
            self.emit("not.pred", [fresh.slot, inner])
            return fresh.slot
        if isinstance(node, Name):
            if self.is_special(node):
                return self.special(node, "pred").slot
            return self.register(node).slot
        return self.constant(0xFFFFFFFF if evaluate(node) else 0, 4)

    def operand_bytes(self, node: Node) -> int:
        """The bytes of the register that an operand is; 0 for a constant."""
        declaration = self.scopes.resolve(node) if isinstance(node, Name) else None
        named = declaration is not None and declaration.kind == "register"
        return self.register(node).bytes if named else 0

    def is_predicate(self, node: Node) -> bool:
        """Say whether an operand is a predicate, or the negation of one."""
        if isinstance(node, Unary) and node.operator == "!":
            return self.is_predicate(node.children[0])
        declaration = self.scopes.resolve(node) if isinstance(node, Name) else None
        return declaration is not None and declaration.type == "pred"

    def destination(self, node: Node) -> int:
        """The slot of a destination; none for ``_``."""
        return NO_SLOT if node.kind == "Sink" else self.register(node).slot

    def _symbol_slot(
        self, node: Node, declaration: Declaration | None, offset: int, size: int
    ) -> int:
        place = self.symbol(node, declaration)
        if place[0] == "local":
            fresh = self.new_register("b64" if size == 8 else "b32")
            self.emit("address.local", [fresh.slot], immediate=place[1] + offset, width=size)
            return fresh.slot
        return self.constant(place[1] + offset, size)

    def symbol(self, node: Node, declaration: Declaration | None) -> tuple[str, int]:
        """Where a variable, parameter or function lies: its space and its offset there."""
        if declaration is None:
            raise self.unsupported(node, f"'{node.text}' is not declared")
        owner = declaration.node
        if isinstance(owner, Function):
            self.function_number(self.module[owner.name])
            return "function", self.memory.functions[owner.name]
        if owner.index in self.state.locals:
            return "local", self.state.locals[owner.index]
        if isinstance(owner, Parameter):
            return "param", self.kernel_parameters[declaration.name]
        if isinstance(owner, Declarator):
            if owner.index in self.shared:
                return "shared", self.shared[owner.index]
            name = declaration.name
            if declaration.space.startswith("shared") and name in self.memory.shared:
                if name not in self.shared:
                    self.shared[name] = self._shared_place(name, *self.memory.shared[name])
                return "shared", self.shared[name]
            if name in self.memory.addresses:
                for reached in self.memory.reached_functions(name):
                    self.function_number(self.module[reached])
                return declaration.space, self.memory.addresses[name]
        raise self.unsupported(node, f"'{node.text}' is not simulated as an operand")

    # -- instructions --------------------------------------------------------------------

    def _instruction(self, node: Instruction) -> None:
        if self.state.hidden is None or not self.repeated(self, node):
            self.instruction(node)

    def instruction(self, node: Instruction) -> None:
        """Lower one instruction by itself."""
        self.current = node
        lowering: Callable[[Lowering, Instruction], None] | None = self.lowerings.get(node.name)
        if lowering is None:
            raise self.unsupported(node, f"'{node.opcode}' is not simulated yet")
        if not _count_fits(node.name, node.modifiers, len(node.operands)):
            # An operation without one of its operands would read no register at all.
            message = (
                f"'{node.opcode}' has {len(node.operands)} operands, which no form of it takes"
            )
            raise UsageError(
                self.module.diagnostic("error", "operand-count", message, node.span).render()
            )
        try:
            lowering(self, node)
        except (ValueError, StopIteration) as error:
            raise self.unsupported(
                node, f"'{node.opcode}' is not simulated yet: {error}"
            ) from error
        except (AttributeError, KeyError, OverflowError, TypeError) as error:
            # Operands of kinds that no form of the instruction has; ptxas refuses them too.
            raise self.unsupported(
                node, f"'{node.opcode}' cannot have these operands; `ptxkit check` says more"
            ) from error
        except IndexError as error:
            raise UsageError(
                self.module.diagnostic(
                    "error", "operand-count", f"'{node.opcode}' lacks an operand", node.span
                ).render()
            ) from error


@lru_cache(maxsize=256)
def _register_bytes(scalar: str) -> tuple[int, int]:
    """The bytes of one value of a type, and those of the slot for a warp's values."""
    size = scalar_bytes(scalar)
    return size, 64 if scalar == "pred" else align(32 * size, 64)


@lru_cache(maxsize=4096)
def _count_fits(name: str, modifiers: tuple[str, ...], count: int) -> bool:
    """Whether the instruction table has a form with so many operands; unknown ones may pass."""
    found = match(name, modifiers)
    return not found or any(plan(one, count) is not None for one in found)


def _frame_bits(size: int) -> int:
    """The access bits of a place in the frame; see native/sim/access.hpp."""
    return size << 4 | 3 | 1 << 10
