"""What is handed to the driver. Run by tests/run/test_fake_driver.py in a process of its own,
where the library that the system finds as the CUDA driver is the one of this folder."""

from __future__ import annotations

import ctypes
import gc
import struct
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.run import LaunchError
from ptxkit.run.cuda import CudaError, CudaModule

TEXT = """.version 8.0
.target sm_90
.address_size 64
.visible .entry increment(.param .u64 x, .param .u64 y) { ret; }
.visible .entry two(.param .u64 x, .param .u64 y) { ret; }
.visible .entry mixed(.param .u64 x, .param .f32 a, .param .s32 n, .param .f64 d, .param .u8 c,
                      .param .align 4 .b8 s[12], .param .b32 bits) { ret; }
.visible .entry clustered(.param .u64 x) .explicitcluster { ret; }
.visible .entry empty() { ret; }
.visible .entry many(.param .align 8 .b8 big[4000]) { ret; }
"""
FAKE = ctypes.CDLL("libcuda.so.1")
FAKE.fake_last.restype = ctypes.c_char_p
STRUCT = np.zeros((), np.dtype([("p", "3f4")]))


@pytest.fixture(autouse=True)
def calm() -> Iterator[None]:
    FAKE.fake_fail(0)
    FAKE.fake_refuse_ptx(0)
    sizes()
    yield
    FAKE.fake_fail(0)
    FAKE.fake_refuse_ptx(0)
    CudaModule(ptxkit.parse(TEXT)).synchronize()


@pytest.fixture
def loaded() -> CudaModule:
    return ptxkit.load(TEXT, device="cuda")


def sizes(*numbers: int) -> None:
    FAKE.fake_sizes((ctypes.c_uint * len(numbers))(*numbers), len(numbers))


def last() -> str:
    return str(FAKE.fake_last().decode())


def last_words() -> list[bytes]:
    return [bytes.fromhex(word) for word in last().split(" device ")[1].split(" ")[1:]]


class Interface:
    """An array of a library that is not known by name. The driver here reads the device from
    the address: bit 60."""

    def __init__(self, address: int, strides: Any = None, stream: int | None = None) -> None:
        self.__cuda_array_interface__ = {
            "shape": (4, 2), "typestr": "<f4", "data": (address, False), "version": 3,
            "strides": strides, "stream": stream,
        }  # fmt: skip


def test_every_kind_of_argument_reaches_its_place(loaded: CudaModule) -> None:
    sizes(8, 4, 4, 8, 1, 12, 4)
    launcher = loaded["mixed"][(3, 2), (8, 4), 16, 77]
    launcher(0x1234, 2.5, -3, 1, 200, bytes(range(12)), 0xFFFFFFFF)
    assert last().startswith("plain mixed grid 3,2,1 block 8,4,1 shared 16 stream 77 device 0 ")
    expected = [
        (0x1234).to_bytes(8, "little"), struct.pack("<f", 2.5), struct.pack("<i", -3),
        struct.pack("<d", 1.0), b"\xc8", bytes(range(12)), b"\xff\xff\xff\xff",
    ]  # fmt: skip
    assert last_words() == expected


class Body(ctypes.Structure):
    _fields_ = (("position", ctypes.c_float * 2), ("kind", ctypes.c_int))


@pytest.mark.parametrize(
    ("position", "value", "data"),
    [
        (0, None, bytes(8)),
        (0, np.uint64(5), struct.pack("<Q", 5)),
        (0, ctypes.c_void_p(9), struct.pack("<Q", 9)),
        (1, np.float32(1.5), struct.pack("<f", 1.5)),
        (1, np.float64(1.5), struct.pack("<f", 1.5)),
        (1, 3, struct.pack("<f", 3)),
        (1, float("inf"), struct.pack("<f", float("inf"))),
        (1, ctypes.c_float(0.5), struct.pack("<f", 0.5)),
        (2, np.int16(-2), struct.pack("<i", -2)),
        (2, True, struct.pack("<i", 1)),
        (2, 2**32 - 1, b"\xff\xff\xff\xff"),
        (5, Body((1, 2), 3), struct.pack("<ffi", 1, 2, 3)),
        (5, STRUCT, bytes(12)),
        (5, STRUCT[()], bytes(12)),
        (5, bytearray(12), bytes(12)),
        (5, bytes(range(12)), bytes(range(12))),
        (6, 1.0, struct.pack("<f", 1.0)),
    ],
)
def test_values(loaded: CudaModule, position: int, value: Any, data: bytes) -> None:
    sizes(8, 4, 4, 8, 1, 12, 4)
    arguments: list[Any] = [0, 0.0, 0, 0.0, 0, bytes(12), 0]
    arguments[position] = value
    for _ in range(2):  # the first launch prepares, the second takes the short way
        loaded["mixed"][1, 32](*arguments)
        assert last_words()[position] == data


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (0, 1.5, "argument 'x' of 'mixed' is .u64; a float cannot"),
        (0, "text", "a str cannot be passed"),
        (0, np.zeros((4, 4))[:, 1], "not contiguous; pass numpy.ascontiguousarray"),
        (0, Interface(64, strides=(4, 16)), "not contiguous; pass a contiguous copy, or its addr"),
        (1, 1e300, "is .f32; 1e.300 does not fit"),
        (1, np.zeros(4), "not a pointer; an array cannot"),
        (2, 2**32, "does not fit"),
        (2, -(2**31) - 1, "does not fit"),
        (2, 2**70, "does not fit"),
        (2, 1.0, "a float cannot be passed"),
        (3, np.zeros(4), "is .f64, not a pointer"),
        (4, 256, "does not fit"),
        (5, bytes(11), "a struct of 12 bytes, not 11"),
        (5, 7, "a struct of 12 bytes; pass bytes"),
    ],
)
def test_refused_values(loaded: CudaModule, position: int, value: Any, message: str) -> None:
    arguments: list[Any] = [0, 0.0, 0, 0.0, 0, bytes(12), 0]
    arguments[position] = value
    before = FAKE.fake_launches()
    with pytest.raises(LaunchError, match=message):
        loaded["mixed"][1, 32](*arguments)
    assert FAKE.fake_launches() == before


def test_count_and_keywords(loaded: CudaModule) -> None:
    with pytest.raises(LaunchError, match=r"takes 2 arguments, not 1; there should be: x \(.u64\)"):
        loaded["two"][1, 32](0)
    with pytest.raises(LaunchError, match="count= is for the simulator"):
        loaded["empty"][1, 32](count=True)
    loaded["empty"][1, 32]()


def test_numpy_arrays_are_copied_there_and_back(loaded: CudaModule) -> None:
    sizes(8, 8)
    x, other = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    loaded["increment"][1, 32](x, other)
    assert x.tolist() == [1, 2, 3, 4] and other.tolist() == [0] * 4
    constant = np.zeros(4, np.int32)
    constant.flags.writeable = False
    loaded["increment"][1, 32](constant, other)
    assert constant.tolist() == [0] * 4


def test_arrays_that_share_memory_share_it_on_the_gpu(loaded: CudaModule) -> None:
    sizes(8, 8)
    whole = np.zeros(8, np.int32)
    loaded["increment"][1, 32](whole[2:6], whole)
    first, second = (int.from_bytes(word, "little") for word in last_words())
    assert first - second == 8
    assert whole.tolist() == [0, 0, 1, 1, 1, 1, 0, 0]
    loaded["increment"][1, 32](whole[:4], whole[4:])  # neighbours share nothing
    assert whole.tolist() == [1, 1, 2, 2, 1, 1, 0, 0]
    loaded["increment"][1, 32](whole[2:6], np.zeros(0, np.int32))


def test_options_become_attributes(loaded: CudaModule) -> None:
    sizes()
    launcher = loaded["two"][4, 32]
    sizes(8, 8)
    launcher.with_options(cluster=(2, 1, 1), cooperative=True)(1, 2)
    assert last().startswith("with 4=2,1,1 2=1,0,0 two grid 4,1,1")
    with pytest.raises(LaunchError, match="not made of whole clusters"):
        loaded["two"][3, 32].with_options(cluster=2)
    with pytest.raises(LaunchError, match=r"k\[1, 32\].with_options\(cluster="):
        loaded["clustered"][1, 32](1)
    loaded["two"][16, 32].with_options(cluster=16)(1, 2)


def test_limits_of_the_gpu(loaded: CudaModule) -> None:
    with pytest.raises(LaunchError, match=r"40 registers a thread, so .* 512 threads at most"):
        loaded["two"][1, 1024](1, 2)
    with pytest.raises(LaunchError, match="needs all 9 blocks running at once; this GPU holds 8"):
        loaded["two"][9, 32].with_options(cooperative=True)(1, 2)
    with pytest.raises(LaunchError, match=r"233024 bytes .*1024 of its own.* this GPU has 232448"):
        loaded["two"][1, 32, 232_000](1, 2)
    sizes()
    loaded["two"][1, 32, 100_000].prepare(0)
    assert last() == "attribute 8 of two = 100000"


class Holder:
    def __init__(self, **names: Any) -> None:
        self.__dict__.update(names)


@pytest.mark.parametrize(
    "stream",
    [
        77, Holder(cuda_stream=77), Holder(ptr=77), Holder(handle=77),
        Holder(handle=ctypes.c_void_p(77)), Holder(__cuda_stream__=lambda: (0, 77)),
        Holder(__cuda_stream__=(0, 77)),
    ],
)  # fmt: skip
def test_streams(loaded: CudaModule, stream: Any) -> None:
    sizes(8, 8)
    for _ in range(2):
        loaded["increment"][1, 32, 0, stream](np.zeros(4, np.int32), 2)
        assert "stream 77" in last()


def test_what_is_no_stream(loaded: CudaModule) -> None:
    with pytest.raises(LaunchError, match="a list is none"):
        loaded["two"][1, 32, 0, []]


def test_launchers_are_kept(loaded: CudaModule) -> None:
    kernel = loaded["two"]
    assert kernel[4, 256] is kernel[4, 256]
    assert kernel[[4], 256] is not kernel[[4], 256]  # a list has no hash; it works as well
    for grid in range(1, 600):
        assert kernel[grid, 32].shape.grid == (grid, 1, 1)
    with pytest.raises(LaunchError, match="positive"):
        kernel[0, 32]


def test_nothing_keeps_a_module_alive() -> None:
    module = ptxkit.load(TEXT, device="cuda")
    module["empty"][1, 32]()
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None


def test_a_failed_launch_names_kernel_shape_and_arguments(loaded: CudaModule) -> None:
    FAKE.fake_fail(1)
    with pytest.raises(CudaError) as caught:
        loaded["mixed"][2, (8, 4), 64](0x10, 2.5, -3, 1, 200, bytes(12), 7)
    expected = "'mixed'[2, (8, 4), 64](x=16, a=2.5, n=-3, d=1, c=200, s=b'"
    assert str(caught.value).startswith(expected)
    assert caught.value.status == "CUDA_ERROR_INVALID_VALUE"
    assert "launched before" not in str(caught.value)


def test_a_fault_lists_the_launches_that_were_pending(loaded: CudaModule) -> None:
    x = Interface(0x7F0000001000)
    for number in range(12):
        loaded["mixed"][number + 1, 32](x, 0.5, -1, 2.0, 1, bytes(12), 3)
    FAKE.fake_fail(700)
    with pytest.raises(CudaError) as caught:
        loaded.synchronize()
    text = str(caught.value)
    assert "waiting for the GPU failed: CUDA_ERROR_ILLEGAL_ADDRESS" in text
    assert "  ... 4 earlier ones\n  'mixed'[5, 32]" in text
    line = "'mixed'[12, 32](x=0x7f0000001000, a=0.5, n=-1, d=2.0, c=1, s=<12 bytes>, bits=3)"
    assert line in text and "CUDA_LAUNCH_BLOCKING" in text
    with pytest.raises(CudaError, match=r"'empty'\[1, 32\]\(\) failed(.|\n)*launched before"):
        loaded["empty"][1, 32]()
    FAKE.fake_fail(0)
    loaded.synchronize()
    FAKE.fake_fail(700)
    with pytest.raises(CudaError, match="no launch of ptxkit was pending"):
        loaded.synchronize()


def test_a_fault_while_numpy_arrays_are_out(loaded: CudaModule) -> None:
    launcher = loaded["two"][1, 32]
    launcher(1, 2)
    FAKE.fake_fail(716)
    with pytest.raises(CudaError, match=r"'two'\[1, 32\]\(x=int32\[4\], y=2\) failed"):
        launcher(np.zeros(4, np.int32), 2)


def test_two_gpus() -> None:
    FAKE.fake_devices(2)
    from ptxkit.run import cuda_driver

    cuda_driver.device_count.cache_clear()
    try:
        sizes(8, 8)
        loaded = ptxkit.load(TEXT, device="cuda")
        here, there = Interface(0x1000), Interface(1 << 60)
        loaded["two"][1, 32](there, 0)
        assert "device 1" in last()
        loaded["two"][1, 32](here, 0)
        assert "device 0" in last()
        with pytest.raises(LaunchError, match="'y' of 'two' lies on GPU 1, and the launch"):
            loaded["two"][1, 32](here, there)
        context = ctypes.c_void_p()
        FAKE.cuCtxGetCurrent(ctypes.byref(context))
        second = ptxkit.load(TEXT, device="cuda:1")
        for _ in range(2):
            second["two"][1, 32](0, 0)
            assert "device 1" in last()
        after = ctypes.c_void_p()
        FAKE.cuCtxGetCurrent(ctypes.byref(after))
        assert context.value == after.value
        with pytest.raises(CudaError, match="there is no GPU 2; there are 2"):
            ptxkit.load(TEXT, device="cuda:2")
    finally:
        FAKE.fake_devices(1)
        cuda_driver.device_count.cache_clear()


def test_auto_takes_the_gpu() -> None:
    assert isinstance(ptxkit.load(TEXT, device="auto"), CudaModule)


def test_ptx_that_is_too_new_for_the_driver_is_assembled() -> None:
    FAKE.fake_refuse_ptx(1)
    assert ptxkit.load(TEXT, device="cuda")["empty"][1, 32]() is None
    with pytest.raises(CudaError) as caught:
        ptxkit.load(TEXT.replace(".version 8.0", ".version 99.9"), device="cuda")
    assert "is PTX 99.9, and the driver (CUDA 13.0) takes PTX up to 9.0; update" in str(
        caught.value
    )


def test_mistakes_in_ptx_that_is_too_new_are_mistakes() -> None:
    FAKE.fake_refuse_ptx(1)
    with pytest.raises(ptxkit.ToolchainError, match="explicitcluster"):
        ptxkit.load(TEXT.replace("sm_90", "sm_80"), device="cuda")


def test_what_the_driver_does_not_compile_is_shown_at_its_place() -> None:
    text = TEXT.replace("increment(.param .u64 x, .param .u64 y) { ret; }", "k() { broken_here; }")
    with pytest.raises(ptxkit.ToolchainError) as caught:
        ptxkit.load(ptxkit.parse(text, recover=True), device="cuda")
    assert caught.value.diagnostics[0].line == 4
    assert "broken_here" in str(caught.value) and "^" in str(caught.value)


def test_threads_launch_at_once(loaded: CudaModule) -> None:
    sizes()
    launcher = loaded["mixed"][1, 32]
    launcher(0, 0.0, 0, 0.0, 0, bytes(12), 0)
    before = FAKE.fake_launches()

    def work() -> None:
        for n in range(2000):
            launcher(n, 0.5, n, 1.0, n % 256, bytes(12), n)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert FAKE.fake_launches() - before > 7000  # the fake counts without a lock


def test_time_is_the_median_of_the_events(loaded: CudaModule) -> None:
    assert loaded["two"].time(1, 32, 1, 2) == 0.25
    assert loaded["two"][1, 32].time(1, 2, repeat=5) == 0.25


# A torch of a few lines, with DLPack's table of C functions.
class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_uint64), ("kind", ctypes.c_int32), ("device", ctypes.c_int32),
        ("dimensions", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    )  # fmt: skip


_DESCRIBE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
_STREAM = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_uint64)
)


class Api(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("unused", ctypes.c_void_p * 4),
        ("describe", _DESCRIBE), ("stream", _STREAM),
    )  # fmt: skip


class TorchTensor:
    def __init__(
        self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], *, kind: int = 2,
        code: int = 2,
    ) -> None:  # fmt: skip
        self.address, self.kind, self.code = address, kind, code
        self.extents = (ctypes.c_int64 * len(shape))(*shape)
        self.steps = (ctypes.c_int64 * len(shape))(*strides)
        self.device = "cpu" if kind == 1 else "cuda:0"
        self.is_cuda = kind == 2
        self.dense = strides == (4, 1)

    def is_contiguous(self) -> bool:
        return self.dense

    def is_conj(self) -> bool:
        return self.code == 5

    def is_neg(self) -> bool:
        return False

    def data_ptr(self) -> int:
        return self.address

    def get_device(self) -> int:
        return 0

    def numel(self) -> int:
        return 8

    def element_size(self) -> int:
        return 4


@_DESCRIBE
def _describe(value: Any, out: Any) -> int:
    out[0] = Tensor(value.address, value.kind, 0, len(value.extents), value.code, 32, 1,
                    value.extents, value.steps, 16)  # fmt: skip
    return 0


@_STREAM
def _stream(kind: int, device: int, out: Any) -> int:
    out[0] = 55
    return 0


_API = Api(1, 3, (ctypes.c_void_p * 4)(), _describe, _stream)


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    capsule = new(ctypes.addressof(_API), b"dlpack_exchange_api", None)
    TorchTensor.__dlpack_c_exchange_api__ = capsule  # type: ignore[attr-defined]
    module: Any = types.ModuleType("torch")
    module.Tensor = TorchTensor
    module.nn = types.SimpleNamespace(Parameter=type("Parameter", (TorchTensor,), {}))
    module.cuda = types.SimpleNamespace(
        is_initialized=lambda: True,
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=66),
    )
    module._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 44)
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def test_tensors_are_read_through_dlpack_in_c(loaded: CudaModule, torch: Any) -> None:
    sizes(8, 8)
    launcher = loaded["two"][1, 32]
    launcher(1, 2)
    launcher(TorchTensor(0x1000, (2, 4), (4, 1)), TorchTensor(0x2000, (1, 4), (99, 1)))
    assert "stream 55" in last()  # the library's own current stream
    assert [int.from_bytes(word, "little") for word in last_words()] == [0x1010, 0x2010]
    loaded["two"][1, 32, 0, 7](TorchTensor(0x1000, (2, 4), (4, 1)), 0)
    assert "stream 7 " in last()
    launcher(1, 2)
    assert "stream 44" in last()  # no arrays: torch's current stream


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (TorchTensor(64, (2, 4), (1, 2)), r"not contiguous; pass x.contiguous\(\), or x.data_ptr"),
        (TorchTensor(64, (2, 4), (4, 1), kind=1), r"a tensor on 'cpu', .* pass x.cuda\(\)"),
        (TorchTensor(64, (2, 4), (4, 1), code=5), "conjugate"),
    ],
)
def test_refused_tensors(loaded: CudaModule, torch: Any, tensor: Any, message: str) -> None:
    for _ in range(2):
        with pytest.raises(LaunchError, match=message):
            loaded["two"][1, 32](tensor, 0)


class Jax:
    """An array that has DLPack in Python alone."""

    def __init__(self, kind: int = 2) -> None:
        self.kind = kind
        self.streams: list[Any] = []
        self.array = np.zeros(4, np.int32)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 0

    def __dlpack__(self, *, stream: Any = None) -> Any:
        self.streams.append(stream)
        return self.array.__dlpack__()


def test_dlpack(loaded: CudaModule) -> None:
    sizes(8, 8)
    value = Jax()
    loaded["increment"][1, 32, 0, 77](value, Jax(kind=13))
    assert value.array.tolist() == [1] * 4 and value.streams == [77]
    with pytest.raises(LaunchError, match="a Jax in host memory, which the GPU does not reach"):
        loaded["increment"][1, 32](Jax(kind=1), 0)
    value.array = np.zeros((4, 4), np.int32)[:, 1]
    with pytest.raises(LaunchError, match="not contiguous"):
        loaded["increment"][1, 32](value, 0)
