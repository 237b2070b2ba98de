"""The blocks of a function with guarded instructions in blocks of their own.

``@p st.global [a], x;`` is a branch around a store: after this step no instruction but a
branch has a guard, and structuring turns it into an ``if``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.syntax import Instruction
from ptxkit.syntax.graph import ControlFlowGraph

_JUMPS = frozenset(("bra", "brx", "ret", "exit"))


@dataclass(eq=False, slots=True)
class Piece:
    """Instructions without guards, and how control goes on."""

    index: int
    instructions: list[Instruction] = field(default_factory=list)
    last: Instruction | None = None
    """The branch, return or exit at the end; or the guarded instruction that follows where
    this block decides whether it runs."""
    successors: list[int] = field(default_factory=list)
    """For a guard: where it holds, then where it does not."""
    predecessors: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


def pieces_of(graph: ControlFlowGraph) -> tuple[list[Piece], dict[str, int]]:
    """The pieces control can reach (the first is the entry), and labels by name."""
    pieces: list[Piece] = []

    def new() -> Piece:
        piece = Piece(len(pieces))
        pieces.append(piece)
        return piece

    reachable = graph.reachable()
    first = {block: new() for block in reachable}
    labels = {label: first[b].index for b in reachable for label in b.labels}
    for block in reachable:
        piece = first[block]
        piece.labels = list(block.labels)
        guard: str | None = None
        for instruction in block.instructions:
            if instruction.name in _JUMPS:
                break
            now = _guard(instruction)
            if now != guard:
                if guard is not None:
                    # The end of a guarded run: both ways meet.
                    piece = _meet(new(), piece, pieces)
                if now is not None:
                    inside = new()
                    piece.last = instruction
                    piece.successors = [inside.index, -1]
                    piece = inside
                guard = now
            piece.instructions.append(instruction)
            if guard is not None and _writes_guard(instruction, guard):
                piece = _meet(new(), piece, pieces)
                guard = None
        if guard is not None:
            piece = _meet(new(), piece, pieces)
        last = block.instructions[-1] if block.instructions else None
        targets = [first[s].index for s in block.successors if s in first]
        if last is not None and last.name in _JUMPS:
            piece.last = last
            if last.name == "bra":
                taken = labels[last.operands[0].text]
                others = [t for t in targets if t != taken]
                piece.successors = [taken] if last.guard is None else [taken, *(others or [taken])]
            elif last.name == "brx":
                piece.successors = targets
            elif last.guard is not None:
                # A guarded return: where the guard holds control leaves.
                leave = new()
                leave.last = last
                piece.successors = [leave.index, *targets]
        elif last is not None and last.name == "trap" and last.guard is None:
            piece.successors = []
        else:
            piece.successors = targets
    for piece in pieces:
        for successor in dict.fromkeys(piece.successors):
            pieces[successor].predecessors.append(piece.index)
    return pieces, labels


def _guard(instruction: Instruction) -> str | None:
    return None if instruction.guard is None else str(instruction.guard.text)


def _writes_guard(instruction: Instruction, guard: str) -> bool:
    """Whether an instruction may change the predicate that guards it."""
    name = guard.lstrip("@!").strip()
    if not instruction.operands:
        return False
    target = instruction.operands[0]
    return name in target.text.replace("|", " ").replace(",", " ").strip("{}").split()


def _meet(after: Piece, inside: Piece, pieces: list[Piece]) -> Piece:
    inside.successors = [after.index]
    for piece in reversed(pieces[:-1]):
        if piece.successors and piece.successors[-1] == -1:
            piece.successors[-1] = after.index
            break
    return after
