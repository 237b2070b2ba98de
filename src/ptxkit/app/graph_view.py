"""Graphs as pictures: control flow, and the dataflow of a stub."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ptxkit.app.layered import Drawing, layout
from ptxkit.app.markup import message, text
from ptxkit.syntax import ControlFlowGraph, Module

_LETTER, _LINE = 6.7, 15.0
_PADDING = 8.0
_MOST_BLOCKS, _MOST_GRAPHS = 250, 12
_MOST_LINES, _MOST_LETTERS = 9, 46


@dataclass(frozen=True, slots=True)
class Vertex:
    """A box of a picture: its title, its lines, and the lines of PTX that it stands for."""

    title: str
    lines: Sequence[str] = ()
    ptx: Sequence[int] = ()
    kind: str = ""


def picture(vertices: Sequence[Vertex], edges: Sequence[tuple[int, int]], label: str) -> str:
    """An SVG picture that needs no program to draw it.

    >>> picture([Vertex("a"), Vertex("<b>")], [(0, 1)], "two").count("&lt;b&gt;")
    1
    """
    cut = [[_cut(line) for line in one.lines] for one in vertices]
    sizes = [
        (
            2 * _PADDING + _LETTER * max([len(one.title), *map(len, lines)], default=1),
            2 * _PADDING + _LINE * (len(lines) + bool(one.title)),
        )
        for one, lines in zip(vertices, cut, strict=True)
    ]
    drawn = layout(sizes, edges)
    parts = [_edge(drawn, edge) for edge in drawn.paths]
    for one, lines, box in zip(vertices, cut, drawn.boxes, strict=True):
        places = f" data-ptx='{' '.join(map(str, one.ptx))}'" if one.ptx else ""
        y = box.y + _PADDING + _LINE - 4
        words = [f"<text x='{box.x + _PADDING:.1f}' y='{y:.1f}' class='pk-title'>{text(one.title)}"
                 "</text>"] if one.title else []  # fmt: skip
        first = y + (_LINE if one.title else 0)
        words += [
            f"<text x='{box.x + _PADDING:.1f}' y='{first + k * _LINE:.1f}'>{text(line)}</text>"
            for k, line in enumerate(lines)
        ]
        parts.append(
            f"<g class='pk-box pk-row {one.kind}'{places}><rect x='{box.x:.1f}' y='{box.y:.1f}' "
            f"width='{box.width:.1f}' height='{box.height:.1f}' rx='5'/>{''.join(words)}</g>"
        )
    width, height = drawn.width + 26, drawn.height + 4
    return (
        f"<svg class='pk-graph' role='img' aria-label='{text(label)}' width='{width:.0f}' "
        f"height='{height:.0f}' viewBox='-2 -2 {width:.0f} {height:.0f}'>{''.join(parts)}</svg>"
    )


def _cut(line: str) -> str:
    return line if len(line) <= _MOST_LETTERS else line[: _MOST_LETTERS - 1] + "…"


def _edge(drawn: Drawing, edge: tuple[int, int]) -> str:
    points = drawn.paths[edge]
    back = edge in drawn.back
    (x, y), path = points[0], []
    path.append(f"M{x:.1f} {y:.1f}")
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1 or edge[0] == edge[1]:
            path.append(f"L{x1:.1f} {y1:.1f}")
        else:
            middle = (y0 + y1) / 2
            path.append(f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}")
    (x1, y1), y0 = points[-1], points[-2][1]
    if edge[0] == edge[1]:
        tip = f"M{x1:.1f} {y1:.1f}l6 -4v8z"
    else:
        tip = f"M{x1:.1f} {y1:.1f}l-4 {'-7' if y1 > y0 else '7'}h8z"
    kind = "pk-edge pk-back" if back else "pk-edge"
    return f"<g class='{kind}'><path d='{''.join(path)}' class='pk-wire'/><path d='{tip}'/></g>"


def control_flow(module: Module, link: str = "explore") -> str:
    """The control-flow graphs of all functions of a module."""
    bodies = [one for one in module.functions if one.has_body]
    if not bodies:
        return message("no function here has a body: there is no control flow")
    made = [_function(one.cfg()) for one in bodies[:_MOST_GRAPHS]]
    more = len(bodies) - len(made)
    if more > 0:
        made.append(message(f"{more:,} more functions are not drawn"))
    return (
        f"<div class='pk-pane pk-picture' tabindex='0' role='region' aria-label='control flow' "
        f"data-link='{text(link)}'>{''.join(made)}</div>"
    )


def _function(graph: ControlFlowGraph) -> str:
    name = graph.function.name
    loops, blocks = len(graph.loops()), len(graph.blocks)
    count = sum(len(block.instructions) for block in graph.blocks)
    head = f"{blocks:,} blocks, {count:,} instructions, {loops} loop{'s' if loops != 1 else ''}"
    title = f"<h3 class='pk-name'>{text(name)}<span>{head}</span></h3>"
    if blocks > _MOST_BLOCKS:
        return title + message(f"too large to draw: {_MOST_BLOCKS} blocks are the most here")
    headers = {loop.header for loop in graph.loops()}
    dead = set(graph.unreachable())
    few = _MOST_LINES if blocks <= 60 else 1
    vertices = []
    for block in graph.blocks:
        lines = [" ".join(i.text.split()) for i in block.instructions]
        if len(lines) > few:
            left_out = f"… {len(lines) - few + 1} more"
            lines = [*lines[: few - 2], left_out, lines[-1]][-few:]
        kind = "pk-header" if block in headers else "pk-dead" if block in dead else ""
        places = [i.line for i in block.instructions]
        vertices.append(Vertex(block.name, lines, places, kind))
    edges = [(b.index, s.index) for b in graph.blocks for s in b.successors]
    return title + picture(vertices, edges, f"control-flow graph of {name}: {head}")


def dataflow(statements: Iterable[tuple[str, Sequence[str], Sequence[str]]], inputs: Sequence[str],
             outputs: Sequence[str]) -> str:  # fmt: skip
    """A stub as a picture: instructions, and the values that go between them.

    Statements are (opcode, registers written, operands read).
    """
    vertices = [Vertex(f"in {name}", kind="pk-in") for name in inputs]
    maker = {name: n for n, name in enumerate(inputs)}
    edges: list[tuple[int, int]] = []
    for opcode, written, read in statements:
        number = len(vertices)
        constants = [word for word in read if word not in maker]
        vertices.append(Vertex(opcode, [f"with {', '.join(constants)}"] if constants else []))
        edges += [(maker[word], number) for word in read if word in maker]
        maker.update(dict.fromkeys(written, number))
    for name in outputs:
        if name in maker:
            edges.append((maker[name], len(vertices)))
            vertices.append(Vertex(f"out {name}", kind="pk-out"))
    if len(vertices) > _MOST_BLOCKS:
        return message(f"{len(vertices):,} values: too many to draw")
    return (
        "<div class='pk-pane pk-picture' tabindex='0' role='region' aria-label='dataflow'>"
        f"{picture(vertices, edges, 'dataflow of the stub')}</div>"
    )
