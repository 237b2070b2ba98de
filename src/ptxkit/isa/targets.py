"""Targets (``sm_90a``), PTX versions, and what an instruction needs of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ptxkit.errors import UsageError

#: Family-specific features (``sm_100f``) are shared by the members of a family.
FAMILIES: dict[int, int] = {100: 100, 101: 110, 103: 100, 110: 110, 120: 120, 121: 120}

#: PTX version that introduced each target; ``ptxkit doctor`` and ``check`` use it.
TARGET_SINCE: dict[str, str] = {
    "sm_10": "1.0", "sm_11": "1.0", "sm_12": "1.2", "sm_13": "1.2",
    "sm_20": "2.0", "sm_21": "2.0",
    "sm_30": "3.0", "sm_32": "4.0", "sm_35": "3.1", "sm_37": "4.1",
    "sm_50": "4.0", "sm_52": "4.1", "sm_53": "4.2",
    "sm_60": "5.0", "sm_61": "5.0", "sm_62": "5.0",
    "sm_70": "6.0", "sm_72": "6.1", "sm_75": "6.3",
    "sm_80": "7.0", "sm_86": "7.1", "sm_87": "7.4", "sm_88": "9.0", "sm_89": "7.8",
    "sm_90": "7.8", "sm_90a": "8.0",
    "sm_100": "8.6", "sm_100a": "8.6", "sm_100f": "8.8",
    "sm_101": "8.6", "sm_101a": "8.6", "sm_101f": "8.8",
    "sm_103": "8.8", "sm_103a": "8.8", "sm_103f": "8.8",
    "sm_110": "9.0", "sm_110a": "9.0", "sm_110f": "9.0",
    "sm_120": "8.7", "sm_120a": "8.7", "sm_120f": "8.8",
    "sm_121": "8.8", "sm_121a": "8.8", "sm_121f": "8.8",
}  # fmt: skip


#: Every PTX version there is.
VERSIONS = (
    "1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2 2.3 3.0 3.1 3.2 4.0 4.1 4.2 4.3 5.0 6.0 6.1 6.2 6.3 6.4 "
    "6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.0 9.1 9.2 9.3 "
    "9.4"
).split()


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A PTX ISA version, ordered as numbers are.

    >>> Version.parse("8.0") < Version.parse("7.10")
    False
    """

    major: int
    minor: int

    @staticmethod
    def parse(text: str) -> Version:
        """Read ``"8.0"``."""
        found = re.fullmatch(r"(\d{1,4})\.(\d{1,4})", text, re.ASCII)
        if found is None:
            raise UsageError(f"'{text}' is not a PTX version; write it like '8.0'")
        return Version(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True)
class Target:
    """A GPU architecture: its number and its suffix ('' or 'a' or 'f').

    >>> Target.parse("sm_90a")
    Target(number=90, suffix='a')
    >>> Target.parse("sm_103a").family
    100
    """

    number: int
    suffix: str

    @staticmethod
    def parse(text: str) -> Target:
        """Read ``"sm_90a"``; ``compute_90a`` is taken too."""
        if not isinstance(text, str):
            raise UsageError(f"a target is a text such as 'sm_90', not {text!r}")
        found = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})([af]?)", text, re.ASCII)
        if found is None:
            raise UsageError(f"'{text}' is not a target; write it like 'sm_90' or 'sm_90a'")
        return Target(int(found[1]), found[2])

    @property
    def family(self) -> int:
        """The family number that family-specific features are shared in."""
        return FAMILIES.get(self.number, self.number)

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to meet a requirement: a target (or its kin) with a PTX version."""

    number: int
    suffix: str
    ptx: Version

    def met_by(self, version: Version, target: Target) -> bool:
        """Say whether a file of this version and target meets the alternative."""
        return version >= self.ptx and self.target_met_by(target)

    def target_met_by(self, target: Target) -> bool:
        """Say whether the target alone meets the alternative."""
        if self.suffix == "":
            return target.number >= self.number
        if self.suffix == "a":
            return target.suffix == "a" and target.number == self.number
        return (
            target.suffix in ("a", "f")
            and target.number >= self.number
            and target.family == FAMILIES.get(self.number, self.number)
        )

    def __str__(self) -> str:
        target = f"sm_{self.number}{self.suffix}"
        return f"PTX {self.ptx}" if self.number <= 10 else f"PTX {self.ptx} / {target}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a form or a modifier needs: any one of its alternatives.

    Written ``"8.0/90a"``; several targets are separated by spaces, each may have its
    own PTX version: ``"8.6/100a 101a 8.8/100f"``. A number without a suffix means
    "this target or newer"; ``a`` means this very target; ``f`` its family. A ``!`` before
    a word takes away again: ``"1.2 !6.4/70"`` is gone from PTX 6.4 on for sm_70 and newer.

    >>> r = Requirement.parse("8.6/100a 101a 8.8/100f")
    >>> r.met_by(Version(8, 8), Target.parse("sm_103a"))
    True
    >>> r.met_by(Version(8, 8), Target.parse("sm_100"))
    False
    """

    alternatives: tuple[Alternative, ...]
    removals: tuple[Alternative, ...] = ()

    @staticmethod
    @cache
    def parse(text: str) -> Requirement:
        """Read the notation above."""
        version = Version(1, 0)
        alternatives: list[Alternative] = []
        removals: list[Alternative] = []
        for word in text.split():
            head, slash, tail = word.removeprefix("!").partition("/")
            if slash:
                version = Version.parse(head)
            elif "." in head:
                version, tail = Version.parse(head), "10"
            else:
                tail = head
            target = Target.parse(tail)
            group = removals if word.startswith("!") else alternatives
            group.append(Alternative(target.number, target.suffix, version))
        return Requirement(tuple(alternatives), tuple(removals))

    def met_by(self, version: Version, target: Target) -> bool:
        """Say whether a file of this version and target meets the requirement."""
        return any(one.met_by(version, target) for one in self.alternatives) and not any(
            one.met_by(version, target) for one in self.removals
        )

    def __str__(self) -> str:
        text = " or ".join(str(one) for one in self.alternatives)
        return text + "".join(f", until {one}" for one in self.removals)


#: Met by every file.
ALWAYS = Requirement.parse("1.0/10")
