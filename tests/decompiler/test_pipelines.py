"""Copies beside the program, as people write them with ``cuda_pipeline.h``."""

from __future__ import annotations

from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit

STAGES = """#include <cuda_pipeline.h>
extern "C" __global__ void stages(const float *in, float *out, int n) {
    __shared__ float buf[2][128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buf[0][t], &in[t], %s);
    __pipeline_commit();
    for (int i = 0; i < n; i++) {
        if (i + 1 < n) __pipeline_memcpy_async(&buf[(i + 1) & 1][t], &in[(i + 1) * 128 + t], %s);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[i * 128 + t] = buf[i & 1][127 - t] * 2.0f;
        __syncthreads();
    }
}"""
CALLS = ("__pipeline_memcpy_async(&", "__pipeline_commit();", "__pipeline_wait_prior(1);")


def test_pipelines_have_their_functions_again() -> None:
    # Four turns in one, as in the test below, only take longer to prove.
    source = STAGES.replace("    for", "    #pragma unroll 1\n    for") % ("4", "4")
    module = ptxkit.compile_cuda(source, arch="sm_90")
    found = ptxkit.decompile(module, "symbolic", effort=0)
    assert found.verdict.equivalent
    text = found.cuda
    assert "asm" not in text and "__cvta" not in text and "(char *)" not in text
    assert all(call in text for call in CALLS)
    assert "const float *" in text


def test_a_copy_of_less_than_all_stays_assembly() -> None:
    """What is filled up with zeros has a size that is no plain number here."""
    module = ptxkit.compile_cuda(STAGES % ("4, 0", "4, 2"), arch="sm_90")
    text = lifted_text(module)
    assert "cp.async.ca.shared.global" in text and "__pipeline_commit();" in text
    assert compiled_again(text, "sm_90")
