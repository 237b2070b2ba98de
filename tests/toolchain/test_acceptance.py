"""What the assembler takes, asked without a look at the machine code."""

from __future__ import annotations

import pytest

from ptxkit.toolchain import accept_many, assemble_many, locate
from ptxkit.toolchain.acceptance import _accepted

pytestmark = pytest.mark.skipif(locate.find("ptxas") is None, reason="ptxas is not installed")

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(name: str, body: str) -> str:
    return f"{HEAD}.visible .entry {name}()\n{{\n    .reg .b32 %r<4>;\n    {body}\n    ret;\n}}\n"


GOOD = [kernel(f"good{n}", f"mov.b32 %r1, {n};") for n in range(5)]
BAD = [
    kernel("undeclared", "mov.b32 %r9, 1;"),
    kernel("kinds", "add.s64 %r1, %r1, %r1;"),
    kernel("word", "nonsense.b32 %r1, %r2;"),
    kernel("grammar", "mov.b32 %r1 %r2;"),
    kernel("label", "bra nowhere;"),
]


@pytest.mark.parametrize("generate", [False, True])
def test_good_modules_are_accepted_together(generate: bool) -> None:
    assert accept_many(GOOD, "sm_90", generate=generate) == [None] * len(GOOD)
    # All of it in one go: a module of its own error alone is refused for that one.
    whole = "".join([HEAD, *(text.removeprefix(HEAD) for text in GOOD)]).encode()
    assert _accepted(whole, "sm_90", generate=generate)


@pytest.mark.parametrize("generate", [False, True])
def test_names_that_clash_and_other_headers_are_taken_apart(generate: bool) -> None:
    newer = [text.replace(".version 8.0", ".version 8.1") for text in GOOD]
    for several in ([*GOOD, *GOOD], [*GOOD, *newer]):
        assert accept_many(several, "sm_90", generate=generate) == [None] * 10
    assert accept_many([], "sm_90", generate=generate) == []


@pytest.mark.parametrize("generate", [False, True])
@pytest.mark.parametrize("bad", BAD)
def test_each_refusal_names_its_module(bad: str, generate: bool) -> None:
    several = [*GOOD, bad, *[text.replace("good", "more") for text in GOOD]]
    found = accept_many(several, "sm_90", generate=generate)
    assert [one is None for one in found] == [True] * 5 + [False] + [True] * 5
    # And says what assembling it says.
    (expected,) = assemble_many([bad], "sm_90", errors="return", cache=False)
    assert str(found[5]) == str(expected)


def test_the_architecture_decides() -> None:
    hopper = kernel("h", "barrier.cluster.arrive;").replace("8.0", "8.0").replace("sm_80", "sm_90")
    assert accept_many([hopper], "sm_90") == [None]
    assert accept_many([hopper, GOOD[0]], "sm_80")[0] is not None
