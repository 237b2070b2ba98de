"""Functions of halves that were put inline are calls again, and the same PTX."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit
from ptxkit.decompiler.verify.identity import same_ptx

SOURCE = """#include <{header}>
extern "C" __global__ void k({type} *o, const {type} *a, const {type} *b) {{
    o[threadIdx.x] = {call};
}}
"""
ONE = """hexp(a) hlog(a) hsin(a) hcos(a) hrcp(a) hsqrt(a) hfloor(a) hexp10(a) __hdiv(a, b)
__hadd_sat(a, b)""".split(")")
PAIR = "h2exp(a) h2sin(a) h2rcp(a) h2sqrt(a) __h2div(a, b) __hadd2_sat(a, b)".split(")")
CASES = [
    *(("__half", "cuda_fp16.h", f"{x.strip()})") for x in ONE if x.strip()),
    *(("__half2", "cuda_fp16.h", f"{x.strip()})") for x in PAIR if x.strip()),
    *(("__nv_bfloat16", "cuda_bf16.h", f"h{x}(a)") for x in ("exp", "log", "sqrt", "tanh")),
    *(("__nv_bfloat162", "cuda_bf16.h", f"h2{x}(a)") for x in ("exp", "log", "sin")),
]


@pytest.mark.parametrize(("type", "header", "call"), CASES)
def test_function_is_a_call(type: str, header: str, call: str) -> None:
    elements = call.replace("(a", "(a[threadIdx.x]").replace(", b", ", b[threadIdx.x]")
    source = SOURCE.format(header=header, type=type, call=elements)
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module)
    assert f"{call.partition('(')[0]}(" in text
    assert "asm" not in text
    assert same_ptx(module, compiled_again(text, "sm_90"), "k")


def test_functions_in_an_expression() -> None:
    source = SOURCE.format(
        header="cuda_fp16.h",
        type="__half",
        call="__hadd(hexp(__hmul(a[threadIdx.x], b[threadIdx.x])), hsin(b[threadIdx.x]))",
    )
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module)
    assert "hexp(__hmul(" in text
    assert "hsin(" in text
    assert "asm" not in text
