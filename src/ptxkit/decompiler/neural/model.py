"""The network: a transformer that reads words of PTX and says words of a program.

Six encoder and six decoder layers, normalised before each part, with rotary positions. The
next word comes from a mixture: with probability p_gen from the vocabulary, otherwise copied
from a word of the PTX. Each encoder layer also hands every register that is read the state of
the instruction that made it, so that dataflow needs not be found by matching names.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ptxkit.decompiler.neural.vocabulary import CLASSES, PER_CLASS

_LOW = 32


@dataclass(frozen=True, slots=True)
class Config:
    """The sizes of a network."""

    words: int
    answers: int
    """The first so many words can be said."""
    width: int = 256
    heads: int = 8
    inner: int = 1024
    encoder_layers: int = 6
    decoder_layers: int = 6
    dropout: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def rotary(
    length: int, size: int, device: Any, start: int = 0, dtype: Any = torch.float32
) -> tuple[Tensor, Tensor]:
    """Cosines and sines of positions."""
    step = 10000 ** (-torch.arange(0, size, 2, device=device, dtype=torch.float32) / size)
    angle = torch.arange(start, start + length, device=device, dtype=torch.float32)[:, None] * step
    return angle.cos().to(dtype), angle.sin().to(dtype)


def rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Turn pairs of features by their position; `x` is (batch, heads, length, size)."""
    cosine, sine = turn
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


def avoid_plans() -> None:
    """Keep attention from the library that plans for every new shape.

    Lengths differ from batch to batch, and planning takes far longer than attending.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)


class Attention(nn.Module):
    """Attention with several heads."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def split(self, x: Tensor) -> Tensor:
        """(batch, length, width) to (batch, heads, length, size)."""
        return x.view(*x.shape[:-1], self.heads, x.shape[-1] // self.heads).transpose(1, 2)

    def keys(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of what is attended to."""
        key, value = self.key_value(x).chunk(2, dim=-1)
        return self.split(key), self.split(value)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """Mix values; `query` is already split."""
        mixed = functional.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)
        result: Tensor = self.output(mixed.transpose(1, 2).flatten(2))
        return result


class FeedForward(nn.Sequential):
    """Two layers at each position."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__(
            nn.Linear(width, inner, bias=False),
            nn.GELU(approximate="tanh"),
            nn.Linear(inner, width, bias=False),
        )


class EncoderLayer(nn.Module):
    """Attention, dataflow, feed-forward."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config.width
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-6) for _ in range(3))
        self.attention = Attention(width, config.heads)
        self.flow = nn.Linear(width, width, bias=False)
        self.forward_part = FeedForward(width, config.inner)

    def forward(
        self, x: Tensor, mask: Tensor, turn: tuple[Tensor, Tensor], made: Tensor, reads: Tensor
    ) -> Tensor:
        """One layer."""
        y = self.norms[0](x)
        key, value = self.attention.keys(y)
        query = rotate(self.attention.split(self.attention.query(y)), turn)
        x = x + self.attention(query, rotate(key, turn), value, mask)
        y = self.flow(self.norms[1](x))
        x = x + torch.gather(y, 1, made.unsqueeze(-1).expand_as(y)) * reads
        result: Tensor = x + self.forward_part(self.norms[2](x))
        return result


class DecoderLayer(nn.Module):
    """Attention to what was said, to the PTX, feed-forward."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config.width
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-6) for _ in range(3))
        self.attention = Attention(width, config.heads)
        self.cross = Attention(width, config.heads)
        self.forward_part = FeedForward(width, config.inner)

    def forward(
        self,
        x: Tensor,
        turn: tuple[Tensor, Tensor],
        memory: tuple[Tensor, Tensor],
        mask: Tensor,
        past: tuple[Tensor, Tensor] | None = None,
        past_mask: Tensor | None = None,
        place: Tensor | None = None,
    ) -> Tensor:
        """One layer; with `past`, of one more word after those that are in it."""
        y = self.norms[0](x)
        key, value = self.attention.keys(y)
        key = rotate(key, turn)
        query = rotate(self.attention.split(self.attention.query(y)), turn)
        if past is None:
            mixed = self.attention(query, key, value, None, causal=True)
        else:
            assert place is not None
            past[0].index_copy_(2, place, key.to(past[0].dtype))
            past[1].index_copy_(2, place, value.to(past[1].dtype))
            mixed = self.attention(query, past[0], past[1], past_mask)
        x = x + mixed
        query = self.cross.split(self.cross.query(self.norms[1](x)))
        x = x + self.cross(query, memory[0], memory[1], mask)
        result: Tensor = x + self.forward_part(self.norms[2](x))
        return result


@dataclass(slots=True)
class Memory:
    """What the decoder needs of a batch of functions."""

    states: Tensor
    mask: Tensor
    """(batch, 1, 1, length): which words are there."""
    layers: list[tuple[Tensor, Tensor]]
    """Keys and values of each decoder layer."""
    copy_keys: Tensor
    copyable: Tensor
    words: Tensor

    def select(self, rows: Tensor) -> Memory:
        """Some of the functions."""
        layers = [(key[rows], value[rows]) for key, value in self.layers]
        return Memory(self.states[rows], self.mask[rows], layers, self.copy_keys[rows],
                      self.copyable[rows], self.words[rows])  # fmt: skip


class Model(nn.Module):
    """The pointer-generator."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.words = nn.Embedding(config.words, width)
        self.classes = nn.Embedding(len(CLASSES), width)
        self.low = nn.Embedding(_LOW, width)
        self.high = nn.Embedding(PER_CLASS // _LOW, width)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder_norm = nn.RMSNorm(width, eps=1e-6)
        self.decoder_norm = nn.RMSNorm(width, eps=1e-6)
        self.say = nn.Linear(width, config.answers, bias=False)
        self.place = nn.Parameter(torch.full((width,), 0.02))
        self.copy_query = nn.Linear(width, width, bias=False)
        self.copy_key = nn.Linear(width, width, bias=False)
        self.generate = nn.Linear(width, 1)
        self.dropout = nn.Dropout(config.dropout)
        self.apply(_initialise)
        depth = 2 * (config.encoder_layers + config.decoder_layers)
        for name, parameter in self.named_parameters():
            if name.endswith(("output.weight", "forward_part.2.weight", "flow.weight")):
                nn.init.normal_(parameter, std=0.02 / depth**0.5)

    def embed(self, words: Tensor) -> Tensor:
        """Words and registers as vectors: a register is the sum of its class and its number."""
        numbers = self.high.weight[:, None] + self.low.weight[None]
        registers = self.classes.weight[:, None] + numbers.flatten(0, 1)[None]
        table = torch.cat((self.words.weight, registers.flatten(0, 1)))
        return functional.embedding(words, table)

    def encode(self, source: Tensor, made_at: Tensor, lengths: Tensor) -> Memory:
        """Read functions: words, where registers were made (-1: no register), lengths."""
        length = source.shape[1]
        here = torch.arange(length, device=source.device)[None] < lengths[:, None]
        mask = here[:, None, None, :]
        # The answer follows the PTX: where a word stands is worth knowing.
        x = self.embed(source)
        place = torch.cat(rotary(length, self.config.width, x.device, dtype=x.dtype), -1)
        x = self.dropout(x + self.place * place)
        turn = self.turn(length, x)
        reads = (made_at >= 0).unsqueeze(-1).to(x.dtype)
        # What is no register looks at itself, and what it sees is not used: were it to look at
        # one place, adding up the gradients of that place would take all the time.
        here_is = torch.arange(length, device=source.device).expand_as(made_at)
        made = torch.where(made_at >= 0, made_at, here_is)
        for layer in self.encoder:
            x = layer(x, mask, turn, made, reads)
        x = self.encoder_norm(x)
        layers = [layer.cross.keys(x) for layer in self.layers]
        copyable = here & (source < self.config.answers)
        # One place is always there, so that the probabilities of copying are defined.
        copyable[:, 0] = True
        return Memory(x, mask, layers, self.copy_key(x), copyable, source)

    def turn(self, length: int, like: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Cosines and sines for a head, in the precision of a tensor."""
        size = self.config.width // self.config.heads
        return rotary(length, size, like.device, start, like.dtype)

    def decode(self, said: Tensor, memory: Memory) -> Tensor:
        """States after each word of answers that are known."""
        x = self.dropout(self.words(said))
        turn = self.turn(said.shape[1], x)
        for layer, keys in zip(self.layers, memory.layers, strict=True):
            x = layer(x, turn, keys, memory.mask)
        states: Tensor = self.decoder_norm(x)
        return states

    def mixture(self, states: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor]:
        """Logarithms: of words from the vocabulary, of places to copy, and the odds of the two."""
        vocabulary = self.say(states).float().log_softmax(-1)
        scale = self.config.width**-0.5
        scores = (self.copy_query(states) @ memory.copy_keys.transpose(1, 2)).float() * scale
        copied = scores.masked_fill(~memory.copyable[:, None], -1e9).log_softmax(-1)
        return vocabulary, copied, self.generate(states).float()

    def loss(
        self, source: Tensor, made_at: Tensor, lengths: Tensor, said: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The negative logarithm of the probability of each word, and whether it was copied."""
        memory = self.encode(source, made_at, lengths)
        states = self.decode(said, memory)
        vocabulary, copied, odds = self.mixture(states, memory)
        generated = vocabulary.gather(-1, target.unsqueeze(-1)) + functional.logsigmoid(odds)
        same = (source[:, None, :] == target[:, :, None]) & memory.copyable[:, None]
        found = copied.masked_fill(~same, -1e9).logsumexp(-1, keepdim=True)
        found = found + functional.logsigmoid(-odds)
        both = torch.logaddexp(generated, found).squeeze(-1)
        return -both, (found > generated).squeeze(-1)

    def forward(self, *arguments: Tensor) -> tuple[Tensor, Tensor]:
        """`loss`, under the name that wrappers for many devices call."""
        return self.loss(*arguments)

    @property
    def layers(self) -> list[DecoderLayer]:
        """The layers of the decoder."""
        return [layer for layer in self.decoder if isinstance(layer, DecoderLayer)]

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return sum(p.numel() for p in self.parameters())


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
