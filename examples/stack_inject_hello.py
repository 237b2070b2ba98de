"""Both together: a kernel compiled once, and a stack program put into its middle."""

import numpy as np

import ptxkit
from ptxkit import inject, stack

template = inject.Template.from_cuda("""
extern "C" __global__ void k(float *x) {
    float a = x[threadIdx.x], b;
    /* PTX_INJECT f
        in  f32 a
        out f32 b
    */
    x[threadIdx.x] = b;
}""")
args = template.sites["f"].args
stub = stack.compile("a a mul.rn.f32 1.0 add.rn.f32", {"a": args["a"]}, {"b": args["b"]})
x = np.arange(4, dtype=np.float32)
ptxkit.load(template.render({"f": stub}), device="auto")["k"][1, 4](x)
print(x)
