"""Look inside an answer: what each word attended to, and whether it was copied."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ptxkit.decompiler.neural.decoding import Candidate, Decoder
from ptxkit.decompiler.neural.model import rotate
from ptxkit.decompiler.neural.ptxwords import PtxWords
from ptxkit.decompiler.neural.vocabulary import START
from ptxkit.errors import UsageError, import_extra

Array = Any
_COPIED = "#c2410c"


@dataclass(slots=True)
class Look:
    """An answer and how it came about; the arrays have a row for each word of the answer."""

    source: list[str]
    answer: list[str]
    attention: Array
    """Cross-attention to the words of PTX, averaged over layers and heads; rows add up to one."""
    copied: Array
    """Where each word would be copied from; rows add up to one."""
    generated: Array
    """p_gen: the probability of taking the word from the vocabulary."""

    def taken_from(self) -> dict[int, int]:
        """For each word that was copied, by its row, the place of that word in the PTX."""
        found = {}
        for row, word in enumerate(self.answer):
            if self.generated[row] < 0.5:
                # Places of one word count together: the likeliest of all may be another word.
                same = [place for place, text in enumerate(self.source) if text == word]
                places = same or range(len(self.source))
                found[row] = max(places, key=self.copied[row].__getitem__)
        return found

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "source": self.source,
            "answer": self.answer,
            "p_gen": self.generated.round(4).tolist(),
            "attention": self.attention.round(4).tolist(),
        }


@torch.inference_mode()
def look(decoder: Decoder, source: PtxWords, answer: Candidate | list[str]) -> Look:
    """What the model looks at while it says an answer."""
    words = answer.words if isinstance(answer, Candidate) else answer
    encoded = decoder.vocabulary.encode_source(source)
    numbers = decoder.vocabulary.encode_answer(words, encoded[1])
    if numbers is None:
        raise UsageError("this answer has a number that is neither known nor in the PTX")
    model = decoder.model
    memory = decoder._read([source], [encoded])
    x = model.words(torch.tensor([[START, *numbers[:-1]]], device=decoder.device))
    turn = model.turn(x.shape[1], x)
    seen = torch.zeros(x.shape[1], len(encoded[0]), device=decoder.device)
    for layer, keys in zip(model.layers, memory.layers, strict=True):
        y = layer.norms[0](x)
        key, value = layer.attention.keys(y)
        query = rotate(layer.attention.split(layer.attention.query(y)), turn)
        x = x + layer.attention(query, rotate(key, turn), value, None, causal=True)
        query = layer.cross.split(layer.cross.query(layer.norms[1](x)))
        scores = query @ keys[0].transpose(-1, -2) * query.shape[-1] ** -0.5
        seen += scores.float().softmax(-1).mean(1)[0]
        x = x + layer.cross(query, *keys, memory.mask)
        x = x + layer.forward_part(layer.norms[2](x))
    _, copied, odds = model.mixture(model.decoder_norm(x), memory)
    return Look(
        source.texts,
        words,
        (seen / len(model.decoder)).cpu().numpy(),
        copied[0].exp().cpu().numpy(),
        odds.sigmoid()[0, :, 0].cpu().numpy(),
    )


def draw(found: Look, path: Path) -> None:
    """The heat map of attention, with p_gen beside it, as a picture."""
    matplotlib = import_extra("matplotlib", extra="neural")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows, columns = found.attention.shape
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(max(6.0, 0.13 * columns + 3), max(3.0, 0.16 * rows + 1.5)),
        gridspec_kw={"width_ratios": [max(4, columns / 8), 1]}, sharey=True,
    )  # fmt: skip
    left.imshow(found.attention, aspect="auto", cmap="Blues", vmin=0.0,
                vmax=float(np.quantile(found.attention, 0.995)))  # fmt: skip
    left.set_xticks(range(columns), found.source, rotation=90, fontsize=5)
    left.set_yticks(range(rows), found.answer, fontsize=6)
    left.set_xlabel("words of PTX")
    left.set_ylabel("words of the answer")
    copied = found.taken_from()
    left.plot(list(copied.values()), list(copied), "o", markersize=5, markerfacecolor="none",
              markeredgecolor=_COPIED)  # fmt: skip
    left.set_title("cross-attention, and where words were copied from", fontsize=8)
    for row in copied:
        left.get_yticklabels()[row].set_color(_COPIED)
    right.barh(range(rows), found.generated, color="#63a4dd")
    right.axvline(0.5, color="#999", linewidth=0.6, linestyle=":")
    right.set_xlim(0, 1)
    right.set_xlabel("p_gen")
    figure.tight_layout()
    figure.savefig(path, dpi=140)
    pyplot.close(figure)
