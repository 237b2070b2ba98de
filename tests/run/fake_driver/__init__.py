"""A CUDA driver without a GPU, built when it is needed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("libcuda.c")


def build(folder: Path) -> Path:
    """Compile the driver into a folder; gives the library."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise FileNotFoundError("gcc is needed to build the driver of the tests")
    library = folder / "libcuda.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE], check=True)
    return library
