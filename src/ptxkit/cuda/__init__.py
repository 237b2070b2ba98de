"""The one tree of CUDA C++: S-expressions, printer, numpy evaluation.

>>> import numpy as np
>>> from ptxkit import cuda
>>> kernel = cuda.read("(kernel k (params (param (ptr float) x)) (= ([] x threadIdx.x) 1.5f))")
>>> print(cuda.print_function(kernel), end="")
__global__ void k(float *x) {
    x[threadIdx.x] = 1.5f;
}
>>> x = np.zeros(4, np.float32)
>>> cuda.evaluate(kernel, grid=1, block=4, arguments=(x,))
>>> x.tolist()
[1.5, 1.5, 1.5, 1.5]
"""

from ptxkit.cuda.evaluator import evaluate
from ptxkit.cuda.lists import SExpressionError
from ptxkit.cuda.mangling import demangled_name
from ptxkit.cuda.nodes import CudaModule, Function, Node
from ptxkit.cuda.printer import print_expression, print_function, print_module, print_statements
from ptxkit.cuda.reader import read
from ptxkit.cuda.storage import EvaluationError
from ptxkit.cuda.structure import canonical, structure_hash, write_canonical
from ptxkit.cuda.writer import write

__all__ = [
    "CudaModule",
    "EvaluationError",
    "Function",
    "Node",
    "SExpressionError",
    "canonical",
    "demangled_name",
    "evaluate",
    "print_expression",
    "print_function",
    "print_module",
    "print_statements",
    "read",
    "structure_hash",
    "write",
    "write_canonical",
]
