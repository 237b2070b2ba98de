"""Run every case of ``variants.py`` on the GPU and keep what it gives.

``python -m tests.gpu.record FOLDER`` writes ``instructions.npz`` (the outputs) and
``device.json`` (which GPU, driver, date).
"""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
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
    source = _check(driver.cuMemAlloc(COUNT * 8 * 40))
    result = _check(driver.cuMemAlloc(COUNT * 8 * 40))
    outputs: dict[str, np.ndarray[Any, Any]] = {}
    failed: dict[str, str] = {}
    everything = cases()
    for start in range(0, len(everything), 64):
        _run_group(driver, everything[start : start + 64], source, result, outputs, failed)
    np.savez_compressed(folder / "instructions.npz", **outputs)
    info = {
        "gpu": name,
        "driver": version,
        "date": datetime.date.today().isoformat(),
        "cases": len(outputs),
        "failed": failed,
    }
    (folder / "device.json").write_text(json.dumps(info, indent=2) + "\n")
    print(json.dumps({**info, "failed": len(failed)}))


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


if __name__ == "__main__":
    main()
