"""Weights on disk: safetensors in shards, with the vocabulary and what is known about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from ptxkit.decompiler.neural.model import Config, Model
from ptxkit.decompiler.neural.vocabulary import Vocabulary
from ptxkit.errors import PtxkitError, UsageError, import_extra

CONFIG = "config.json"
SHARD = 14_000_000
"""Bytes in a file at most; a repository takes files of 15 MB."""


def save_weights(folder: Path, model: Model, vocabulary: Vocabulary, about: dict[str, Any]) -> None:
    """Write the weights as 16-bit numbers, in files of limited size."""
    safetensors = import_extra("safetensors.torch", extra="neural", package="safetensors")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("model-*.safetensors"):
        old.unlink()
    shards: list[dict[str, Any]] = [{}]
    size = 0
    for name, tensor in model.state_dict().items():
        small = tensor.detach().to("cpu", torch.bfloat16).contiguous()
        count = small.numel() * 2
        if size + count > SHARD and shards[-1]:
            shards.append({})
            size = 0
        shards[-1][name] = small
        size += count
    for number, tensors in enumerate(shards, 1):
        safetensors.save_file(tensors, folder / f"model-{number}-of-{len(shards)}.safetensors")
    vocabulary.save(folder / "vocabulary.json")
    config = {"config": model.config.as_dict(), "parameters": model.size, "about": about}
    (folder / CONFIG).write_text(json.dumps(config, indent=1))


def _tensors(folder: Path) -> dict[str, Any]:
    safetensors = import_extra("safetensors.torch", extra="neural", package="safetensors")
    files = sorted(folder.glob("model-*.safetensors"))
    if not files:
        raise UsageError(f"there are no weights in '{folder}'; train some with: ptxkit train")
    wanted = int(files[0].stem.rpartition("-")[2])
    if len(files) != wanted:
        raise UsageError(f"'{folder}' has {len(files)} of {wanted} files of weights")
    found: dict[str, Any] = {}
    for file in files:
        found.update(safetensors.load_file(file))
    return {name: tensor.float() for name, tensor in found.items()}


def load_into(model: Model, folder: Path) -> None:
    """Put weights into a model of the same sizes."""
    model.load_state_dict(_tensors(folder))


def load_weights(folder: Path, device: Any = "cpu") -> tuple[Model, Vocabulary, dict[str, Any]]:
    """A model with its words and what is known about it."""
    if not (folder / CONFIG).exists():
        raise UsageError(f"there are no weights in '{folder}'; train some with: ptxkit train")
    try:
        stored = json.loads((folder / CONFIG).read_text())
        model = Model(Config(**stored["config"]))
        load_into(model, folder)
        vocabulary = Vocabulary.load(folder / "vocabulary.json")
    except (PtxkitError, OSError):
        raise
    except Exception as error:  # whatever the readers of files meet in other bytes
        raise UsageError(f"the weights in '{folder}' are damaged: {error}") from error
    return model.to(device).eval(), vocabulary, stored
