"""What nvcc makes on the spot: parsed, written back, checked, formatted, edited."""

from __future__ import annotations

import random
import tempfile
from functools import cache
from pathlib import Path

import pytest

import ptxkit
from corpus import nvcc, tools

#: Source, architecture, mode: between them every mode, old and new architectures.
JOBS = [
    ("saxpy", "sm_75", "plain"),
    ("structs", "sm_80", "lineinfo"),
    ("switches", "sm_86", "debug"),
    ("function_pointers", "sm_89", "rdc"),
    ("module_variables", "sm_90", "lineinfo"),
    ("inline_asm", "sm_90a", "plain"),
    ("wgmma", "sm_90a", "lineinfo"),
    ("tma_ptx", "sm_100", "plain"),
    ("tcgen05", "sm_100a", "plain"),
    ("float_math", "sm_103a", "rdc"),
    ("textures", "sm_110", "plain"),
    ("block_scaled_mma", "sm_120a", "debug"),
    ("print_assert", "sm_121a", "debug"),
    ("recursion", "sm_120", "rdc"),
]
IDS = ["-".join(job) for job in JOBS]


@cache
def compiled(name: str, architecture: str, mode: str) -> bytes:
    """The PTX of one of our CUDA files."""
    compiler = tools.find("nvcc")
    source = nvcc.read_source(nvcc.SOURCES / f"{name}.cu", [architecture])
    job = nvcc.Job(source, architecture, mode)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.ptx"
        command = [str(compiler.path), "-ptx", "-w", *job.options, f"{name}.cu", "-o", str(output)]
        result = tools.run(command, cwd=nvcc.SOURCES)
        assert result.ok, result.output
        return output.read_bytes()


@pytest.mark.parametrize("job", JOBS, ids=IDS)
def test_compiler_output(job: tuple[str, str, str]) -> None:
    data = compiled(*job)
    module = ptxkit.parse(data, filename=f"{job[0]}.ptx")
    assert module.emit_bytes() == data
    assert module.target == job[1]
    errors = [one.render() for one in ptxkit.check(module) if one.severity == "error"]
    assert not errors, "\n".join(errors[:5])
    text = ptxkit.format(module)
    assert ptxkit.format(text) == text
    assert [i.opcode for i in ptxkit.parse(text).instructions] == [
        i.opcode for i in module.instructions
    ]


@pytest.mark.parametrize("job", JOBS[:6], ids=IDS[:6])
def test_an_edit_changes_only_its_bytes(job: tuple[str, str, str]) -> None:
    data = compiled(*job)
    module = ptxkit.parse(data)
    kinds = [node.kind for node in module.walk()]
    nodes = list(module.walk())
    for node in random.Random(job[0]).sample(nodes, 40):
        editor = module.edit()
        editor.replace(node, f"/* edited */ {node.text}")
        edited = editor.apply()
        start, end = node.span
        assert edited.emit_bytes() == data[:start] + b"/* edited */ " + data[start:end] + data[end:]
        assert [one.kind for one in edited.walk()] == kinds
