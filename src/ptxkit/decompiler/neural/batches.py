"""Which pairs are learned from at each step, and as what tensors.

The order depends on the seed and the number of the round alone, so that a run that goes on
after a kill sees what it would have seen. Pairs of similar length go together; easy tiers come
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ptxkit.decompiler.neural.tokens import Tokens
from ptxkit.decompiler.neural.vocabulary import START

Array = Any
_ROUND = 16
#: The part of a run after which a tier is learned from.
BEGINS = {1: 0.0, 2: 0.0, 3: 0.03, 4: 0.02, 5: 0.03, 6: 0.05, 7: 0.06, 8: 0.08, 9: 0.06, 10: 0.08}


@dataclass(slots=True)
class Batch:
    """Tensors of some pairs."""

    source: Tensor
    made_at: Tensor
    lengths: Tensor
    said: Tensor
    target: Tensor
    mask: Tensor
    tiers: Tensor


class Store:
    """All pairs as tensors on a device; batches are cut out of them there."""

    def __init__(self, tokens: Tokens, device: Any) -> None:
        self.device = device
        self.source = torch.from_numpy(np.asarray(tokens.source).astype(np.int32)).to(device)
        self.made_at = torch.from_numpy(np.array(tokens.made_at)).to(device)
        self.answer = torch.from_numpy(np.asarray(tokens.answer).astype(np.int32)).to(device)
        self.starts = torch.from_numpy(np.array(tokens.starts)).to(device)
        self.lengths = torch.from_numpy(np.array(tokens.rows[:, :2])).to(device)
        self.tiers = torch.from_numpy(np.array(tokens.rows[:, 2])).to(device)

    def batch(self, chosen: Array, longest: tuple[int, int]) -> Batch:
        """The pairs with these numbers; `longest` are their greatest lengths."""
        rows = torch.from_numpy(np.ascontiguousarray(chosen)).to(self.device)
        source_size, answer_size = (-(-x // _ROUND) * _ROUND for x in longest)
        lengths = self.lengths[rows]
        place = torch.arange(source_size, device=self.device)[None]
        inside = place < lengths[:, :1]
        index = torch.where(inside, self.starts[rows, :1] + place, 0)
        source = torch.where(inside, self.source[index], 0).long()
        made_at = torch.where(inside, self.made_at[index], -1).long()
        place = torch.arange(answer_size, device=self.device)[None]
        inside = place < lengths[:, 1:]
        index = torch.where(inside, self.starts[rows, 1:] + place, 0)
        target = torch.where(inside, self.answer[index], 0).long()
        said = torch.cat((torch.full_like(target[:, :1], START), target[:, :-1]), dim=1)
        return Batch(source, made_at, lengths[:, 0], said, target, inside, self.tiers[rows])


def known_tiers(progress: float) -> list[int]:
    """The tiers that are learned from at a point of a run.

    >>> known_tiers(0.0), known_tiers(0.04)
    ([1, 2], [1, 2, 3, 4, 5])
    """
    return [tier for tier, begin in BEGINS.items() if progress >= begin]


def plan_round(
    tokens: Tokens, rows: Array, *, seed: int, number: int, tiers: list[int], budget: int
) -> list[tuple[Array, tuple[int, int]]]:
    """Batches of one round over the rows: numbers of pairs and their greatest lengths.

    A batch holds at most `budget` words, counted as they are padded.
    """
    draw = np.random.default_rng((seed, number))
    allowed = np.isin(tokens.column("tier")[rows], tiers)
    chosen = draw.permutation(rows[allowed])
    lengths = np.asarray(tokens.rows[:, :2])[chosen]
    # Nearly sorted: some noise keeps batches from being the same in every round.
    order = np.argsort(lengths[:, 0] + draw.uniform(0, 12, len(chosen)), kind="stable")
    batches: list[tuple[Array, tuple[int, int]]] = []
    start, source, answer = 0, 0, 0
    for place, (read, said) in enumerate(lengths[order].tolist()):
        wider, longer = max(source, read), max(answer, said)
        if place > start and (place + 1 - start) * (wider + 2 * longer) > budget:
            batches.append((chosen[order[start:place]], (source, answer)))
            start, wider, longer = place, read, said
        source, answer = wider, longer
    if start < len(order):
        batches.append((chosen[order[start:]], (source, answer)))
    return [batches[k] for k in draw.permutation(len(batches))]
