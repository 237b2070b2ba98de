"""Small changes that make the PTX of a form that of the original."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda import print_function, read
from ptxkit.cuda.types import INT, UINT
from ptxkit.decompiler.lift.lifter import Options, lift_module
from ptxkit.decompiler.lift.rewrite import bottom_up
from ptxkit.decompiler.refine.compiling import codes
from ptxkit.decompiler.refine.distance import Code, distance
from ptxkit.decompiler.refine.edits import edits
from ptxkit.decompiler.refine.places import applied, difference
from ptxkit.decompiler.refine.search import Search
from ptxkit.decompiler.variants import best_form

#: Kernels whose forms are all near their PTX, and none of them is it.
NEAR = {
    "a condition kept in a flag": """
        __global__ void starts(const int *key, int *start, int n) {
            extern __shared__ int last[];
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            int k;
            if (i < n) {
                k = key[i];
                last[threadIdx.x + 1] = k;
                if (i > 0 && threadIdx.x == 0) last[0] = key[i - 1];
            }
            __syncthreads();
            if (i < n && (i == 0 || k != last[threadIdx.x])) start[k] = i;
        }""",
    "quotient and remainder": """
        __global__ void skew(float *out, const float *in, int w) {
            unsigned int t = blockIdx.x + gridDim.x * blockIdx.y;
            unsigned int row = t % gridDim.y;
            unsigned int column = (t / gridDim.y + row) % gridDim.x;
            out[column * w + threadIdx.x] = in[row * w + threadIdx.x];
        }""",
    "pointers moved on": """
        __global__ void merge(unsigned *outKey, unsigned *outValue, const unsigned *inKey,
                              const unsigned *inValue) {
            __shared__ unsigned key[256], value[256];
            unsigned base = blockIdx.x * 256 + threadIdx.x;
            outKey += base; outValue += base; inKey += base; inValue += base;
            key[threadIdx.x] = inKey[0]; value[threadIdx.x] = inValue[0];
            key[threadIdx.x + 128] = inKey[128]; value[threadIdx.x + 128] = inValue[128];
            __syncthreads();
            outKey[0] = key[255 - threadIdx.x]; outValue[0] = value[255 - threadIdx.x];
            outKey[128] = key[127 - threadIdx.x]; outValue[128] = value[127 - threadIdx.x];
        }""",
    "an address before a branch": """
        __global__ void votes(unsigned char *out, int n) {
            int t = threadIdx.x;
            unsigned char *o = out + t * 3;
            *o = __any_sync(0xffffffff, t >= n * 3 / 2);
            o[1] = t >= n * 3 / 2;
            if (__all_sync(0xffffffff, t >= n * 3 / 2)) o[2] = 1;
        }""",
    "rows and columns in every index": """
        __global__ void seven(const float *in, float *out, unsigned n, int a, int b, int c) {
            unsigned i = blockIdx.z * blockDim.z + threadIdx.z;
            unsigned j = blockIdx.y * blockDim.y + threadIdx.y;
            unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1)
                out[i * n * n + j * n + k] = a * in[i * n * n + j * n + k]
                    + b * in[i * n * n + (j - 1) * n + k] + c * in[i * n * n + (j + 1) * n + k]
                    + a * in[(i - 1) * n * n + j * n + k] + b * in[(i + 1) * n * n + j * n + k];
        }""",
    "memory that is read twice": """
        __global__ void mixed(const float *u, const float *v, float *p, float *q, int w, float a) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            float du = u[i - w] + u[i + w] - 4.0f * u[i], dv = v[i - w] + v[i + w] - 4.0f * v[i];
            float x = u[i], y = v[i];
            float z = x * y * y;
            p[i] = x + a * (du - z);
            q[i] = y + a * (dv + z);
        }""",
    "a question inside of others": """
        __global__ void walk(float *map, const int *to, int w, int h) {
            int x = to[0], y = to[1], i = threadIdx.x, j = threadIdx.y - 2;
            while (true) {
                if (i >= 0 && i < w && j >= 0 && j < h)
                    if (i != x || j != y) atomicAdd(&map[j * w + i], 1.0f);
                if (i == x && j == y) break;
                if (i < x) i++;
                if (j < y) j++;
            }
        }""",
    "a loop that is left in the middle": """
        __global__ void put(const int *keys, int *table, int *where, int slots) {
            int key = keys[threadIdx.x];
            unsigned slot = (key * 40503u >> 4) & (slots - 1);
            while (true) {
                int old = atomicCAS(&table[slot], -1, key);
                if (old == -1 || old == key) {
                    where[slot] = threadIdx.x;
                    break;
                }
                slot = (slot + 1) & (slots - 1);
            }
        }""",
    "a product with a condition": """
        __global__ void rule(const unsigned char *in, unsigned char *out, int w) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            int sum = in[i - w] + in[i + w];
            if (i > w) sum += in[i - 1];
            int now = in[i];
            out[i] = now * (sum == 2 || sum == 3) + !now * (sum == 3);
        }""",
}


@pytest.mark.parametrize("name", NEAR)
def test_a_near_form_becomes_the_same_ptx(name: str) -> None:
    module = ptxkit.compile_cuda(NEAR[name], arch="sm_90")
    kernel = module.kernels[0].name
    assert best_form(module, kernel, "sm_90", effort=0)[1].level != "E1"
    assert best_form(module, kernel, "sm_90")[1].level == "E1"


def test_the_same_search_finds_the_same_text() -> None:
    module = ptxkit.compile_cuda(NEAR["quotient and remainder"], arch="sm_90")
    kernel = module.kernels[0].name
    first, second = (best_form(module, kernel, "sm_90")[0].tree for _ in range(2))
    assert first == second


KERNEL = """(kernel k (params (param (ptr int) x) (param int a) (param int b))
    (let int q (/ a b))
    (let int r (- a (* q b)))
    (if (&& (< r 3) (!= q b)) (then (= ([] x (+ r a)) (+ q r)))))"""


def test_a_change_is_made_where_it_was_found() -> None:
    kernel = read(KERNEL)
    assert isinstance(kernel, n.Function)
    seen: set[str] = set()
    for edit in edits(kernel):
        made = applied(kernel, edit)
        assert made is not None and made != kernel, edit
        again = difference(edit.kind, kernel, made)
        assert again is not None and applied(kernel, again) == made
        seen.add(edit.kind)
    assert {"swap", "remainder", "split", "name", "inline", "sign"} <= seen


def test_a_change_does_not_fit_another_function() -> None:
    kernel = read(KERNEL)
    assert isinstance(kernel, n.Function) and kernel.body is not None
    other = n.Function(kernel.name, kernel.parameters, kernel.body[2:], kernel.returns)
    changes = [edit for edit in edits(kernel) if edit.path]
    assert sum(applied(other, edit) is None for edit in changes) > len(changes) / 2


def test_only_the_asked_statements_change() -> None:
    kernel = read(KERNEL)
    assert isinstance(kernel, n.Function)
    some = list(edits(kernel, {("body", 1)}))
    assert 0 < len(some) < len(list(edits(kernel)))


def test_distance_counts_operands_and_targets() -> None:
    lines = ["$L1:", "add.s32 %r3, %r1, %r2;", "setp.eq.s32 %p1, %r3, 0;", "@%p1 bra $L1;", "ret;"]
    a = Code.of(["mov.u32 %r1, %tid.x;", "mov.u32 %r2, %ntid.x;", *lines])
    renamed = [line.replace("$L1", "$L7").replace("%r3", "%r9") for line in lines]
    same = Code.of(["mov.u32 %r1, %tid.x;", "mov.u32 %r2, %ntid.x;", *renamed])
    assert distance(a, same).score == 0
    swapped = Code.of(["mov.u32 %r2, %tid.x;", "mov.u32 %r1, %ntid.x;", *lines])
    assert distance(a, swapped).score > 0
    moved = Code.of(["mov.u32 %r1, %tid.x;", "$L1:", "mov.u32 %r2, %ntid.x;", *lines[1:]])
    assert distance(a, moved).score > 0


def test_versions_compile_as_they_do_alone() -> None:
    module = ptxkit.compile_cuda(NEAR["an address before a branch"], arch="sm_90")
    tree = best_form(module, module.kernels[0].name, "sm_90", effort=0)[0].tree
    function = tree.kernels[0]
    alone, *together = codes(tree, function.name, [function] * 3, "sm_90")
    text = print_function(function).replace(" votes(", " other(")
    (other,) = Code.in_module(ptxkit.compile_cuda(text, arch="sm_90").emit()).values()
    assert alone is not None and distance(other, alone).score == 0
    assert all(code is not None and distance(alone, code).score == 0 for code in together)


def test_what_is_found_has_no_more_variables_than_it_needs() -> None:
    """What is added is computed first here, so that `y[i] +=` is not the same PTX."""
    found = ptxkit.decompile(
        ptxkit.compile_cuda(
            """extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
                int i = blockIdx.x * blockDim.x + threadIdx.x;
                if (i < n) y[i] = a * x[i] + y[i];
            }""",
            arch="sm_90",
        ),
        "symbolic",
    )
    assert found.verdict.same_ptx
    assert found.cuda.count(";") == 2, found.cuda


def test_all_parts_of_vectors_are_read_where_they_are_needed() -> None:
    source = """
    __constant__ float4 atoms[64];
    __global__ void energy(float *out, int n) {
        float sum = 0.0f;
        for (int k = 0; k < n; k++) sum += atoms[k].x * atoms[k].y * (atoms[k].z + atoms[k].w);
        out[threadIdx.x] = sum;
    }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    tree = lift_module(module, Options(roll=True))
    lifted = next(i for i in tree.items if isinstance(i, n.Function))
    function = bottom_up(lifted, lambda x: replace(x, unroll=1) if isinstance(x, n.For) else x)
    assert "float4 vec" in print_function(function)
    made = [e for e in edits(function) if e.kind == "members" and e.path == ()]
    texts = [print_function(one) for e in made if (one := applied(function, e)) is not None]
    assert all("vec" not in text and text.count("atoms[k]") == 4 for text in texts)
    assert ["#pragma" in text for text in texts] == [True, False]


def test_versions_that_are_alike_wait_in_their_order() -> None:
    """Two as near and as long as each other, before and after what is known was forgotten."""
    module = ptxkit.compile_cuda("__global__ void k(int *x, int *y) { *x = *y; }", arch="sm_90")
    name = module.kernels[0].name
    tree = lift_module(module)
    function = next(i for i in tree.items if isinstance(i, n.Function))
    search = Search(
        Code.in_module(module.emit())[name], function.name, "sm_90", tree=tree, limit=1e9
    )
    for type in (UINT, INT):
        changed = replace(
            function, body=(n.Declare(type, "z", n.integer(0)), *(function.body or ()))
        )
        search.known.clear()
        search._compile([changed])
    assert [entry[2] for entry in sorted(search.waiting)] == [1, 2]


def test_a_pointer_that_elements_are_of_keeps_its_name() -> None:
    source = """__global__ void k(float *x, const float *y, int n, int m) {
        const float *row = y + blockIdx.x * n + blockIdx.y * m;
        x[threadIdx.x] = row[threadIdx.x];
    }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    tree = lift_module(module)
    own = next(i for i in tree.items if isinstance(i, n.Function))
    row = read("(let (ptr float const) row (+ (+ p1 n2) n3))")
    store = read("(= ([] p0 threadIdx.x) ([] row threadIdx.x))")
    function = replace(own, body=(row, store))
    name = module.kernels[0].name
    code = Code.in_module(module.emit())[name]

    class AllAlike(Search):
        def _scores(self, functions: list[n.Function]) -> list[float]:
            return [0.0] * len(functions)

    search = AllAlike(code, function.name, "sm_90", tree=tree, limit=1e9)
    assert "row[" in print_function(search._plainer(function))
