"""What of the toolchain is here, which version, and what each part can do.

The numbers are measured, not looked up: every compiler is asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ptxkit.errors import PtxkitError
from ptxkit.toolchain import cache, driver, locate, nvjitlink, nvrtc, process, versions
from ptxkit.toolchain.locate import Found

_RECENT = ".version 99.9\n.target sm_90\n.address_size 64\n"
_CURRENT = re.compile(r"current version is '([\d.]+)'")
_WRITTEN = re.compile(rb"^\.version\s+([\d.]+)", re.MULTILINE)
_ALLOWED = re.compile(r"'(sm_\d+[af]?)'")


@dataclass(frozen=True, slots=True)
class Entry:
    """One part of the toolchain, here or missing."""

    name: str
    purpose: str
    package: str
    path: str | None = None
    origin: str | None = None
    release: str | None = None
    """The CUDA release, such as ``"13.4"``."""
    ptx: str | None = None
    """The highest PTX version it reads, or the one it writes."""
    architectures: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def usable(self) -> bool:
        """Whether it is here and works."""
        return self.path is not None and self.problem is None


@dataclass(frozen=True, slots=True)
class Inventory:
    """All parts, the driver, and advice."""

    entries: tuple[Entry, ...]
    driver: driver.Driver
    cache_folder: str | None
    cache_bytes: int
    advice: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for `json.dumps`."""
        return {
            "parts": [
                {name: getattr(entry, name) for name in Entry.__dataclass_fields__}
                | {"architectures": list(entry.architectures), "usable": entry.usable}
                for entry in self.entries
            ],
            "driver": {
                "release": self.driver.release,
                "problem": self.driver.problem,
                "highest_ptx": driver_ptx(self.driver),
                "gpus": [
                    {name: getattr(gpu, name) for name in driver.Gpu.__dataclass_fields__}
                    for gpu in self.driver.gpus
                ],
            },
            "cache": {"folder": self.cache_folder, "bytes": self.cache_bytes},
            "advice": list(self.advice),
        }


def survey() -> Inventory:
    """Look at everything.

    >>> [entry.name for entry in survey().entries][:3]
    ['nvrtc', 'nvjitlink', 'ptxas']
    """
    entries = tuple(_entry(name) for name in locate.PARTS)
    folder = cache.folder()
    return Inventory(
        entries,
        driver.look(),
        None if folder is None else str(folder),
        0 if folder is None else cache.size(folder),
        tuple(_advice(entries)),
    )


def driver_ptx(found: driver.Driver) -> str | None:
    """The highest PTX version a driver takes, as far as the table of releases knows."""
    return versions.highest_ptx(found.release) if found.release else None


def _entry(name: str) -> Entry:
    part = locate.PARTS[name]
    try:
        found = locate.find(name)
    except PtxkitError as error:
        return Entry(name, part.purpose, part.package, problem=str(error))
    if found is None:
        return Entry(name, part.purpose, part.package)
    facts: dict[str, Any] = {}
    try:
        facts = _PROBES.get(name, _probe_nothing)(found)
    except PtxkitError as error:
        facts = {"problem": str(error)}
    return Entry(name, part.purpose, part.package, str(found.path), found.origin, **facts)


def _probe_nothing(found: Found) -> dict[str, Any]:
    del found
    return {}


def _probe_tool(found: Found) -> dict[str, Any]:
    return {"release": process.release_of(found.path)}


def _probe_nvrtc(found: Found) -> dict[str, Any]:
    del found
    library = nvrtc.load()
    numbers = library.architectures()
    result = library.compile(b"", "empty.cu", [f"--gpu-architecture=compute_{max(numbers)}"])
    written = _WRITTEN.search(result.ptx or b"")
    return {
        "release": library.release,
        "ptx": written[1].decode() if written else None,
        "architectures": tuple(
            name
            for name in versions.architectures(library.release)
            if int(re.sub(r"\D", "", name)) in numbers
        ),
    }


def _probe_nvjitlink(found: Found) -> dict[str, Any]:
    del found
    library = nvjitlink.load()
    current = _CURRENT.search(library.assemble(_RECENT.encode(), "sm_90", (), "version").log)
    return {
        "release": library.release,
        "ptx": current[1] if current else None,
        "architectures": versions.architectures(library.release),
    }


def _probe_ptxas(found: Found) -> dict[str, Any]:
    allowed = _ALLOWED.findall(process.run(found.path, ["--help"], timeout=60).output)
    release = process.release_of(found.path)
    refused = process.run(
        found.path, ["--gpu-name=sm_90", "--input-as-string", _RECENT, "-o", "/dev/null"]
    )
    current = _CURRENT.search(refused.everything)
    names = dict.fromkeys(allowed)
    return {
        "release": release,
        "ptx": current[1] if current else versions.highest_ptx(release),
        "architectures": tuple(sorted(names, key=_by_number)),
    }


def _by_number(arch: str) -> tuple[int, str]:
    target = versions.parse_arch(arch)
    return target.number, target.suffix


_PROBES = {
    "nvrtc": _probe_nvrtc,
    "nvjitlink": _probe_nvjitlink,
    "ptxas": _probe_ptxas,
    "nvcc": _probe_tool,
    "nvdisasm": _probe_tool,
    "cuobjdump": _probe_tool,
}


def _advice(entries: tuple[Entry, ...]) -> list[str]:
    advice = []
    lacking = [entry.name for entry in entries if not entry.usable]
    if len(lacking) == len(entries):
        advice.append("nothing is installed; for everything: pip install 'ptxkit[cuda]'")
    elif lacking:
        advice.append(f"for {', '.join(lacking)}: {locate.pip_command(*lacking)}")
    wheels = {
        entry.release
        for entry in entries
        if entry.release and entry.origin == "wheel" and entry.usable
    }
    if len(wheels) > 1:
        advice.append(
            f"the wheels are of different CUDA releases ({', '.join(sorted(wheels))}) and share "
            "one folder; install one release of all of them"
        )
    return advice
