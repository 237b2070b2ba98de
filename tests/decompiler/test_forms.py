"""The forms of a function: which one is taken, and what compilers do that they undo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.decompiler.lifting import compiled_again, lifted_text
from tests.kernels import suite

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda import print_function, read
from ptxkit.decompiler.evaluate import folder_items
from ptxkit.decompiler.learned.forms import rewritten
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.variants import best_form

ROLLED = {
    "rest behind": (
        """extern "C" __global__ void k(const float *a, const float *f, float *o, int h, int w) {
            int i = threadIdx.x; float s = 0;
            for (int y = 0; y < h; ++y) for (int x = 0; x < w; ++x) s += a[y * w + i + x] * f[x];
            o[i] = s; }""",
        2,
    ),
    "rest first": (
        """extern "C" __global__ void k(const int *p, const float *v, float *o) {
            int i = threadIdx.x; float s = 0;
            for (int j = p[i]; j < p[i + 1]; j++) s += v[j] * v[j];
            o[i] = s; }""",
        1,
    ),
}


@pytest.mark.parametrize("name", ROLLED)
def test_unrolled_loops_become_one_again(name: str) -> None:
    source, loops = ROLLED[name]
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90"), Options(roll=True))
    assert text.count("for (") == loops
    assert "while" not in text and "if (" not in text


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("__shared__ float t[32][33]; int x = threadIdx.x, y = threadIdx.y;"
         "t[y][x] = f[y * 32 + x]; __syncthreads(); f[y * 32 + x] = t[x][y];",
         ["t[32][33]", "t[threadIdx.x][threadIdx.y]"]),
        ("__shared__ float t[4]; if (threadIdx.x < 4) t[threadIdx.x] = f[0]; __syncthreads();"
         "f[threadIdx.x] = t[i & 3];", ["t[i & 3]"]),
        ("for (int s = blockDim.x / 2; s != 0; s /= 2) { if (i < s) f[i] += f[i + s];"
         "__syncthreads(); }", ["/= 2", "!= 0; "]),
        ("f[i] = f[i] > 0 ? f[i] : 0;", ["> 0.0f ?"]),
        ("f[i] = __fadd_rn(__fmul_rn(f[i], f[i + 1]), f[i + 2]) + f[7];", ["__fadd_rn("]),
    ],
)  # fmt: skip
def test_what_people_write(source: str, parts: list[str]) -> None:
    kernel = f'extern "C" __global__ void k(float *f, int i) {{ {source} }}'
    text = lifted_text(ptxkit.compile_cuda(kernel, arch="sm_90"), Options(roll=True))
    text = text.replace("n1", "i").replace("(unsigned int)(i & 3)", "i & 3")
    for part in parts:
        assert part in text, text


def test_a_short_division_is_a_division() -> None:
    source = """extern "C" __global__ void k(const unsigned long long *x, unsigned long long *y) {
        int i = threadIdx.x; y[i] = x[i] / x[i + 64]; }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module)
    assert text.count("/") == 1 and "if" not in text
    again = compiled_again(text, "sm_90")
    random = np.random.default_rng(3)
    x = random.integers(1, 1 << 40, 128, dtype=np.uint64)
    x[::3] = random.integers(1, 1 << 20, x[::3].size)
    results = []
    for one in (module, again):
        y = np.zeros(64, np.uint64)
        ptxkit.load(one, device="cpu")["k"][1, 64](x, y)
        results.append(y)
    np.testing.assert_array_equal(results[0], x[:64] // x[64:])
    np.testing.assert_array_equal(*results)


def test_a_variable_that_is_no_array() -> None:
    source = """__device__ int seen; extern "C" __global__ void k() { atomicAdd(&seen, 2); }"""
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90"))
    assert "__device__ int seen;" in text and "atomicAdd(&seen, 2)" in text


@pytest.mark.parametrize(
    "body",
    [
        "int lane = threadIdx.x & 31; int v = i < n ? x[i] : 0;"
        "for (int d = 1; d <= 16; d <<= 1) { int u = __shfl_up_sync(~0u, v, d);"
        " if (lane >= d) v += u; } if (i < n) y[i] = v;",
        "int lo = 0x7fffffff, hi = -lo - 1; for (; i < n; i += gridDim.x * blockDim.x) {"
        " lo = min(lo, x[i]); hi = max(hi, x[i]); } atomicMin(y, lo); atomicMax(y + 1, hi);",
    ],
)
def test_the_form_that_is_the_same_ptx_is_found(body: str) -> None:
    source = f"""extern "C" __global__ void k(const int *x, int *y, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    assert best_form(module, "k", "sm_90")[1].same_ptx


@pytest.mark.parametrize(("arch", "kernel"), [("sm_90", "heat3d"), ("sm_120", "fft_radix2_step")])
def test_every_bit_is_kept_where_a_compiler_may_choose(arch: str, kernel: str) -> None:
    """The order of two not-a-numbers in a sum, and what is left of a division by 0."""
    source = next(one.source for one in suite() if one.name == kernel)
    module = ptxkit.compile_cuda(source, arch=arch)
    verdict = best_form(module, kernel, arch, effort=0)[1]
    assert verdict.equivalent, verdict.reasons


def test_exact_forms_leave_nothing_to_turn_round() -> None:
    source = """extern "C" __global__ void k(const double *x, double *y, const int *n) {
        int i = threadIdx.x, q = i / n[0]; double late = x[i] + x[i + 9];
        y[i] = (x[q] + late) * late - x[i - q * n[0]]; }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module, Options(careful=True, exact=True, math=False))
    assert "__dadd_rn(" in text and "__dmul_rn(" in text and "__dsub_rn(" in text
    assert 'asm("div.s32 ' in text and "%" not in text.rpartition("__global__")[2]
    sums = [_sums(one) for one in (module, compiled_again(text, "sm_90"))]
    assert sums[0] == sums[1] and len(sums[0]) == 4
    assert not any(i.name == "rem" for i in compiled_again(text, "sm_90")["k"].instructions)


def test_no_index_of_a_careful_form_overflows_with_a_sign() -> None:
    source = """extern "C" __global__ void k(int *x, int n) {
        __shared__ int tile[4096];
        tile[threadIdx.x + n * 256] = n; __syncthreads(); x[threadIdx.x] = tile[threadIdx.x]; }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = {careful: lifted_text(module, Options(careful=careful)) for careful in (False, True)}
    assert "(unsigned int)n1 * 256" in text[True]
    assert "unsigned" not in text[False]


def _sums(module: ptxkit.Module) -> list[tuple[str, ...]]:
    """Sums and products with the kinds of their operands, in this order."""
    made: dict[str, str] = {}
    found: list[tuple[str, ...]] = []
    for one in module["k"].instructions:
        if ".f64" in one.modifiers and one.name in ("add", "sub", "mul", "ld"):
            inputs = tuple(made.get(o.text, "?") for o in one.operands[1:])
            made[one.operands[0].text] = one.name
            if one.name != "ld":
                found.append((one.name, *inputs))
    return found


def test_blocks_that_are_required_are_taken() -> None:
    text = ptxkit.compile_cuda(
        'extern "C" __global__ void __launch_bounds__(64) k(int *x) { x[threadIdx.x] += 1; }'
    ).emit()
    module = ptxkit.parse(text.replace(".maxntid 64", ".reqntid 64"))
    assert ".reqntid" in module.emit()
    found = ptxkit.decompile(module, "symbolic")
    assert "__launch_bounds__(64)" in found.cuda
    assert found.verdict.equivalent


def test_a_sample_of_folders(tmp_path: Path) -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n"
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        kernels = "".join(f".visible .entry {folder}{k}() {{ ret; }}\n" for k in range(20))
        (tmp_path / folder / "k.ptx").write_text(text + kernels)
    drawn = [i.name for i in folder_items([tmp_path], "sm_90", sample=10, seed=4)]
    assert drawn == [i.name for i in folder_items([tmp_path], "sm_90", sample=10, seed=4)]
    assert drawn != [i.name for i in folder_items([tmp_path], "sm_90", sample=10, seed=5)]
    assert sum(name.startswith("k:a") for name in drawn) == 5
    assert len(list(folder_items([tmp_path], "sm_90", sample=100))) == 40


def test_conversions_that_are_made_anyway_are_not_written() -> None:
    source = """
extern "C" __global__ void rows(float *out, const float *in, int n, long long stride) {
    for (long long i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * stride + i] = in[i + n * stride];
}
"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), engine="symbolic")
    assert found.verdict.same_ptx
    assert "(long long)" not in found.cuda, found.cuda


def test_parts_of_shared_variables_have_their_names() -> None:
    source = """
extern "C" __global__ void add(int *x, const int *y) {
    __shared__ int one[1];
    if (threadIdx.x == 0) one[0] = y[blockIdx.x];
    __syncthreads();
    x[threadIdx.x] += one[0];
}
"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), engine="symbolic")
    assert "__shared__ int one" in found.cuda, found.cuda


@pytest.mark.parametrize(
    "value, wanted",
    [("(? (< i n) 3 i)", "if (i < n) i = 3;"), ("(? (< i n) i 3)", "if (i >= n) i = 3;")],
)
def test_what_stays_as_it_is_has_no_branch(value: str, wanted: str) -> None:
    kernel = read(f"(kernel k (params (param int n)) (let int i n) (= i {value}) (call f i))")
    assert isinstance(kernel, n.Function)
    text = print_function(rewritten(kernel, lambda question: question.form == "branch"))
    assert wanted in text and "else" not in text


def test_a_long_chain_is_not_one_expression() -> None:
    """Thousands of sums, each of the one before: compilers and people take them one by one."""
    chain = " ".join(f"(let float v{k + 1} (+ (* v{k} a) b))" for k in range(3000))
    kernel = read(
        "(kernel k (params (param (ptr float) x) (param float a) (param float b))"
        f"(let float v0 ([] x 0)) {chain} (= ([] x 0) v3000))"
    )
    assert isinstance(kernel, n.Function)
    made = rewritten(kernel, lambda question: True)
    assert made.body is not None and len(made.body) < 3000
    assert max(sum(1 for _ in s.walk()) for s in made.body) < 100
