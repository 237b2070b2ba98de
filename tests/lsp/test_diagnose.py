"""What is published while one types is what a check from scratch finds."""

from __future__ import annotations

import random

import pytest

from ptxkit.lsp import Diagnoser, Document
from ptxkit.lsp import diagnose as room

_HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def _function(name: str, seed: int) -> str:
    chosen = random.Random(seed)
    lines = [f".visible .entry {name}(.param .u64 p)\n{{\n    .reg .b32 %r<9>;\n"]
    for number in range(chosen.randrange(3, 30)):
        a, b, c = (chosen.randrange(9) for _ in range(3))
        lines.append(f"    add.s32 %r{a}, %r{b}, %r{c};\n")
        if number % 7 == 3:
            lines.append(
                f"$L{number}:\n    {{\n    .reg .f32 %f<3>;\n    mov.f32 %f1, %f2;\n    }}\n"
            )
    return "".join(lines) + "    ret;\n}\n"


#: What one types: harmless, wrong, and what changes the names of the rest.
_PIECES = (
    "x", " ", ";", "\n", "%r3", "9", ".", "$L9:", "{", "}", "/*", "*/", "// ", "ret;",
    "bra $L3;", ".reg .b32 %q;", "mov.u32 %r1, %tid.x;", "ü", ".global .b32 v;",
)  # fmt: skip


@pytest.mark.parametrize("long", [60_000, 1], ids=["by function", "by statement"])
@pytest.mark.parametrize("seed", range(20))
def test_updates_agree_with_a_check_from_scratch(
    seed: int, long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_LONG", long)
    chosen = random.Random(seed)
    text = _HEAD + "".join(_function(f"k{number}", seed + number) for number in range(3))
    diagnoser = Diagnoser()
    diagnoser.update(Document(text))
    for _ in range(40):
        at = chosen.randrange(len(_HEAD), len(text))
        gone = chosen.choice((0, 0, 1, 2, 9))
        text = text[:at] + chosen.choice((*_PIECES, "")) + text[at + gone :]
        document = Document(text)
        quick, whole = (_settled(d.update(document)) for d in (diagnoser, Diagnoser()))
        assert sorted(quick ^ whole, key=str) == [], text[-200:]


def _settled(found: list[room.Finding]) -> set[tuple[tuple[int, int], str]]:
    """Place and code, without what only the pause sets right: flow, line numbers in texts."""
    return {(one.span, one.code) for one in found if one.code not in ("unreachable", "missing-ret")}


def test_a_change_outside_of_functions_reaches_them() -> None:
    diagnoser = Diagnoser()
    text = _HEAD + ".entry k() { .reg .b32 a; ld.global.b32 a, [v]; ret; }\n"
    assert [one.code for one in diagnoser.update(Document(text))] == ["undeclared"]
    text = text.replace(".entry", ".global .b32 v;\n.entry")
    assert diagnoser.update(Document(text)) == []
