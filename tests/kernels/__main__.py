"""Write the suite as .cu files: ``python -m tests.kernels FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.kernels import suite

folder = Path(sys.argv[1])
for kernel in suite():
    place = folder / kernel.theme
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{kernel.name}.cu").write_text(kernel.source.lstrip("\n"), encoding="utf-8")
