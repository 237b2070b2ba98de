"""Which variables hold products, that a compiler may contract with a sum."""

from __future__ import annotations

from ptxkit.decompiler.lift.contraction import swallowed
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.values import Value, Variable, parts_of


def products(program: Program) -> tuple[set[Variable], set[Variable]]:
    """Variables that hold a product; and those of them that are added to something."""
    products: set[Variable] = set()
    added: set[Variable] = set()
    subtracted: set[Variable] = set()
    seen: set[Value] = set()
    sets: list[tuple[Variable, Value]] = []
    for block in program.flow.blocks.values():
        for step in block.statements:
            for part in parts_of(step.args, seen):
                if part.op in ("fadd", "fsub"):
                    for place in swallowed(part):
                        argument = part.args[place]
                        inner = argument.args[0] if argument.op == "fneg" else argument
                        if inner.op == "var":
                            (added if part.op == "fadd" else subtracted).add(inner.data.variable)
            if step.kind == "set":
                sets.append((step.targets[0].variable, step.args[0]))
    changed = True
    while changed:
        changed = False
        for variable, value in sets:
            if variable not in products and _is_product(value, products):
                products.add(variable)
                changed = True
    scaled = {v for v, value in sets if value.op == "fmul" and value.args[1].op == "const"}
    return products, products & (added | (subtracted & scaled))


def _is_product(value: Value, products: set[Variable]) -> bool:
    if value.op in ("fneg", "select"):
        return any(_is_product(a, products) for a in value.args)
    return value.op == "fmul" or (value.op == "var" and value.data.variable in products)
