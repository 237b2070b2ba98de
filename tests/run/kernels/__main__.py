"""Write the kernels as .cu files: ``python -m tests.run.kernels FOLDER``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from tests.run.kernels import TOPICS

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for topic in TOPICS:
    source = import_module(f"tests.run.kernels.{topic}").SOURCE
    (folder / f"{topic}.cu").write_text(source.lstrip("\n"), encoding="utf-8")
