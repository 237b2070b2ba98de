"""Occupancy, compared with NVIDIA's own calculator and tables."""

import random
import re
import shutil
import subprocess

import pytest

from ptxkit.errors import UsageError
from ptxkit.toolchain import Resources, best_block, limits_of, locate, occupancy
from ptxkit.toolchain.multiprocessor import LIMITS

# Reads one launch a line and prints what cuda_occupancy.h says of it.
CALCULATOR = """
#include <cstdio>
#include <cstring>
#include <climits>
#include "cuda_occupancy.h"
int main() {
    int major, minor, threads_sm, shared_sm, optin, reserved, registers, shared, barriers, block;
    long dynamic;
    while (scanf("%d %d %d %d %d %d %d %d %d %d %ld", &major, &minor, &threads_sm, &shared_sm,
                 &optin, &reserved, &registers, &shared, &barriers, &block, &dynamic) == 11) {
        cudaOccDeviceProp device;
        device.computeMajor = major; device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024; device.maxThreadsPerMultiprocessor = threads_sm;
        device.regsPerBlock = 65536; device.regsPerMultiprocessor = 65536; device.warpSize = 32;
        device.sharedMemPerBlock = 48 * 1024; device.sharedMemPerMultiprocessor = shared_sm;
        device.numSms = 1; device.sharedMemPerBlockOptin = optin;
        device.reservedSharedMemPerBlock = reserved;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = INT_MAX; kernel.numRegs = registers;
        kernel.sharedSizeBytes = shared; kernel.numBlockBarriers = barriers;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = dynamic;
        cudaOccDeviceState state;
        cudaOccResult result;
        int status = cudaOccMaxActiveBlocksPerMultiprocessor(
            &result, &device, &kernel, &state, block, dynamic);
        printf("%d\\n", status ? -status : result.activeBlocksPerMultiprocessor);
    }
}
"""


def resources(**fields):
    needs = {"registers": 32, "shared": 0, "stack": 0, "barriers": 1, "constant": 0, "local": 0}
    return Resources(**(needs | {"code": 0} | fields))


@pytest.mark.skipif(not shutil.which("g++"), reason="needs a C++ compiler")
def test_occupancy_is_that_of_the_cuda_header(tmp_path):
    source = tmp_path / "calculator.cpp"
    source.write_text(CALCULATOR)
    include = locate.require("headers").path.parent
    program = tmp_path / "calculator"
    subprocess.run(["g++", f"-I{include}", source, "-o", program], check=True)
    chance = random.Random(1)
    launches = []
    for number, has in LIMITS.items():
        for _ in range(400):
            registers = chance.choice([0, 8, 31, 32, 33, 64, 100, 128, 168, 255])
            shared = chance.choice([0, 1, 400, 4096, 16384, 48 * 1024])
            barriers = chance.choice([0, 1, 2, 5, 16])
            block = chance.choice(
                [1, 31, 32, 33, 64, 96, 128, 200, 256, 384, 512, 768, 1000, 1024, 1025]
            )
            dynamic = chance.choice([0, 0, 100, 1024, 30_000, 60_000, 99 * 1024 - shared, 200_000])
            launches.append((number, has, registers, shared, barriers, block, max(dynamic, 0)))
    asked = "".join(
        f"{number // 10} {number % 10} {has.threads} {has.shared} {has.shared_per_block} "
        f"{has.reserved} {registers} {shared} {barriers} {block} {dynamic}\n"
        for number, has, registers, shared, barriers, block, dynamic in launches
    )
    said = subprocess.run([program], input=asked, capture_output=True, text=True, check=True)
    for launch, answer in zip(launches, map(int, said.stdout.split()), strict=True):
        number, _, registers, shared, barriers, block, dynamic = launch
        needs = resources(registers=registers, shared=shared, barriers=barriers)
        found = occupancy(needs, block, f"sm_{number}", dynamic)
        assert found.blocks_per_sm == answer, launch


def test_limits_are_those_of_the_cccl_header():
    header = locate.require("cccl").path.parents[1] / "__device" / "arch_traits.h"
    bodies = re.findall(
        r"arch_traits<arch_id::sm_(\d+)>\(\) noexcept\n\{(.*?)\n\}", header.read_text(), re.S
    )
    traits = {}
    for number, body in bodies:
        base = re.search(r"= ::cuda::arch_traits<arch_id::sm_(\d+)>\(\);", body)
        values = dict(traits[base[1]]) if base else {}
        for name, text in re.findall(r"__traits\.(\w+) *= (\d+(?: \* 1024)?);", body):
            values[name] = eval(text)
        traits[number] = values
    for number, has in LIMITS.items():
        said = traits[str(number)]
        assert said["max_threads_per_multiprocessor"] == has.threads
        assert said["max_blocks_per_multiprocessor"] == has.blocks
        assert said["max_shared_memory_per_multiprocessor"] == has.shared
        assert has.reserved == (1024 if number >= 80 else 0)


@pytest.mark.parametrize(
    ("fields", "block", "dynamic", "limiter", "blocks"),
    [
        ({}, 256, 0, "registers", 8),
        ({"registers": 16}, 256, 0, "warps", 8),
        ({"registers": 128}, 256, 0, "registers", 2),
        ({"shared": 40_000}, 256, 0, "shared", 5),
        ({}, 256, 100_000, "shared", 2),
        ({"registers": 16}, 32, 0, "blocks", 32),
        ({"barriers": 16}, 128, 0, "barriers", 4),
        ({}, 2048, 0, "threads", 0),
        ({"max_threads": 128}, 256, 0, "threads", 0),
        ({"registers": 255}, 1024, 0, "registers", 0),
        ({}, 256, 300_000, "shared", 0),
    ],
)
def test_the_limiter_is_named(fields, block, dynamic, limiter, blocks):
    found = occupancy(resources(**fields), block, "sm_90", dynamic)
    assert (found.limiter, found.blocks_per_sm) == (limiter, blocks)
    assert found.warps == blocks * -(-block // 32)
    assert found.fraction == found.warps / 64


def test_the_best_block_is_the_best():
    for registers in (16, 40, 64, 100, 255):
        needs = resources(registers=registers, shared=3000)
        size = best_block(needs, "sm_86")
        most = max(occupancy(needs, n, "sm_86").warps for n in range(32, 1025, 32))
        assert occupancy(needs, size, "sm_86").warps == most
    assert best_block(resources(max_threads=100), "sm_90") <= 100


def test_calls_that_make_no_sense():
    with pytest.raises(UsageError, match="limits of sm_52 are not known"):
        limits_of("sm_52")
    with pytest.raises(UsageError, match="at least one thread"):
        occupancy(resources(), 0, "sm_90")
    with pytest.raises(UsageError, match="dynamic_shared"):
        occupancy(resources(), 32, "sm_90", -1)
