"""The workbench: how soon the page is there, and a kernel of 1,000 instructions explored.

``python -m benchmarks app``. The time to the first paint needs Chromium and Playwright; it counts
from the start of ``ptxkit app`` to what the browser reports.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import ptxkit
from benchmarks.report import Bar, Row, Settings

_LINES = 290


def kernel(instructions: int = 1000) -> str:
    """CUDA C++ that becomes a kernel of about so many instructions: loads, arithmetic, branches."""
    lines = max(1, instructions * _LINES // 1000)
    body = []
    for k in range(lines):
        a, b = f"x[i + {k}]", f"x[i + {k + lines}]"
        body.append(f"    v = v * {a} + {b};")
        if k % 8 == 7:
            body.append(f"    if (v > {k}.5f) y[i + {k}] = v;")
    return (
        'extern "C" __global__ void large(const float *__restrict__ x, float *y, int n) {\n'
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n"
        "    float v = 1.0f;\n" + "\n".join(body) + "\n    y[i] = v;\n}\n"
    )


def explored(text: str) -> dict[str, float]:
    """Seconds until each pane is there, over processes as the page does it."""
    from ptxkit.app.jobs import Pool

    pool = Pool()
    try:
        # As on the page, the workers have loaded what they need before somebody presses a button.
        small = {"text": ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { ret; }\n"}
        for _ in range(2):
            list(pool.stream("warm", [("explore", small)], 120))
        begin = time.perf_counter()
        given = {"text": text, "arch": "sm_90"}
        seconds = {}
        for pane, content in pool.stream("measure", [("explore", given)], 120):
            if pane == "error":
                raise RuntimeError(content)
            seconds[pane] = time.perf_counter() - begin
        return seconds
    finally:
        pool.close()


def first_paint() -> float | None:
    """Seconds from the start of the command to the first paint; None without a browser."""
    try:
        from playwright.sync_api import sync_playwright
        from tests.app.browser import ARGUMENTS, chromium
    except ImportError:
        return None
    program = chromium()
    if program is None:
        return None
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=ARGUMENTS)
        page = browser.new_page()
        begin = time.perf_counter()
        command = [sys.executable, "-m", "ptxkit", "app", "--no-browser"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[2]
            started = time.perf_counter() - begin
            page.goto(url, wait_until="commit")
            page.wait_for_selector("#pk-text textarea")
            paint = page.evaluate(
                "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            )
            return started + float(paint) / 1000
        finally:
            server.terminate()
            server.wait()
            browser.close()


def benchmark(settings: Settings) -> Iterator[Row]:
    """The two bars of the page."""
    quick = settings.repeat == 1
    source = kernel(60 if quick else 1000)
    module = ptxkit.compile_cuda(source)
    count = len(module["large"].instructions)
    for kind, text in (("PTX", module.emit()), ("CUDA C++", source)):
        runs = [explored(text) for _ in range(1 if quick else 3)]
        best = min(runs, key=lambda one: max(one.values()))
        note = ", ".join(f"{pane} {took:.2f}" for pane, took in best.items() if pane != "beat")
        yield Row(
            f"explore {count} instructions, given as {kind}", max(best.values()), "s",
            bar=Bar(3.0, "ours"), higher_is_better=False, note=note,
        )  # fmt: skip
    paint = None if quick else first_paint()
    if paint is not None:
        yield Row("start to first paint", paint, "s", bar=Bar(5.0, "ours"), higher_is_better=False)
