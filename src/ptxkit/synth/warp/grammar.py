"""A kernel as a function of seed and index."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.synth.streams import Stream
from ptxkit.synth.warp import tree
from ptxkit.synth.warp.recipes import RECIPES

CATEGORIES = tuple(RECIPES)


def generate(seed: int, index: int, categories: Sequence[str] = CATEGORIES) -> tree.Program:
    """The kernel at a place of a seed's sequence.

    >>> program = generate(7, 12)
    >>> program == generate(7, 12), program.category
    (True, 'double')
    """
    category = categories[index % len(categories)]
    name = f"{category}_{index}"
    builder = RECIPES[category](Stream(seed, "warp", category, index))
    return builder.program(name, category, tiled=category == "tile")
