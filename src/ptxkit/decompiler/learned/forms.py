"""Other ways to write a function: each place where there is one is a question.

Nothing here is trusted: whoever takes another form compiles it and sees that it is the same PTX.

>>> from ptxkit.cuda import print_function, read
>>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
...     (let int i (& threadIdx.x 31))
...     (if (< i n) (then (= ([] x i) 0.0f) (= ([] x (+ i 32)) 0.0f))))''')
>>> [question.form for question in questions(kernel)]
['power', 'guard']
>>> print(print_function(rewritten(kernel, lambda question: True)), end="")
__global__ void k(float *x, int n) {
    int i = threadIdx.x % 32;
    if (i >= n) return;
    x[i] = 0.0f;
    x[i + 32] = 0.0f;
}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import INT, Scalar, Type
from ptxkit.decompiler.learned.contexts import base_name, names_in
from ptxkit.decompiler.lift.conditions import negate
from ptxkit.decompiler.lift.polish import compound

Body = tuple[n.Statement, ...]
#: What may be asked, and what the other form is.
FORMS = {
    "power": "a shift or a mask as a product, a quotient or a remainder",
    "cast": "a conversion left to C++",
    "choice": "an if with two values as a conditional expression",
    "branch": "a conditional expression as an if",
    "inline": "a variable that is used once as its value",
    "start": "a value that both ways set as the initial one",
    "loop": "a do in an if as a for",
    "guard": "an if around the rest of a kernel as a return",
}
_SHIFTS = frozenset(("<<", ">>", "<<=", ">>="))
#: What is put together of bits is moved by bits: a hash is no product.
_BITS = frozenset(("^", "|", "&", "~"))
#: A mask with more bits is one to people, and no remainder.
_LARGEST = 1 << 12
#: Nodes of a statement that a variable is still written in: nobody reads a longer one, compilers
#: nest as deep as it does, and a chain of thousands would be one of all.
_LONGEST = 80
_POWERS = {"<<": "*", ">>": "/", "&": "%", "<<=": "*=", ">>=": "/=", "&=": "%="}


@dataclass(frozen=True, slots=True)
class Question:
    """A place that could be written otherwise, and what it looks like there."""

    form: str
    words: tuple[str, ...]

    @property
    def features(self) -> dict[str, float]:
        """What the ranker weighs."""
        return {self.form: 1.0, **{f"{self.form} {word}": 1.0 for word in self.words}}


Decide = Callable[[Question], bool]


def rewritten(
    function: n.Function, decide: Decide, known: Mapping[str, Type] | None = None
) -> n.Function:
    """A function with the other form wherever the answer is yes.

    ``known`` are the types that the rest of the file tells, as of `known_types`.
    """
    if function.body is None:
        return function
    return replace(function, body=_Writer(function, decide, known or {}).run())


def questions(function: n.Function) -> list[Question]:
    """Everything that can be asked about a function as it is, in order."""
    found: list[Question] = []

    def note(question: Question) -> bool:
        found.append(question)
        return False

    rewritten(function, note)
    return found


def only(place: int) -> Decide:
    """Yes to one question, by its number."""
    count = -1

    def decide(question: Question) -> bool:
        nonlocal count
        count += 1
        return count == place

    return decide


class _Types(dict[str, Type]):
    """Types by name; what is not known is a number."""

    def __missing__(self, key: str) -> Type:
        return INT


class _Writer:
    """Rewrites one function, from the leaves up."""

    def __init__(self, function: n.Function, decide: Decide, known: Mapping[str, Type]) -> None:
        self.function, self.decide = function, decide
        self.types = _Types({**known, **{p.name: p.type for p in function.parameters}})
        self.uses: Counter[str] = Counter()
        self.sets: Counter[str] = Counter()
        for statement in function.body or ():
            self.uses.update(names_in(statement))
            for node in statement.walk():
                match node:
                    case n.Declare(name=name, type=type):
                        self.types[name] = type
                        self.sets[name] += 1
                    case n.Assign(target=n.Name(name=name)):
                        self.sets[name] += 1
                    case n.Unary(operator="&", operand=operand):
                        self.sets[base_name(operand)] += 2
                    case n.Asm(outputs=outputs):
                        self.sets.update(name for o in outputs for name in names_in(o))

    def run(self) -> Body:
        body = self._body(self.function.body or ())
        return self._guarded(body)

    def _ask(self, form: str, *words: str) -> bool:
        return self.decide(Question(form, words))

    # ---- expressions ---------------------------------------------------------------------

    def _inside(self, node: Any, place: str) -> Any:
        """An expression, rewritten; ``place`` says what it is a part of."""
        match node:
            case n.Binary(operator=operator):
                label = operator
            case n.Call(function=function):
                label = function
            case _:
                label = type(node).__name__
        made = node.rebuilt(lambda part: self._inside(part, label))
        match made:
            case n.Binary(operator=operator, left=left, right=n.Literal() as right):
                other = _power(operator, right)
                if place in _SHIFTS and not self._is_unsigned(left):
                    # A negative number of bits is nothing, so that a compiler would not mind.
                    other = None
                if place in _BITS and operator in _SHIFTS:
                    other = None
                if other is not None and self._ask(
                    "power", operator, f"{operator} {right.value}", f"{operator} in {place}",
                    f"{operator} of {self._sort(left)}",
                ):  # fmt: skip
                    return n.Binary(_POWERS[operator], left, other)
            case n.Cast(type=Scalar() as wanted, operand=operand):
                given = self._type(operand)
                if isinstance(given, Scalar) and _implied(given, wanted, place) and self._ask(
                    "cast", wanted.word, f"in {place}", f"{wanted.word} of {given.word}",
                    f"of {type(operand).__name__}", f"{wanted.word} of {given.word} in {place}",
                ):  # fmt: skip
                    return operand
        return made

    def _type(self, node: n.Expression) -> Type | None:
        try:
            return infer(node, self.types)
        except (KeyError, AttributeError, AssertionError):
            return None

    def _is_float(self, node: n.Expression) -> bool:
        found = self._type(node)
        return found is None or (isinstance(found, Scalar) and found.is_float)

    def _sort(self, node: n.Expression) -> str:
        match node:
            case n.Member(base=n.Name(name=name), field=field):
                return f"{name}.{field}"
            case n.Name(name=name):
                return name.rstrip("0123456789")
        return type(node).__name__

    # ---- statements ----------------------------------------------------------------------

    def _body(self, body: Body) -> Body:
        made: list[n.Statement] = []
        for statement in body:
            one = self._statement(statement)
            before = made[-1] if made else None
            declared = before if isinstance(before, n.Declare) else None
            if isinstance(one, n.If):
                one = self._choice(one, declared)
                if isinstance(one, n.Declare):
                    made.pop()
            if isinstance(one, n.If) and declared is not None:
                started = self._started(one, declared)
                if started is not None:
                    made[-1], one = started
            if isinstance(one, n.If):
                one = self._loop(one)
            if isinstance(one, n.Assign | n.Declare) and isinstance(one.value, n.Conditional):
                made += self._branch(one)
                continue
            while (joined := self._inlined(made, one)) is not None:
                one = compound(joined) if isinstance(joined, n.Assign) else joined
            made.append(one)
        return tuple(made)

    def _statement(self, node: Any) -> Any:
        match node:
            case n.If(condition=condition, then=then, otherwise=otherwise):
                return n.If(self._inside(condition, "if"), self._body(then), self._body(otherwise))
            case n.For(start=start, condition=condition, step=step, body=body):
                return replace(
                    node, start=start and self._statement(start),
                    condition=condition and self._inside(condition, "loop"),
                    step=step and self._statement(step), body=self._body(body),
                )  # fmt: skip
            case n.While(condition=condition, body=body):
                return replace(
                    node, condition=self._inside(condition, "loop"), body=self._body(body)
                )
            case n.DoWhile(condition=condition, body=body):
                made = self._body(body)
                return replace(node, condition=self._inside(condition, "loop"), body=made)
            case n.Switch(value=value, cases=cases):
                inner = tuple(replace(case, body=self._body(case.body)) for case in cases)
                return n.Switch(self._inside(value, "switch"), inner)
            case n.Block(body=body):
                return n.Block(self._body(body))
            case n.Assign(operator=operator, value=n.Literal() as value):
                other = _power(operator, value)
                if other is not None and self._ask(
                    "power", operator, f"{operator} {value.value}",
                    f"{operator} of {self._sort(node.target)}",
                ):  # fmt: skip
                    node = replace(node, operator=_POWERS[operator], value=other)
                return replace(node, target=self._inside(node.target, "target"))
            case n.Assign(operator=operator) if operator in _SHIFTS:
                return node.rebuilt(lambda part: self._inside(part, operator))
            case n.Declare() | n.Assign() | n.Evaluate() | n.Return():
                return node.rebuilt(lambda part: self._inside(part, type(node).__name__))
        return node

    def _is_unsigned(self, node: n.Expression) -> bool:
        given = self._type(node)
        return isinstance(given, Scalar) and given.is_integer and not given.signed

    def _choice(self, node: n.If, declared: n.Declare | None) -> n.Statement:
        """``if (c) x = a; else x = b;`` as ``x = c ? a : b;``."""
        match node:
            case n.If(
                condition=condition,
                then=(n.Assign(target=target, value=one, operator="="),),
                otherwise=(n.Assign(target=other, value=two, operator="="),),
            ) if target == other:
                first = (
                    declared is not None and declared.value is None and not declared.space
                    and target == n.Name(declared.name)
                )  # fmt: skip
                if self._ask(
                    "choice", f"of {_shape(one)} and {_shape(two)}",
                    f"into {'a new variable' if first else type(target).__name__}",
                    f"size {_bucket(_size(one) + _size(two))}",
                ):  # fmt: skip
                    value = n.Conditional(condition, one, two)
                    if first and declared is not None:
                        return replace(declared, value=value)
                    return n.Assign(target, value)
        return node

    def _branch(self, node: n.Assign | n.Declare) -> Body:
        """``x = c ? a : b;`` as an ``if``."""
        value = node.value
        assert isinstance(value, n.Conditional)
        nested = any(isinstance(p, n.Conditional) for p in (value.then, value.otherwise))
        plain = isinstance(node, n.Declare) or node.operator == "="
        scalar = not isinstance(node, n.Declare) or (not node.space and not node.const)
        if not plain or not scalar or not self._ask(
            "branch", f"of {_shape(value.then)} and {_shape(value.otherwise)}",
            type(node).__name__, f"nested {nested}",
            f"size {_bucket(_size(value.then) + _size(value.otherwise))}",
        ):  # fmt: skip
            return (node,)
        target: n.Expression = n.Name(node.name) if isinstance(node, n.Declare) else node.target
        then, otherwise = n.Assign(target, value.then), n.Assign(target, value.otherwise)
        made = n.If(value.condition, (then,), (otherwise,))
        if value.otherwise == target:
            made = n.If(value.condition, (then,))
        elif value.then == target:
            made = n.If(negate(value.condition, self._is_float), (otherwise,))
        return (replace(node, value=None), made) if isinstance(node, n.Declare) else (made,)

    def _inlined(self, made: list[n.Statement], one: n.Statement) -> n.Statement | None:
        """The statement with the variable before it, if this is its one use, as its value."""
        before = made[-1] if made else None
        if not isinstance(before, n.Declare) or before.value is None or before.space:
            return None
        name, value = before.name, before.value
        if self.uses[name] != 1 or self.sets[name] != 1:
            return None
        if not isinstance(one, n.Assign | n.Declare | n.Evaluate | n.Return | n.If):
            return None
        head = one.condition if isinstance(one, n.If) else one
        if _size(value) + _size(head) > _LONGEST or list(names_in(head)).count(name) != 1:
            return None
        if not self._ask(
            "inline", f"{type(one).__name__}", f"{_shape(value)}", f"size {_bucket(_size(value))}",
            f"{_shape(value)} in {type(one).__name__}",
            f"together {_bucket(_size(value) + _size(head))}",
        ):  # fmt: skip
            return None
        made.pop()
        # The variable converted: so must its value.
        given = self._type(value)
        part = value if given == before.type else n.Cast(before.type, value)

        def change(node: Any) -> Any:
            return part if node == n.Name(name) else node.rebuilt(change)

        if isinstance(one, n.If):
            return replace(one, condition=change(one.condition))
        changed: n.Statement = change(one)
        return changed

    def _started(self, node: n.If, declared: n.Declare) -> tuple[n.Declare, n.If] | None:
        """A value that both ways set first as the one that the variable starts with."""
        name = declared.name
        match node.otherwise:
            case (n.Assign(target=n.Name(name=set), value=n.Literal() as value, operator="="),):
                same = [s for s in node.then if s == n.Assign(n.Name(name), value)]
                if set != name or len(same) != 1 or declared.value is not None or declared.space:
                    return None
                place = node.then.index(same[0])
                if any(name in names_in(s) for s in node.then[:place]) or name in names_in(
                    node.condition
                ):
                    return None
                if self._ask("start", f"statements {_bucket(len(node.then))}"):
                    then = node.then[:place] + node.then[place + 1 :]
                    return replace(declared, value=value), n.If(node.condition, then)
        return None

    def _loop(self, node: n.If) -> n.Statement:
        """``if (c) { x = a; do { ...; x += b; } while (d); }`` as a ``for``."""
        if node.otherwise or not node.then or not isinstance(node.then[-1], n.DoWhile):
            return node
        *setup, inner = node.then
        assert isinstance(inner, n.DoWhile)
        if not inner.body or any(isinstance(x, n.Continue | n.Goto) for x in inner.walk()):
            return node
        step = inner.body[-1]
        match step:
            case n.Assign(target=n.Name(name=name)) if name in names_in(inner.condition):
                starts = [s for s in setup if isinstance(s, n.Declare) and s.name == name]
            case _:
                return node
        rest = [s for s in setup if s not in starts]
        fixed = all(isinstance(s, n.Declare) and s.value is not None and self.sets[s.name] == 1
                    for s in rest)  # fmt: skip
        if len(starts) != 1 or starts[0].value is None or not fixed:
            return node
        operator = step.operator if isinstance(step, n.Assign) else ""
        if self._ask("loop", f"step {operator}", f"before it {_bucket(len(rest))}"):
            body = (*rest, *inner.body[:-1])
            return n.For(starts[0], inner.condition, step, body, inner.unroll)
        return node

    def _guarded(self, body: Body) -> Body:
        """An ``if`` around the rest of a kernel as one that returns before it."""
        last = body[-1] if body else None
        if not isinstance(last, n.If) or last.otherwise or not self.function.kernel:
            return body
        both = isinstance(last.condition, n.Binary) and last.condition.operator in ("&&", "||")
        inner = [type(s).__name__ for s in last.then]
        if self._ask(
            "guard", f"statements {_bucket(len(last.then))}", f"several conditions {both}",
            f"before it {_bucket(len(body) - 1)}", f"holds {inner[-1]}",
            f"size {_bucket(sum(map(_size, last.then)))}", f"compares {_shape(last.condition)}",
        ):  # fmt: skip
            first = n.If(negate(last.condition, self._is_float), (n.Return(),))
            return (*body[:-1], first, *last.then)
        return body


def _power(operator: str, value: n.Literal) -> n.Literal | None:
    """The number to multiply with, or to divide by, for a shift or a mask."""
    number = value.value
    if operator not in _POWERS or not isinstance(number, int) or isinstance(number, bool):
        return None
    if operator.rstrip("=") == "&":
        whole = 0 < number < _LARGEST and number & number + 1 == 0
        return replace(value, value=number + 1) if whole else None
    return replace(value, value=1 << number) if 0 < number < 16 else None


def _implied(given: Scalar, wanted: Scalar, place: str) -> bool:
    """Whether C++ converts by itself, at least where the other operand asks for it."""
    if given == wanted:
        return True
    if place not in ("+", "-", "*", "/", "Declare", "Assign", "Index", "<", ">", "<=", ">=", "=="):
        return False
    return wanted.is_float or (wanted.is_integer and given.is_integer and wanted.bits >= given.bits)


def _size(node: n.Node) -> int:
    """How many nodes a tree has; of larger ones only that they are large."""
    return sum(1 for _ in islice(node.walk(), _LONGEST + 1))


def _bucket(number: int) -> str:
    for most in (0, 1, 2, 3, 5, 8, 12, 20, 40):
        if number <= most:
            return f"up to {most}"
    return "more"


def _shape(node: n.Node) -> str:
    match node:
        case n.Binary(operator=operator):
            return operator
        case n.Call():
            return "call"
    return type(node).__name__
