"""Where the NVIDIA compilers and tools are on this machine.

Pip wheels come first, then a system CUDA. The environment can say otherwise:

- ``PTXKIT_TOOLCHAIN``: folders to search instead of all others (as in ``PATH``); each is a
  CUDA root with ``bin``, ``lib`` and ``include``.
- ``PTXKIT_PTXAS``, ``PTXKIT_NVRTC`` and so on: the file of one part.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ptxkit.errors import ToolchainError

Origin = Literal["environment", "wheel", "system"]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of the toolchain that may be installed or not."""

    name: str
    kind: Literal["tool", "library", "headers"]
    pattern: str
    """Name of the file, as a glob."""
    package: str
    """The pip package that has it."""
    purpose: str


@dataclass(frozen=True, slots=True)
class Found:
    """A part that is here."""

    part: Part
    path: Path
    origin: Origin
    """Who brought it: an environment variable, a pip wheel, or a system CUDA."""


PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        Part("nvrtc", "library", "libnvrtc.so.[0-9]*", "nvidia-cuda-nvrtc",
             "CUDA C++ to PTX in-process"),
        Part("nvjitlink", "library", "libnvJitLink.so.[0-9]*", "nvidia-nvjitlink",
             "PTX to cubin in-process"),
        Part("ptxas", "tool", "ptxas", "nvidia-cuda-nvcc", "PTX to cubin"),
        Part("nvcc", "tool", "nvcc", "nvidia-cuda-nvcc", "CUDA C++ to PTX"),
        Part("nvdisasm", "tool", "nvdisasm", "nvidia-cuda-nvdisasm", "cubin to SASS"),
        Part("cuobjdump", "tool", "cuobjdump", "nvidia-cuda-cuobjdump",
             "PTX out of compressed fat binaries"),
        Part("headers", "headers", "cuda_fp16.h", "nvidia-cuda-runtime",
             "CUDA headers such as cuda_fp16.h"),
        Part("cccl", "headers", "cuda/std/type_traits", "nvidia-cuda-cccl",
             "CUB, Thrust and libcu++"),
    )
}  # fmt: skip

_SYSTEM_ROOTS = ("/usr/local/cuda", "/opt/cuda")
_SEARCHED_VARIABLES = (
    "PTXKIT_TOOLCHAIN",
    *(f"PTXKIT_{name.upper()}" for name in PARTS),
    "CUDA_HOME",
    "CUDA_PATH",
    "CONDA_PREFIX",
    "LD_LIBRARY_PATH",
    "PATH",
)
# Folders of a CUDA root in which each kind of part lies.
_FOLDERS = {
    "tool": ("bin",),
    "library": ("lib", "lib64", "targets/{machine}-linux/lib"),
    "headers": ("include", "include/cccl", "targets/{machine}-linux/include"),
}
# The file of a library is tried in the order of the number in its name.
_NUMBER = re.compile(r"\d+")

# Only what was found is remembered, so that what is installed later is seen.
_remembered: dict[tuple[object, ...], Found] = {}


def find(name: str) -> Found | None:
    """The part of that name, or None where it is not installed.

    >>> from ptxkit.toolchain.locate import find
    >>> found = find("ptxas")
    >>> found is None or found.path.name.startswith("ptxas")
    True
    """
    part = PARTS[name]
    key = (name, *signature())
    known = _remembered.get(key)
    if known is None:
        known = next(_candidates(part), None)
        if known is not None:
            _remembered[key] = known
    return known


def signature() -> tuple[str | None, ...]:
    """All that decides what is found, as one hashable value."""
    return (*map(os.environ.get, _SEARCHED_VARIABLES), *sys.path)


def find_all(name: str) -> list[Found]:
    """Every installation of a part, the one that is used first."""
    unique = {found.path.resolve(): found for found in reversed(list(_candidates(PARTS[name])))}
    return list(reversed(unique.values()))


def require(name: str) -> Found:
    """The part of that name; raises `ToolchainError` with the pip command for it."""
    found = find(name)
    if found is None:
        raise ToolchainError(f"{missing(name)}; run: {pip_command(name)}")
    return found


def missing(name: str) -> str:
    """The sentence that says a part is not here."""
    part = PARTS[name]
    return f"{name} was not found ({part.purpose})"


def pip_command(*names: str) -> str:
    """What installs the parts.

    >>> pip_command("ptxas", "nvcc", "nvrtc")
    "pip install 'nvidia-cuda-nvcc>=13,<14' 'nvidia-cuda-nvrtc>=13,<14'"
    """
    packages = dict.fromkeys(PARTS[name].package for name in names)
    return "pip install " + " ".join(f"'{package}>=13,<14'" for package in packages)


def include_dirs() -> tuple[Path, ...]:
    """Folders of CUDA headers to compile with, wheels first."""
    folders = []
    for name in ("headers", "cccl"):
        found = find(name)
        if found is not None:
            depth = len(Path(PARTS[name].pattern).parts)
            folders.append(found.path.parents[depth - 1])
    return tuple(dict.fromkeys(folders))


def _candidates(part: Part) -> Iterator[Found]:
    chosen = os.environ.get(f"PTXKIT_{part.name.upper()}")
    if chosen:
        path = Path(chosen)
        if not path.exists():
            raise ToolchainError(f"PTXKIT_{part.name.upper()} names '{chosen}', which is not there")
        yield Found(part, path, "environment")
        return
    only = os.environ.get("PTXKIT_TOOLCHAIN")
    if only is not None:
        for folder in filter(None, only.split(os.pathsep)):
            yield from _in_root(part, Path(folder), "environment")
        return
    for root in _wheel_roots():
        yield from _in_root(part, root, "wheel")
    for root in _system_roots():
        yield from _in_root(part, root, "system")
    yield from _on_search_path(part)


def _in_root(part: Part, root: Path, origin: Origin) -> Iterator[Found]:
    for folder in _FOLDERS[part.kind]:
        where = root / folder.format(machine=platform.machine())
        for path in sorted(where.glob(part.pattern), key=_by_number, reverse=True):
            if part.kind != "tool" or os.access(path, os.X_OK):
                yield Found(part, path, origin)


def _by_number(path: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBER.findall(path.name))


def _wheel_roots() -> Iterator[Path]:
    """``nvidia/cu13`` (one folder for all) before ``nvidia/cuda_nvrtc`` (one for each)."""
    for entry in dict.fromkeys(sys.path):
        nvidia = Path(entry or ".") / "nvidia"
        if nvidia.is_dir():
            shared = sorted(nvidia.glob("cu[0-9]*"), key=_by_number, reverse=True)
            yield from shared
            yield from sorted(path for path in nvidia.iterdir() if path not in shared)


def _system_roots() -> Iterator[Path]:
    named = (os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"))
    for root in (*named, *_SYSTEM_ROOTS):
        if root:
            yield Path(root)
    yield from sorted(Path("/usr/local").glob("cuda-[0-9]*"), key=_by_number, reverse=True)


def _on_search_path(part: Part) -> Iterator[Found]:
    if part.kind == "tool":
        path = shutil.which(part.pattern)
        if path:
            yield Found(part, Path(path), "system")
    elif part.kind == "library":
        for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)):
            for found in sorted(Path(folder).glob(part.pattern), key=_by_number, reverse=True):
                yield Found(part, found, "system")
