"""Chromium for tests: where it is, and how to get it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ADVICE = "no Chromium here for the tests of the page: apt-get install -y chromium"
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def chromium() -> str | None:
    """The program, under any name it has; None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for path in map(shutil.which, names) if path), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A browser that is started, and ended."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield made
        made.close()
