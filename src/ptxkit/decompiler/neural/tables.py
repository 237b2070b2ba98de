"""The grammar as tensors: many programs are constrained at once, without a loop over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ptxkit.decompiler.neural.grammar import (
    ACCEPTS,
    KINDS,
    LEAST,
    LIMITS,
    NAMES,
    NEEDS,
    PRODUCTIONS,
    Grammar,
    number_need,
    number_needs,
)
from ptxkit.decompiler.neural.vocabulary import SLOTS, Vocabulary

DEPTH = 96
"""Needs on the stack of a program at most."""
_PUSHED = 4
_GROUPS = ("", "p", "s", "v")


class Tables:
    """What `grammar.PRODUCTIONS` says, by number of need and word."""

    def __init__(self, vocabulary: Vocabulary, device: Any) -> None:
        needs, words = len(NEEDS), vocabulary.answers
        number = {need: k for k, need in enumerate(NEEDS)}
        kind = {name: k for k, name in enumerate(KINDS)}
        self.allowed = torch.zeros(needs, words, dtype=torch.bool)
        self.pushed = torch.zeros(needs, words, _PUSHED, dtype=torch.long)
        self.push_count = torch.zeros(needs, words, dtype=torch.long)
        self.cost = torch.zeros(needs, words, dtype=torch.long)
        self.declares = torch.zeros(needs, words, dtype=torch.long)
        self.group = torch.zeros(needs, words, dtype=torch.long)
        self.repeats = torch.zeros(needs, words, dtype=torch.long)
        self.requires = torch.zeros(words, dtype=torch.long)
        self.word_group = torch.zeros(words, dtype=torch.long)
        for need, table in PRODUCTIONS.items():
            for word, production in table.items():
                at = number[need], vocabulary.index[word]
                pushed = [need] * production.repeats + list(reversed(production.parts))
                self.allowed[at] = True
                self.push_count[at] = len(pushed)
                self.cost[at] = sum(LEAST[part] for part in pushed)
                self.declares[at] = kind[production.declares] if production.declares else 0
                self.group[at] = _GROUPS.index(production.group)
                self.repeats[at] = int(production.repeats)
                for place, part in enumerate(pushed):
                    self.pushed[at][place] = number[part]
                if production.requires:
                    self.requires[at[1]] = kind[production.requires]
                self.word_group[at[1]] = _GROUPS.index(production.group)
        for word in vocabulary.words[:words]:
            for need in number_needs(word):
                self.allowed[number[need], vocabulary.index[word]] = True
        self.accepts = torch.zeros(needs, len(KINDS), dtype=torch.bool)
        for need, kinds in ACCEPTS.items():
            for name in kinds:
                self.accepts[number[need], kind[name]] = True
        self.least = torch.tensor([LEAST[need] for need in NEEDS])
        self.limits = torch.tensor([10**6, *(LIMITS[g] for g in _GROUPS[1:])])
        firsts = {g: next(k for k, n in enumerate(NAMES) if n[0] == g) for g in _GROUPS[1:]}
        self.first_name = torch.tensor([0, *firsts.values()])
        self.end = vocabulary.index["end"]
        self.names = vocabulary.index[NAMES[0]]
        self.slots = vocabulary.index["<0>"]
        self.integer, self.real = number["integer"], number["real"]
        self.device = device
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                setattr(self, name, value.to(device))
        self._number = number
        self._grammar = Grammar()

    def begin(self, parameters: list[tuple[str, ...]], slots: list[dict[str, int]]) -> Frontier:
        """Programs before their first words; parameters as PTX types them."""
        count = len(parameters)
        stack = torch.zeros(count, DEPTH, dtype=torch.long)
        size = torch.zeros(count, dtype=torch.long)
        kinds = torch.zeros(count, SLOTS, dtype=torch.long)
        for row, types in enumerate(parameters):
            needs = [self._number[need] for need in self._grammar.begin(types).stack]
            stack[row, : len(needs)] = torch.tensor(needs)
            size[row] = len(needs)
            for word, slot in slots[row].items():
                kinds[row, slot] = {"integer": 1, "real": 2}.get(number_need(word), 0)
        stack, size, kinds = (t.to(self.device) for t in (stack, size, kinds))
        inside = torch.arange(DEPTH, device=self.device)[None] < size[:, None]
        least = (self.least[stack] * inside).sum(1)
        zeros = torch.zeros(count, dtype=torch.long, device=self.device)
        names = torch.zeros(count, len(NAMES), dtype=torch.long, device=self.device)
        counts = torch.zeros(count, len(_GROUPS), dtype=torch.long, device=self.device)
        return Frontier(
            stack, size, least, names, names - 1, counts, zeros, zeros, zeros, zeros, kinds
        )


@dataclass(slots=True)
class Frontier:
    """Where many programs stand."""

    stack: Tensor
    size: Tensor
    least: Tensor
    """Words that are needed at least to complete each."""
    kinds: Tensor
    heights: Tensor
    counts: Tensor
    pending: Tensor
    pending_group: Tensor
    pending_height: Tensor
    pending_repeats: Tensor
    slots: Tensor

    def select(self, rows: Tensor) -> Frontier:
        """Some of the programs, in a new order."""
        return Frontier(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def top(self) -> Tensor:
        """What each program needs next; 0 where it is complete."""
        last = self.stack.gather(1, (self.size - 1).clamp(min=0)[:, None])[:, 0]
        return torch.where(self.size > 0, last, 0)

    def mask(self, tables: Tables, remaining: int) -> Tensor:
        """Which words may come next, so that the program can be completed in the words left."""
        top = self.top()
        mask = tables.allowed[top]
        width = self.kinds.shape[1]
        mask[:, tables.names : tables.names + width] = tables.accepts[top].gather(1, self.kinds)
        wanted = (top == tables.integer).long() + 2 * (top == tables.real).long()
        fits = (self.slots == wanted[:, None]) & (wanted > 0)[:, None]
        mask[:, tables.slots : tables.slots + SLOTS] = fits
        have = torch.zeros(len(top), len(KINDS), dtype=torch.bool, device=top.device)
        have.scatter_(1, self.kinds, True)
        have[:, 0] = True
        mask &= have[:, tables.requires]
        mask &= (self.counts < tables.limits)[:, tables.word_group]
        after = (self.least - tables.least[top])[:, None] + tables.cost[top]
        mask &= after < remaining
        deep = self.size[:, None] + tables.push_count[top] >= DEPTH
        return mask & ~deep

    def advance(self, tables: Tables, words: Tensor) -> None:
        """Take a word in each program; complete ones stay as they are."""
        active = self.size > 0
        top = self.top()
        height = self.size - 1
        count = tables.push_count[top, words]
        pushed = tables.pushed[top, words]
        for place in range(_PUSHED):
            write = active & (count > place)
            at = torch.where(write, height + place, DEPTH - 1)[:, None]
            old = self.stack.gather(1, at)
            self.stack.scatter_(
                1, at, torch.where(write[:, None], pushed[:, place : place + 1], old)
            )
        self.size = torch.where(active, height + count, self.size)
        self.least = torch.where(
            active, self.least - tables.least[top] + tables.cost[top, words], self.least
        )
        closes = active & (words == tables.end)
        self.kinds = self.kinds.masked_fill(closes[:, None] & (self.heights == height[:, None]), 0)
        declared = tables.declares[top, words]
        begins = active & (declared > 0)
        self.pending = torch.where(begins, declared, self.pending)
        self.pending_group = torch.where(begins, tables.group[top, words], self.pending_group)
        self.pending_height = torch.where(begins, height, self.pending_height)
        self.pending_repeats = torch.where(begins, tables.repeats[top, words], self.pending_repeats)
        self._settle(tables)

    def _settle(self, tables: Tables) -> None:
        done = (self.pending > 0) & (self.size <= self.pending_height + self.pending_repeats)
        group = self.pending_group[:, None]
        at = tables.first_name[self.pending_group][:, None] + self.counts.gather(1, group)
        at = at.clamp(max=self.kinds.shape[1] - 1)
        kind = torch.where(done[:, None], self.pending[:, None], self.kinds.gather(1, at))
        self.kinds = self.kinds.scatter(1, at, kind)
        own = torch.where(self.pending_group == 1, -1, self.pending_height)[:, None]
        height = torch.where(done[:, None], own, self.heights.gather(1, at))
        self.heights = self.heights.scatter(1, at, height)
        more = self.counts.gather(1, group) + done[:, None].long()
        self.counts = self.counts.scatter(1, group, more)
        self.pending = torch.where(done, 0, self.pending)
