"""The page in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from app.browser import ADVICE, browser, chromium
from app.hostile import HOSTILE, KERNEL

pytest.importorskip("gradio")
playwright_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(chromium() is None, reason=ADVICE)

DONE = "text=/done in|✗ .* in the CUDA/"
SLOW = 60_000  # milliseconds that a busy machine may take


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    from ptxkit.app.server import serve

    with serve() as made:
        yield made


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browser() as made:
        yield made


@pytest.fixture(scope="module")
def page(server: Any, chrome: Any) -> Iterator[Any]:
    """The page as it opens, with what went wrong or went elsewhere in ``page.told``."""
    made = chrome.new_page(viewport={"width": 1440, "height": 900})
    made.set_default_timeout(SLOW)
    made.told = watch(made)
    made.goto(server.url)
    made.wait_for_selector(DONE)
    yield made
    made.close()


def watch(page: Any) -> list[str]:
    told: list[str] = []
    page.on("pageerror", lambda error: told.append(f"error: {error}"))
    page.on(
        "request",
        lambda one: (
            None
            if one.url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:"))
            else told.append(f"request: {one.url}")
        ),
    )
    return told


def tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).first.click()


def shown(page: Any, label: str) -> Any:
    return page.locator(f".pk-pane[aria-label='{label}']:visible").first


def explore(page: Any, text: str) -> None:
    tab(page, "Explore")
    end = "document.querySelector('.pk-line .pk-end')?.dataset.run"
    before = page.evaluate(end)
    page.locator("#pk-text textarea").fill(text)
    page.get_by_role("button", name="Explore", exact=True).click()
    page.wait_for_function(
        f"before => {{ const now = {end}; return now && now !== before; }}", arg=before
    )


def test_it_opens_on_an_example_and_nothing_is_empty(page: Any) -> None:
    assert "saxpy" in page.locator("#pk-text textarea").input_value()
    assert "ld.global" in shown(page, "PTX").inner_text()
    assert page.get_by_text("equivalent").first.is_visible()
    for name, label, word in (
        ("Control flow", "control flow", "blocks"),
        ("Python", "Python DSL", "ptx.ret"),
        ("SASS", "SASS for sm_90", "EXIT"),
        ("Source", "CUDA C++ source", "saxpy"),
        ("Decompiled", "decompiled CUDA C++", "threadIdx"),
    ):
        tab(page, name)
        assert word in shown(page, label).inner_text()
    assert "sm_120" in page.locator("[aria-label='resources by architecture']").inner_text()


def test_lines_are_linked(page: Any) -> None:
    tab(page, "Decompiled")
    shown(page, "decompiled CUDA C++").locator(".pk-row", has_text="[i]").click()
    linked = shown(page, "PTX").locator(".pk-row.pk-on").all_inner_texts()
    assert any("st.global" in line for line in linked)
    assert not any("ld.param.u64" in line and "param_9" in line for line in linked)


def test_instructions_explain_themselves(page: Any) -> None:
    word = shown(page, "PTX").locator("[data-help]", has_text="fma").first
    word.scroll_into_view_if_needed()
    word.hover()
    text = page.locator("#pk-help").inner_text()
    assert "fma" in text and "d, a, b, c" in text


def test_keys_walk_through_the_lines(page: Any) -> None:
    pane = shown(page, "PTX")
    pane.focus()
    page.keyboard.press("Home")
    for _ in range(30):
        page.keyboard.press("ArrowDown")
    current = pane.locator(".pk-current")
    assert current.locator(".pk-no").inner_text() == "31"
    page.keyboard.press("Escape")
    assert page.locator("#pk-help").is_hidden()


def test_every_control_has_a_name_and_is_reached_by_tab(page: Any) -> None:
    page.locator("#pk-text textarea").focus()
    reached = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        name = "document.activeElement.ariaLabel || document.activeElement.innerText"
        reached.add(page.evaluate(name))
    assert {"Explore", "Stop", "PTX"} <= {str(one).strip() for one in reached}


@pytest.mark.parametrize(
    "name", ["markup that closes ours", "templates", "script in a CUDA error", "NUL inside",
             "a line of 100 kB", "includes a file"]
)  # fmt: skip
def test_what_is_pasted_stays_text(name: str, page: Any) -> None:
    explore(page, HOSTILE[name])
    assert page.evaluate("window.hacked") is None
    assert page.locator(".pk-pane img, .pk-pane script, .pk-message img").count() == 0
    if name == "templates":
        assert "${window.hacked=1} {{window.hacked=1}}" in shown(page, "PTX").inner_text()


def test_an_edit_marks_what_is_shown_and_the_example(page: Any) -> None:
    mark = page.locator(".pk-stale:visible", has_text="the input has changed: Explore again")
    explore(page, KERNEL)
    assert mark.count() == 0
    edited = f"// edited\n{KERNEL}"
    page.locator("#pk-text textarea").fill(edited)
    mark.wait_for()
    page.get_by_label("Example (edited)").wait_for()
    explore(page, edited)
    assert mark.count() == 0


def test_errors_stand_under_their_lines(page: Any) -> None:
    explore(page, KERNEL.replace("ret;", "add.s32 %r1, %r2;"))
    note = shown(page, "PTX").locator(".pk-note.pk-error").first
    assert "%r1" in note.inner_text() or "operand" in note.inner_text()


def test_two_architectures_are_compared(page: Any) -> None:
    explore(page, KERNEL)
    page.get_by_role("button", name=re.compile("Compare with")).click()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_selector("[aria-label='resources compared']")
    page.wait_for_selector("[aria-label='differences in SASS']")
    page.get_by_role("button", name=re.compile("Compare with")).click()


def test_decompiling_shows_candidates_and_tree(page: Any) -> None:
    page.get_by_label("Example").click()
    page.get_by_role("option", name=re.compile("block sum")).click()
    page.wait_for_function(
        "() => document.querySelector('#pk-text textarea').value.includes('part')"
    )
    tab(page, "Decompile")
    page.wait_for_selector("[aria-label='candidates'] .pk-badge >> text=compiles")
    tab(page, "Tree")
    page.wait_for_selector(".pk-tree summary >> text=Function")


def test_running_shows_outputs_profile_and_faults(page: Any) -> None:
    page.get_by_label("Example").click()
    page.get_by_role("option", name=re.compile("with a fault")).click()
    page.wait_for_function(
        "() => document.querySelector('#pk-text textarea').value.includes('past')"
    )
    tab(page, "Run")
    fault = page.locator("[aria-label='PTX with faults'] .pk-fault")
    fault.wait_for()
    assert "ld.global" in fault.inner_text()
    page.locator("#pk-arguments textarea").fill("f32[1024]=ones\nf32[1025]=ones\n2.0\n1024")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("[aria-label='outputs'] >> text=3. 3. 3.")
    page.wait_for_selector("[aria-label='PTX with profile'] .pk-bar >> text=1,024")


def test_long_work_can_be_stopped(page: Any) -> None:
    endless = 'extern "C" __global__ void k(volatile int *x) { while (!x[0]) { } }'
    page.locator("#pk-text textarea").fill(endless)
    tab(page, "Run")
    page.wait_for_function("() => document.querySelector('#pk-arguments textarea').value")
    page.locator("#pk-arguments textarea").fill("s32[1]=zeros")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".pk-busy:visible >> text=/running k/")
    page.get_by_role("button", name="Stop").locator("visible=true").last.click()
    page.wait_for_selector(".pk-badge:visible >> text=stopped", timeout=15_000)


def test_stack_programs_are_drawn_as_one_types(page: Any) -> None:
    tab(page, "Generate")
    page.locator("#pk-program textarea").fill("x y mul.rn.f32 abs.f32")
    page.wait_for_selector(".pk-graph:visible >> text=abs.f32")
    page.get_by_role("button", name="Random program").click()
    page.wait_for_function(
        "() => !document.querySelector('#pk-program textarea').value.startsWith('x y mul.rn')"
    )
    tab(page, "Injection")
    page.wait_for_selector(".pk-injected:visible")


def test_samples_come_with_their_proof(page: Any) -> None:
    tab(page, "Generate")
    tab(page, "Dataset samples")
    page.wait_for_selector("[aria-label='verification'] >> text=numpy")
    assert page.get_by_text("✓ verified").first.is_visible()


def test_an_address_holds_the_state(page: Any, server: Any, chrome: Any) -> None:
    tab(page, "Explore")
    page.locator("#pk-text textarea").fill(f"// shared\n{KERNEL}")
    page.get_by_role("button", name="Share").click()
    page.wait_for_function("() => location.search.includes('state=')")
    other = chrome.new_page()
    other.goto(page.url)
    other.wait_for_function(
        "() => document.querySelector('#pk-text textarea')?.value.includes('// shared')"
    )
    other.close()


def test_nothing_went_wrong_or_elsewhere(page: Any) -> None:
    assert page.told == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(scheme: str, server: Any, chrome: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    one = chrome.new_page(color_scheme=scheme, viewport={"width": 1440, "height": 1000})
    one.set_default_timeout(SLOW)
    one.goto(server.url)
    one.wait_for_selector(DONE)
    found = []
    for name in ("Explore", "Decompile", "Run", "Generate"):
        tab(one, name)
        one.wait_for_timeout(500)
        for row in axe.run(one).response["violations"]:
            if row["impact"] in ("serious", "critical"):
                found.append((name, row["id"], [node["html"][:160] for node in row["nodes"][:3]]))
    one.close()
    assert found == []


def test_a_phone_needs_no_scrolling_sideways(server: Any, chrome: Any) -> None:
    one = chrome.new_page(viewport={"width": 390, "height": 844})
    one.set_default_timeout(SLOW)
    one.goto(server.url)
    one.wait_for_selector(DONE)
    for name in ("Explore", "Decompile", "Run", "Generate"):
        tab(one, name)
        one.wait_for_timeout(200)
        assert one.evaluate("document.documentElement.scrollWidth") <= 391, name
    one.close()
