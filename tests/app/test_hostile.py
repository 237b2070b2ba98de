"""What nobody means well with gets a clear message, ends nothing, and is never markup."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from app.hostile import CUDA, HOSTILE, IMAGE, KERNEL, SCRIPT
from app.markup_check import foreign_markup
from ptxkit.app import limits, sharing
from ptxkit.app.inputs import safe_name
from ptxkit.app.jobs import Pool, Stopped
from ptxkit.app.limits import InputRefused
from ptxkit.app.markup import message
from ptxkit.app.page import busy

OURS = ("fault in", "the process for", "Traceback")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    made.close()


def panes(pool: Pool, *tasks: tuple[str, dict[str, object]], seconds: float = 60) -> dict[str, str]:
    return {name: str(content) for name, content in pool.stream("test", tasks, seconds)}


def check(found: dict[str, str]) -> str:
    """The panes are markup of ours alone; gives all of it as one text."""
    for name, html in found.items():
        shown = {"error": message, "progress": busy, "program": message, "text": message}.get(
            name, lambda html, _: html
        )(html, 0 if name == "progress" else "error")  # as the page shows them
        assert foreign_markup(shown) == [], name
        assert not any(word in html for word in OURS), html[:500]
    return " ".join(found.values())


def test_there_are_fifty() -> None:
    assert len(HOSTILE) >= 50


@pytest.mark.parametrize("name", HOSTILE)
def test_exploring_it_tells_what_is_wrong(name: str, pool: Pool) -> None:
    given = {"text": HOSTILE[name], "kind": "auto", "arch": "sm_90"}
    seconds = 5 if name == "templates without end" else 60
    found = panes(pool, ("explore", given), seconds=seconds)
    found.pop("beat", None)
    text = check(found)
    assert found, "something must be said"
    # What is shown of a file of this machine would be more than its name.
    assert "root:" not in text
    assert "error" in found or "ptx" in found


@pytest.mark.parametrize("name", [name for name in HOSTILE if "include" in name or "asks" in name])
def test_no_file_of_the_machine_is_read(name: str) -> None:
    with pytest.raises(InputRefused, match=r"compilers' own headers|the page has none"):
        limits.check_cuda(HOSTILE[name])


def test_honest_headers_are_taken(pool: Pool) -> None:
    given = {"text": f"#include <cuda_fp16.h>\n{CUDA}", "kind": "auto", "arch": "sm_90"}
    assert "no errors" in panes(pool, ("explore", given))["summary"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arguments": "@/etc/passwd"}, "reads no files"),
        ({"arguments": "f32[99999999999]=randn"}, "all arrays together"),
        ({"arguments": "f32[4]=<b>"}, "fills nothing"),
        ({"arguments": IMAGE}, "neither a number"),
        ({"arguments": "9" * 5000}, "characters"),
        ({"arguments": ""}, "argument"),
        ({"grid": "1000000"}, "threads from this page"),
        ({"grid": "0"}, "from 1 on"),
        ({"grid": "1,1,1,1"}, "one to three"),
        ({"block": SCRIPT}, "not a number"),
        ({"block": "100000"}, "thread"),
        ({"shared": -1}, "shared"),
        ({"source": "nonsense <b>"}, "error"),
    ],
)
def test_launches_that_make_no_sense(changes: dict[str, object], words: str, pool: Pool) -> None:
    given = {"source": CUDA, "kernel": "", "grid": "1", "block": "4", "arguments": "f32[8]=zeros"}
    found = panes(pool, ("run", {**given, **changes}))
    check(found)
    assert words in found["error"]


@pytest.mark.parametrize(
    ("task", "given"),
    [
        ("stack", {"program": IMAGE, "inputs": "x:f32", "outputs": "y:f32"}),
        ("stack", {"program": "x " * 3000, "inputs": "x:f32", "outputs": "y:f32"}),
        ("stack", {"program": "x", "inputs": SCRIPT, "outputs": "y:f32"}),
        ("stack", {"program": "x", "inputs": "x:f32 " * 40, "outputs": "y:f32"}),
        ("inject", {"source": CUDA, "program": "x"}),
        ("inject", {"source": "/* PTX_INJECT <b>\n*/", "program": "x"}),
        ("inject", {"source": '/* PTX_INJECT f\n#include "/etc/passwd"\n*/', "program": "x"}),
        ("sample", {"source": "os:system", "category": "", "seed": 1, "index": 0}),
        ("compare", {"text": KERNEL, "other": "<b>", "arch": "sm_80", "other_arch": "sm_90"}),
        ("compare", {"text": KERNEL, "other": "", "arch": "sm_80", "other_arch": "sm_80"}),
        ("decompile", {"text": SCRIPT}),
        ("decompile", {"text": KERNEL, "which": "<b>"}),
        ("unpack", {"data": b"\x7fELF" + bytes(100), "name": "../../<img>", "part": 0}),
        ("unpack", {"data": b"PK\x03\x04" + bytes(40), "name": "x.zip", "part": 9}),
        ("unpack", {"data": b"\0" * (21 << 20), "name": "large", "part": 0}),
    ],
)
def test_other_rooms_refuse_as_clearly(task: str, given: dict[str, object], pool: Pool) -> None:
    found = panes(pool, (task, given))
    check(found)
    assert "error" in found or "<b>" not in str(found)


def test_a_kernel_without_end_is_ended_by_the_clock_and_by_hand(pool: Pool) -> None:
    endless = 'extern "C" __global__ void k(volatile int *x) { while (!x[0]) { } }'
    given = {
        "source": endless,
        "kernel": "",
        "grid": "1",
        "block": "1",
        "arguments": "s32[1]=zeros",
    }
    assert "took longer than 2 seconds" in panes(pool, ("run", given), seconds=2)["error"]
    stream = pool.stream("hand", [("run", given)], 60)
    next(stream)
    pool.stop("hand")
    with pytest.raises(Stopped) as stopped:
        list(stream)
    assert not stopped.value.newer
    older = pool.stream("hand", [("run", given)], 60)
    next(older)
    newer = pool.stream("hand", [("explore", {"text": KERNEL})], 60)
    next(newer)
    with pytest.raises(Stopped) as stopped:
        list(older)
    assert stopped.value.newer
    assert "ptx" in dict(newer)
    # And the page goes on.
    assert "ptx" in panes(pool, ("explore", {"text": KERNEL}))


def test_names_of_uploads_are_no_paths() -> None:
    for name in ("../../etc/passwd", "/etc/passwd", "C:\\a\\b", "a\0b", "..", "x" * 999, "<img>"):
        made = safe_name(name)
        assert made and len(made) <= 80
        assert not set(made) & set("/\\<>\0") and made not in (".", "..")


@pytest.mark.parametrize(
    "text", ["", "%%%", "A" * 20_000, "eJw", "eJyLjgUAARUAuQ", "\N{SNOWMAN}", "../../etc"]
)
def test_damaged_addresses_are_refused(text: str) -> None:
    with pytest.raises(InputRefused, match="damaged"):
        sharing.decode(text)


def test_addresses_hold_what_was_shared() -> None:
    state = {"text": KERNEL + SCRIPT, "arch": "sm_80", "beams": 3}
    assert sharing.decode(sharing.encode(state)) == state
    packed = sharing.encode({"text": "a", "beams": "many", "evil": 1, "arch": ["x"]})
    assert sharing.decode(packed) == {"text": "a"}
    with pytest.raises(InputRefused, match="too long"):
        sharing.encode({"text": "".join(map(chr, Random(1).choices(range(33, 127), k=60_000)))})


def test_a_small_address_cannot_become_a_large_text() -> None:
    import base64
    import json
    import zlib

    bomb = zlib.compress(json.dumps({"text": "a" * (8 << 20)}).encode(), 9)
    text = base64.urlsafe_b64encode(bomb).decode().rstrip("=")
    assert len(text) < sharing.MOST_CHARACTERS
    with pytest.raises(InputRefused, match="damaged"):
        sharing.decode(text)
