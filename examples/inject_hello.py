"""Hello, inject: a compiled kernel with a hole, and three fillings for it."""

import numpy as np

import ptxkit

template = ptxkit.inject.Template.from_cuda("""
extern "C" __global__ void map(float *data) {
    /* PTX_INJECT func
        mod f32 x = data[threadIdx.x]
    */
}""")
x = template.sites["func"].args["x"].register
for stub in (f"mul.f32 {x}, {x}, {x};", f"neg.f32 {x}, {x};", f"sqrt.rn.f32 {x}, {x};"):
    data = np.array([1, 4, 9, 16], np.float32)
    ptxkit.load(template.render({"func": stub}), device="auto")["map"][1, 4](data)
    print(f"{stub:24} {data}")
