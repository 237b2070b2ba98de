"""What a run of these tests found, written to a page: ``--verification docs/gpu-verification.md``.

A test says more than that it passed by ``record_property``: ``("equality", "bit for bit")`` is
counted, ``("facts", {...})`` and ``("table", [lines])`` are shown under its file.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--verification", metavar="FILE", help="write what the run found to this page")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Verification(config), "gpu-verification")


class Verification:
    """Collects reports and writes the page."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._outcomes: dict[str, Counter[str]] = {}
        self._equality: dict[str, Counter[str]] = {}
        self._shown: dict[str, list[str]] = {}
        self._skips: Counter[str] = Counter()
        self._failures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        file = report.nodeid.partition("::")[0]
        self._outcomes.setdefault(file, Counter())[report.outcome] += 1
        if report.outcome == "failed":
            self._failures.append(report.nodeid)
        if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
            self._skips[report.longrepr[2].removeprefix("Skipped: ")] += 1
        for name, value in report.user_properties:
            if name == "equality" and report.outcome == "passed":
                self._equality.setdefault(file, Counter())[str(value)] += 1
            elif name == "facts" and isinstance(value, dict):
                lines = [f"- {key}: {fact}" for key, fact in value.items()]
                self._shown.setdefault(file, []).extend([*lines, ""])
            elif name == "table":
                self._shown.setdefault(file, []).extend([*value, ""])  # type: ignore[misc]

    def pytest_sessionfinish(self) -> None:
        wanted = self._config.getoption("--verification")
        if wanted and self._outcomes:
            Path(wanted).write_text(self.page())

    def page(self) -> str:
        """The page in Markdown."""
        total = sum(self._outcomes.values(), Counter[str]())
        lines = [
            "# Verified on a GPU",
            "",
            "Written by `make test-gpu`; not edited by hand.",
            "",
            *(f"- {name}: {value}" for name, value in machine().items()),
            "",
            f"{total['passed']} tests passed, {total['failed']} failed, {total['skipped']} were "
            "skipped.",
            "",
            "| what | passed | failed | skipped | equality |",
            "| --- | --- | --- | --- | --- |",
        ]
        for file, counts in sorted(self._outcomes.items()):
            equal = ", ".join(
                f"{count} {how}" for how, count in sorted(self._equality.get(file, {}).items())
            )
            numbers = " | ".join(str(counts[name]) for name in ("passed", "failed", "skipped"))
            lines.append(f"| {title(self._config.rootpath / file)} | {numbers} | {equal or '-'} |")
        lines.append("")
        for reason, count in sorted(self._skips.items()):
            lines.append(f"- skipped, {count}: {reason}")
        lines += [f"- failed: `{name}`" for name in self._failures]
        for file, shown in sorted(self._shown.items()):
            lines += ["", f"## {title(self._config.rootpath / file)}", "", *shown]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def title(file: Path) -> str:
    """The first sentence of a test file's docstring."""
    found = re.match(r'"""(.*?)[.:\n]', file.read_text())
    return found[1] if found else file.stem


def machine() -> dict[str, str]:
    """The GPU, the driver and what was installed."""
    from ptxkit.run.cuda_driver import architecture, attribute, check, release, start
    from ptxkit.toolchain import locate, process

    driver = start()
    handle = check(driver.cuDeviceGet(0), "finding the GPU")
    name = check(driver.cuDeviceGetName(128, handle), "asking for its name")
    version = Path("/proc/driver/nvidia/version")
    module = (
        re.search(r"\s(\d+\.\d+(?:\.\d+)?)\s", version.read_text()) if version.exists() else None
    )
    tool = locate.find("ptxas")
    facts = {
        "GPU": f"{name.decode().split(chr(0))[0]} ({architecture(0)}, "
        f"{attribute(0, 'MULTIPROCESSOR_COUNT')} multiprocessors)",
        "driver": f"CUDA {release()}" + (f", kernel module {module[1]}" if module else ""),
        "assembler": f"ptxas {process.release('ptxas')}" if tool else "none",
        "Python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
    }
    peers = []
    for package in ("torch", "triton", "numba-cuda", "cupy-cuda13x", "cupy", "cuda-core", "numpy"):
        try:
            peers.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return {**facts, "packages": ", ".join(peers)}


@pytest.fixture(scope="session", autouse=True)
def gpu() -> Any:
    """Nothing here works without a GPU."""
    from ptxkit.run.cuda import is_available

    if not is_available():
        pytest.exit("no GPU can be used here", returncode=1)
