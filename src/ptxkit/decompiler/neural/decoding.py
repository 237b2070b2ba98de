"""From PTX words to answers: beam search that only ever says valid programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ptxkit.decompiler.neural.model import Memory, Model, avoid_plans, rotate
from ptxkit.decompiler.neural.ptxwords import PtxWords
from ptxkit.decompiler.neural.tables import Tables
from ptxkit.decompiler.neural.tokens import MOST_ANSWER, can_be_read
from ptxkit.decompiler.neural.vocabulary import START, Vocabulary

_LOOK = 8
"""Steps after which to see who is done: looking makes a GPU wait."""
_FEW = 16
"""Rows for which one thread is enough."""
WORDS_AT_ONCE = 400_000
"""Words of PTX times beams that are read together on a CPU; more does not fit a small memory."""
_SHARE = 0.4
"""The part of a GPU's free memory that answers may take."""


@dataclass(slots=True)
class Candidate:
    """An answer and how probable the model finds it."""

    words: list[str]
    score: float
    generated: list[float] = field(default_factory=list)
    """p_gen of each word."""


@contextmanager
def _threads_for(device: torch.device, rows: int) -> Iterator[None]:
    """One thread for few rows on a CPU: on small matrices threads only wait for each other."""
    before = torch.get_num_threads()
    alone = device.type == "cpu" and rows <= _FEW
    if alone:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if alone:
            torch.set_num_threads(before)


class Decoder:
    """A model with its grammar, ready to answer."""

    def __init__(self, model: Model, vocabulary: Vocabulary) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self.device = next(model.parameters()).device
        self.tables = Tables(vocabulary, self.device)

    @classmethod
    def load(cls, folder: Path, device: Any = "cpu") -> Decoder:
        """From a folder of weights."""
        from ptxkit.decompiler.neural.weights import load_weights

        model, vocabulary, _ = load_weights(folder, device)
        if torch.device(device).type == "cuda":
            avoid_plans()
            model = model.to(torch.bfloat16)
        return cls(model, vocabulary)

    def answers(
        self, functions: list[PtxWords], *, beams: int = 1, most: int = MOST_ANSWER
    ) -> list[list[Candidate]]:
        """For each function its most probable programs, best first.

        A function that is too long, or has a parameter that the grammar can't say, has none.
        """
        encoded = [self.vocabulary.encode_source(f) for f in functions]
        results: list[list[Candidate]] = [[] for _ in functions]
        good = [k for k, f in enumerate(functions) if can_be_read(f)]
        good.sort(key=lambda k: len(encoded[k][0]))
        start = 0
        room = self._room()
        while start < len(good):
            stop = start + 1
            while stop < len(good):
                cost = self._cost(len(encoded[good[stop]][0]), beams, most)
                if (stop + 1 - start) * cost > room:
                    break
                stop += 1
            chosen = good[start:stop]
            found = self._search(
                [functions[k] for k in chosen], [encoded[k] for k in chosen], beams, most
            )
            for k, candidates in zip(chosen, found, strict=True):
                results[k] = candidates
            start = stop
        return results

    def _room(self) -> float:
        """How much may be under way at once: for a GPU a step of many takes no longer."""
        if self.device.type != "cuda":
            return WORDS_AT_ONCE
        return float(torch.cuda.mem_get_info(self.device)[0] * _SHARE)

    def _cost(self, size: int, beams: int, most: int) -> int:
        """What a function of so many words takes of that room: on a GPU bytes, else words."""
        if self.device.type != "cuda":
            return size * beams
        config = self.model.config
        number = self.model.words.weight.element_size()
        read = size * config.width * number * (2 * config.decoder_layers + 16)
        said = 2 * config.decoder_layers * config.width * number * most
        # Beams change places: what was said is there twice for a moment.
        return read + beams * (2 * said + 32 * config.words)

    @torch.inference_mode()
    def _search(
        self,
        functions: list[PtxWords],
        encoded: list[tuple[list[int], dict[str, int]]],
        beams: int,
        most: int,
    ) -> list[list[Candidate]]:
        found: list[list[Candidate]] = [[] for _ in functions]
        with _threads_for(self.device, len(functions) * beams):
            search = _Search(self, functions, encoded, beams, most)
            while not search.finished:
                search.step()
                if search.steps % _LOOK == 0 or search.steps == most:
                    for owner, candidates in search.harvest():
                        found[owner] = candidates
        return found

    def _read(
        self, functions: list[PtxWords], encoded: list[tuple[list[int], dict[str, int]]]
    ) -> Memory:
        longest = max(len(numbers) for numbers, _ in encoded)
        source = np.zeros((len(functions), longest), np.int64)
        made_at = np.full((len(functions), longest), -1, np.int64)
        for row, (function, (numbers, _)) in enumerate(zip(functions, encoded, strict=True)):
            source[row, : len(numbers)] = numbers
            made_at[row, : len(numbers)] = function.made_at
        lengths = np.array([len(numbers) for numbers, _ in encoded])
        tensors = (torch.from_numpy(x).to(self.device) for x in (source, made_at, lengths))
        return self.model.encode(*tensors)

    def _next(
        self, said: Tensor, memory: Memory, cache: _Cache, step: int, beams: int
    ) -> tuple[Tensor, Tensor]:
        """Logarithms of the probabilities of the next word of each beam, and p_gen."""
        model = self.model
        x = model.words(said)
        turn = model.turn(1, x, start=step)
        count = len(said) // beams
        for number, (layer, keys) in enumerate(zip(model.layers, memory.layers, strict=True)):
            y = layer.norms[0](x)
            key, value = layer.attention.keys(y)
            query = rotate(layer.attention.split(layer.attention.query(y)), turn)
            past = cache.add(number, rotate(key, turn), value, step)
            x = x + layer.attention(query, *past, None)
            # All beams of a function ask the same memory: they are its queries.
            y = layer.norms[1](x).view(count, beams, -1)
            query = layer.cross.split(layer.cross.query(y))
            x = x + layer.cross(query, *keys, memory.mask).view(count * beams, 1, -1)
            x = x + layer.forward_part(layer.norms[2](x))
        states = model.decoder_norm(x).view(count, beams, -1)
        vocabulary, copied, odds = model.mixture(states, memory)
        generated = odds.sigmoid()
        probability = vocabulary.exp() * generated
        sayable = memory.copyable & (memory.words < model.config.answers)
        places = torch.where(sayable, memory.words, 0)[:, None].expand_as(copied)
        share = copied.exp() * (1 - generated)
        probability = probability.scatter_add(2, places, share)
        logs = probability.clamp(min=1e-37).log()
        return logs.view(count * beams, -1), generated.view(-1)


class _Search:
    """A search under way: all beams of some functions; those that are done leave it."""

    def __init__(
        self,
        decoder: Decoder,
        functions: list[PtxWords],
        encoded: list[tuple[list[int], dict[str, int]]],
        beams: int,
        most: int,
    ) -> None:
        self.decoder, self.encoded, self.beams, self.most = decoder, encoded, beams, most
        device, count = decoder.device, len(functions)
        self.memory = decoder._read(functions, encoded)
        frontier = decoder.tables.begin(
            [f.parameters for f in functions], [slots for _, slots in encoded]
        )
        self.frontier = frontier.select(torch.arange(count, device=device).repeat_interleave(beams))
        # Only the first beam of each counts at the start: the others are the same.
        self.scores = torch.full((count, beams), -1e9, device=device)
        self.scores[:, 0] = 0.0
        self.cache = _Cache(decoder.model, count * beams, most, device)
        self.said = torch.full((count * beams, 1), START, device=device)
        self.history = torch.zeros(count * beams, most, dtype=torch.long, device=device)
        self.odds = torch.zeros(count * beams, most, device=device)
        self.owners = list(range(count))
        self.steps = 0

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return not self.owners or self.steps >= self.most

    def step(self) -> None:
        """One more word for every beam."""
        tables = self.decoder.tables
        logs, generated = self.decoder._next(
            self.said, self.memory, self.cache, self.steps, self.beams
        )
        mask = self.frontier.mask(tables, self.most - self.steps)
        done = self.frontier.size == 0
        logs = logs.masked_fill(~mask | done[:, None], -1e9)
        # A complete program stays as it is, by a word that costs nothing.
        logs[:, 0] = torch.where(done, 0.0, logs[:, 0])
        if self.beams == 1:
            best, words = logs.max(1)
            self.scores = self.scores + best[:, None]
        else:
            words, order = self._best(logs)
            generated, done = generated[order], done[order]
        self.history[:, self.steps] = words
        self.odds[:, self.steps] = generated
        self.frontier.advance(tables, words)
        self.said = torch.where(done, 0, words)[:, None]
        self.steps += 1

    def _best(self, logs: Tensor) -> tuple[Tensor, Tensor]:
        """The best continuations of all beams of each function: words, and of which beams."""
        count, width = len(self.owners), logs.shape[1]
        total = (self.scores.view(-1, 1) + logs).view(count, self.beams * width)
        self.scores, place = total.topk(self.beams, 1)
        base = torch.arange(count, device=logs.device)[:, None] * self.beams
        order = (base + place // width).view(-1)
        self.frontier = self.frontier.select(order)
        self.history, self.odds = self.history[order], self.odds[order]
        self.cache.reorder(order, self.steps + 1)
        return (place % width).view(-1), order

    def harvest(self) -> list[tuple[int, list[Candidate]]]:
        """The functions that are done, with their answers; they need no more steps."""
        count = len(self.owners)
        done = (self.frontier.size.view(count, self.beams) == 0).all(1)
        if self.steps >= self.most:
            done = torch.ones_like(done)
        leaving = done.nonzero()[:, 0]
        if not len(leaving):
            return []
        found = self._candidates(leaving)
        if len(leaving) == count:
            self.owners = []
        elif 4 * len(leaving) >= count:
            self._keep((~done).nonzero()[:, 0])
        return found

    def _keep(self, rows: Tensor) -> None:
        beams = torch.arange(self.beams, device=rows.device)
        wide = (rows[:, None] * self.beams + beams).view(-1)
        self.memory = self.memory.select(rows)
        self.frontier = self.frontier.select(wide)
        self.scores = self.scores[rows]
        self.said, self.history, self.odds = self.said[wide], self.history[wide], self.odds[wide]
        self.cache.keep(wide)
        self.owners = [self.owners[row] for row in rows.tolist()]

    def _candidates(self, rows: Tensor) -> list[tuple[int, list[Candidate]]]:
        shape = (len(self.owners), self.beams, -1)
        numbers = self.history.view(shape)[rows, :, : self.steps].cpu().numpy()
        chances = self.odds.view(shape)[rows, :, : self.steps].cpu().numpy()
        left = self.frontier.size.view(len(self.owners), self.beams)[rows].cpu().numpy()
        marks = self.scores[rows].cpu().numpy()
        found = []
        for at, row in enumerate(rows.tolist()):
            owner = self.owners[row]
            candidates = []
            for beam in range(self.beams):
                if left[at, beam] or marks[at, beam] < -1e8:
                    continue
                line = numbers[at, beam]
                length = int(np.flatnonzero(line)[-1]) + 1 if line.any() else 0
                words = self.decoder.vocabulary.decode_answer(
                    line[:length].tolist(), self.encoded[owner][1]
                )
                odds = chances[at, beam, :length].tolist()
                candidates.append(Candidate(words, float(marks[at, beam]), odds))
            found.append((owner, candidates))
        return found


class _Cache:
    """Keys and values of the words that were said, by layer."""

    def __init__(self, model: Model, rows: int, most: int, device: Any) -> None:
        config = model.config
        kind = model.words.weight.dtype
        shape = (config.decoder_layers, 2, rows, config.heads, most, config.width // config.heads)
        self.room = torch.zeros(shape, dtype=kind, device=device)

    def add(self, layer: int, key: Tensor, value: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """One more word; gives all so far."""
        self.room[layer, 0, :, :, step] = key[:, :, 0]
        self.room[layer, 1, :, :, step] = value[:, :, 0]
        past = self.room[layer, :, :, :, : step + 1]
        return past[0], past[1]

    def reorder(self, rows: Tensor, steps: int) -> None:
        """Beams go on from other beams; only what has been said is moved."""
        self.room[:, :, :, :, :steps] = self.room[:, :, rows, :, :steps]

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows alone."""
        self.room = self.room[:, :, rows]
