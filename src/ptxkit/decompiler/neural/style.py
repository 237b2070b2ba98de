"""What the compiler does not show: names, the form of loops, `+=`, temporaries, rows of arrays.

A small model of how people write, learned by counting: for each kind of thing, how often it is
called what and written how. It only chooses among forms that are the same program, which is
checked: a tree whose answer would be another one is left as it was.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Array, Pointer
from ptxkit.decompiler.neural.operators import ATOMICS
from ptxkit.decompiler.neural.rewriting import mapped, read_again, with_rows, with_temporaries
from ptxkit.decompiler.neural.schedule import words_of
from ptxkit.decompiler.neural.statements import lower
from ptxkit.decompiler.neural.unsupported import UnsupportedError

Counts = dict[str, Counter[str]]
LEARNED = Path(__file__).parent / "trained" / "style.json"
_BUILTIN = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}
_COMPOUND = ("+", "-", "*", "&", "|", "^")
_MOST_NAMES = 12


# ---- what a name is for ------------------------------------------------------------------


def roles(function: n.Function) -> dict[str, str]:
    """Every name of a kernel and what it is for, in the order of the text."""
    body = function.body or ()
    nodes = [node for statement in body for node in statement.walk()]
    written = {_base(x.target) for x in nodes if isinstance(x, n.Assign)}
    written |= {_base(x.arguments[0]) for x in nodes
                if isinstance(x, n.Call) and x.function in ATOMICS}  # fmt: skip
    counters = {
        x.start.name for x in nodes if isinstance(x, n.For) and isinstance(x.start, n.Declare)
    }
    updated = {_base(x.target) for loop in nodes if isinstance(loop, n.For | n.While | n.DoWhile)
               for s in loop.body for x in s.walk() if isinstance(x, n.Assign)}  # fmt: skip
    indices = {x.name for x in nodes if isinstance(x, n.Declare) and _is_thread(x.value)}
    limits = {x.right.name for x in nodes if isinstance(x, n.Binary) and isinstance(x.right, n.Name)
              and x.operator in ("<", ">=") and isinstance(x.left, n.Name)}  # fmt: skip
    found: dict[str, str] = {}
    for parameter in function.parameters:
        if isinstance(parameter.type, Pointer):
            found[parameter.name] = "output" if parameter.name in written else "input"
        else:
            found[parameter.name] = "size" if parameter.name in limits else "scalar"
    for node in nodes:
        if not isinstance(node, n.Declare):
            continue
        if isinstance(node.type, Array):
            role = "tile"
        elif node.name in indices:
            role = "index"
        elif node.name in counters:
            role = "counter"
        else:
            role = "accumulator" if node.name in updated else "local"
        found[node.name] = role
    return found


def _base(node: n.Node) -> str:
    while isinstance(node, n.Index | n.Unary | n.Member):
        node = node.operand if isinstance(node, n.Unary) else node.base
    return node.name if isinstance(node, n.Name) else ""


def _is_thread(value: n.Node | None) -> bool:
    """Whether a variable holds which thread this is."""
    if value is None:
        return False
    names = {x.name for x in value.walk() if isinstance(x, n.Name)}
    return bool(names) and names <= _BUILTIN and "threadIdx" in names


# ---- learning ----------------------------------------------------------------------------


def learn(kernels: Iterable[n.Function]) -> Counts:
    """Count how kernels are written."""
    counts: Counts = defaultdict(Counter)
    for kernel in kernels:
        for name, role in roles(kernel).items():
            counts[f"name of {role}"][name] += 1
        counts["array with rows"]["one dimension"] += with_rows(kernel) != kernel
        for node in kernel.walk():
            if isinstance(node, n.Assign | n.Declare):
                for uses in read_again(node).values():
                    counts[_again(uses)]["repeated"] += 1
            if isinstance(node, n.For):
                counts["loop with a counter"]["for"] += 1
            elif isinstance(node, n.While) and _steps(node) is not None:
                counts["loop with a counter"]["while"] += 1
            elif isinstance(node, n.Declare) and isinstance(node.type, Array):
                counts["array with rows"]["two dimensions"] += len(node.type.shape) == 2
            elif isinstance(node, n.Declare) and isinstance(node.value, n.Index):
                uses = sum(x == n.Name(node.name) for x in kernel.walk())
                counts[_again(uses)]["variable"] += 1
            elif isinstance(node, n.Assign) and node.operator != "=":
                counts["update"]["compound"] += 1
            elif isinstance(node, n.Assign) and _as_compound(node) is not node:
                counts["update"]["plain"] += 1
    return dict(counts)


def _again(uses: int) -> str:
    return f"element used {uses if uses < 4 else 'many'} times"


def save(counts: Counts, path: Path = LEARNED) -> None:
    """Keep what was learned."""
    table = {key: dict(found.most_common(_MOST_NAMES)) for key, found in sorted(counts.items())}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(table, indent=1) + "\n")


@lru_cache(maxsize=1)
def learned() -> Counts:
    """What comes with the package; nothing where that is not there."""
    if not LEARNED.exists():
        return {}
    return {key: Counter(found) for key, found in json.loads(LEARNED.read_text()).items()}


# ---- choosing ----------------------------------------------------------------------------


def styled(module: n.CudaModule, counts: Counts | None = None) -> n.CudaModule:
    """The same program as it would more probably be written."""
    counts = learned() if counts is None else counts
    items = tuple(_styled(i, counts) if isinstance(i, n.Function) else i for i in module.items)
    return replace(module, items=items)


def _styled(function: n.Function, counts: Counts) -> n.Function:
    if function.body is None:
        return function
    body = function.body
    if _prefers(counts, "loop with a counter", "for", "while"):
        body = _with_for(body)
    if _prefers(counts, "update", "compound", "plain"):
        body = tuple(mapped(s, lambda x: _as_compound(x) if isinstance(x, n.Assign) else x)
                     for s in body)  # fmt: skip
    made = replace(function, body=body)
    if _prefers(counts, "array with rows", "two dimensions", "one dimension"):
        made = _if_same(with_rows(made), made)
    made = _if_same(
        with_temporaries(made, lambda k: _prefers(counts, _again(k), "variable", "repeated")), made
    )
    return _if_same(_named(made, counts), function)


def _if_same(made: n.Function, function: n.Function) -> n.Function:
    """The first, where it is the same program as the second."""
    try:
        same = words_of(lower(made)) == words_of(lower(function))
    except UnsupportedError:
        same = False
    return made if same else function


def _prefers(counts: Counts, question: str, one: str, other: str) -> bool:
    found = counts.get(question, Counter())
    return found[one] > found[other]


def _named(function: n.Function, counts: Counts) -> n.Function:
    """The most usual name that is still free, for every name in turn."""
    taken = {function.name, *_BUILTIN}
    names: dict[str, str] = {}
    for old, role in roles(function).items():
        usual = counts.get(f"name of {role}", Counter())
        free = (name for name, _ in usual.most_common() if name not in taken)
        names[old] = next(free, old if old not in taken else f"{old}_")
        taken.add(names[old])

    def rename(node: n.Node) -> n.Node:
        if isinstance(node, n.Name | n.Declare | n.Parameter) and node.name in names:
            return replace(node, name=names[node.name])
        return node

    body = tuple(mapped(s, rename) for s in function.body or ())
    parameters = tuple(mapped(p, rename) for p in function.parameters)
    return replace(function, body=body, parameters=parameters)


def _as_compound(node: n.Assign) -> n.Assign:
    """`x = x + y` as `x += y`."""
    value = node.value
    if node.operator != "=" or not isinstance(value, n.Binary) or value.operator not in _COMPOUND:
        return node
    if value.left == node.target:
        return n.Assign(node.target, value.right, f"{value.operator}=")
    if value.right == node.target and value.operator in "+*&|^":
        return n.Assign(node.target, value.left, f"{value.operator}=")
    return node


def _steps(loop: n.While) -> str | None:
    """The variable that a loop asks for and steps at the end of each round."""
    last = loop.body[-1] if loop.body else None
    if not isinstance(last, n.Assign) or not isinstance(last.target, n.Name):
        return None
    asked = {x.name for x in loop.condition.walk() if isinstance(x, n.Name)}
    return last.target.name if last.target.name in asked else None


def _with_for(body: tuple[n.Statement, ...]) -> tuple[n.Statement, ...]:
    """Loops that begin with a declaration and end in a step as `for`."""
    found: list[n.Statement] = []
    for number, statement in enumerate(body):
        if isinstance(statement, n.If):
            statement = replace(statement, then=_with_for(statement.then),
                                otherwise=_with_for(statement.otherwise))  # fmt: skip
        elif isinstance(statement, n.While | n.DoWhile):
            statement = replace(statement, body=_with_for(statement.body))
        name = _steps(statement) if isinstance(statement, n.While) else None
        before = found[-1] if found else None
        if isinstance(before, n.Declare) and before.name == name and isinstance(statement, n.While):
            rest = {x.name for s in body[number + 1 :] for x in s.walk() if isinstance(x, n.Name)}
            jumps = any(isinstance(x, n.Continue) for s in statement.body for x in s.walk())
            if name not in rest and not jumps:
                step = statement.body[-1]
                statement = n.For(found.pop(), statement.condition, step, statement.body[:-1])
        found.append(statement)
    return tuple(found)
