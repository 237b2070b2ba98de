"""Names that definitions tell, on kernels compiled for the purpose."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda import read
from ptxkit.decompiler.learned.contexts import contexts
from ptxkit.decompiler.learned.evidence import evident_names, spoken_against
from ptxkit.decompiler.learned.planes import paired_names, plane_sizes

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
        # How far two places are from each other, by the axis; along one alone nothing is said.
        ("(let float4 v) (let float a (- v.y v.w)) (let float b (- ([] x 1) v.x))"
         "(= ([] x 2) (+ a b))", {"a": "dy", "b": "dx"}),
        ("(let float4 v) (let float a (- v.y v.w)) (= ([] x 2) a)", {}),
        ("(let bool n3 (< n 7)) (if n3 (then (= ([] x 2) 0.0f)))", {"n3": "cond"}),
    ],
)  # fmt: skip
def test_what_is_evident(body: str, wanted: dict[str, str]) -> None:
    assert evident_names(kernel(body)) == wanted


def test_an_index_is_no_result_and_a_column_no_row() -> None:
    place = "(let int a (+ (* blockIdx.x blockDim.x) threadIdx.x))"
    found = contexts(kernel(f"{place} (= ([] x (+ a n)) 0.0f)"))
    assert spoken_against(found["a"], ("sum", "row", "col", "i", "lane")) == {"sum", "row", "lane"}


def test_what_is_written_is_no_input_and_a_warp_no_row() -> None:
    found = contexts(kernel("(let int a (/ threadIdx.x 32)) (= ([] x a) 0.0f)"))
    assert spoken_against(found["x"], ("x", "out", "in", "y")) == {"x", "in"}
    assert spoken_against(found["a"], ("row", "warp")) == {"row"}
    read_only = contexts(kernel("(let float a ([] x n)) (let bool b (< a 1.0f))"))
    assert spoken_against(read_only["x"], ("x", "out", "dst")) == {"out", "dst"}
    assert spoken_against(read_only["b"], ("n", "found")) == {"n"}


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ({"n": "n", "m": "b"}, {"n": "width", "m": "height"}),
        ({"n": "nx", "m": "b"}, {"m": "ny"}),
        ({"n": "n", "m": "h"}, {"n": "w"}),
        ({"n": "N", "m": "M", "k": "K"}, {}),
        ({"n": "stride", "m": "b"}, {}),
    ],
)
def test_the_sizes_of_a_plane_are_named_together(
    named: dict[str, str], wanted: dict[str, str]
) -> None:
    assert paired_names(("n", "m"), named, ("x",)) == wanted


def test_what_ends_rows_is_a_height() -> None:
    found = read("""(kernel k (params (param (ptr float) x) (param int n) (param int m))
        (if (|| (>= (+ c 1) n) (>= r (- m 2))) (then (return))) (= ([] x (+ (* r n) c)) 0.0f))""")
    assert isinstance(found, n.Function)
    assert plane_sizes(found, {"c": "col", "r": "row"}) == ("n", "m")
    assert plane_sizes(found, {"c": "col"}) is None
