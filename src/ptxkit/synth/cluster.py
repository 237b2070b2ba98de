"""Shards as Ray tasks, on this machine or a cluster. The driver alone writes files."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ptxkit.errors import PtxkitError, import_extra
from ptxkit.synth import shards, storage
from ptxkit.synth.plan import Plan
from ptxkit.synth.source import find

_TIMEOUT = 5.0


class ClusterError(PtxkitError):
    """There is no Ray cluster where one was said to be."""


def check(address: str | None) -> None:
    """Refuse a cluster that is not there, before anything is written."""
    import_extra("ray", extra="ray")
    if address is not None:
        try:
            _knock(address)
        except OSError as error:
            raise _nobody(address) from error


def run(
    plan: Plan,
    folder: Path,
    missing: list[int],
    workers: int,
    done: Callable[[int], None],
    address: str | None = None,
) -> None:
    """Make the missing shards by Ray tasks; calls `done` with the number of each one."""
    ray = import_extra("ray", extra="ray")
    started = _connect(ray, address, workers)
    try:
        # Workers end now and then, and with them what compilers keep.
        life = max(1, find(plan.source).life // plan.shard_size)
        task = ray.remote(max_calls=life, num_cpus=1)(_build)
        described = ray.put(plan)
        waiting = list(missing)
        running: dict[Any, int] = {}
        most = max(workers, int(ray.cluster_resources().get("CPU", workers)))
        while waiting or running:
            while waiting and len(running) < 2 * most:
                number = waiting.pop(0)
                running[task.remote(described, number)] = number
            ready, _ = ray.wait(list(running), num_returns=1)
            for reference in ready:
                number = running.pop(reference)
                try:
                    shard = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    cause = error.cause
                    raise cause if isinstance(cause, PtxkitError) else error from None
                shards.commit(folder, number, shard)
                done(number)
    finally:
        if started:
            ray.shutdown()


def _build(plan: Plan, number: int) -> shards.Shard:
    """The task: a shard as bytes. Files it needs on the way go to a folder of its process."""
    return shards.build(plan, number, _workspace())


@cache
def _workspace() -> Path:
    """A folder of this process; those of processes that ended are removed.

    Ray kills its workers, so that none can remove its own.
    """
    home = Path(tempfile.gettempdir())
    prefix = f"ptxkit-ray-{socket.gethostname()}-"
    for old in home.glob(f"{prefix}*"):
        if not _lives(int(old.name.removeprefix(prefix))):
            shutil.rmtree(old, ignore_errors=True)
    folder = home / f"{prefix}{os.getpid()}"
    folder.mkdir(exist_ok=True)
    storage.keep_temporary_files_in(folder)
    return folder


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _connect(ray: Any, address: str | None, workers: int) -> bool:
    if ray.is_initialized():
        return False
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    try:
        if address is None:
            ray.init(num_cpus=workers, include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise _nobody(address) from error
    return True


def _nobody(address: str | None) -> ClusterError:
    where = f"at '{address}'" if address else "here"
    return ClusterError(
        f"no Ray cluster answers {where}: start one (ray start --head), or leave --address out"
    )


def _knock(address: str) -> None:
    """Fail at once where nobody listens; Ray itself would try for a minute."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_TIMEOUT).close()
