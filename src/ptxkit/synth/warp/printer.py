"""Write a program as Python source, or as its shape: the same without names and constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxkit.synth.warp import tree
from ptxkit.synth.warp.operations import ATOM, OPERATORS, SIGN, TERNARY
from ptxkit.synth.warp.types import FLOAT32, INT32

_INDENT = "    "
_PLACEHOLDER = "_"


def source(program: tree.Program) -> str:
    """The Python file of a program."""
    # Kernels are compiled many at a time: what they define must not share a name.
    tag = program.name.rpartition("_")[2]
    names = [function.name for function in program.functions]
    names += [struct.name for struct in program.structs]
    own = {name: f"{name}_{tag}" for name in names}
    printer = _Printer(_literal, lambda name: own.get(name, name))
    return "import warp as wp\n" + "".join(f"\n\n{part}" for part in printer.parts(program))


def shape(program: tree.Program) -> str:
    """The program with every name and constant replaced by the same placeholder."""
    printer = _Printer(lambda constant: _PLACEHOLDER, lambda name: _PLACEHOLDER)
    return "\n".join(printer.parts(program))


def _literal(constant: tree.Constant) -> str:
    text = repr(constant.value)
    if constant.type.scalar in (FLOAT32, INT32) or constant.type.scalar.kind == "b":
        return text
    return f"{constant.type.spelled}({text})"


class _Printer:
    """``literal`` writes a constant, ``name`` an identifier of the program."""

    def __init__(self, literal: Callable[[tree.Constant], str], name: Callable[[str], str]) -> None:
        self._literal = literal
        self._name = name

    def parts(self, program: tree.Program) -> Iterator[str]:
        """The structs, functions and the kernel, each with its decorator."""
        for struct in program.structs:
            lines = [f"{self._name(f.name)}: {f.type.spelled}" for f in struct.fields]
            head = f"@wp.struct\nclass {self._name(struct.name)}:\n"
            yield head + "".join(f"{_INDENT}{line}\n" for line in lines)
        for function in program.functions:
            names = ", ".join(
                f"{self._name(name)}: {type.spelled}" for name, type in function.parameters
            )
            head = f"@wp.func\ndef {self._name(function.name)}({names}):\n"
            yield head + self._body(function.body, 1)
        parameters = ", ".join(self._parameter(item) for item in program.parameters)
        indices = ", ".join(self._name(name) for name in program.indices)
        yield (
            f"@wp.kernel\ndef {self._name(program.name)}({parameters}):\n"
            f"{_INDENT}{indices} = wp.tid()\n{self._body(program.body, 1)}"
        )

    def _parameter(self, item: tree.Parameter) -> str:
        spelled = self._name(item.struct) if item.struct else item.type.spelled
        if item.is_array:
            word = "array" if len(item.shape) == 1 else f"array{len(item.shape)}d"
            spelled = f"wp.{word}(dtype={spelled})"
        return f"{self._name(item.name)}: {spelled}"

    def _body(self, body: tree.Body, level: int) -> str:
        indent = _INDENT * level
        return "".join(
            f"{indent}{line}\n" for statement in body for line in self._statement(statement)
        )

    def _block(self, head: str, body: tree.Body) -> Iterator[str]:
        yield head
        for statement in body:
            for line in self._statement(statement):
                yield _INDENT + line

    def _statement(self, node: tree.Statement) -> Iterator[str]:
        match node:
            case tree.Assign(name, value, operator):
                symbol = OPERATORS[operator].spelling if operator else ""
                yield f"{self._dotted(name)} {symbol}= {self.text(value)}"
            case tree.Store(array, index, value):
                yield f"{self._dotted(array)}[{self._list(index)}] = {self.text(value)}"
            case tree.Atomic(operator, array, index, value):
                places = self._list(index)
                yield f"wp.atomic_{operator}({self._name(array)}, {places}, {self.text(value)})"
            case tree.If():
                yield from self._choice(node, "if")
            case tree.For(name, start, stop, step, body):
                limits = self._range(start, stop, step)
                yield from self._block(f"for {self._name(name)} in range({limits}):", body)
            case tree.While(test, body):
                yield from self._block(f"while {self.text(test)}:", body)
            case tree.Break():
                yield "break"
            case tree.Continue():
                yield "continue"
            case tree.Return(value):
                yield f"return {self.text(value)}"
            case tree.Draw(name, operator, state, arguments):
                places = "".join(f", {self.text(argument)}" for argument in arguments)
                yield f"{self._name(name)} = wp.{operator}({self._name(state)}{places})"
            case tree.NewStruct(name, struct):
                yield f"{self._name(name)} = {self._name(struct)}()"
            case tree.TileStore(array, value, offset, atomic):
                word = "atomic_add" if atomic else "store"
                place = f"offset={self.text(offset)}"
                yield f"wp.tile_{word}({self._name(array)}, {self.text(value)}, {place})"
            case _:
                raise TypeError(f"no statement: {node!r}")

    def _choice(self, node: tree.If, word: str) -> Iterator[str]:
        yield from self._block(f"{word} {self.text(node.test)}:", node.body)
        match node.otherwise:
            case ():
                return
            case (tree.If() as inner,):
                yield from self._choice(inner, "elif")
            case body:
                yield from self._block("else:", body)

    def _range(self, start: tree.Expression, stop: tree.Expression, step: int) -> str:
        if step != 1:
            last = self._literal(tree.Constant(start.type, abs(step), step))
            return f"{self.text(start)}, {self.text(stop)}, {last}"
        if isinstance(start, tree.Constant) and start.value == 0:
            return self.text(stop)
        return f"{self.text(start)}, {self.text(stop)}"

    def _dotted(self, name: str) -> str:
        return ".".join(self._name(part) for part in name.split("."))

    def _list(self, nodes: tuple[tree.Expression, ...]) -> str:
        return ", ".join(self.text(node) for node in nodes)

    def text(self, node: tree.Expression) -> str:
        """An expression, with the parentheses it needs."""
        return self._expression(node)[0]

    def _inside(self, node: tree.Expression, precedence: int) -> str:
        text, own = self._expression(node)
        return f"({text})" if own < precedence else text

    def _expression(self, node: tree.Expression) -> tuple[str, int]:
        match node:
            case tree.Constant():
                text = self._literal(node)
                return text, SIGN if text.startswith("-") else ATOM
            case tree.Name(name=name):
                return self._dotted(name), ATOM
            case tree.Load(array=array, index=index):
                return f"{self._dotted(array)}[{self._list(index)}]", ATOM
            case tree.Extent(array=array, dimension=dimension):
                number = self._literal(tree.Constant(node.type, dimension, dimension))
                return f"{self._name(array)}.shape[{number}]", ATOM
            case tree.Call(function=function, arguments=arguments):
                return f"{self._name(function)}({self._list(arguments)})", ATOM
            case tree.TileLoad(array=array, offset=offset, storage=storage):
                (length,) = node.type.shape
                size = self._literal(tree.Constant(offset.type, length, length))
                where = f"shape={size}, offset={self.text(offset)}"
                kept = f', storage="{storage}"' if storage else ""
                return f"wp.tile_load({self._name(array)}, {where}{kept})", ATOM
            case tree.Operation():
                return self._operation(node)
        raise TypeError(f"no expression: {node!r}")

    def _operation(self, node: tree.Operation) -> tuple[str, int]:
        arguments = node.arguments
        special = _SPECIAL.get(node.operator.partition(" ")[0])
        if special is not None:
            return special(self, node), ATOM
        row = OPERATORS[node.operator]
        if row.precedence == ATOM:
            return f"{row.spelling}({self._list(arguments)})", ATOM
        if row.precedence == TERNARY:
            test, then, otherwise = arguments
            return (
                f"{self._inside(then, TERNARY + 1)} if {self._inside(test, TERNARY + 1)} "
                f"else {self._inside(otherwise, TERNARY + 1)}"
            ), TERNARY
        if len(arguments) == 1:
            return row.spelling + self._inside(arguments[0], row.precedence), row.precedence
        left, right = arguments
        # Python chains comparisons; everything else joins to the left.
        chained = row.spelling in _COMPARISONS
        before = self._inside(left, row.precedence + 1 if chained else row.precedence)
        return (
            f"{before} {row.spelling} {self._inside(right, row.precedence + 1)}"
        ), row.precedence

    def cast(self, node: tree.Operation) -> str:
        """A conversion of a number."""
        word = node.type.scalar.cast or node.type.spelled
        argument = node.arguments[0]
        if isinstance(argument, tree.Constant):
            # The constant has the type already, and its literal may say so.
            text = self._literal(argument)
            return text if text.startswith("wp.") else f"{word}({text})"
        return f"{word}({self.text(argument)})"

    def construct(self, node: tree.Operation) -> str:
        """A vector or matrix from its numbers."""
        return f"{node.type.spelled}({self._list(node.arguments)})"

    def component(self, node: tree.Operation) -> str:
        """One number of a vector or matrix."""
        whole, *places = node.arguments
        return f"{self._inside(whole, ATOM)}[{self._list(tuple(places))}]"

    def tile_map(self, node: tree.Operation) -> str:
        """A builtin on every element of a tile."""
        function = node.operator.partition(" ")[2]
        return f"wp.tile_map(wp.{function}, {self._list(node.arguments)})"

    def random_state(self, node: tree.Operation) -> str:
        """The state that random numbers start from."""
        return f"wp.rand_init({self._list(node.arguments)})"


_COMPARISONS = frozenset(["<", "<=", ">", ">=", "==", "!="])
_SPECIAL: dict[str, Callable[[_Printer, tree.Operation], str]] = {
    "cast": _Printer.cast,
    "construct": _Printer.construct,
    "component": _Printer.component,
    "tile_map": _Printer.tile_map,
    "rand_init": _Printer.random_state,
}
