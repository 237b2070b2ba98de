"""Functions of one file that are compiled with options of their own."""

from dataclasses import replace

import pytest

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda import print_module, read
from ptxkit.cuda.writer import write
from ptxkit.decompiler.choose import _replaced, proved_alone
from ptxkit.decompiler.verify import Verdict, compiled, verify
from ptxkit.decompiler.verify.asked import AS_WRITTEN, NotOneModuleError, put_together

ONE = """
extern "C" __global__ void first(float *x, int n) {
    for (int i = threadIdx.x; i < n; i += 32) x[i] *= 2.0f;
}
"""
TWO = ONE.replace("first", "second").replace("*= 2", "+= 3")
ASKS = f"// compile this function with: {AS_WRITTEN}"


def test_each_function_is_compiled_as_it_asks() -> None:
    text = ONE + ASKS + TWO
    made = compiled(text)
    plain = ptxkit.compile_cuda(ONE + TWO, arch="sm_90")
    written = ptxkit.compile_cuda(ONE + TWO, arch="sm_90", options=(AS_WRITTEN,))
    assert plain["second"].text != written["second"].text
    assert made.module is not None
    assert made.module["first"].text == plain["first"].text
    assert made.module["second"].text == written["second"].text
    assert (made.asked("first"), made.asked("second")) == ((), (AS_WRITTEN,))
    found = verify(made.module, text)
    assert found.same_ptx
    assert found.options == ()
    assert found.parts["second"].badge == f"[E1 identical PTX with {AS_WRITTEN}]"
    assert found.to_dict()["kernels"]["second"]["options"] == [AS_WRITTEN]
    assert not verify(made.module, ONE + TWO, "second", execute=False).same_ptx


def test_what_two_functions_share_must_be_the_same() -> None:
    """A function that both call is one function of the module."""
    shared = "__device__ __noinline__ float f(float *x, int n) { float s = 0.0f; %s return s; }"
    shared %= "for (int i = 0; i < n; i++) s += x[i] * i;"
    kernels = [
        f'\nextern "C" __global__ void {k}(float *x, int n) {{ *x = f(x, n); }}\n' for k in "ab"
    ]
    plain = ptxkit.compile_cuda(shared + "".join(kernels), arch="sm_90")
    written = ptxkit.compile_cuda(shared + "".join(kernels), arch="sm_90", options=(AS_WRITTEN,))
    with pytest.raises(NotOneModuleError, match="which is another one then"):
        put_together(plain, {"b": written})
    made = compiled(shared + kernels[0] + ASKS + kernels[1])
    assert made.module is None
    assert "cannot be compiled as it asks" in made.error


def test_a_function_put_into_a_file_keeps_its_options() -> None:
    file = read("(module (kernel a (params)) (kernel b (params) (return)))")
    alone = read('(module (option "-Ofc=mid") (kernel b (params)))')
    assert isinstance(file, n.CudaModule)
    assert isinstance(alone, n.CudaModule)
    made = _replaced(file, alone, "b")
    assert [one.options for one in made.kernels] == [(), (AS_WRITTEN,)]
    assert f"\n{ASKS}\n__global__ void b() {{" in print_module(made)
    assert read(write(made)) == made
    asked = replace(file, options=(AS_WRITTEN,))
    assert [one.options for one in _replaced(asked, alone, "b").kernels] == [(), ()]


def test_what_is_proved_alone_is_said() -> None:
    proved = Verdict(True, same_dataflow=True)
    assert proved_alone(Verdict.of({"a": proved, "b": Verdict(True)}), {"a": proved, "b": proved})
    assert not proved_alone(Verdict.of({"a": proved, "b": proved}), {"a": proved, "b": proved})
