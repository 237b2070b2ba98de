"""Which PTX versions and architectures a CUDA release takes."""

from __future__ import annotations

from functools import cache

from ptxkit.errors import UsageError
from ptxkit.isa.targets import TARGET_SINCE, Target, Version

#: CUDA release -> the highest ``.version`` its assembler takes.
PTX_OF_RELEASE: dict[str, str] = {
    "10.0": "6.3", "10.1": "6.4", "10.2": "6.5",
    "11.0": "7.0", "11.1": "7.1", "11.2": "7.2", "11.3": "7.3", "11.4": "7.4",
    "11.5": "7.5", "11.6": "7.6", "11.7": "7.7", "11.8": "7.8",
    "12.0": "8.0", "12.1": "8.1", "12.2": "8.2", "12.3": "8.3", "12.4": "8.4",
    "12.5": "8.5", "12.6": "8.5", "12.7": "8.6", "12.8": "8.7", "12.9": "8.8",
    "13.0": "9.0", "13.1": "9.1", "13.2": "9.2", "13.3": "9.3", "13.4": "9.4",
}  # fmt: skip

#: Release -> the oldest architecture it still generates code for.
OLDEST_OF_RELEASE: dict[str, int] = {"10.0": 30, "11.0": 35, "12.0": 50, "13.0": 75}

#: Targets that went away under another name: sm_101 became sm_110 in CUDA 13.
RENAMED: dict[str, str] = {"sm_101": "sm_110", "sm_101a": "sm_110a", "sm_101f": "sm_110f"}

#: Targets of the newest release that the instruction table has no features for yet.
_UNTABLED = {"sm_107": "9.4", "sm_107a": "9.4", "sm_107f": "9.4"}

_NEWEST = max(PTX_OF_RELEASE, key=Version.parse)


def highest_ptx(release: str) -> str | None:
    """The highest PTX version of a CUDA release, or None for one this table lacks.

    >>> highest_ptx("13.0"), highest_ptx("99.0")
    ('9.0', None)
    """
    return PTX_OF_RELEASE.get(release)


@cache
def architectures(release: str) -> tuple[str, ...]:
    """The real architectures a release assembles for; those of the newest known if newer.

    >>> architectures("12.0")[-3:]
    ('sm_89', 'sm_90', 'sm_90a')
    >>> architectures("13.0")[0], "sm_101" in architectures("13.0")
    ('sm_75', False)
    """
    known = min(Version.parse(release), Version.parse(_NEWEST))
    ptx = max(
        Version.parse(text)
        for name, text in PTX_OF_RELEASE.items()
        if Version.parse(name) <= known or name == "10.0"
    )
    oldest = max(
        number
        for name, number in OLDEST_OF_RELEASE.items()
        if Version.parse(name) <= known or name == "10.0"
    )
    found = []
    for name, since in {**TARGET_SINCE, **_UNTABLED}.items():
        target = Target.parse(name)
        gone = name in RENAMED and known >= Version(13, 0)
        if Version.parse(since) <= ptx and target.number >= oldest and not gone:
            found.append(target)
    return tuple(str(t) for t in sorted(found, key=lambda t: (t.number, t.suffix)))


def parse_arch(arch: str) -> Target:
    """Read an architecture as people write it: ``sm_90a``, ``compute_90a``, ``90a``, ``9.0``.

    >>> str(parse_arch("compute_90a")), str(parse_arch("8.6"))
    ('sm_90a', 'sm_86')
    """
    if not isinstance(arch, str):
        raise UsageError(f"an architecture is a text such as 'sm_90', not {arch!r}")
    return Target.parse(arch.replace(".", "", 1))


def nearest(target: Target, supported: tuple[str, ...]) -> str | None:
    """The oldest supported architecture that runs code for `target`.

    >>> nearest(parse_arch("sm_52"), architectures("13.0"))
    'sm_75'
    """
    if str(target) in supported:
        return str(target)
    if target.suffix:
        return None
    plain = (Target.parse(name) for name in supported)
    return next((str(t) for t in plain if not t.suffix and t.number >= target.number), None)
