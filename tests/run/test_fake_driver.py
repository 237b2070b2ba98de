"""``device="cuda"`` against a driver that only writes down what it is asked to do.

What a GPU computes is tested by ``make test-gpu``; this is about everything before that.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.run.fake_driver import build

pytest.importorskip("cuda.bindings.driver", reason="needs pip install 'ptxkit[cuda]'")


def test_launches_reach_the_driver_as_they_were_asked_for(tmp_path: Path) -> None:
    library = build(tmp_path)
    checks = Path(__file__).parent / "fake_driver" / "checks.py"
    # In a process of its own: a process has one driver.
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(checks)],
        env={**os.environ, "LD_LIBRARY_PATH": str(library.parent)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None and int(passed[1]) >= 60 and "skipped" not in done.stdout
