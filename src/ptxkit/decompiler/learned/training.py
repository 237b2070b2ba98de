"""Train the small model of how people write, and measure it on kernels that it has not seen."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit.decompiler.learned.habits import Habits
from ptxkit.decompiler.learned.linear import Classifier, Ranker, Words
from ptxkit.decompiler.learned.naming import assigned, usable
from ptxkit.decompiler.learned.study import NameSeen, Seen, groups
from ptxkit.errors import UsageError

FOLDS = 5
WEIGHTS = "habits.npz"
REPORT = "report.json"
#: Names that fewer files use teach nothing about the next file.
_FILES_WITH_NAME = 2
_PARAMETERS = ("pointer", "size", "number")
#: Smaller differences in closeness are no difference.
_CLOSER = 1e-6


# ---- learning ------------------------------------------------------------------------------


def learn(seen: Sequence[Seen]) -> Habits:
    """The weights that files teach."""
    return Habits(_learn_names(seen), _learn_forms(seen))


def _learn_names(seen: Sequence[Seen]) -> Classifier:
    files: Counter[str] = Counter()
    for one in seen:
        files.update({name.wanted for name in one.names})
    data = [
        (name.words, name.wanted)
        for one in seen
        for name in one.names
        if files[name.wanted] >= _FILES_WITH_NAME and usable(name.wanted)
    ]
    return Classifier.fit(data, rare=2, decay=2e-3, steps=100)


def _learn_forms(seen: Sequence[Seen]) -> Ranker:
    pairs: list[tuple[Words, Words]] = []
    for one in seen:
        for form in one.forms:
            if abs(form.closer) > _CLOSER:
                other: Words = form.question.features
                pairs.append((other, {}) if form.closer > 0 else ({}, other))
    return Ranker.fit(pairs, rare=2, decay=1e-3)


# ---- measuring -----------------------------------------------------------------------------


@dataclass(slots=True)
class Score:
    """How many of how many were right, for each that was asked."""

    count: int
    right: dict[str, float]

    def shares(self) -> dict[str, float]:
        """In percent."""
        return {who: round(100 * number / max(self.count, 1), 1)
                for who, number in self.right.items()}  # fmt: skip


Table = dict[str, Score]


def measure(seen: Sequence[Seen], folds: int = FOLDS) -> dict[str, Table]:
    """Learn from all parts but one, ask about that one, for each part in turn."""
    tables: dict[str, dict[str, tuple[Counter[str], Counter[str]]]] = {
        what: defaultdict(lambda: (Counter(), Counter())) for what in ("names", "forms")
    }

    def note(what: str, row: str, right: dict[str, float]) -> None:
        for key in (row, "all"):
            count, sums = tables[what][key]
            count["n"] += 1
            for who, value in right.items():
                sums[who] += value  # type: ignore[assignment]

    parts = groups(seen, folds)
    for number, held in enumerate(parts):
        rest = [one for k, part in enumerate(parts) if k != number for one in part]
        model = learn(rest)
        usual = _usual_names(rest)
        for one in held:
            _measure_names(one, model.names, usual, note)
            for form in one.forms:
                if abs(form.closer) > _CLOSER:
                    says = model.forms.score(form.question.features) > 0
                    note("forms", form.question.form, {
                        "rule": (form.cheaper > 0) == (form.closer > 0),
                        "as lifted": form.closer < 0,
                        "learned": says == (form.closer > 0),
                    })  # fmt: skip
    return {
        what: {row: Score(count["n"], dict(sums)) for row, (count, sums) in sorted(table.items())}
        for what, table in tables.items()
    }


def _usual_names(seen: Sequence[Seen]) -> dict[str, list[str]]:
    """The most usual names of each kind: what counting alone would say."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in seen:
        for name in one.names:
            counts[name.kind][name.wanted] += 1
    return {kind: [name for name, _ in found.most_common()] for kind, found in counts.items()}


def _measure_names(seen: Seen, model: Classifier, usual: dict[str, list[str]], note: Any) -> None:
    kernels: dict[str, list[NameSeen]] = defaultdict(list)
    for name in seen.names:
        kernels[name.kernel].append(name)
    for names in kernels.values():
        table = model.probabilities([name.words for name in names])
        said = _said(names, table, model.labels)
        counted = _counted(names, usual)
        for place, name in enumerate(names):
            five = {model.labels[k] for k in np.argsort(-table[place], kind="stable")[:5]}
            group = "parameters" if name.kind in _PARAMETERS else "variables"
            note("names", group, {
                "rule": name.rule == name.wanted,
                "rule without digits": name.rule.rstrip("0123456789") == name.wanted,
                "most usual": counted[place] == name.wanted,
                "learned": said[place] == name.wanted,
                "among five": name.wanted in five,
            })  # fmt: skip


def _said(names: Sequence[NameSeen], table: Any, labels: Sequence[str]) -> list[str]:
    made = assigned(table, labels, [name.places for name in names], ())
    return [made.get(row, name.rule) for row, name in enumerate(names)]


def _counted(names: Sequence[NameSeen], usual: dict[str, list[str]]) -> list[str]:
    used: set[str] = set()
    made = []
    for name in names:
        said = next((x for x in usual.get(name.kind, ()) if x not in used), name.rule)
        used.add(said)
        made.append(said)
    return made


# ---- a run ---------------------------------------------------------------------------------


def run(seen: Sequence[Seen], out: Path) -> dict[str, Any]:
    """Measure, learn from everything, write weights and report into a folder."""
    if len({one.group for one in seen if one.names}) < FOLDS:
        raise UsageError(
            f"there must be kernels in {FOLDS} files at least, to hold some of them out"
        )
    out.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {
        "files": sum(not one.failed for one in seen),
        "left_out": sorted(f"{one.group}: {one.failed}" for one in seen if one.failed),
        "held_out": f"{FOLDS} parts, by file",
    }
    for what, table in measure(seen).items():
        report[what] = {row: {"n": s.count, **s.shares()} for row, s in table.items()}
    learn(seen).save(out / WEIGHTS)
    (out / REPORT).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return report
