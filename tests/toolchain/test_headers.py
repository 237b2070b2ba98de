"""The hints for headers that NVRTC lacks, each followed."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.toolchain import CompilerError
from ptxkit.toolchain.headers import BUILT_IN, CUDA_STD

#: What each hint says is built in, in use.
USES = {
    "stdio": 'printf("x");', "assert": "assert(p);", "stdlib": "free(malloc(4));",
    "string": "memset(p, 0, 4); memcpy(p, p + 1, 4);", "math": "*p = sinf(*p) + pow(2.0, 0.5);",
    "time": "*p = clock() + clock64();", "stdbool": "bool b = true; *p = b;",
}  # fmt: skip


def hint(header: str) -> str:
    with pytest.raises(CompilerError, match="cannot open source file") as caught:
        ptxkit.compile_cuda(f"#include <{header}>\n")
    return caught.value.diagnostics[0].hint or ""


def test_everything_called_built_in_is() -> None:
    assert USES.keys() == BUILT_IN.keys()
    body = "".join(USES.values())
    ptxkit.compile_cuda(f'extern "C" __global__ void k(float *p) {{ {body} }}')


def test_every_header_that_is_named_compiles() -> None:
    includes = "".join(f"#include <cuda/std/{name}>\n" for name in sorted(CUDA_STD))
    use = 'extern "C" __global__ void k(uint32_t *p) { *p = INT_MAX - (FLT_MAX > 1); }'
    assert "k" in ptxkit.compile_cuda(includes + use, arch="sm_80")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("stdio.h", "printf is built into NVRTC: leave the #include out"),
        ("cassert", "assert is built into NVRTC"),
        ("stdint.h", "write #include <cuda/std/cstdint>"),
        ("limits.h", "write #include <cuda/std/climits>"),
        ("algorithm", "write #include <cuda/std/algorithm>"),
        ("vector", "leave it out, or compile with nvcc"),
        ("iostream", "leave it out, or compile with nvcc"),
        ("mine/own.h", "name its folder in include_dirs (-I)"),
    ],
)
def test_hints(header: str, said: str) -> None:
    assert said in hint(header)
