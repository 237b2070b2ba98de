"""Run every case of ``variants.py`` and ``programs.py`` on the GPU and keep what it gives.

``python -m tests.gpu.record FOLDER [instructions|programs]`` writes ``instructions.npz`` or
``programs.npz`` (the outputs) and ``device.json`` (which GPU, driver, date); without a name both.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tests.gpu import programs
from tests.gpu.variants import COUNT, Case, cases, inputs, module_text


def _check(result: Any) -> Any:
    error, *values = result
    if int(error) != 0:
        raise RuntimeError(f"the driver says {error}")
    return values[0] if len(values) == 1 else values


def main() -> None:
    """Record."""
    from cuda.bindings import driver

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    _check(driver.cuInit(0))
    device = _check(driver.cuDeviceGet(0))
    context = _check(driver.cuDevicePrimaryCtxRetain(device))
    _check(driver.cuCtxSetCurrent(context))
    name = _check(driver.cuDeviceGetName(128, device)).decode().split("\0")[0]
    version = _check(driver.cuDriverGetVersion())
    wanted = sys.argv[2:] or ["instructions", "programs"]
    counts: dict[str, int] = {}
    failed: dict[str, str] = {}
    if ":" in wanted[0]:
        start, stop = (int(number) for number in wanted[0].split(":"))
        return _record_part(driver, folder, start, stop)
    if "instructions" in wanted:
        outputs: dict[str, np.ndarray[Any, Any]] = {}
        source = _check(driver.cuMemAlloc(COUNT * 8 * 40))
        result = _check(driver.cuMemAlloc(COUNT * 8 * 40))
        everything = cases()
        for start in range(0, len(everything), 64):
            _run_group(driver, everything[start : start + 64], source, result, outputs, failed)
        np.savez_compressed(folder / "instructions.npz", **outputs)
        counts["cases"] = len(outputs)
    if "programs" in wanted:
        recorded = _record_programs(folder, failed)
        np.savez_compressed(folder / "programs.npz", **recorded)
        counts["programs"] = len(recorded)
    info = {
        "gpu": name,
        "driver": version,
        "date": datetime.date.today().isoformat(),
        **counts,
        "failed": failed,
    }
    (folder / "device.json").write_text(json.dumps(info, indent=2) + "\n")
    print(json.dumps({**info, "failed": len(failed)}))
    return None


def _run_group(
    driver: Any,
    group: tuple[Case, ...],
    source: Any,
    result: Any,
    outputs: dict[str, Any],
    failed: dict[str, str],
) -> None:
    try:
        module = _check(driver.cuModuleLoadData(module_text(group).encode() + b"\0"))
    except RuntimeError as error:
        if len(group) == 1:
            failed[group[0].text] = str(error)
            return
        for case in group:
            _run_group(driver, (case,), source, result, outputs, failed)
        return
    for case in group:
        function = _check(driver.cuModuleGetFunction(module, case.name.encode()))
        data = np.ascontiguousarray(inputs(case))
        out = np.zeros((len(case.outputs), COUNT), dtype=np.uint64)
        _check(driver.cuMemcpyHtoD(source, data.ctypes.data, data.nbytes))
        _check(driver.cuMemsetD8(result, 0, out.nbytes))
        pointers = np.array([int(source), int(result)], dtype=np.uint64)
        addresses = np.array([pointers.ctypes.data, pointers.ctypes.data + 8], dtype=np.uint64)
        launched = driver.cuLaunchKernel(
            function, 1, 1, 1, COUNT, 1, 1, 0, 0, addresses.ctypes.data, 0
        )
        _check(launched)
        _check(driver.cuCtxSynchronize())
        _check(driver.cuMemcpyDtoH(out.ctypes.data, result, out.nbytes))
        outputs[case.text] = out
    _check(driver.cuModuleUnload(module))


def _record_programs(folder: Path, failed: dict[str, str]) -> dict[str, np.ndarray[Any, Any]]:
    """Run the programs in processes of their own: a fault or a hang takes only one with it."""
    outputs: dict[str, np.ndarray[Any, Any]] = {}
    everything = programs.programs()
    pending = [(at, min(at + 128, len(everything))) for at in range(0, len(everything), 128)]
    while pending:
        start, stop = pending.pop()
        command = [sys.executable, "-m", "tests.gpu.record", str(folder), f"{start}:{stop}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            status = f"exit status {done.returncode}"
            error = (done.stderr[-300:] or status) if done.returncode else ""
        except subprocess.TimeoutExpired:
            error = "did not end in 60 seconds"
        part = folder / f"part-{start}-{stop}.npz"
        if not error:
            with np.load(part) as recorded:
                outputs.update({key: recorded[key] for key in recorded.files})
            part.unlink()
        elif stop - start == 1:
            failed[everything[start].key] = error
        else:
            middle = (start + stop) // 2
            pending += [(start, middle), (middle, stop)]
    return outputs


def _record_part(driver: Any, folder: Path, start: int, stop: int) -> None:
    group = programs.programs()[start:stop]
    size = 8 * max(max(one.source.size, one.words) for one in group)
    source, result = (_check(driver.cuMemAlloc(size)) for _ in range(2))
    outputs: dict[str, np.ndarray[Any, Any]] = {}
    module = _check(driver.cuModuleLoadData(programs.module_text(group).encode() + b"\0"))
    for one in group:
        function = _check(driver.cuModuleGetFunction(module, one.name.encode()))
        outputs[one.key] = _run_program(driver, function, one, source, result)
    np.savez_compressed(folder / f"part-{start}-{stop}.npz", **outputs)


def _run_program(
    driver: Any, function: Any, one: programs.Program, source: Any, result: Any
) -> np.ndarray[Any, Any]:
    out = np.zeros(one.words, dtype=np.uint64)
    _check(driver.cuMemcpyHtoD(source, one.source.ctypes.data, one.source.nbytes))
    _check(driver.cuMemsetD8(result, 0, out.nbytes))
    pointers = np.array([int(source), int(result)], dtype=np.uint64)
    addresses = np.array([pointers.ctypes.data, pointers.ctypes.data + 8], dtype=np.uint64)
    configuration = driver.CUlaunchConfig()
    configuration.gridDimX, configuration.gridDimY, configuration.gridDimZ = one.grid, 1, 1
    configuration.blockDimX, configuration.blockDimY, configuration.blockDimZ = one.block, 1, 1
    configuration.hStream = driver.CUstream(0)
    if one.cluster > 1:
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        attribute.value.clusterDim.x = one.cluster
        attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1
        configuration.attrs = [attribute]
        configuration.numAttrs = 1
    launched = driver.cuLaunchKernelEx(configuration, function, addresses.ctypes.data, 0)
    if int(launched[0]) == 0:
        launched = driver.cuCtxSynchronize()
    if int(launched[0]) != 0:
        raise RuntimeError(f"'{one.key}': the driver says {launched[0]}")
    _check(driver.cuMemcpyDtoH(out.ctypes.data, result, out.nbytes))
    return out


if __name__ == "__main__":
    main()
