"""Directives between a function's header and its body: known, well placed, well filled."""

from __future__ import annotations

from difflib import get_close_matches

from ptxkit.isa.directives import DIRECTIVES, MANY, Directive
from ptxkit.isa.rules.context import Context
from ptxkit.syntax import Function, FunctionDirective


def check_directives(context: Context, function: Function) -> None:
    """Report what is wrong with the directives of one function."""
    place = "entry" if function.is_entry else "func"
    nodes = [node for node in function.directives if isinstance(node, FunctionDirective)]
    pragma = next((node for node in function.directives if node.kind == "Pragma"), None)
    if pragma is not None and not function.is_entry:
        context.error(pragma, "directive", "a '.pragma' cannot stand before the body of a .func",
                      "move it into the body")  # fmt: skip
    if nodes and function.is_entry and not function.has_body:
        context.error(nodes[0], "directive", "a kernel without a body has no directives",
                      "write them at its definition")  # fmt: skip
    names = [node.name[1:] for node in nodes]
    for position, node in enumerate(nodes):
        row = DIRECTIVES.get(node.name[1:])
        if row is None or not row.places & {"entry", "func"}:
            known = [f".{n}" for n, d in DIRECTIVES.items() if place in d.places]
            near = get_close_matches(node.name, known, 1, 0.6)
            what = "kernel" if function.is_entry else "device function"
            context.error(
                context.word(node, node.name), "unknown-directive",
                f"'{node.name}' is not a directive of a {what}",
                f"did you mean '{near[0]}'?" if near else "known are " + " ".join(known),
            )  # fmt: skip
            continue
        if place not in row.places:
            what = "kernel" if function.is_entry else "device function"
            context.error(node, "directive", f"'{node.name}' cannot stand on a {what}")
        _check_values(context, node, row)
        if row.once and row.name in names[:position]:
            context.error(node, "directive", f"'{node.name}' stands twice")
        for other in sorted(row.with_none & set(names[:position])):
            context.error(node, "directive", f"'{node.name}' cannot stand with '.{other}'")
        if row.name == "noreturn" and function.return_parameters:
            context.error(node, "directive", f"'{function.name}' returns a value, so it returns",
                          "remove '.noreturn' or the returned parameter")  # fmt: skip
        for other in sorted(row.with_all - set(names)):
            context.error(node, "directive", f"'{node.name}' needs '.{other}' beside it")
        context.require(node, f"'{node.name}'", row.requirement)


def _check_values(context: Context, node: FunctionDirective, row: Directive) -> None:
    if row.argument not in ("integer", ""):
        return
    count = len(node.values)
    if not row.least <= count <= row.most:
        most = "or more" if row.most == MANY else f"to {row.most}"
        wanted = str(row.least) if row.least == row.most else f"{row.least} {most}"
        context.error(
            node, "directive",
            f"'{node.name}' takes {wanted} number{'' if wanted == '1' else 's'}, not {count}",
        )  # fmt: skip
    for value in node.values:
        if value < row.low:
            context.error(
                node, "directive", f"'{node.name}' takes numbers from {row.low} up, not {value}"
            )
