"""Verified datasets of kernels, from one core to a cluster.

A source makes a kernel out of (seed, index); the engine makes shards of them, each a function
of the plan and its number, and merges them into a dataset.

>>> from ptxkit import synth
>>> sample = synth.find("warp").sample(seed=7, index=3, settings=synth.Settings())
>>> sample.category
'control_flow'
"""

from ptxkit.synth.plan import FolderError, Plan
from ptxkit.synth.run import generate
from ptxkit.synth.source import (
    Made,
    Rejected,
    Sample,
    Settings,
    Source,
    Target,
    Verification,
    find,
    names,
)
from ptxkit.synth.storage import StorageError
from ptxkit.synth.streams import Stream

__all__ = [
    "FolderError",
    "Made",
    "Plan",
    "Rejected",
    "Sample",
    "Settings",
    "Source",
    "StorageError",
    "Stream",
    "Target",
    "Verification",
    "find",
    "generate",
    "names",
]
