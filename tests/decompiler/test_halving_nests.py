"""Loops over halves of a number that only the device knows, written out for each of its bits."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda import read
from ptxkit.decompiler import variants
from ptxkit.decompiler.budget import UNLIMITED
from ptxkit.decompiler.engines import SymbolicEngine
from ptxkit.decompiler.lift.halving_nests import with_halving_loops
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.verify.certificates import Compiled
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.decompiler.verify.trials import Experience

SUM = """extern "C" __global__ void k(const float *x, float *o) {
    float v = x[threadIdx.x];
    #pragma unroll
    for (int d = warpSize / 2; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x == 0) *o = v;
}"""
BLOCK = """extern "C" __global__ void k(const float *x, float *o) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    #pragma unroll
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) *o = s[0];
}"""
#: What a turn hands on is in another variable in every second copy.
WEIGHTED = """extern "C" __global__ void k(const float *x, float *o, int n) {
    float m = 0;
    int c = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) { c++; m += (x[i] - m) / c; }
    if (o[1] > 0.0f) {
        #pragma unroll
        for (int d = warpSize / 2; d > 0; d >>= 1) {
            float other = __shfl_down_sync(0xffffffff, m, d);
            int more = __shfl_down_sync(0xffffffff, c, d);
            m = (other * more + m * c) * (1.0f / max(1, c + more));
            c += more;
        }
    }
    if (threadIdx.x == 0) *o = m * c;
}"""


@pytest.mark.parametrize("source", [SUM, BLOCK, WEIGHTED])
def test_a_nest_is_a_loop(source: str) -> None:
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90"), Options(roll=True))
    for part in ("__shfl_down_sync(", "__syncthreads("):
        assert text.count(part) == source.count(part)
    assert "#pragma unroll\n" in text


@pytest.mark.parametrize("source", [SUM, BLOCK])
def test_it_is_the_same_ptx(source: str) -> None:
    module = ptxkit.compile_cuda(source, arch="sm_90")
    again = compiled_again(lifted_text(module, Options(roll=True)), "sm_90")
    assert same_ptx(module, again, "k")


@pytest.mark.parametrize(
    ("change", "loop"),
    [
        (("", ""), True),
        # One copy does something else; one asks for another number; one has another variable.
        (("(+ v (call f v (>> n 3)))", "(- v (call f v (>> n 3)))"), False),
        (("(+ v (call f v (>> n 3)))", "(+ v (call f v (>> n 2)))"), False),
        (("(!= (>> n 4) 0)", "(!= (>> n 5) 0)"), False),
        (("(= v (+ v (call f v (>> n 3))))", "(= w (+ v (call f v (>> n 3))))"), False),
        (("(= v (+ v (call f v (>> n 3))))", "(= v (+ v (call f w (>> n 3))))"), False),
    ],
)
def test_copies_are_the_same(change: tuple[str, str], loop: bool) -> None:
    nest = ""
    for k in range(6, 0, -1):
        nest = f"(if (!= (>> n {k}) 0) (then (= v (+ v (call f v (>> n {k})))) {nest}))"
    nest = nest.replace(*change)
    statement = read(nest)
    assert isinstance(statement, n.If)
    made = with_halving_loops((statement,), {}, lambda wish: wish)
    assert isinstance(made[0], n.For) == loop


@pytest.mark.parametrize(("partner", "near"), [("k", True), ("other", False)])
def test_what_is_as_long_as_a_long_function_is_proved_in_pieces_first(
    monkeypatch: pytest.MonkeyPatch, partner: str, near: bool
) -> None:
    monkeypatch.setattr(variants, "_HARD_TO_RUN", 0)
    other = SUM.replace(" k(", " other(").replace("*o = v", "*o = v * x[1]")
    module = ptxkit.compile_cuda(SUM + other, arch="sm_90")
    form = next(SymbolicEngine().forms(module, module["k"]))
    tried = variants._Tried(form, Compiled(module), partner)
    some = variants._Proving(module, "k", "sm_90", False, Experience(), UNLIMITED, [tried],
                             iter(()), iter(()))  # fmt: skip
    order = [(one.thorough, only_proof) for one, only_proof in some._in_order()]
    assert order[1] == ((True, True) if near else (False, False))
