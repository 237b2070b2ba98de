"""Graphs drawn in layers, top to bottom, without any program beside this one.

Sugiyama's way: cycles are opened, every node gets a layer, long edges get a bend in each
layer they cross, layers are ordered so that few edges cross, and nodes are moved over their
neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_GAP_X, _GAP_Y = 28.0, 44.0
_SWEEPS = 6


@dataclass(slots=True)
class Box:
    """A node: its size, and after the layout the place of its upper left corner."""

    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    layer: int = 0


@dataclass(slots=True)
class Drawing:
    """Where everything is."""

    width: float
    height: float
    boxes: list[Box]
    paths: dict[tuple[int, int], list[tuple[float, float]]] = field(default_factory=dict)
    """Points of each edge, from its source to its target."""
    back: set[tuple[int, int]] = field(default_factory=set)
    """Edges that go up: loops."""


def layout(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Drawing:
    """Places for boxes and edges; node 0 is on top.

    >>> drawn = layout([(10, 10)] * 3, [(0, 1), (1, 2), (2, 1)])
    >>> [box.layer for box in drawn.boxes], drawn.back
    ([0, 1, 2], {(2, 1)})
    """
    edges = list(dict.fromkeys(edges))
    back = _back_edges(len(sizes), edges)
    boxes = [Box(*one) for one in sizes]
    forward = [(b, a) if (a, b) in back else (a, b) for a, b in edges if a != b]
    _assign_layers(boxes, forward)
    chains = _bends(boxes, forward)
    layers = _ordered(boxes, chains)
    _place(boxes, layers, chains)
    drawing = Drawing(
        max((b.x + b.width for b in boxes), default=0.0),
        max((b.y + b.height for b in boxes), default=0.0),
        boxes[: len(sizes)],
        back=back,
    )
    for a, b in edges:
        drawing.paths[a, b] = _path(boxes, chains, a, b, back)
    return drawing


def _back_edges(count: int, edges: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    below: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        below[a].append(b)
    state, back = [0] * count, set()
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(below[root]))]
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[node] = 2
                stack.pop()
            elif state[following] == 1:
                back.add((node, following))
            elif state[following] == 0:
                state[following] = 1
                stack.append((following, iter(below[following])))
    return back


def _assign_layers(boxes: list[Box], edges: Sequence[tuple[int, int]]) -> None:
    waiting = [0] * len(boxes)
    below: list[list[int]] = [[] for _ in boxes]
    for a, b in edges:
        waiting[b] += 1
        below[a].append(b)
    ready = [n for n, count in enumerate(waiting) if not count]
    while ready:
        node = ready.pop()
        for other in below[node]:
            boxes[other].layer = max(boxes[other].layer, boxes[node].layer + 1)
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)


def _bends(boxes: list[Box], edges: Sequence[tuple[int, int]]) -> dict[tuple[int, int], list[int]]:
    """Each edge as the nodes it goes through, a thin one in every layer between its ends."""
    chains: dict[tuple[int, int], list[int]] = {}
    for a, b in dict.fromkeys(edges):
        chain = [a]
        for layer in range(boxes[a].layer + 1, boxes[b].layer):
            chain.append(len(boxes))
            boxes.append(Box(2.0, 0.0, layer=layer))
        chains[a, b] = [*chain, b]
    return chains


def _ordered(boxes: list[Box], chains: dict[tuple[int, int], list[int]]) -> list[list[int]]:
    layers: list[list[int]] = [[] for _ in range(max((b.layer for b in boxes), default=0) + 1)]
    for number, box in enumerate(boxes):
        layers[box.layer].append(number)
    up, down = _neighbours(boxes, chains)
    for sweep in range(_SWEEPS):
        sides = up if sweep % 2 == 0 else down
        sequence = layers if sweep % 2 == 0 else layers[::-1]
        for layer in sequence:
            place = {n: k for one in layers for k, n in enumerate(one)}
            layer.sort(key=lambda n: (
                sum(place[o] for o in sides[n]) / len(sides[n]) if sides[n] else place[n]
            ))  # fmt: skip
    return layers


def _neighbours(
    boxes: list[Box], chains: dict[tuple[int, int], list[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    up: list[list[int]] = [[] for _ in boxes]
    down: list[list[int]] = [[] for _ in boxes]
    for chain in chains.values():
        for a, b in pairwise(chain):
            up[b].append(a)
            down[a].append(b)
    return up, down


def _place(
    boxes: list[Box], layers: list[list[int]], chains: dict[tuple[int, int], list[int]]
) -> None:
    y = 0.0
    for layer in layers:
        height = max((boxes[n].height for n in layer), default=0.0)
        x = 0.0
        for n in layer:
            boxes[n].x, boxes[n].y = x, y
            if not boxes[n].height:  # a bend is as tall as its layer, so that lines go straight
                boxes[n].height = height
            x += boxes[n].width + _GAP_X
        y += height + _GAP_Y
    up, down = _neighbours(boxes, chains)
    for sweep in range(_SWEEPS):
        sides = up if sweep % 2 == 0 else down
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            _settle(boxes, layer, sides)
    left = min((b.x for b in boxes), default=0.0)
    for box in boxes:
        box.x -= left


def _settle(boxes: list[Box], layer: list[int], sides: list[list[int]]) -> None:
    """Move the nodes of a layer over their neighbours, without changing their order."""
    wanted = []
    for n in layer:
        box = boxes[n]
        centers = sorted(boxes[o].x + boxes[o].width / 2 for o in sides[n])
        middle = box.x + box.width / 2
        if centers:
            middle = (centers[len(centers) // 2] + centers[(len(centers) - 1) // 2]) / 2
        wanted.append(middle - box.width / 2)
    # From the left nobody is nearer than allowed; from the right likewise; the mean is both.
    lefts, rights = list(wanted), list(wanted)
    for k in range(1, len(layer)):
        lefts[k] = max(lefts[k], lefts[k - 1] + boxes[layer[k - 1]].width + _GAP_X)
    for k in range(len(layer) - 2, -1, -1):
        rights[k] = min(rights[k], rights[k + 1] - boxes[layer[k]].width - _GAP_X)
    for k, n in enumerate(layer):
        boxes[n].x = (lefts[k] + rights[k]) / 2


def _path(
    boxes: list[Box], chains: dict[tuple[int, int], list[int]], a: int, b: int,
    back: set[tuple[int, int]],
) -> list[tuple[float, float]]:  # fmt: skip
    if a == b:
        box = boxes[a]
        x, y = box.x + box.width, box.y + box.height / 2
        return [(x, y - 6), (x + 18, y - 6), (x + 18, y + 6), (x, y + 6)]
    chain = chains[b, a][::-1] if (a, b) in back else chains[a, b]
    points: list[tuple[float, float]] = []
    for k, n in enumerate(chain):
        box = boxes[n]
        x = box.x + box.width / 2
        ends = (box.y, box.y + box.height) if (a, b) not in back else (box.y + box.height, box.y)
        shift = 0.0 if (a, b) not in back else min(box.width / 4, 24.0)
        if k:
            points.append((x + shift, ends[0]))
        if k + 1 < len(chain):
            points.append((x + shift, ends[1]))
    return points
