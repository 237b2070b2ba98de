"""Functions where what they ask about one argument is known.

An argument that stays the same in a loop is asked before it: for the usual answer a compiler has a
loop of its own then, in which the function asks no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.mathlib.templates import Node, Recorder, Template
from ptxkit.decompiler.lift.mathlib.terms import Terms, choose
from ptxkit.decompiler.lift.values import Value, const, parts_of, raw

#: So many questions about one argument are known at most.
_MOST = 4
#: What has no form of its own outside of the function that it was found in.
_BOUND = frozenset("mu place function table load".split())


def assumed(template: Template, terms: Terms) -> list[Template]:
    """The template with its first questions about one argument answered as they mostly are."""
    if len(template.takes) < 2 or any(node.op in _BOUND for node in template.nodes):
        return []
    values = _values(template.nodes)
    holes = [v for v, node in zip(values, template.nodes, strict=True) if node.op == "hole"]
    holes.sort(key=lambda hole: int(hole.data))
    found: list[Template] = []
    for hole in holes:
        root = values[-1]
        for _ in range(_MOST):
            question = next(_questions(root, hole), None)
            if question is None:
                break
            root = _answered(root, *question)
            nodes = Recorder(terms, holes).record(root)
            if nodes is None or sum(n.op == "hole" for n in nodes) < len(holes):
                break
            found.append(replace(template, nodes=nodes))
    return found


def _values(nodes: tuple[Node, ...]) -> list[Value]:
    """The nodes of a template as values, with leaves for what it is of."""
    made: list[Value] = []
    for node in nodes:
        args = tuple(made[number] for number in node.args)
        if node.op == "const":
            made.append(const(node.key, node.width))
        elif node.op in ("hole", "any"):
            made.append(raw("leaf" if node.op == "hole" else "memory", node.width, (), node.key))
        else:
            made.append(raw(node.op, node.width, args, node.key))
    return made


def _questions(root: Value, hole: Value) -> Iterator[tuple[Value, bool]]:
    """What is asked about one leaf alone on the longest way through a value, and the answers."""
    while root.op == "select":
        condition, then, otherwise = root.args
        sizes = [sum(1 for _ in parts_of((arm,), set())) for arm in (then, otherwise)]
        longer = sizes[0] >= sizes[1]
        for part in condition.args if condition.op == "and" and longer else (condition,):
            if {leaf for leaf in parts_of((part,), set()) if leaf.op == "leaf"} == {hole}:
                yield part, longer
        root = then if longer else otherwise


def _answered(root: Value, question: Value, answer: bool) -> Value:
    """A value where a question has one answer."""
    known: dict[Value, Value] = {question: const(int(answer), 1)}
    opposite = make("not", 1, question)
    known[opposite] = const(int(not answer), 1)

    def changed(value: Value) -> Value:
        found = known.get(value)
        if found is None:
            args = tuple(changed(arg) for arg in value.args)
            found = value
            if any(a is not b for a, b in zip(args, value.args, strict=True)):
                found = _made(value, args)
            known[value] = found
        return found

    return changed(root)


def _made(value: Value, args: tuple[Value, ...]) -> Value:
    """A value of other ones; conditions are in their one form."""
    if value.op == "select":
        return choose(*args)
    if value.width == 1 and value.op in ("and", "or", "not"):
        return make(value.op, 1, *args)
    return raw(value.op, value.width, args, value.data)
