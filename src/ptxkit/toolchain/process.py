"""NVIDIA tools that run as processes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxkit.errors import ToolchainError
from ptxkit.toolchain import locate

_RELEASE = re.compile(r"release (\d+\.\d+)")
#: Seconds after which a tool is given up. The slowest real kernels take minutes.
TIMEOUT = 1800.0
_releases: dict[tuple[Path, float], str] = {}
_computed = 0.0


def seconds() -> float:
    """How long tools have computed that have come to their end."""
    return _computed


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended."""

    code: int
    output: str
    """What it printed on standard output."""
    log: str
    """What it printed on standard error."""

    @property
    def everything(self) -> str:
        """Both outputs, the log first."""
        return self.log + self.output


def run(
    tool: Path,
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    timeout: float = TIMEOUT,
) -> Finished:
    """Run a tool to its end; a crash or a timeout is a `ToolchainError`."""
    global _computed
    words = [str(tool), *map(str, arguments)]
    before = _of_children()
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
            cwd=cwd,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolchainError(f"{tool.name} did not end within {timeout:g} s") from None
    except OSError as error:
        raise ToolchainError(f"'{tool}' cannot be run: {error.strerror or error}") from error
    finally:
        _computed += _of_children() - before
    if done.returncode < 0:
        raise ToolchainError(f"{tool.name} crashed (signal {-done.returncode}): {' '.join(words)}")
    return Finished(
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


def _of_children() -> float:
    """How long processes have computed that were started here, and have ended."""
    times = os.times()
    return times.children_user + times.children_system


def release_of(path: Path) -> str:
    """The CUDA release of a tool, by asking it; ``"0.0"`` where it does not say."""
    try:
        key = (path, path.stat().st_mtime)
    except OSError as error:
        raise ToolchainError(f"'{path}' cannot be run: {error.strerror or error}") from error
    if key not in _releases:
        found = _RELEASE.search(run(path, ["--version"], timeout=60).output)
        _releases[key] = found[1] if found else "0.0"
    return _releases[key]


def release(name: str) -> str:
    """The CUDA release of the tool that `locate` finds under a name."""
    return release_of(locate.require(name).path)
