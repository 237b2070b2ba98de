"""Which stub goes where: the keys of a stub set, resolved against a template's sites.

- ``"func"``: every occurrence of the site;
- ``("kernel", "func")``: those in one kernel or function;
- ``("func", 2)``: the occurrence with that number;
- ``("kernel", "func", 0)``: one of those in a kernel, counted there.

Of several keys for one occurrence the one that says most wins.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ptxkit.errors import UsageError
from ptxkit.inject.site import Named, Occurrence, Site, UnknownSiteError

_FORMS = "a key is 'site', ('kernel', 'site'), ('site', number) or ('kernel', 'site', number)"


@dataclass(frozen=True, slots=True)
class Target:
    """What one key of a stub set means."""

    site: Site
    occurrences: tuple[Occurrence, ...]
    rank: int
    """How much the key says: 0 for a name alone."""

    @property
    def functions(self) -> tuple[str, ...]:
        """The kernels and functions that get the stub."""
        return tuple(dict.fromkeys(one.function for one in self.occurrences))


@dataclass(frozen=True, slots=True)
class Layout:
    """The keys of a stub set, and for each occurrence of the template the number of its key."""

    targets: tuple[Target, ...]
    slots: list[int]


def resolve(key: Hashable, sites: Named[Site], functions: Sequence[str]) -> Target:
    """What a key means; raises for one that means nothing."""
    if isinstance(key, str):
        site = sites[key]
        return Target(site, site.occurrences, 0)
    match key:
        case (str(name), int(number)) if not isinstance(number, bool):
            site = sites[name]
            return Target(site, _one(site, site.occurrences, number, ""), 2)
        case (str(function), str(name)):
            site = sites[name]
            return Target(site, _inside(site, function, functions), 1)
        case (str(function), str(name), int(number)) if not isinstance(number, bool):
            site = sites[name]
            inside = _inside(site, function, functions)
            return Target(site, _one(site, inside, number, f" in '{function}'"), 3)
    raise UsageError(f"{key!r} names no injection site; {_FORMS}")


def _inside(site: Site, function: str, functions: Sequence[str]) -> tuple[Occurrence, ...]:
    if function not in functions:
        raise UnknownSiteError("kernel or function", function, functions)
    found = tuple(one for one in site.occurrences if one.function == function)
    if not found:
        where = ", ".join(site.functions) or "none"
        raise UsageError(
            f"the injection site '{site.name}' does not occur in '{function}'; it is in: {where}"
        )
    return found


def _one(
    site: Site, among: tuple[Occurrence, ...], number: int, where: str
) -> tuple[Occurrence, ...]:
    if not 0 <= number < len(among):
        count = f"{len(among)} occurrence{'' if len(among) == 1 else 's'}"
        raise UsageError(
            f"the injection site '{site.name}' has {count}{where}, so there is no number {number}"
        )
    return (among[number],)


def plan(keys: Sequence[Hashable], sites: Named[Site], functions: Sequence[str]) -> Layout:
    """The layout of a stub set; raises where an occurrence has no stub."""
    targets = tuple(resolve(key, sites, functions) for key in keys)
    total = sum(len(site.occurrences) for site in sites.values())
    slots = [-1] * total
    for number, target in sorted(enumerate(targets), key=lambda one: one[1].rank):
        for occurrence in target.occurrences:
            slots[occurrence.place] = number
    _complete(slots, sites)
    return Layout(targets, slots)


def _complete(slots: Sequence[int], sites: Mapping[str, Site]) -> None:
    for site in sites.values():
        missing = [one for one in site.occurrences if slots[one.place] < 0]
        if not missing:
            continue
        if len(missing) == len(site.occurrences):
            raise UsageError(
                f"there is no stub for the injection site '{site.name}'; "
                f"give one: {{'{site.name}': '...'}} (--stub {site.name}=FILE)"
            )
        one = missing[0]
        raise UsageError(
            f"there is no stub for occurrence {one.index} of the injection site '{site.name}', "
            f"in '{one.function}'; give '{site.name}' one for all that have none of their own"
        )
