"""Calls as expressions of C++: of CUDA, of textures, of functions of the module, of printf."""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.cuda.printer import print_expression
from ptxkit.cuda.types import (
    FLOAT,
    INT,
    SCALARS,
    UINT,
    UNSIGNED_LONG_LONG,
    VECTORS,
    Pointer,
    Type,
    Vector,
)
from ptxkit.decompiler.lift.context import NotLiftedError
from ptxkit.decompiler.lift.conversions import (
    C_TYPES,
    Expr,
)
from ptxkit.decompiler.lift.values import Value, Variable
from ptxkit.decompiler.lift.writing import Writing


class Calls(Writing):
    """Writes calls."""

    __slots__ = ()

    def _call(self, value: Value, hint: Type | None) -> Expr:
        return self.intrinsic(value.data, value.args)

    def _collective(self, value: Value, hint: Type | None) -> Expr:
        return self.intrinsic(value.data[0], value.args)

    def _atomic(self, value: Value, hint: Type | None) -> Expr:
        assert self.places is not None
        name, access = value.data
        type = C_TYPES[access.type]
        if access.type == "b32":
            cell = self.kinds.accessed(value.args[0], 32, 1, count_it=False)
            chosen = self.kinds.type_of(cell, 32) if cell is not None else UINT
            type = chosen if chosen in (INT, UINT) else UINT
            if name.startswith("atomicExch") and chosen == FLOAT:
                type = FLOAT
        elif access.type == "u32" and name.startswith("atomicAdd"):
            # A sum is the same with a sign or without.
            cell = self.kinds.accessed(value.args[0], 32, 1, count_it=False)
            if cell is not None and self.kinds.type_of(cell, 32) == INT:
                type = INT
        address = self.places.pointer(value.args[0], Pointer(type), access.space, element=True)
        return Expr(n.Call(name, (address, *(self.typed(a, type) for a in value.args[1:]))), type)

    def _texture(self, value: Value, hint: Type | None) -> Expr:
        call = value.data[0]
        arguments = tuple(
            self.assigned(a, C_TYPES[t]) for a, t in zip(value.args, call.takes, strict=True)
        )
        arguments += tuple(map(n.Name, call.ends))
        if isinstance(hint, Vector) and call.name.startswith("surf"):
            return Expr(n.Call(f"{call.name}<{hint.word}>", arguments), hint)
        type = VECTORS[{"f32": "float4", "s32": "int4", "u32": "uint4"}[call.gives]]
        return Expr(n.Call(call.name, arguments), type)

    def _passed(self, value: Value, want: Type) -> n.Expression:
        """An argument; a text that stood in the source as such."""
        text = None
        if self.texts is not None and want == Pointer(SCALARS["char"], const=True):
            text = self.texts.literal(value)
        return n.Name(text) if text is not None else self.assigned(value, want)

    def _printf(self, value: Value, hint: Type | None) -> Expr:
        text, parts, _ = value.data
        left = iter(value.args)
        arguments: list[n.Expression] = [n.Name(text)]
        for part in parts:
            if part.startswith('"'):
                arguments.append(n.Name(part))
            else:
                want = Pointer(SCALARS["char"], const=True) if part == "text" else C_TYPES[part]
                arguments.append(self.typed(next(left), want))
        return Expr(n.Call("printf", tuple(arguments)), INT)

    def _function(self, value: Value, hint: Type | None) -> Expr:
        how, callee, result, _ = value.data
        gives = self._result_type(result)
        if how == "direct":
            signature = self.lift.signatures.functions[callee]
            wants = [slot.c_type or C_TYPES[slot.type] for slot in signature.parameters]
            values = list(value.args)
            if len(values) > len(wants):
                raise NotLiftedError("a call with more arguments than parameters")
            if signature.results and signature.results[0].c_type is not None:
                gives = signature.results[0].c_type
            arguments = [self._passed(a, w) for a, w in zip(values, wants, strict=False)]
            return Expr(n.Call(signature.name, tuple(arguments)), gives)
        pointer, *values = value.args
        kinds = list(callee)
        if result is not None:
            kinds.pop(0)
        # A structure that is passed says itself what it is.
        wants = [
            C_TYPES[kind] if kind else self.natural(one).type
            for kind, one in zip(kinds, values, strict=True)
        ]
        head = f"{gives.spelling} (*)({', '.join(w.spelling for w in wants)})"
        target = self.typed(pointer, UNSIGNED_LONG_LONG)
        text = f"(({head}){print_expression(n.Cast(UNSIGNED_LONG_LONG, target))})"
        if isinstance(target, n.Name):
            text = f"(({head}){target.name})"
        arguments = [self.assigned(a, w) for a, w in zip(values, wants, strict=True)]
        return Expr(n.Call(text, tuple(arguments)), gives)

    def _result_type(self, result: Variable | None) -> Type:
        if result is None:
            return SCALARS["void"]
        if result.declared == "struct":
            return self.types[result]
        return C_TYPES[result.declared]

    def _whole_struct(self, value: Value, hint: Type | None) -> Expr:
        variable = value.data
        return Expr(n.Name(variable.name), self.types[variable])
