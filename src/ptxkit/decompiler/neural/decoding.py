"""From PTX words to answers: beam search that only ever says valid programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ptxkit.decompiler.neural.grammar import Grammar, UnknownParameterError
from ptxkit.decompiler.neural.model import Memory, Model, avoid_plans, rotary, rotate
from ptxkit.decompiler.neural.ptxwords import PtxWords
from ptxkit.decompiler.neural.tables import Tables
from ptxkit.decompiler.neural.tokens import MOST_ANSWER, MOST_SOURCE
from ptxkit.decompiler.neural.vocabulary import START, Vocabulary

WORDS_AT_ONCE = 400_000
"""Words of PTX times beams that are read together; more does not fit a small memory."""


@dataclass(slots=True)
class Candidate:
    """An answer and how probable the model finds it."""

    words: list[str]
    score: float
    generated: list[float] = field(default_factory=list)
    """p_gen of each word."""


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
        good = [k for k, f in enumerate(functions) if self._can(f, len(encoded[k][0]))]
        good.sort(key=lambda k: len(encoded[k][0]))
        start = 0
        while start < len(good):
            stop = start + 1
            while stop < len(good):
                size = len(encoded[good[stop]][0])
                if (stop + 1 - start) * size * beams > WORDS_AT_ONCE:
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

    def _can(self, function: PtxWords, size: int) -> bool:
        if not 0 < size <= MOST_SOURCE:
            return False
        try:
            Grammar().begin(function.parameters)
        except UnknownParameterError:
            return False
        return True

    @torch.inference_mode()
    def _search(
        self,
        functions: list[PtxWords],
        encoded: list[tuple[list[int], dict[str, int]]],
        beams: int,
        most: int,
    ) -> list[list[Candidate]]:
        memory = self._read(functions, encoded)
        count = len(functions)
        frontier = self.tables.begin(
            [f.parameters for f in functions], [slots for _, slots in encoded]
        )
        rows = torch.arange(count, device=self.device).repeat_interleave(beams)
        frontier = frontier.select(rows)
        # Only the first beam of each counts at the start: the others are the same.
        scores = torch.full((count, beams), -1e9, device=self.device)
        scores[:, 0] = 0.0
        cache = _Cache(self.model, count * beams, most, self.device)
        said = torch.full((count * beams, 1), START, device=self.device)
        history = torch.zeros(count * beams, most, dtype=torch.long, device=self.device)
        odds = torch.zeros(count * beams, most, device=self.device)
        base = torch.arange(count, device=self.device)[:, None] * beams
        length = 0
        for step in range(most):
            logs, generated = self._next(said, memory, cache, step, beams)
            mask = frontier.mask(self.tables, most - step)
            finished = frontier.size == 0
            logs = logs.masked_fill(~mask, -1e9)
            # A complete program stays as it is, by a word that costs nothing.
            logs = torch.where(finished[:, None], -1e9, logs)
            logs[:, 0] = torch.where(finished, 0.0, logs[:, 0])
            if beams == 1:
                best, words = logs.max(1)
                scores = scores + best[:, None]
            else:
                total = scores.view(-1, 1) + logs
                width = logs.shape[1]
                top, place = total.view(count, beams * width).topk(beams, 1)
                scores = top
                order = (base + place // width).view(-1)
                words = (place % width).view(-1)
                frontier = frontier.select(order)
                history, odds = history[order], odds[order]
                generated = generated[order]
                cache.reorder(order, step)
                finished = finished[order]
            history[:, step] = words
            odds[:, step] = generated
            frontier.advance(self.tables, words)
            said = torch.where(finished, 0, words)[:, None]
            length = step + 1
            if step % 8 == 7 and bool((frontier.size == 0).all()):
                break
        return self._collect(history[:, :length], odds, scores, frontier.size, encoded, beams)

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
        turn = rotary(1, model.config.width // model.config.heads, self.device, start=step)
        count = len(said) // beams
        for number, (layer, keys) in enumerate(zip(model.decoder, memory.layers, strict=True)):
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

    def _collect(
        self,
        history: Tensor,
        odds: Tensor,
        scores: Tensor,
        sizes: Tensor,
        encoded: list[tuple[list[int], dict[str, int]]],
        beams: int,
    ) -> list[list[Candidate]]:
        numbers, chances = history.cpu().numpy(), odds.cpu().numpy()
        marks, left = scores.cpu().numpy(), sizes.cpu().numpy()
        found: list[list[Candidate]] = []
        for row, (_, slots) in enumerate(encoded):
            candidates = []
            for beam in range(beams):
                at = row * beams + beam
                if left[at] or marks[row, beam] < -1e8:
                    continue
                line = numbers[at]
                length = int(np.flatnonzero(line)[-1]) + 1 if line.any() else 0
                words = self.vocabulary.decode_answer(line[:length].tolist(), slots)
                candidates.append(
                    Candidate(words, float(marks[row, beam]), chances[at, :length].tolist())
                )
            found.append(candidates)
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

    def reorder(self, order: Tensor, step: int) -> None:
        """Beams go on from other beams."""
        self.room[:, :, :, :, : step + 1] = self.room[:, :, order, :, : step + 1]
