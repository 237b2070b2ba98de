"""Statements of CUDA C++ as effects over values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import VOID, Array, Pointer, Scalar, Vector
from ptxkit.decompiler.neural.lower import (
    Expressions,
    Place,
    Storage,
    Typed,
    element_type,
    value_type,
)
from ptxkit.decompiler.neural.operators import ATOMICS, NARROW
from ptxkit.decompiler.neural.program import Effect, Program
from ptxkit.decompiler.neural.signs import unsigned_where_unseen
from ptxkit.decompiler.neural.simplify import low_bits
from ptxkit.decompiler.neural.unsupported import UnsupportedError
from ptxkit.decompiler.neural.values import Value, is_literal

Body = tuple[n.Statement, ...]


def lower(function: n.Function, functions: dict[str, n.Function] | None = None) -> Program:
    """A function as effects over values; `functions` are those that it may call."""
    return _Statements(functions or {}).function(function)


class _Statements(Expressions):
    def function(self, function: n.Function) -> Program:
        body = function.body
        if body is None:
            raise UnsupportedError("a function without a body")
        written = _written(body)
        parameters: list[str] = []
        cached: set[int] = set()
        for number, parameter in enumerate(function.parameters):
            type = parameter.type
            if isinstance(type, Pointer) and isinstance(type.target, Scalar | Vector):
                lanes = type.target.count if isinstance(type.target, Vector) else 1
                element = type.target.element if isinstance(type.target, Vector) else type.target
                parameters.append(f"ptr.{element_type(element)}")
                storage = Storage(self.make.graph.symbol(f"p{number}"), element, lanes=lanes)
                storage.restrict = type.restrict
                storage.written = parameter.name in written
                if type.restrict and not storage.written:
                    cached.add(number)
                self.arrays[parameter.name] = storage
            elif isinstance(type, Scalar):
                if type.kind == "bool" or type.bits < 32:
                    raise UnsupportedError(f"a parameter of type {type.spelling}")
                parameters.append(value_type(type))
                value = self.make.graph.node("parameter", (), value_type(type), f"p{number}")
                self.places[parameter.name] = Place(type, value)
            else:
                raise UnsupportedError(f"a parameter of type {type.spelling}")
        if function.returns != VOID:
            assert isinstance(function.returns, Scalar)
            self.result_type = function.returns
            result = self.returned(body)
            self.block.append(Effect(f"return.{result.type}", (result,)))
            return Program(parameters, self.block, result.type, frozenset(cached))
        self.statements(_without_jumps(body, n.Return))
        shared = [e for e in self.block if e.word.startswith(("shared", "dynamic"))]
        rest = [e for e in self.block if e not in shared]
        return unsigned_where_unseen(Program(parameters, shared + rest, "", frozenset(cached)))

    def statements(self, body: Body) -> None:
        """Statements one after another."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: n.Statement) -> None:
        """One statement."""
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise UnsupportedError(f"the statement {type(node).__name__}")
        handler(self, node)

    # ---- variables -----------------------------------------------------------------------

    def declare(self, node: n.Declare) -> None:
        """A variable or an array in shared memory."""
        if isinstance(node.type, Array):
            if node.space not in ("shared", "extern shared") or len(node.type.shape) > 2:
                raise UnsupportedError("arrays that are not shared memory of one or two dimensions")
            element = node.type.element
            word = "dynamic" if node.space == "extern shared" else "shared"
            name = f"s{sum(a.shared for a in self.arrays.values())}"
            if not isinstance(element, Scalar):
                raise UnsupportedError(f"shared memory of {element.spelling}")
            row = node.type.shape[1] if len(node.type.shape) == 2 else 0
            symbol = self.make.graph.symbol(name)
            self.arrays[node.name] = Storage(symbol, element, shared=True, row=row)
            count = node.type.shape[0] * (row or 1)
            self.block.append(Effect(f"{word}.{element_type(element)}", name=name, count=count))
            return
        if isinstance(node.type, Vector) and node.value is not None:
            self.vectors[node.name] = self.vector(node.value)
            return
        if not isinstance(node.type, Scalar) or node.space:
            raise UnsupportedError(f"a variable of type {node.type.spelling}")
        value_type(node.type)
        value = None
        if node.value is not None:
            value = self.convert(self.expression(node.value), node.type)
        self.places[node.name] = Place(node.type, value)

    def assign(self, node: n.Assign) -> None:
        """A variable or an element gets a value."""
        target = node.target
        if isinstance(target, n.Name) and target.name in self.places:
            place = self.places[target.name]
            place.value = self.convert(self.assigned(node), place.type)
            # The order in which variables changed last is the order they are set in.
            if place.name:
                self.places[target.name] = self.places.pop(target.name)
                place.dirty = True
            return
        if not isinstance(target, n.Index):
            raise UnsupportedError("an assignment to this target")
        if not isinstance(target.base, n.Index) and self.storage(target.base).lanes > 1:
            storage = self.storage(target.base)
            places = self.lanes(storage, target.index)
            for lane, part in zip(places, self.vector(node.value), strict=True):
                self.store(storage, lane, part)
            return
        storage, index = self.element(target)
        self.store(storage, index, self.assigned(node))

    def store(self, storage: Storage, index: Value, typed: Typed) -> None:
        """An element gets a value."""
        element = element_type(storage.type)
        value = self.convert(typed, storage.type)
        if element in NARROW:
            value = low_bits(self.make, value, int(element[1:]))
            value = _bare(value, int(element[1:]))
        ends = self.changed(storage)
        self.block.append(Effect(f"store.{element}", (storage.symbol, index, value), ends=ends))

    def assigned(self, node: n.Assign) -> Typed:
        """The value of an assignment, with the operator of `+=` applied."""
        value = self.expression(node.value)
        if node.operator == "=":
            return value
        return self.combine(node.operator[:-1], self.expression(node.target), value)

    def changed(self, storage: Storage) -> frozenset[tuple[str, int]]:
        """A store: ends what all arrays held that it may have changed."""
        ended: set[tuple[str, int]] = set()
        for other in self.arrays.values():
            if other is storage or (not storage.shared and not other.shared):
                if other is not storage and other.restrict and not other.written:
                    continue
                ended.add(other.state)
                if other is storage or not (storage.restrict or other.restrict):
                    other.version += 1
        return frozenset(ended)

    def everything_changed(self) -> frozenset[tuple[str, int]]:
        """A barrier: other threads may have changed all that can be."""
        ended = set()
        for other in self.arrays.values():
            if not (other.restrict and not other.written):
                ended.add(other.state)
                other.version += 1
        return frozenset(ended)

    def evaluate(self, node: n.Evaluate) -> None:
        """A call for its effect."""
        call = node.expression
        if not isinstance(call, n.Call):
            raise UnsupportedError("an expression for its effect")
        if call.function in ("__syncthreads", "__syncwarp"):
            word = "sync" if call.function == "__syncthreads" else "syncwarp"
            self.block.append(Effect(word, ends=self.everything_changed()))
            return
        if call.function not in ATOMICS or len(call.arguments) != 2:
            raise UnsupportedError(f"a call of '{call.function}' for its effect")
        pointer, amount = call.arguments
        target: n.Expression = pointer
        if isinstance(pointer, n.Unary) and pointer.operator == "&":
            target = pointer.operand
        elif isinstance(pointer, n.Name):
            target = n.Index(pointer, n.integer(0))
        if not isinstance(target, n.Index):
            raise UnsupportedError("an atomic update of something that is no element")
        storage, index = self.element(target)
        value = self.convert(self.expression(amount), storage.type)
        kind = _atomic_type(call.function, storage.type)
        if kind not in ATOMICS[call.function]:
            raise UnsupportedError(f"'{call.function}' of {storage.type.spelling}")
        word = f"{call.function}.{kind}"
        ends = self.changed(storage)
        self.block.append(Effect(word, (storage.symbol, index, value), ends=ends))

    # ---- control -------------------------------------------------------------------------

    def nested(self, body: Body) -> list[Effect]:
        """Statements in a block of their own; variables that loops change are set at its end."""
        outer, self.block = self.block, []
        self.statements(body)
        self.flush()
        found, self.block = self.block, outer
        return found

    def flush(self) -> None:
        """Set the variables whose values are still only known here."""
        for place in [p for p in self.places.values() if p.dirty]:
            old = (place.name, place.version)
            value = place.value
            assert value is not None
            place.version += 1
            place.dirty = False
            place.value = self.make.graph.variable(place.name, value.type, place.version)
            if value.operator == "variable" and value.payload == place.name:
                continue
            word = f"set.{value.type}"
            self.block.append(Effect(word, (value,), name=place.name, ends=frozenset([old])))

    def make_mutable(self, names: list[str]) -> None:
        """Give variables a name, since control flow decides what they hold."""
        self.flush()
        for name in names:
            place = self.places[name]
            if not place.name:
                place.name = f"m{self.counter}"
                self.counter += 1
                kind = value_type(place.type)
                value = place.value or self.make.literal(0, kind)
                self.block.append(Effect(f"let.{kind}", (value,), name=place.name))
                self.renew(place)

    def renew(self, place: Place) -> None:
        """A variable holds something new."""
        place.version += 1
        place.value = self.make.graph.variable(place.name, value_type(place.type), place.version)

    def branch(self, node: n.If) -> None:
        """An `if`: a choice of values where it has no effects."""
        if _effects(node):
            self.flush()
        condition = self.truth(node.condition)
        if is_literal(condition):
            self.statements(node.then if condition.payload else node.otherwise)
            return
        if not _effects(node):
            self.choice(condition, node)
            return
        known = set(self.places)
        leaves = _leaves(node.then) and not node.otherwise
        names = [] if leaves else [x for x in _assigned(node.then + node.otherwise) if x in known]
        self.make_mutable(names)
        kept = {k: _copied(p) for k, p in self.places.items()}
        then = self.nested(node.then)
        middle = {k: p.version for k, p in self.places.items()}
        self.places = {k: _copied(p) for k, p in kept.items()}
        otherwise = self.nested(node.otherwise)
        if leaves:
            # Whoever goes on has not been inside.
            self.places = kept
        else:
            for name in names:
                place = self.places[name]
                place.version = max(place.version, middle.get(name, 0))
                self.renew(place)
        self.places = {k: p for k, p in self.places.items() if k in known}
        if not then and not otherwise:
            return
        if not then:
            condition, then, otherwise = self.make.make("!", condition), otherwise, then
        blocks = (then, otherwise) if otherwise else (then,)
        word = "ifelse" if otherwise else "if"
        self.block.append(Effect(word, (condition,), blocks))

    def choice(self, condition: Value, node: n.If) -> None:
        """An `if` that only decides what variables hold."""
        before = {k: _copied(p) for k, p in self.places.items()}
        self.statements(node.then)
        then = self.places
        self.places = {k: _copied(p) for k, p in before.items()}
        self.statements(node.otherwise)
        for name in [k for k in then if k in before]:
            place, other = self.places[name], then[name]
            if other.value is place.value:
                continue
            if place.value is None or other.value is None:
                place.value = place.value or other.value
            else:
                place.value = self.choose(condition, other.value, place.value)
            if place.name:
                self.places[name] = self.places.pop(name)
                place.dirty = True
        self.places = {k: p for k, p in self.places.items() if k in before}

    def loop(self, condition: n.Expression | None, body: Body, *, first: bool) -> None:
        """A loop; `first` where the condition is asked before the body."""
        body = _without_jumps(body, n.Continue)
        known = set(self.places)
        names = [x for x in _assigned(body) if x in known]
        certain = False
        if condition is not None:
            now = self.truth(condition)
            certain = is_literal(now) and bool(now.payload)
            if first and is_literal(now) and not now.payload:
                return
        self.make_mutable(names)
        ended = {(self.places[x].name, self.places[x].version) for x in names}
        for name in names:
            self.renew(self.places[name])
        # What the body stores is unknown from the first round on.
        stored = _written(body)
        entry = {s.state for a, s in self.arrays.items() if a in stored}
        if _synchronises(body):
            entry = {s.state for s in self.arrays.values() if s.written or s.shared}
        for storage in self.arrays.values():
            if storage.state in entry:
                storage.version += 1
        asked = self.truth(condition) if condition is not None and (first or certain) else None
        before = {a: s.version for a, s in self.arrays.items()}
        if asked is not None:
            self.make.assume(asked)
        inner = self.nested(body)
        if asked is None:
            asked = self.truth(condition) if condition is not None else self.make.literal(1, "b")
        for name in names:
            self.renew(self.places[name])
        for name, storage in self.arrays.items():
            if storage.version != before.get(name):
                storage.version += 1
        self.places = {k: p for k, p in self.places.items() if k in known}
        word = "while" if first or certain else "do"
        self.block.append(Effect(word, (asked,), (inner,), ends=frozenset(ended | entry)))

    def for_loop(self, node: n.For) -> None:
        """`for`: its start, then a loop that ends each round with its step."""
        known = set(self.places)
        shadowed = None
        if isinstance(node.start, n.Declare):
            shadowed = self.places.get(node.start.name)
        if node.start is not None:
            self.statement(node.start)
        body = _without_jumps(node.body, n.Continue)
        step = (node.step,) if node.step is not None else ()
        self.loop(node.condition, (*body, *step), first=True)
        if isinstance(node.start, n.Declare):
            place = self.places.pop(node.start.name, None)
            if shadowed is not None and place is not None:
                self.places[node.start.name] = shadowed
            assert known

    def leave(self, node: n.Break) -> None:
        """`break`."""
        self.flush()
        self.block.append(Effect("break"))


def _copied(place: Place) -> Place:
    return Place(place.type, place.value, place.name, place.version, place.dirty)


def _bare(value: Value, bits: int) -> Value:
    """Without a conversion that only fills bits above those that are stored."""
    while value.operator.startswith("ext.") and int(value.operator[5:]) >= bits:
        value = value.operands[0]
    return value


def _atomic_type(function: str, type: Scalar) -> str:
    """Only minimum and maximum care for the sign."""
    element = element_type(type)
    if function in ("atomicMin", "atomicMax") and element[0] == "i":
        return ("s" if type.signed else "u") + element[1:]
    return element


# ---- what statements do ------------------------------------------------------------------


def _walk(body: Body) -> list[n.Node]:
    return [node for statement in body for node in statement.walk()]


def _assigned(body: Body) -> list[str]:
    """Variables that get a new value, in order, without those declared inside."""
    found: dict[str, None] = {}
    inside = {x.name for x in _walk(body) if isinstance(x, n.Declare)}
    for node in _walk(body):
        if isinstance(node, n.Assign) and isinstance(node.target, n.Name):
            found[node.target.name] = None
    return [x for x in found if x not in inside]


def _written(body: Body) -> set[str]:
    """Arrays that are stored to."""
    found = set()
    for node in _walk(body):
        target = node.target if isinstance(node, n.Assign) else None
        if isinstance(node, n.Call) and node.function in ATOMICS and node.arguments:
            target = node.arguments[0]
            if isinstance(target, n.Unary):
                target = target.operand
        while isinstance(target, n.Index) and isinstance(target.base, n.Index):
            target = target.base
        if isinstance(target, n.Index) and isinstance(target.base, n.Name):
            found.add(target.base.name)
        elif isinstance(node, n.Call) and isinstance(target, n.Name):
            found.add(target.name)
    return found


def _synchronises(body: Body) -> bool:
    return any(isinstance(x, n.Evaluate) for x in _walk(body))


_LOOPS = (n.For, n.While, n.DoWhile)
_EFFECTS = (n.Evaluate, n.For, n.While, n.DoWhile, n.Break, n.Continue, n.Return, n.Switch)


def _effects(node: n.If) -> bool:
    """Whether an `if` does more than to decide what variables hold."""
    for part in node.walk():
        if isinstance(part, _EFFECTS):
            return True
        if isinstance(part, n.Assign) and not isinstance(part.target, n.Name):
            return True
        if isinstance(part, n.Declare) and part.space:
            return True
    return False


def _leaves(body: Body) -> bool:
    return bool(body) and isinstance(body[-1], n.Break)


def _without_jumps(body: Body, jump: type[n.Return] | type[n.Continue]) -> Body:
    """The same without `return` or `continue`: what follows goes into the other branch."""
    for number, statement in enumerate(body):
        if isinstance(statement, jump):
            return body[:number]
        if isinstance(statement, n.If) and _jumps((statement,), jump):
            rest = body[number + 1 :]
            branches = []
            for part in (statement.then, statement.otherwise):
                ends = bool(part) and isinstance(part[-1], jump)
                branches.append(_without_jumps(part if ends else (*part, *rest), jump))
            then, otherwise = branches
            condition = statement.condition
            if not then:
                condition, then, otherwise = n.Unary("!", condition), otherwise, ()
            if not then:
                return body[:number]
            return (*body[:number], n.If(condition, then, otherwise))
        if jump is n.Return and isinstance(statement, _LOOPS) and _jumps(statement.body, jump):
            raise UnsupportedError("a return inside a loop")
    return body


def _jumps(body: Body, jump: type[n.Return] | type[n.Continue]) -> bool:
    """Whether a jump of this kind leaves these statements; an inner loop keeps its own."""
    for statement in body:
        if isinstance(statement, jump):
            return True
        inside: Body = ()
        if isinstance(statement, n.If):
            inside = statement.then + statement.otherwise
        elif isinstance(statement, _LOOPS) and jump is n.Return:
            inside = statement.body
        if _jumps(inside, jump):
            return True
    return False


_HANDLERS: dict[type, Callable[[_Statements, Any], None]] = {
    n.Declare: _Statements.declare,
    n.Assign: _Statements.assign,
    n.Evaluate: _Statements.evaluate,
    n.If: _Statements.branch,
    n.For: _Statements.for_loop,
    n.While: lambda s, x: s.loop(x.condition, x.body, first=True),
    n.DoWhile: lambda s, x: s.loop(x.condition, x.body, first=False),
    n.Break: _Statements.leave,
    n.Block: lambda s, x: s.statements(x.body),
    n.Comment: lambda s, x: None,
}
