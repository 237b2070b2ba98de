"""The pictures of docs/app.md: ``python -m tests.app.screenshots docs/images``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.browser import browser
from app.test_browser import DONE, SLOW, tab


def _choose(page: Any, name: str) -> None:
    page.get_by_label("Example").click()
    page.get_by_role("option", name=re.compile(name)).click()
    page.wait_for_timeout(300)


def take(folder: Path) -> None:
    """Write all pictures."""
    from ptxkit.app.server import serve

    folder.mkdir(parents=True, exist_ok=True)
    with serve() as server, browser() as chrome:
        page = _open(chrome, server.url, 1440, 900)
        _choose(page, "block sum")
        page.wait_for_selector(".pk-line .pk-busy")
        page.wait_for_selector(DONE)
        rows = page.locator(".pk-pane[aria-label='decompiled CUDA C++'] .pk-row")
        rows.filter(has_text="+=").first.click()
        page.screenshot(path=folder / "app-explore.png")
        tab(page, "Control flow")
        page.wait_for_timeout(300)
        page.screenshot(path=folder / "app-graph.png")
        tab(page, "Decompile")
        page.wait_for_selector("[aria-label='candidates'] .pk-badge")
        page.wait_for_timeout(1500)
        page.screenshot(path=folder / "app-decompile.png", full_page=True)
        tab(page, "Run")
        page.wait_for_selector("[aria-label='PTX with profile']")
        page.screenshot(path=folder / "app-run.png", full_page=True)
        tab(page, "Generate")
        page.wait_for_selector(".pk-graph:visible")
        page.screenshot(path=folder / "app-generate.png")
        page.close()
        dark = _open(chrome, server.url, 1440, 900, "dark")
        tab(dark, "Control flow")
        dark.wait_for_timeout(300)
        dark.screenshot(path=folder / "app-dark.png")
        dark.close()
        phone = _open(chrome, server.url, 390, 844)
        phone.screenshot(path=folder / "app-phone.png", full_page=True)
        phone.close()


def _open(chrome: Any, url: str, width: int, height: int, scheme: str = "light") -> Any:
    page = chrome.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(SLOW)
    page.goto(url)
    page.wait_for_selector(DONE)
    return page


if __name__ == "__main__":
    take(Path(sys.argv[1]))
