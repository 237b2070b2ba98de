"""The rows of ``directives.py`` against ptxas: places, numbers of arguments, gates."""

from __future__ import annotations

import itertools

import pytest

from ptxkit.isa.directives import DIRECTIVES, MANY, Directive
from ptxkit.isa.targets import TARGET_SINCE, Target, Version
from tests.isa import ptxas

pytestmark = pytest.mark.skipif(ptxas.find_ptxas() is None, reason="no ptxas on this machine")

#: A module with a hole for a directive, for each place that ends in a list of arguments.
PLACES = {
    "entry": ".entry k() {} {{ ret; }}",
    "func": ".func f() {} {{ exit; }}",
    "prototype": ".entry k() {{ p: .callprototype _ () {}; ret; }}",
}
HEADER = [row for row in DIRECTIVES.values() if row.places & set(PLACES) and row.name != "pragma"]

#: Modules that need what a directive needs, for those that stand elsewhere.
SAMPLES = {
    "address_size": "",
    "alias": ".func f() {{ ret; }} .func a(); .alias a, f;",
    "weak": ".weak .entry k() {{ ret; }}",
    "common": ".common .global .b32 x;",
    "pragma": '.pragma "nounroll"; .entry k() .pragma "a"; {{ .pragma "b", "c"; ret; }}',
    "file": '.file 1 "a.cu"',
    "loc": '.file 1 "a.cu" .entry k() {{ .loc 1 2 3 ret; }}',
    "section": ".section .debug_str {{ .b8 0 }}",
    "branchtargets": ".entry k() {{ t: .branchtargets A, B; A: B: ret; }}",
    "calltargets": ".func f() {{ ret; }} .entry k() {{ t: .calltargets f; ret; }}",
    "callprototype": ".entry k() {{ t: .callprototype _ (); ret; }}",
    "ptr": ".entry k(.param .u64 .ptr .global .align 8 x) {{ ret; }}",
    "managed": ".global .attribute(.managed) .b32 x;",
}

VERSIONS = "2.0 2.1 2.2 2.3 3.0 3.1 3.2 4.0 5.0 6.0 6.2 6.3 6.4 7.0 7.7 7.8 8.7 8.8 9.0 9.4".split()
TARGETS = "sm_20 sm_30 sm_60 sm_80 sm_90 sm_100".split()


def _around(row: Directive) -> list[tuple[str, str]]:
    """Version and target pairs just at what a row needs, and just below."""
    first = row.requirement.alternatives[0]
    highest = Version.parse(ptxas.highest_version())
    versions = [v for v in VERSIONS if Version.parse(v) <= highest]
    below = [v for v in versions if Version.parse(v) < first.ptx]
    above = [v for v in versions if Version.parse(v) >= first.ptx]
    older = [t for t in TARGETS if Target.parse(t).number < first.number]
    newer = [t for t in TARGETS if Target.parse(t).number >= first.number]
    return [
        (version, target)
        for version in (*below[-1:], *above[:1], *above[-1:])
        for target in (*older[-1:], *newer[:1], *newer[-1:])
        if Version.parse(TARGET_SINCE[target]) <= Version.parse(version)
    ]


def _written(row: Directive, count: int, value: int = 8) -> str:
    others = [_written(DIRECTIVES[name], 1) for name in sorted(row.with_all)]
    return " ".join([f".{row.name} {', '.join([str(value)] * count)}", *others])


def _place(row: Directive) -> tuple[str, str] | None:
    """The highest version, and the target, that the row can be tried with."""
    version = Version.parse(ptxas.highest_version())
    target = Target.parse("sm_100a")
    if row.requirement.met_by(version, target):
        return str(version), str(target)
    return None


@pytest.mark.parametrize("row", HEADER, ids=lambda row: row.name)
def test_places_and_arguments(row: Directive) -> None:
    where = _place(row)
    if where is None:
        pytest.skip("not for this ptxas")
    for place, text in PLACES.items():
        for count in range(row.most + 2):
            found = ptxas.module_verdict(text.format(_written(row, count)), *where)
            fits = place in row.places and row.least <= count <= row.most
            assert bool(found) != fits, (place, count, found)


@pytest.mark.parametrize("row", HEADER, ids=lambda row: row.name)
def test_least_value_and_repetition(row: Directive) -> None:
    where = _place(row)
    if where is None:
        pytest.skip("not for this ptxas")
    text = PLACES["entry" if "entry" in row.places else "func"]
    if row.argument == "integer":
        found = ptxas.module_verdict(text.format(_written(row, 1, row.low)), *where)
        assert not found
    if row.low:
        assert ptxas.module_verdict(text.format(_written(row, 1, row.low - 1)), *where)
    twice = " ".join([_written(row, row.least)] * 2)
    assert bool(ptxas.module_verdict(text.format(twice), *where)) == row.once


def test_directives_that_exclude_each_other() -> None:
    where = ptxas.highest_version(), "sm_100a"
    rows = [r for r in HEADER if "entry" in r.places and r.requirement.met_by(
        Version.parse(where[0]), Target.parse(where[1])
    )]  # fmt: skip
    for one, two in itertools.combinations(rows, 2):
        both = f"{_written(one, one.least)} {_written(two, two.least)}"
        present = {one.name, two.name} | one.with_all | two.with_all
        clash = any(DIRECTIVES[name].with_none & present for name in present)
        found = ptxas.module_verdict(PLACES["entry"].format(both), *where)
        assert bool(found) == clash, (one.name, two.name, found)


def test_directives_that_need_others() -> None:
    for row in HEADER:
        for missing in row.with_all:
            rest = " ".join(_written(DIRECTIVES[n], 1) for n in row.with_all - {missing})
            text = PLACES["entry"].format(f".{row.name} {rest}")
            assert "required" in ptxas.module_verdict(text, ptxas.highest_version(), "sm_90")


def _samples() -> list[tuple[str, str]]:
    headers = [
        (row.name, PLACES[place].format(_written(row, row.least)))
        for row in HEADER
        for place in sorted(row.places & set(PLACES))
    ]
    return headers + [(name, text.format()) for name, text in SAMPLES.items()]


@pytest.mark.parametrize(("name", "text"), _samples())
def test_version_and_target_gates(name: str, text: str) -> None:
    row = DIRECTIVES[name]
    needed = [row, *(DIRECTIVES[other] for other in row.with_all)]
    if ".callprototype" in text:
        needed.append(DIRECTIVES["callprototype"])
    for version, target in _around(row):
        place = Version.parse(version), Target.parse(target)
        if name == "address_size" and place[0] < Version(2, 3):
            continue
        met = all(one.requirement.met_by(*place) for one in needed)
        found = ptxas.module_verdict(text, version, target)
        assert bool(found) != met, (version, target, found)


def test_every_row_is_sound() -> None:
    for row in DIRECTIVES.values():
        assert row.summary.endswith(".") and 0 <= row.least <= row.most <= MANY
        assert {*row.with_all, *row.with_none} <= set(DIRECTIVES)
