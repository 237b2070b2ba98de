"""The stub of ``ptx`` is what the instruction table gives, and type checkers use it."""

import subprocess
import sys
from pathlib import Path

import pytest

from ptxkit.dsl import stubs
from ptxkit.isa.registry import known_names

SOURCE = Path(stubs.__file__).parents[2]

GOOD = """
from ptxkit.dsl import addr, ptx, reg
a = reg.f32()
ptx.ld.global_.f32(a, addr(a, 8))
ptx.fma.rn.f32(a, a, 1.0, a, when=~a)
copy = ptx.cp.async_.bulk.shared__cluster.global_.mbarrier__complete_tx__bytes
copy(addr(a), addr(a), 4, addr(a))
with ptx.if_(a < 1.0):
    ptx.ret()
for i in ptx.range(4):
    i.to("f32")
"""

BAD = {
    "no such instruction": ("ptx.ad.f32(a, a, a)", '"Ptx" has no attribute "ad"'),
    "no such modifier": ("ptx.add.f23(a, a, a)", '"_Add" has no attribute "f23"'),
    "too few operands": ("ptx.fma.rn.f32(a, a)", 'Too few arguments for "__call__" of "_Fma"'),
    "a number is written": ("ptx.add.f32(1, a, a)", "incompatible type"),
    "no address": ("ptx.prefetch.global_.L1(4)", "incompatible type"),
}


def test_the_stub_is_current():
    assert stubs.PATH.read_text() == stubs.stub(), "run: python -m ptxkit.dsl.stubs"


def test_every_instruction_is_in_it():
    text = stubs.PATH.read_text()
    for name in known_names():
        assert f"class {stubs.class_name(name)}:" in text


@pytest.fixture(scope="module")
def messages(tmp_path_factory) -> dict[str, str]:
    """What mypy says about each file, in one run."""
    folder = tmp_path_factory.mktemp("stubs")
    (folder / "good.py").write_text(GOOD)
    for number, (line, _) in enumerate(BAD.values()):
        text = f"from ptxkit.dsl import addr, ptx, reg\na = reg.f32()\n{line}\n"
        (folder / f"bad{number}.py").write_text(text)
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", str(folder / "cache"),
         "--follow-imports=silent", "."],
        cwd=folder,
        env={"MYPYPATH": str(SOURCE), "PATH": ""},
        capture_output=True,
        text=True,
    )  # fmt: skip
    found: dict[str, str] = {}
    for line in result.stdout.splitlines():
        file, _, rest = line.partition(":")
        found[file] = found.get(file, "") + rest + "\n"
    assert found, result.stderr
    return found


def test_good_calls_pass(messages):
    assert "good.py" not in messages


@pytest.mark.parametrize("name", BAD)
def test_bad_calls_are_told(messages, name):
    number = list(BAD).index(name)
    assert BAD[name][1] in messages.get(f"bad{number}.py", "")
