"""The one form of a program: what is left when everything is gone that the compiler merges.

>>> from ptxkit import cuda
>>> one = cuda.read('''(kernel k (params (param (ptr float) o) (param (ptr float) x) (param int n))
...     (let int i (+ (* blockIdx.x blockDim.x) threadIdx.x))
...     (if (>= i n) (then (return))) (= ([] o i) (- ([] x i) 2.0f)))''')
>>> two = cuda.read('''(kernel f (params (param (ptr float) r) (param (ptr float const) a)
...                                   (param int size))
...     (let int t (+ threadIdx.x (* blockDim.x blockIdx.x)))
...     (if (< t size) (then (let float v ([] a t)) (= ([] r t) (+ -2.0f v)))))''')
>>> same_program(cuda.CudaModule((one,)), cuda.CudaModule((two,)))
True
"""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.neural.raising import parse, raise_function
from ptxkit.decompiler.neural.schedule import words_of
from ptxkit.decompiler.neural.statements import lower
from ptxkit.decompiler.neural.unsupported import UnsupportedError


def ordered_form(words: list[str], parameters: int, cached: frozenset[int]) -> list[str] | None:
    """An answer with commutative operands in one order; None where it can't be said again."""
    module = raise_function(parse(words, parameters), cached=cached)
    try:
        return words_of(lower(module.kernels[0]), ordered=True)
    except UnsupportedError:
        return None


def one_form(module: n.CudaModule) -> list[list[str]] | None:
    """The words of each kernel of a file in one form; None where one has no such form."""
    functions = {i.name: i for i in module.items if isinstance(i, n.Function) and not i.kernel}
    found: list[list[str]] = []
    for kernel in module.kernels:
        try:
            program = lower(kernel, functions)
            # Once more through words: what `restrict` allows is decided by what they say.
            form = ordered_form(words_of(program), len(program.parameters), program.cached)
        except UnsupportedError:
            return None
        if form is None:
            return None
        found.append(form)
    return found


def same_program(one: n.CudaModule, two: n.CudaModule) -> bool:
    """Whether two files are the same but for what the compiler merges."""
    form = one_form(one)
    return form is not None and form == one_form(two)
