"""A stack program becomes a stub of PTX, and runs on numpy without a GPU."""

import numpy as np

from ptxkit import stack

program = "x x mul.rn.f32 y y mul.rn.f32 add.rn.f32 sqrt.rn.f32"
print(stack.compile(program, inputs={"x": "f32", "y": "f32"}, outputs={"r": "f32"}))
arrays = {"x": np.float32([3, 5]), "y": np.float32([4, 12])}
print(stack.evaluate(program, arrays, {"r": "f32"}))
