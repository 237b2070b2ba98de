"""printf, assert, malloc and free in kernels."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from tests.gpu.printing import SOURCE as PRINTING

import ptxkit
from ptxkit.run import CpuModule, SimulationError

#: What the driver prints for the same kernel on a GPU.
RECORDING = Path(__file__).parent / "gpu" / "printf.txt"

SOURCE = r"""
#include <cuda/std/cassert>

extern "C" __global__ void hello(int n) {
    if (threadIdx.x < n) printf("block %d thread %d\n", blockIdx.x, threadIdx.x);
}

extern "C" __global__ void diverge() {
    if (threadIdx.x % 2) printf("odd %d\n", threadIdx.x);
    else printf("even %d\n", threadIdx.x);
}

extern "C" __global__ void check(const int *x, int limit) { assert(x[threadIdx.x] < limit); }

struct Node { Node *next; int value; };

extern "C" __global__ void lists(int *out, int n) {
    Node *head = nullptr;
    for (int i = 0; i < n; ++i) {
        Node *node = (Node *)malloc(sizeof(Node));
        if (!node) break;
        node->next = head;
        node->value = i * (threadIdx.x + 1);
        head = node;
    }
    int sum = 0;
    while (head) {
        sum += head->value;
        Node *next = head->next;
        free(head);
        head = next;
    }
    out[threadIdx.x] = sum;
}

__device__ int *kept;
extern "C" __global__ void keep() { kept = (int *)malloc(40); kept[3] = 17; }
extern "C" __global__ void use(int *out, int at) { out[0] = kept[at]; }
extern "C" __global__ void drop() { free(kept); }
extern "C" __global__ void drop_inside() { free(kept + 1); }
extern "C" __global__ void ask(unsigned long long bytes, int *out) { out[0] = malloc(bytes) != 0; }
"""


@lru_cache(maxsize=1)
def compiled() -> ptxkit.Module:
    return ptxkit.compile_cuda(SOURCE, arch="sm_80")


@pytest.fixture
def module() -> CpuModule:
    return ptxkit.load(compiled(), device="cpu")


@pytest.mark.parametrize("threads", [1, 2])
def test_printing_in_the_order_of_the_grid(
    module: CpuModule, threads: int, capsys: pytest.CaptureFixture[str]
) -> None:
    report = module["hello"][40, 32](3, threads=threads)
    expected = "".join(f"block {b} thread {t}\n" for b in range(40) for t in range(3))
    assert report.output == expected
    assert capsys.readouterr().out == expected


def test_printing_by_divergent_lanes(module: CpuModule) -> None:
    lines = module["diverge"][1, 8]().output.splitlines()
    assert sorted(lines) == sorted(f"{'odd' if n % 2 else 'even'} {n}" for n in range(8))


def test_conversions_are_the_drivers() -> None:
    ours = ptxkit.load(ptxkit.compile_cuda(PRINTING, arch="sm_80"))["print"][1, 1]().output
    for line, theirs in zip(ours.split("\n"), RECORDING.read_text().split("\n"), strict=True):
        if line.startswith("hh "):
            # The driver of the recording reads the arguments of %hd and %hu from elsewhere.
            assert line == "hh [-5] [251] h [-300] [65000]"
            theirs = line
        assert line == theirs


def test_a_failed_assertion_says_where(module: CpuModule) -> None:
    x = np.arange(64, dtype=np.int32)
    module["check"][1, 64](x, 64)
    with pytest.raises(SimulationError) as caught:
        module["check"][1, 64](x, 50)
    error = caught.value
    assert (error.kind, error.thread) == ("assert", (50, 0, 0))
    assert (
        "kernel.cu:13: void check(const int *, int): assertion `x[threadIdx.x] < limit` failed"
        in str(error)
    )


def test_lists_of_allocated_nodes(module: CpuModule) -> None:
    out = np.zeros(96, np.int32)
    report = module["lists"][1, 96](out, 20)
    assert np.array_equal(out, 190 * np.arange(1, 97))
    assert report.allocations == ()


def test_the_heap_outlives_a_launch(module: CpuModule) -> None:
    report = module["keep"][1, 1]()
    [(size, line)] = report.allocations
    assert size == 40
    assert "malloc" in "".join(compiled().emit().split("\n")[line - 1 : line + 3])
    out = np.zeros(1, np.int32)
    module["use"][1, 1](out, 3)
    assert out[0] == 17
    assert module["drop"][1, 1]().allocations == ()


@pytest.mark.parametrize(
    ("steps", "kind", "message"),
    [
        (("keep", "drop", "drop"), "double-free", "memory of 40 bytes that was freed"),
        (("keep", "drop", "use"), "use-after-free", "memory of 40 bytes that was freed"),
        (("keep", "drop_inside"), "invalid-free", "at byte 4 of memory of 40 bytes from malloc"),
        (("keep", "use 10"), "out-of-bounds", "at byte 40 of memory of 40 bytes from malloc"),
    ],
)
def test_misuse_of_the_heap(
    module: CpuModule, steps: tuple[str, ...], kind: str, message: str
) -> None:
    def step(text: str) -> None:
        name, _, at = text.partition(" ")
        module[name][1, 1](*((np.zeros(1, np.int32), int(at or 0)) if name == "use" else ()))

    for text in steps[:-1]:
        step(text)
    with pytest.raises(SimulationError, match=message) as caught:
        step(steps[-1])
    assert caught.value.kind == kind


def test_a_full_heap_gives_nothing(module: CpuModule) -> None:
    out = np.zeros(1, np.int32)
    for size, expected in ((1 << 22, 1), (1 << 22, 1), (16, 0), (1 << 40, 0), (0, 0)):
        module["ask"][1, 1](size, out)
        assert out[0] == expected


def test_output_that_cannot_be_written(module: CpuModule, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, text: str) -> None:
            raise OSError("no room")

    monkeypatch.setattr("sys.stdout", Full())
    with pytest.raises(OSError, match="no room"):
        module["hello"][4, 32](1)
