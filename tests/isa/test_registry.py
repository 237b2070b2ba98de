"""Names of the room stay what they are, whatever was loaded before."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import ptxkit
ptxkit.check(".version 8.0\\n.target sm_80\\n.address_size 64\\n")
for name in ptxkit.isa.__all__:
    assert type(getattr(ptxkit.isa, name)).__name__ != "module", name
assert "add" in ptxkit.isa.table()
"""


def test_no_name_is_hidden_by_a_file() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True)
