"""What a module says of itself, and the names in it: checked when they are given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ptxkit.dsl.errors import DslError
from ptxkit.errors import UsageError
from ptxkit.isa.targets import Target, Version

#: What may stand behind the architecture in a ``.target`` line.
TARGET_OPTIONS = frozenset("debug texmode_unified texmode_independent map_f64_to_f32".split())
_IDENTIFIER = re.compile(r"[A-Za-z_$%][\w$]*", re.ASCII)
_WORD = re.compile(r"[\w$%.:]+")
_UNCHECKED = "one that ptxkit does not know is taken with Module(..., unchecked=True)"


def check_name(name: Any, what: str, hint: str = "") -> str:
    """Refuse what is no identifier of PTX.

    >>> check_name("$L_1", "a label")
    '$L_1'
    """
    if not isinstance(name, str) or _IDENTIFIER.fullmatch(name) is None:
        raise DslError(
            f"{name!r} is no name for {what}",
            hint or "a name has letters, digits, _ and $, and begins with none of the digits",
        )
    return name


def check_version(version: Any, *, unchecked: bool = False) -> Version | None:
    """The version that a text names; None for one that is taken as it is."""
    try:
        return Version.parse(version)
    except (UsageError, TypeError):
        if unchecked and isinstance(version, str) and _WORD.fullmatch(version):
            return None
        raise DslError(f"{version!r} is no PTX version", f"write '8.0'; {_UNCHECKED}") from None


def check_targets(words: Sequence[Any], *, unchecked: bool = False) -> Target | None:
    """The architecture that a ``.target`` line names; None where it is taken as it is."""
    found: Target | None = None
    for word in words:
        if isinstance(word, str) and word in TARGET_OPTIONS:
            continue
        try:
            target = _architecture(word)
        except UsageError:
            if unchecked and isinstance(word, str) and _WORD.fullmatch(word):
                continue
            raise DslError(
                f"{word!r} is no target", f"write 'sm_80' or 'sm_90a'; {_UNCHECKED}"
            ) from None
        found = found or target
    return found


def _architecture(word: Any) -> Target:
    target = Target.parse(word)
    if not word.startswith(("sm_", "compute_")):
        raise UsageError(f"'{word}' is a number, not a target")
    return target


def check_address_size(size: Any, *, unchecked: bool = False) -> None:
    """Refuse what is no width of an address."""
    if size not in (32, 64) and not (unchecked and isinstance(size, int)):
        raise DslError(f"addresses of {size!r} bits", f"they have 64, or 32; {_UNCHECKED}")
