"""Names that definitions tell, on kernels compiled for the purpose."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda import read
from ptxkit.decompiler.learned.contexts import contexts
from ptxkit.decompiler.learned.evidence import evident_names, spoken_against

PLANE = """extern "C" __global__
void product(const float *a, const float *b, float *c, int w, int h) {
    int q = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y * blockDim.y + threadIdx.y;
    if (p >= h || q >= w) return;
    float total = 0.0f;
    for (int z = 0; z < w; z++) total += a[p * w + z] * b[z * w + q];
    c[p * w + q] = total;
}"""


def test_rows_columns_and_sums_have_their_names() -> None:
    text = ptxkit.decompile(ptxkit.compile_cuda(PLANE, arch="sm_90"), "symbolic").cuda
    assert "int row = blockIdx.y * blockDim.y + threadIdx.y" in text
    assert "int col = blockIdx.x * blockDim.x + threadIdx.x" in text
    assert "float sum = 0.0f" in text


def kernel(body: str) -> n.Function:
    made = read(f"(kernel k (params (param (ptr float) x) (param int n)) {body})")
    assert isinstance(made, n.Function)
    return made


@pytest.mark.parametrize(
    "body, wanted",
    [
        # Along one axis nothing is a row or a column.
        ("(let int a (+ (* blockIdx.x blockDim.x) threadIdx.x)) (= ([] x a) 0.0f)", {}),
        # What moves on is no place of a thread any more.
        ("(let int a threadIdx.x) (let int b threadIdx.y) (= a (+ a 1)) (= ([] x (+ a b)) 0.0f)",
         {"b": "ty"}),
        # A lane of something else is none.
        ("(let int a (& n 31)) (= ([] x a) 0.0f)", {}),
        # What begins with something else than 0 is no sum.
        ("(let float a ([] x 0)) (while (< n 3) (+= a ([] x 1))) (= ([] x 1) a)", {}),
        ("(let float a ([] x 0)) (while (< n 3) (= a (call fmaxf a ([] x 1)))) (= ([] x 1) a)",
         {"a": "largest"}),
        ("(let int sum 0) (while (< n 3) (+= sum n) (= ([] x sum) 0.0f))", {"sum": "offset"}),
    ],
)  # fmt: skip
def test_what_is_evident(body: str, wanted: dict[str, str]) -> None:
    assert evident_names(kernel(body)) == wanted


def test_an_index_is_no_result_and_a_column_no_row() -> None:
    place = "(let int a (+ (* blockIdx.x blockDim.x) threadIdx.x))"
    found = contexts(kernel(f"{place} (= ([] x (+ a n)) 0.0f)"))
    assert spoken_against(found["a"], ("sum", "row", "col", "i", "lane")) == {"sum", "row", "lane"}
