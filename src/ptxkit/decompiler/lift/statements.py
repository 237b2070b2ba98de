"""Steps as statements of C++."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BOOL, INT, Pointer, Struct, Type, Vector
from ptxkit.decompiler.lift.context import NotLiftedError
from ptxkit.decompiler.lift.conversions import C_TYPES, Expr
from ptxkit.decompiler.lift.emit import Emitter
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.pipelines import HEADER, Pipelines
from ptxkit.decompiler.lift.places import Places
from ptxkit.decompiler.lift.values import Definition, Step, Value

_LETTERS = {"b16": "h", "b32": "r", "b64": "l", "f32": "f", "f64": "d", "pred": "r", "b128": "q"}


@dataclass(slots=True)
class Statements:
    """Writes the steps of one function."""

    program: Program
    emitter: Emitter
    places: Places
    lines: dict[int, int] = field(default_factory=dict)
    """The line of PTX that a statement (by its id) came from."""
    kept: list[n.Statement] = field(default_factory=list)

    def write(self, step: Step) -> list[n.Statement]:
        """The statements of a step."""
        made = getattr(self, f"_{step.kind}")(step)
        for statement in made:
            self.lines[id(statement)] = step.line
        self.kept += made
        return made  # type: ignore[no-any-return]

    def _set(self, step: Step) -> list[n.Statement]:
        variable, value = step.targets[0].variable, step.args[0]
        type = self.emitter.types[variable]
        target = n.Name(variable.name)
        if variable.declared == "vector":
            if value.op == "load":
                return [n.Assign(target, self.places.loaded(value, type).node)]
            return [n.Assign(target, self.emitter.natural(value, type).node)]
        if isinstance(type, Struct):
            return [n.Assign(target, self.emitter.natural(value).node)]
        node = self.emitter.assigned(value, type)
        if variable in self.emitter.kept and isinstance(node, n.Binary) and value.op == "fmul":
            name = "__fmul_rn" if value.width == 32 else "__dmul_rn"
            node = n.Call(name, (node.left, node.right))
        return [n.Assign(target, node)]

    def _store(self, step: Step) -> list[n.Statement]:
        return self.places.stored(step.data, step.args[0], step.args[1:])

    def _effect(self, step: Step) -> list[n.Statement]:
        return [n.Evaluate(self.emitter.natural(step.args[0]).node)]

    def _outputs(self, step: Step) -> list[n.Statement]:
        """A call that gives its results through pointers."""
        name, type = step.data
        given = [self.emitter.assigned(value, C_TYPES[type]) for value in step.args]
        results = [n.Unary("&", n.Name(target.variable.name)) for target in step.targets]
        return [n.Evaluate(n.Call(name, (*given, *results)))]

    def _return(self, step: Step) -> list[n.Statement]:
        if not step.args:
            return [n.Return()]
        result = self.program.result
        assert result is not None
        return [n.Return(self.emitter.assigned(step.args[0], self.emitter.types[result]))]

    # ---- inline assembly -----------------------------------------------------------------

    def _asm(self, step: Step) -> list[n.Statement]:
        call = Pipelines(self.program, self.places).written(step)
        if call is not None:
            self.emitter.headers.add(HEADER)
            return [n.Evaluate(call)]
        text, outputs, inputs, updates = step.data
        before: list[n.Statement] = []
        after: list[n.Statement] = []
        old = iter(step.args[:updates])
        bound: list[n.AsmOperand] = []
        for target, (type, both) in zip(step.targets, outputs, strict=True):
            bound.append(self._output(target, type, next(old) if both else None, before, after))
        taken = tuple(
            n.AsmOperand(_LETTERS[type], self._input(value, type))
            for value, type in zip(step.args[updates:], inputs, strict=True)
        )
        return [*before, n.Asm(text, tuple(bound), taken, ("memory",)), *after]

    def _input(self, value: Value, type: str) -> n.Expression:
        if type == "pred":
            return n.Cast(INT, self.emitter.condition(value))
        if type == "b64":
            kinds = self.emitter.kinds
            base = kinds.base(value)
            if base is not None and base.op not in ("symbol", "slot"):
                return self.emitter.typed(value, kinds.pointer_type(base))
        return self.emitter.typed(value, C_TYPES[type])

    def _output(
        self,
        target: Definition,
        type: str,
        old: Value | None,
        before: list[n.Statement],
        after: list[n.Statement],
    ) -> n.AsmOperand:
        variable = target.variable
        have, want = self.emitter.types[variable], C_TYPES["s32" if type == "pred" else type]
        sign = "=" if old is None else "+"
        name = n.Name(variable.name)
        if old is not None and self._fits(have, want):
            value = self.emitter.assigned(old, have)
            if value != name:
                before.append(n.Assign(name, value))
        if self._fits(have, want):
            return n.AsmOperand(sign + _LETTERS[type], name)
        # Bound to a variable of the constraint's type, and copied.
        place = self.emitter.lift.fresh(variable.width, type).variable
        place.name = f"asm{place.number}"
        self.emitter.types[place] = want
        made = n.Name(place.name)
        if old is not None:
            before.append(n.Declare(want, place.name, self.emitter.typed(old, want)))
        else:
            before.append(n.Declare(want, place.name))
        if have == BOOL:
            after.append(n.Assign(name, n.Binary("!=", made, n.Literal(0, INT))))
        else:
            value = self.emitter.converted(Expr(made, want), variable.width, have)
            after.append(n.Assign(name, value))
        return n.AsmOperand(sign + _LETTERS[type], made)

    def _fits(self, have: Type, want: Type) -> bool:
        """Whether a variable can be bound to a constraint as it is."""
        if have == want:
            return True
        if isinstance(have, Pointer | Vector | Struct) or isinstance(want, Pointer | Vector):
            return False
        if not hasattr(have, "kind") or not hasattr(want, "kind"):
            raise NotLiftedError("this operand of inline assembly")
        return have.kind == want.kind == "int" and have.bits == want.bits  # type: ignore[union-attr]
