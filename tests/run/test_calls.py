"""Calls on the simulator: parameters in registers, tables of functions, recursion, the stack."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.run import CpuModule, SimulationError, UnsupportedError

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def load(functions: str, body: str) -> CpuModule:
    return ptxkit.load(
        HEAD + functions + f"""
.visible .entry k(.param .u64 out)
{{
.reg .b64 %out, %near, %x<8>;
.reg .b32 %t, %w<8>;
.reg .pred %p<4>;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %near, %t, 4;
add.u64 %near, %near, %out;
{body}
st.global.u32 [%near], %w7;
ret;
}}
""", device="cpu",
    )  # fmt: skip


def run(functions: str, body: str, threads: int = 40) -> Any:
    out = np.zeros(threads, np.uint32)
    load(functions, body)["k"][1, threads](out)
    return out


T = np.arange(40)


def test_parameters_and_results_in_registers() -> None:
    out = run(
        """.func (.reg .u32 r, .reg .pred big) weigh(.reg .u32 a, .reg .pred odd)
{
    add.u32 r, a, 1;
    setp.gt.u32 big, a, 20;
    @odd ret;
    add.u32 r, r, 1000;
    ret;
}
""",
        """and.b32 %w0, %t, 1;
setp.ne.u32 %p0, %w0, 0;
call (%w7, %p1), weigh, (%t, %p0);
@%p1 add.u32 %w7, %w7, 5;""",
    )
    assert np.array_equal(out, T + 1 + np.where(T % 2, 0, 1000) + np.where(T > 20, 5, 0))


def test_registers_and_constants_for_parameters_in_memory() -> None:
    out = run(
        """.func (.param .b32 r) mix(.param .b32 a, .param .b64 b)
{
    .reg .b32 %x, %y; .reg .b64 %z;
    ld.param.u32 %x, [a]; ld.param.u64 %z, [b]; cvt.u32.u64 %y, %z;
    mad.lo.u32 %x, %x, 3, %y; st.param.u32 [r], %x; ret;
}
""",
        "call (%w7), mix, (%t, 11);",
    )
    assert np.array_equal(out, 3 * T + 11)


_OPERATIONS = "".join(
    f""".func (.param .b32 r) {name}(.param .b32 a)
{{ .reg .b32 %x; ld.param.u32 %x, [a]; {text}; st.param.u32 [r], %x; ret; }}
"""
    for name, text in (
        ("twice", "add.u32 %x, %x, %x"),
        ("square", "mul.lo.u32 %x, %x, %x"),
        ("flip", "not.b32 %x, %x"),
    )
)
_INDIRECT = """
rem.u32 %w0, %t, 3;
mul.wide.u32 %x0, %w0, 8;
mov.u64 %x1, {table};
add.u64 %x1, %x1, %x0;
ld.{space}.u64 %x2, [%x1];
{{
.param .b32 p, q;
st.param.b32 [p], %t;
proto: .callprototype (.param .b32 _) _ (.param .b32 _);
call (q), %x2, (p), proto;
ld.param.b32 %w7, [q];
}}"""
_EXPECTED = np.select([T % 3 == 0, T % 3 == 1], [2 * T, T * T], ~T & 0xFFFFFFFF)


@pytest.mark.parametrize("space", ["global", "const"])
def test_tables_of_functions(space: str) -> None:
    table = f".{space} .u64 table[3] = {{twice, square, flip}};\n"
    assert np.array_equal(
        run(_OPERATIONS + table, _INDIRECT.format(table="table", space=space)), _EXPECTED
    )


def test_a_table_behind_another_variable() -> None:
    table = (
        ".global .u64 table[3] = {twice, square, flip};\n"
        ".global .u64 start = generic(table);\n"
    )  # fmt: skip
    body = "mov.u64 %x7, start;\nld.global.u64 %x7, [%x7];\n" + _INDIRECT.format(
        table="%x7", space="global"
    )
    assert np.array_equal(run(_OPERATIONS + table, body), _EXPECTED)


def test_the_address_of_a_function_in_a_register() -> None:
    body = """
setp.lt.u32 %p0, %t, 10;
mov.u64 %x2, twice;
@%p0 mov.u64 %x2, flip;
{
.param .b32 p, q;
st.param.b32 [p], %t;
targets: .calltargets twice, flip;
call (q), %x2, (p), targets;
ld.param.b32 %w7, [q];
}"""
    assert np.array_equal(run(_OPERATIONS, body), np.where(T < 10, ~T & 0xFFFFFFFF, 2 * T))


def test_virtual_functions_of_cuda() -> None:
    loaded = ptxkit.load(
        ptxkit.compile_cuda(
            r"""
struct Shape { __device__ virtual int area() const = 0; };
struct Square : Shape { int s; __device__ Square(int s) : s(s) {}
    __device__ __noinline__ int area() const override { return s * s; } };
struct Line : Shape { __device__ __noinline__ int area() const override { return -1; } };
__device__ int apply(int (*f)(int), int x) { return f(x); }
__device__ __noinline__ int half(int x) { return x / 2; }
__device__ __noinline__ int cube(int x) { return x * x * x; }
__device__ int (*const functions[])(int) = {half, cube};
extern "C" __global__ void k(int *out) {
    Square square(threadIdx.x); Line line;
    const Shape *shape = threadIdx.x % 3 ? (const Shape *)&square : (const Shape *)&line;
    out[threadIdx.x] = shape->area() + 1000 * functions[threadIdx.x % 2](threadIdx.x);
}""",
            arch="sm_80",
        )
    )
    out = np.zeros(40, np.int32)
    loaded["k"][1, 40](out)
    area = np.where(T % 3, T * T, -1)
    assert np.array_equal(out, area + 1000 * np.where(T % 2, T**3, T // 2))


def test_a_call_of_nothing() -> None:
    with pytest.raises(SimulationError, match="is no function that the kernel can reach"):
        run(
            _OPERATIONS,
            """mov.u64 %x2, 12345;
{ .param .b32 p, q; st.param.b32 [p], %t;
proto: .callprototype (.param .b32 _) _ (.param .b32 _);
call (q), %x2, (p), proto; ld.param.b32 %w7, [q]; }""",
        )


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(UnsupportedError, match="'outside' has no body here"):
        load(".extern .func outside();\n", "call outside;")["k"]


def test_the_stack_grows_and_shrinks() -> None:
    # Each level takes as many bytes as its depth says, and gives them back when it returns.
    out = run(
        """.func (.param .b32 r) fill(.param .b32 depth)
{
    .reg .b32 %d, %s, %v; .reg .b64 %p, %q; .reg .pred %z;
    ld.param.u32 %d, [depth];
    setp.eq.u32 %z, %d, 0;
    mov.u32 %v, 0;
    @%z bra DONE;
    mul.wide.u32 %q, %d, 4;
    alloca.u64 %p, %q, 16;
    st.local.u32 [%p], %d;
    sub.u32 %s, %d, 1;
    { .param .b32 a, b; st.param.b32 [a], %s; call (b), fill, (a); ld.param.b32 %v, [b]; }
    ld.local.u32 %s, [%p];
    add.u32 %v, %v, %s;
DONE:
    st.param.u32 [r], %v;
    ret;
}
""",
        """rem.u32 %w0, %t, 17;
{ .param .b32 a, b; st.param.b32 [a], %w0; call (b), fill, (a); ld.param.b32 %w7, [b]; }""",
    )
    n = T % 17
    assert np.array_equal(out, n * (n + 1) // 2)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("alloca.u64 %x0, 1000000;", "stack-overflow"),
        ("stackrestore.u64 %near;", "stack"),
        (
            "L: alloca.u64 %x0, 512;\nbra L;",
            "stack-overflow",
        ),
    ],
)
def test_misuse_of_the_stack(body: str, kind: str) -> None:
    with pytest.raises(SimulationError) as caught:
        run("", body)
    assert caught.value.kind == kind


def test_endless_recursion_overflows() -> None:
    functions = """.func deep(.param .b32 a)
{ .local .b8 room[256]; .param .b32 b; st.param.b32 [b], 1; call deep, (b); ret; }
"""
    with pytest.raises(SimulationError) as caught:
        run(functions, "{ .param .b32 b; st.param.b32 [b], 1; call deep, (b); }")
    assert caught.value.kind == "stack-overflow"


_DOWN = """.version 8.0
.target sm_80
.address_size 64
.func (.reg .u32 r) down(.reg .u32 n)
{ .reg .pred %p; setp.eq.u32 %p, n, 0; mov.u32 r, 7; @%p ret; sub.u32 n, n, 1;
call (r), down, (n);
add.u32 r, r, 1; ret; }
.visible .entry k(.param .u64 out, .param .u32 n)
{ .reg .b64 %o; .reg .b32 %n, %r; ld.param.u64 %o, [out]; ld.param.u32 %n, [n];
call (%r), down, (%n); st.global.u32 [%o], %r; ret; }
"""


def test_functions_without_variables_overflow_too() -> None:
    functions = ".func deep()\n{\ncall deep;\nret;\n}\n"
    with pytest.raises(SimulationError) as caught:
        load(functions, "call deep;")["k"][1, 40](np.zeros(40, np.uint32), time_limit=20)
    error = caught.value
    assert (error.kind, error.line, error.thread) == ("stack-overflow", 6, (0, 0, 0))
    said = "stack overflow: the call of 'deep' at depth 1026 needs more than the 16384 bytes that a"
    assert said in str(error)
    assert "hint: end the recursion earlier, or launch with stack_bytes=..." in str(error)


def test_the_stack_can_be_made_larger() -> None:
    kernel = ptxkit.load(_DOWN)["k"]
    out = np.zeros(1, np.uint32)
    kernel[1, 1](out, 5000, stack_bytes=512 * 1024)
    assert out[0] == 5007


def test_deep_calls_take_linear_time() -> None:
    kernel = ptxkit.load(_DOWN)["k"]
    out = np.zeros(1, np.uint32)

    def seconds(depth: int) -> float:
        best = 1e9
        for _ in range(5):
            begin = time.process_time()
            kernel[1, 32](out, depth, threads=1, stack_bytes=512 * 1024)
            best = min(best, time.process_time() - begin)
        return best

    # A launch itself takes some of the time, so that this is more than fair to 16 times the work.
    assert seconds(8000) < 40 * seconds(500)


def test_a_predicate_set_to_minus_one() -> None:
    assert run("", "mov.pred %p0, -1;\nselp.u32 %w7, 3, 4, %p0;")[0] == 3


def test_special_registers_as_operands() -> None:
    body = "cvt.u64.u32 %x0, %laneid;\ncvt.u32.u64 %w0, %x0;\nmad.lo.u32 %w7, %w0, 2, 40;"
    assert np.array_equal(run("", body), 2 * (T % 32) + 40)
