"""Printing: the text of printf in a kernel, from the driver and from the simulator."""

from __future__ import annotations

import subprocess
import sys

from tests.gpu.compare import Record
from tests.gpu.printing import SOURCE

import ptxkit

ON_GPU = """
import ptxkit
from tests.gpu.printing import SOURCE
loaded = ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device="cuda")
loaded["print"][1, 1]()
loaded.synchronize()
"""


def test_the_same_text(record_property: Record) -> None:
    # The driver writes to the standard output of the process.
    done = subprocess.run([sys.executable, "-c", ON_GPU], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    kernel = ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device="cpu")["print"]
    ours, theirs = kernel[1, 1]().output.splitlines(), done.stdout.decode().splitlines()
    # The driver reads the arguments of %hd and %hu from elsewhere: another process, other numbers.
    pairs = [pair for pair in zip(ours, theirs, strict=True) if not pair[0].startswith("hh ")]
    assert len(pairs) == len(ours) - 1
    assert [one for one, _ in pairs] == [other for _, other in pairs]
    record_property("equality", "character for character")
