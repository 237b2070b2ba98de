"""Run the tree in numpy: all threads of the grid at once, statement by statement.

The evaluator is an oracle that shares nothing with the compiler or the simulator. It
runs threads in step, so it gives the answer of programs whose answer does not depend on
the order in which threads run.

>>> from ptxkit.cuda.reader import read
>>> kernel = read('''(kernel twice (params (param (ptr float) x) (param int n))
...     (let int i (+ (* blockIdx.x blockDim.x) threadIdx.x))
...     (if (< i n) (then (*= ([] x i) 2.0f))))''')
>>> x = np.arange(4, dtype=np.float32)
>>> evaluate(kernel, grid=1, block=32, arguments=(x, 3))
>>> x.tolist()
[0.0, 2.0, 4.0, 3.0]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.cuda import nodes as n
from ptxkit.cuda.arithmetic import dtype_of
from ptxkit.cuda.expressions import Expressions
from ptxkit.cuda.storage import Buffer, EvaluationError, PointerValue, Scope, Value, Variable
from ptxkit.cuda.types import Array as ArrayType
from ptxkit.cuda.types import Pointer, Scalar, Type, Vector

Array = Any


class _Flow:
    """Threads that left the usual way: out of a loop, to its next turn, or out of the function."""

    def __init__(self, count: int) -> None:
        self.broken = np.zeros(count, bool)
        self.continued = np.zeros(count, bool)
        self.returned = np.zeros(count, bool)
        self.result: Value | PointerValue | None = None


class Evaluator(Expressions):
    """All threads of one launch."""

    def __init__(
        self,
        module: n.CudaModule,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        *,
        dynamic_shared: int = 0,
        wide: bool = False,
        turn_limit: int = 100_000,
    ) -> None:
        super().__init__(grid, block, wide=wide)
        functions = (item for item in module.items if isinstance(item, n.Function))
        self.functions = {f.name: f for f in functions if f.body is not None}
        self.dynamic_shared = dynamic_shared
        self.turn_limit = turn_limit
        for item in module.items:
            if isinstance(item, n.Declare):
                self._declare(item, np.ones(self.count, bool))

    def launch(self, kernel: n.Function, arguments: Sequence[Any]) -> None:
        """Run a kernel; arrays are changed in place."""
        if len(arguments) != len(kernel.parameters):
            raise EvaluationError(
                f"'{kernel.name}' takes {len(kernel.parameters)} arguments, not {len(arguments)}"
            )
        scope = Scope(parent=self.scope)
        copies: list[tuple[Any, Buffer]] = []
        for parameter, argument in zip(kernel.parameters, arguments, strict=True):
            value = self._argument(parameter, argument, copies)
            scope.names[parameter.name] = Variable(parameter.type, value)
        self.scope = scope
        self.flow = _Flow(self.count)
        with np.errstate(all="ignore"):
            self.block_of(kernel.body or (), np.ones(self.count, bool))
        for array, buffer in copies:
            array[...] = buffer.data.reshape(array.shape).astype(array.dtype)

    def _argument(
        self, parameter: n.Parameter, argument: Any, copies: list[tuple[Any, Buffer]]
    ) -> Value | PointerValue:
        if isinstance(parameter.type, Pointer):
            target = parameter.type.target
            element = target.element if isinstance(target, Vector) else target
            if not isinstance(element, Scalar) or not isinstance(argument, np.ndarray):
                raise EvaluationError(f"'{parameter.name}' needs a numpy array")
            data = argument.reshape(1, -1).astype(dtype_of(element, wide=self.wide))
            buffer = Buffer(data, np.zeros(self.count, np.int64), element, parameter.name,
                            not parameter.type.const)  # fmt: skip
            if not parameter.type.const:
                copies.append((argument, buffer))
            return PointerValue(buffer, np.zeros(self.count, np.int64), target)
        if not isinstance(parameter.type, Scalar):
            raise EvaluationError(f"'{parameter.name}': {parameter.type.spelling} by value")
        dtype = dtype_of(parameter.type, wide=self.wide)
        return Value(np.full(self.count, argument, dtype), parameter.type)

    # ---- statements ----------------------------------------------------------------------

    def block_of(self, statements: Sequence[n.Statement], mask: Array) -> Array:
        """Run statements in a scope of their own; the threads that come out at the end."""
        self.scope = Scope(parent=self.scope)
        seen = None
        for statement in statements:
            if mask is not seen and not mask.any():
                break
            seen = mask
            run = _STATEMENTS.get(type(statement))
            if run is None:
                raise EvaluationError(f"'{type(statement).__name__}' cannot be evaluated")
            mask = run(self, statement, mask)
        self.scope = self.scope.parent or self.scope
        return mask

    def _declare(self, node: n.Declare, mask: Array) -> Array:
        known = self.scope.names.get(node.name)
        if isinstance(node.type, ArrayType):
            # A shared array exists once, however often a loop passes its declaration.
            if known is None or node.space == "":
                self.scope.names[node.name] = Variable(node.type, self._array(node))
            return mask
        value: Value | PointerValue | None = None
        if node.value is not None:
            value = self.converted(self.evaluate(node.value, mask), node.type)
        elif isinstance(node.type, Scalar | Vector):
            value = self.zero(node.type)
        if node.space in ("shared", "constant", "device") and isinstance(node.type, Scalar):
            raise EvaluationError(f"'{node.name}': make it an array of one element")
        self.scope.names[node.name] = Variable(node.type, value)
        return mask

    def _array(self, node: n.Declare) -> PointerValue:
        type, shape = _element(node.type)
        element = type.element if isinstance(type, Vector) else type
        if not isinstance(element, Scalar):
            raise EvaluationError(f"an array of '{type.spelling}' cannot be evaluated")
        count = int(np.prod(shape, dtype=np.int64))
        if node.space == "extern shared":
            count = self.dynamic_shared // element.size
        elif isinstance(type, Vector):
            count *= type.count
        rows = {"": self.threads, "shared": self.blocks, "extern shared": self.blocks}.get(
            node.space, np.zeros(self.count, np.int64)
        )
        data = np.zeros((int(rows.max(initial=0)) + 1, count), dtype_of(element, wide=self.wide))
        buffer = Buffer(data, rows, element, node.name, node.space != "constant")
        return PointerValue(buffer, np.zeros(self.count, np.int64), type, shape)

    def _assign(self, node: n.Assign, mask: Array) -> Array:
        value = self.evaluate(node.value, mask)
        if node.operator != "=":
            value = self.binary(node.operator[:-1], self.evaluate(node.target, mask), value)
        self.assign(node.target, value, mask)
        return mask

    def _evaluate(self, node: n.Evaluate, mask: Array) -> Array:
        self.evaluate(node.expression, mask, unused=True)
        return mask

    def _if(self, node: n.If, mask: Array) -> Array:
        condition = self.truth(node.condition, mask)
        then = self.block_of(node.then, mask & condition)
        return then | self.block_of(node.otherwise, mask & ~condition)

    def _loop(
        self,
        mask: Array,
        body: Sequence[n.Statement],
        condition: n.Expression | None,
        step: n.Statement | None = None,
        *,
        tested_first: bool = True,
    ) -> Array:
        outer = (self.flow.broken, self.flow.continued)
        self.flow.broken, self.flow.continued = np.zeros_like(mask), np.zeros_like(mask)
        live = mask
        for _ in range(self.turn_limit):
            if tested_first and condition is not None:
                live = live & self.truth(condition, live)
            if not live.any():
                break
            live = self.block_of(body, live) | self.flow.continued
            self.flow.continued = np.zeros_like(mask)
            if step is not None and live.any():
                live = _STATEMENTS[type(step)](self, step, live)
            if not tested_first and condition is not None:
                live = live & self.truth(condition, live)
        else:
            raise EvaluationError(f"a loop took more than {self.turn_limit} turns")
        self.flow.broken, self.flow.continued = outer
        return mask & ~self.flow.returned

    def _for(self, node: n.For, mask: Array) -> Array:
        self.scope = Scope(parent=self.scope)
        if node.start is not None:
            _STATEMENTS[type(node.start)](self, node.start, mask)
        mask = self._loop(mask, node.body, node.condition, node.step)
        self.scope = self.scope.parent or self.scope
        return mask

    def _while(self, node: n.While, mask: Array) -> Array:
        return self._loop(mask, node.body, node.condition)

    def _do(self, node: n.DoWhile, mask: Array) -> Array:
        return self._loop(mask, node.body, node.condition, tested_first=False)

    def _switch(self, node: n.Switch, mask: Array) -> Array:
        outer = self.flow.broken
        self.flow.broken = np.zeros_like(mask)
        value = self.scalar(self.evaluate(node.value, mask)).data
        listed = [v for case in node.cases for v in case.values]
        inside = np.zeros_like(mask)
        for case in node.cases:
            chosen = np.isin(value, case.values) if case.values else ~np.isin(value, listed)
            inside = self.block_of(case.body, inside | (mask & chosen))
            if not case.falls:
                inside = np.zeros_like(mask)
        self.flow.broken = outer
        gone = self.flow.returned | self.flow.continued
        return mask & ~gone

    def _break(self, node: n.Break, mask: Array) -> Array:
        self.flow.broken = self.flow.broken | mask
        return np.zeros_like(mask)

    def _continue(self, node: n.Continue, mask: Array) -> Array:
        self.flow.continued = self.flow.continued | mask
        return np.zeros_like(mask)

    def _return(self, node: n.Return, mask: Array) -> Array:
        if node.value is not None:
            value = self.converted(self.evaluate(node.value, mask), self.returns)
            self.flow.result = self.merged(self.flow.result, value, mask)
        self.flow.returned = self.flow.returned | mask
        return np.zeros_like(mask)

    def _block(self, node: n.Block, mask: Array) -> Array:
        return self.block_of(node.body, mask)

    # ---- calls ---------------------------------------------------------------------------

    def call_function(
        self, function: n.Function, arguments: list[Any], mask: Array
    ) -> Value | PointerValue:
        """A device function, run for the active threads."""
        self.depth += 1
        if self.depth > 64:
            raise EvaluationError(f"'{function.name}' calls itself more than 64 times deep")
        outer = (self.scope, self.flow, self.returns)
        top = self.scope
        while top.parent is not None:
            top = top.parent
        self.scope, self.flow, self.returns = Scope(parent=top), _Flow(self.count), function.returns
        for parameter, value in zip(function.parameters, arguments, strict=True):
            converted = self.converted(value, parameter.type)
            self.scope.names[parameter.name] = Variable(parameter.type, converted)
        self.block_of(function.body or (), mask)
        result = self.flow.result
        self.scope, self.flow, self.returns = outer
        self.depth -= 1
        return result if result is not None else self.nothing()


def _element(type: Type) -> tuple[Type, tuple[int, ...]]:
    shape: tuple[int, ...] = ()
    while isinstance(type, ArrayType):
        shape += type.shape
        type = type.element
    return type, shape


_STATEMENTS: dict[type, Callable[..., Array]] = {
    n.Declare: Evaluator._declare,
    n.Assign: Evaluator._assign,
    n.Evaluate: Evaluator._evaluate,
    n.If: Evaluator._if,
    n.For: Evaluator._for,
    n.While: Evaluator._while,
    n.DoWhile: Evaluator._do,
    n.Switch: Evaluator._switch,
    n.Break: Evaluator._break,
    n.Continue: Evaluator._continue,
    n.Return: Evaluator._return,
    n.Block: Evaluator._block,
    n.Comment: lambda self, node, mask: mask,
}


def _dimensions(value: int | Sequence[int]) -> tuple[int, int, int]:
    numbers = (value,) if isinstance(value, int) else tuple(value)
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def evaluate(
    kernel: n.Function,
    *,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    arguments: Sequence[Any],
    module: n.CudaModule | None = None,
    dynamic_shared: int = 0,
    wide: bool = False,
) -> None:
    """Run a kernel on numpy arrays, which it changes in place.

    ``module`` holds the functions and variables it uses. ``wide`` computes every floating
    point number in 64 bits: what is left is what the program means, without roundings.
    """
    module = module or n.CudaModule((kernel,))
    evaluator = Evaluator(module, _dimensions(grid), _dimensions(block),
                          dynamic_shared=dynamic_shared, wide=wide)  # fmt: skip
    evaluator.launch(kernel, arguments)
