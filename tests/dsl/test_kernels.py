"""Kernels written by hand, run on the simulator against numpy, and assembled by ptxas."""

import re

import numpy as np
import pytest

from ptxkit.dsl import (
    DslError,
    Module,
    addr,
    f32,
    f64,
    kernel,
    ptr,
    ptx,
    reg,
    s32,
    smem,
    sreg,
    u32,
    u64,
)

#: tests/gpu runs these tests on a GPU.
DEVICE = "cpu"


def launch(one, shape, *arguments, **constants) -> None:
    """Run a kernel; arrays of numpy get the results, on a GPU too."""
    if DEVICE == "cpu":
        one.load(DEVICE, **constants)[shape](*arguments)
        return
    import cupy

    placed = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    one.load(DEVICE, **constants)[shape](*placed)
    for array, result in zip(arguments, placed, strict=True):
        if isinstance(array, np.ndarray):
            array[...] = cupy.asnumpy(result)


def index() -> object:
    """The thread's index in the grid."""
    tid, ntid, ctaid = reg.u32(init=sreg.tid.x), reg.u32(init=sreg.ntid.x), reg.u32()
    ctaid.set(sreg.ctaid.x)
    return ctaid * ntid + tid


def at(base, i, size=4):
    """The address of an element."""
    return addr(base + i.to("u64") * size)


@kernel(target="sm_80")
def saxpy(x: ptr[f32], y: ptr[f32], a: f32, n: u32):
    i = index()
    with ptx.if_(i < n):
        left, right = reg.f32(), reg.f32()
        ptx.ld.global_.f32(left, at(x, i))
        ptx.ld.global_.f32(right, at(y, i))
        ptx.st.global_.f32(at(y, i), left * a + right)
    ptx.ret()


def test_saxpy():
    n = 1000
    x = np.arange(n, dtype=np.float32)
    y = np.ones(n, dtype=np.float32)
    expected = x * np.float32(2.5) + y
    launch(saxpy, (8, 128), x, y, np.float32(2.5), n)
    np.testing.assert_array_equal(y, expected)
    assert saxpy.check() == []


@kernel(target="sm_80")
def collatz(x: ptr[u32], n: u32):
    i = index()
    with ptx.if_(i < n):
        value = reg.u32()
        ptx.ld.global_.u32(value, at(x, i))
        steps = reg.u32(init=0)
        with ptx.while_(lambda: value != 1):
            odd = (value & 1) != 0
            with ptx.if_(odd):
                value *= 3
                value += 1
            with ptx.else_():
                value >>= 1
            steps += 1
        ptx.st.global_.u32(at(x, i), steps)
    ptx.ret()


def test_while_and_else():
    def steps(value: int) -> int:
        count = 0
        while value != 1:
            value, count = (3 * value + 1 if value & 1 else value >> 1), count + 1
        return count

    x = np.arange(1, 101, dtype=np.uint32)
    expected = [steps(int(value)) for value in x]
    launch(collatz, (1, 128), x, 100)
    assert x.tolist() == expected
    assert collatz.check() == []


@kernel(target="sm_80")
def from_the_middle(out: ptr[s32], n: s32):
    total, rounds = reg.s32(init=0), reg.s32(init=0)
    with ptx.loop(inside=True) as loop:
        total += 100
        loop.start_here()
        total += 1
        rounds += 1
        ptx.break_(when=rounds == n)
    ptx.st.global_.s32(addr(out), total)
    ptx.ret()


def test_a_loop_that_begins_in_its_middle():
    out = np.zeros(1, dtype=np.int32)
    launch(from_the_middle, (1, 1), out, 3)
    assert out[0] == 203
    assert from_the_middle.check() == []


def test_registers_in_another_order():
    module = Module(version="8.0", target="sm_80", style="nvcc")

    @module.kernel(registers=("%r<9> 7 1-3 5",))
    def ordered():
        for _ in range(6):
            ptx.mov.u32.new(1)

    numbers = re.findall(r"%r(\d+),", module.ptx())
    assert numbers == ["7", "1", "2", "3", "5", "6"]


@kernel(target="sm_80")
def loops(out: ptr[s32], n: s32):
    total = reg.s32(init=0)
    for i in ptx.range(n):
        for j in ptx.range(10, 0, -3, unroll=False):
            ptx.continue_(when=j == i)
            ptx.break_(when=i > 20)
            total += i * j
    with ptx.do_while(lambda: total > 1000):
        total -= 7
    with ptx.loop():
        total += 1
        ptx.break_(when=(total & 7) == 0)
    ptx.st.global_.s32(addr(out), total)
    ptx.ret()


def test_loops():
    total = 0
    for i in range(30):
        for j in range(10, 0, -3):
            if j == i:
                continue
            if i > 20:
                break
            total += i * j
    while True:
        total -= 7
        if not total > 1000:
            break
    while True:
        total += 1
        if total & 7 == 0:
            break
    out = np.zeros(1, dtype=np.int32)
    launch(loops, (1, 1), out, 30)
    assert out[0] == total
    assert loops.check() == []


RANGES = {
    "up to the end": ("u32", 0xFFFFFFF0, 0xFFFFFFFF, 4),
    "down past zero": ("u32", 10, 0, -3),
    "down to the end": ("s32", -(2**31) + 9, -(2**31), -4),
    "up in 64 bits": ("s64", 2**63 - 20, 2**63 - 1, 7),
    "not at all": ("u32", 5, 5, 2),
    "as far as it goes": ("s32", 0, 10, 3),
}


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", RANGES)
def test_ranges_end_where_the_type_does(name, known):
    type, start, stop, step = RANGES[name]
    from ptxkit.dsl import types

    kind = getattr(types, type)

    @kernel(target="sm_80")
    def count(out: ptr[u32], begin: kind, end: kind):
        rounds = reg.u32(init=0)
        bounds = (start, stop) if known else (begin, end)
        for _ in ptx.range(*bounds, step, type=type):
            rounds += 1
            ptx.break_(when=rounds > 50)
        ptx.st.global_.u32(addr(out), rounds)
        ptx.ret()

    out = np.zeros(1, np.uint32)
    launch(count, (1, 1), out, start, stop)
    assert out[0] == len(range(start, stop, step))
    assert count.check() == []


def test_labels_belong_to_blocks():
    @kernel(target="sm_80")
    def twice(out: ptr[u32]):
        for _ in range(2):
            with ptx.block():
                ptx.bra("here")
                ptx.label("here")
        ptx.ret()

    assert twice.ptx().count("here:") == 2
    assert twice.check() == []
    assert twice.resources().registers > 0


@kernel(target="sm_80")
def choose(x: ptr[u32]):
    tid = reg.u32(init=sreg.tid.x)
    result = reg.u32()
    with ptx.switch(tid) as choice:
        with choice.case(0, 3):
            result.set(100)
        with choice.case(5):
            result.set(200)
        with choice.default():
            result.set(tid)
    ptx.st.global_.u32(at(x, tid), result)
    ptx.ret()


def test_switch():
    x = np.zeros(8, dtype=np.uint32)
    launch(choose, (1, 8), x)
    assert x.tolist() == [100, 1, 2, 100, 4, 200, 6, 7]
    assert choose.check() == []


@kernel(target="sm_80", maxntid=(64, 1, 1))
def block_sum(x: ptr[f32], out: ptr[f32], *, width: int = 64):
    partial = smem.align(16).f32[width]
    tid = reg.u32(init=sreg.tid.x)
    mine = reg.f32()
    ptx.ld.global_.f32(mine, at(x, tid))
    place = reg.u32(init=partial) + tid * 4
    ptx.st.shared.f32(addr(place), mine)
    ptx.bar.sync(0)
    stride = width // 2
    while stride:  # known while tracing: the loop unrolls
        with ptx.if_(tid < stride):
            left, right = reg.f32[2]
            ptx.ld.shared.f32(left, addr(place))
            ptx.ld.shared.f32(right, addr(place, 4 * stride))
            ptx.st.shared.f32(addr(place), left + right)
        ptx.bar.sync(0)
        stride //= 2
    with ptx.if_(tid == 0):
        ptx.ld.shared.f32(mine, addr(place))
        ptx.st.global_.f32(addr(out), mine)
    ptx.ret()


@pytest.mark.parametrize("threads", [32, 64])
def test_shared_memory_and_compile_time_parameters(threads):
    x = np.arange(threads, dtype=np.float32)
    out = np.zeros(1, dtype=np.float32)
    launch(block_sum, (1, threads), x, out, width=threads)
    assert out[0] == x.sum()
    assert block_sum.module(width=threads) is block_sum.module(width=threads)
    assert block_sum.check(width=threads) == []


def test_device_functions_and_several_kernels():
    module = Module(version="8.0", target="sm_80")
    table = module.const.align(4).u32("table[4]", init=[1, 10, 100, 1000])

    @module.func
    def scaled(x: f64, by: u32) -> f64:
        return x * by.to("f64", "rn")

    @module.func
    def split(x: u32) -> (u32, u32):
        return x & 15, x >> 4

    @module.kernel
    def first(x: ptr[f64]):
        tid = reg.u32(init=sreg.tid.x)
        by = reg.u32()
        ptx.ld.const.u32(by, addr(reg.u64(init=table) + tid.to("u64") * 4))
        value = reg.f64()
        ptx.ld.global_.f64(value, at(x, tid, 8))
        ptx.st.global_.f64(at(x, tid, 8), scaled(value, by))
        ptx.ret()

    @module.kernel
    def second(x: ptr[u32]):
        low, high = split(0x57)
        ptx.st.global_.v2.u32(addr(x), [low, high])
        ptx.ret()

    import ptxkit

    parsed = module.parse()
    assert ptxkit.check(parsed) == []
    ptxkit.assemble(parsed, arch="sm_80")
    loaded = ptxkit.load(parsed, DEVICE)

    class Loaded:
        def __init__(self, name):
            self.load = lambda device: loaded[name]

    x = np.array([1.5, 2.5, 3.5, 4.5])
    launch(Loaded("first"), (1, 4), x)
    assert x.tolist() == [1.5, 25.0, 350.0, 4500.0]
    y = np.zeros(2, dtype=np.uint32)
    launch(Loaded("second"), (1, 1), y)
    assert y.tolist() == [7, 5]


@kernel(target="sm_80")
def conversions(x: ptr[f32], out: ptr[u64]):
    value = reg.f32()
    ptx.ld.global_.f32(value, addr(x))
    wide = value.to("f64")
    truncated = value.to("s32")
    rounded = value.to("u32", "rni.sat")
    bits = value.to("b32").to("u32")
    is_large = (value > 1.0).to("u32")
    ptx.st.global_.u64(addr(out), wide.to("b64"))
    ptx.st.global_.u64(addr(out, 8), truncated.to("s64").to("u64"))
    ptx.st.global_.u64(addr(out, 16), rounded.to("u64"))
    ptx.st.global_.u64(addr(out, 24), bits.to("u64"))
    ptx.st.global_.u64(addr(out, 32), is_large.to("u64"))
    ptx.ret()


def test_conversions():
    x = np.array([2.75], dtype=np.float32)
    out = np.zeros(5, dtype=np.uint64)
    launch(conversions, (1, 1), x, out)
    expected = [int(np.float64(2.75).view(np.uint64)), 2, 3, int(x.view(np.uint32)[0]), 1]
    assert out.tolist() == expected
    assert conversions.check() == []


KERNELS = [saxpy, collatz, loops, choose, block_sum, conversions]


@pytest.mark.parametrize("one", KERNELS, ids=lambda one: one.name)
def test_ptxas_takes_them(one):
    assert one.resources().registers > 0


OPERATORS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "reversed subtract": lambda a, b: 7 - a + 0 * b,
    "negate": lambda a, b: -a + b,
    "absolute": lambda a, b: abs(a - b),
}
INTEGER_OPERATORS = {
    **{name: made for name, made in OPERATORS.items() if name != "divide"},
    "floor divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | 12,
    "exclusive or": lambda a, b: 5 ^ a ^ b,
    "shift": lambda a, b: (a << 3) >> 1,
    "not": lambda a, b: ~a,
}
TYPES = {
    "f32": (np.float32, OPERATORS),
    "f64": (np.float64, OPERATORS),
    "s32": (np.int32, INTEGER_OPERATORS),
    "u32": (np.uint32, INTEGER_OPERATORS),
    "s64": (np.int64, INTEGER_OPERATORS),
}


@pytest.mark.parametrize(
    ("type", "name"), [(type, name) for type in TYPES for name in TYPES[type][1]]
)
def test_operators(type, name):
    dtype, operators = TYPES[type]
    make = operators[name]
    from ptxkit.dsl import types

    kind = getattr(types, type)

    @kernel(target="sm_80")
    def one(x: ptr, a: kind, b: kind):
        getattr(ptx.st.global_, type)(addr(x), make(a, b))
        ptx.ret()

    out = np.zeros(1, dtype=dtype)
    a, b = dtype(21), dtype(4)
    launch(one, (1, 1), out, a, b)
    with np.errstate(over="ignore"):
        expected = np.asarray(make(a, b)).astype(dtype)
    assert out[0] == expected
    assert one.check() == []


@kernel(target="sm_80")
def results(x: ptr[u32]):
    first, second = ptx.ld.global_.v2.u32.new(addr(x))
    byte = ptx.ld.global_.u8.new(addr(x, 8))
    smaller = ptx.setp.lt.u32.new(first, second)
    least = ptx.selp.u32.new(first, second, smaller)
    ptx.st.global_.u32(addr(x), least + byte)
    ptx.ret()


def test_results_in_new_registers():
    x = np.array([7, 5, 0x1234], dtype=np.uint32)
    launch(results, (1, 1), x)
    assert x[0] == 5 + 0x34
    assert results.check() == []


def test_no_register_for_the_result():
    @kernel
    def wrong():
        ptx.bar.sync.new(0)

    with pytest.raises(DslError, match="does not say what register its result needs"):
        wrong.ptx()


def test_halves_are_passed_by_value() -> None:
    from ptxkit.dsl import f16

    @kernel(target="sm_80")
    def keep(a: f16, p: ptr[f16]) -> None:
        ptx.st.global_.b16(addr(p), a)
        ptx.ret()

    x = np.zeros(1, np.float16)
    keep[1, 1](np.float16(1.5), x, device="cpu")
    assert x[0] == 1.5
