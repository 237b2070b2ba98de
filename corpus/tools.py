"""Find the NVIDIA compilers and run them: the pip wheels first, then `PATH`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PIP_PACKAGE = {
    "nvcc": "nvidia-cuda-nvcc",
    "ptxas": "nvidia-cuda-nvcc",
    "cuobjdump": "nvidia-cuda-cuobjdump",
}


class MissingToolError(Exception):
    """A program the corpus needs is not installed; the message says how to get it."""


@dataclass(frozen=True)
class Tool:
    """One program on disk."""

    name: str
    path: Path

    @cached_property
    def version(self) -> str:
        """The release the program reports, such as `13.4.92`."""
        text = run([str(self.path), "--version"]).output
        found = re.search(r"\bV(\d+(?:\.\d+)+)", text)
        return found.group(1) if found else "unknown"

    def __str__(self) -> str:
        """Name and version, as messages and the manifest show them."""
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class Result:
    """What a finished program left: its exit status and everything it printed."""

    status: int
    output: str

    @property
    def ok(self) -> bool:
        """Whether the program reported success."""
        return self.status == 0


def run(command: Sequence[str], cwd: Path | None = None, timeout: float = 600.0) -> Result:
    """Run a program to its end, or for `timeout` seconds.

    >>> run(["echo", "ptx"])
    Result(status=0, output='ptx')
    """
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            timeout=timeout,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Result(124, f"stopped after {timeout:.0f} s")
    return Result(done.returncode, done.stdout.decode(errors="replace").strip())


def find(name: str) -> Tool:
    """The tool called `name`, from the `nvidia-*` wheels beside this Python or from `PATH`."""
    in_wheel = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin" / name
    if in_wheel.is_file():
        return Tool(name, in_wheel)
    on_path = shutil.which(name)
    if on_path is None:
        package = PIP_PACKAGE.get(name, name)
        raise MissingToolError(
            f"{name} not found: pip install {package} (or -r corpus/requirements.txt)"
        )
    return Tool(name, Path(on_path))
