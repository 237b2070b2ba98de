"""The one place that knows Warp.

Everything but `sources` goes through Warp's public functions. Batches are Python modules
that exist in memory alone: `linecache` holds their text, which Warp asks for.
"""

from __future__ import annotations

import json
import linecache
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ptxkit.errors import PtxkitError, import_extra
from ptxkit.synth import storage

#: Threads of a block, for kernels with tiles and for launches on the simulator.
BLOCK = 64
_CUDA = {"block_dim": BLOCK, "optimization_level": 3}
#: The machine code of CPUs is no view, and three times faster made without optimisation, which is
#: also the plainest reading of the source. Warp's CPU blocks have one thread.
_CPU = {"block_dim": 1, "optimization_level": 0}


class WarpError(PtxkitError):
    """Warp does not compile a kernel."""


@dataclass(frozen=True, slots=True)
class CudaCode:
    """What Warp makes of a batch for one GPU architecture."""

    source: str
    ptx: str
    shared: Mapping[str, int]
    """Bytes of dynamic shared memory of each entry."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Python sources loaded together: a Warp module and each source's names."""

    module: Any
    names: tuple[dict[str, Any], ...]


def load_warp() -> ModuleType:
    """Warp itself, quiet."""
    wp = import_extra("warp", extra="synth")
    wp.config.log_level = wp.LOG_ERROR
    return wp


class Warp:
    """Warp with a folder for what it compiles."""

    def __init__(self, folder: Path) -> None:
        self.wp = load_warp()
        self.folder = folder
        self.wp.config.kernel_cache_dir = str(folder / "warp")
        with _Silence(folder):
            self.wp.init()
        self._count = 0

    @property
    def version(self) -> str:
        """The version of warp-lang."""
        return str(self.wp.config.version)

    def batch(self, sources: Sequence[str], *, backward: bool) -> Batch:
        """Run Python sources as one module; nothing is compiled yet."""
        self._count += 1
        name = f"ptxkit_batch_{self._count}"
        names = []
        for number, source in enumerate(sources):
            file = f"<{name}_{number}>"
            linecache.cache[file] = (len(source), None, source.splitlines(True), file)
            known: dict[str, Any] = {"__name__": name}
            exec(compile(source, file, "exec", dont_inherit=True), known)
            names.append(known)
        module = self.wp.get_module(name)
        self.wp.set_module_options({"enable_backward": backward, "strip_hash": True}, module)
        return Batch(module, tuple(names))

    def forget(self, batch: Batch) -> None:
        """Free what a batch holds. Warp keeps every module: what is in it must go."""
        module = batch.module
        for number in range(len(batch.names)):
            linecache.cache.pop(f"<{module.name}_{number}>", None)
        sys.modules.pop(module.name, None)
        module.unload()
        module.kernels, module.functions, module.structs = {}, {}, {}

    def compile_cuda(self, batch: Batch, arch: str) -> CudaCode:
        """CUDA source and PTX of a batch."""
        self.wp.set_module_options(_CUDA, batch.module)
        folder = Path(tempfile.mkdtemp(prefix="cuda-", dir=self.folder))
        number = int(arch.removeprefix("sm_"))
        try:
            self._compile(batch, folder, arch=number, use_ptx=True)
            (source,) = folder.glob("*.cu")
            (ptx,) = folder.glob("*.ptx")
            (meta,) = folder.glob("*.meta")
            suffix = "_smem_bytes"
            shared = {
                key.removesuffix(suffix): int(value)
                for key, value in json.loads(meta.read_text()).items()
                if key.endswith(suffix)
            }
            return CudaCode(source.read_text(), ptx.read_text().rstrip("\0"), shared)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def compile_cpu(self, batch: Batch) -> str:
        """The C++ source of a batch, which can be launched then."""
        self.wp.set_module_options(_CPU, batch.module)
        folder = Path(tempfile.mkdtemp(prefix="cpu-", dir=self.folder))
        try:
            self._compile(batch, folder, device="cpu")
            (source,) = folder.glob("*.cpp")
            self.wp.load_aot_module(batch.module, device="cpu", module_dir=str(folder))
            return source.read_text()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def sources(self, texts: Sequence[str], *, backward: bool) -> tuple[str, str]:
        """The C++ and the CUDA source of a batch without compiling either.

        Warp has no public function for this. Its builder has kept its name and place since
        1.13; a release that moves it gives an error here and nowhere else.
        """
        context = import_module("warp._src.context")
        batch = self.batch(texts, backward=backward)
        module = batch.module
        self.wp.set_module_options(_CPU, module)
        try:
            options = {**module.resolve_options(self.wp.config), "output_arch": 90}
            builder = context.ModuleBuilder(module, options)
            found = builder.codegen("cpu"), builder.codegen("cuda")
        except AttributeError as error:
            raise PtxkitError(
                f"warp-lang {self.version} gives no source without compiling; leave --views out"
            ) from error
        except Exception as error:  # what Warp raises for code it does not take
            raise WarpError(f"Warp does not compile it: {_first_line(error)}") from error
        self.forget(batch)
        return found

    def _compile(self, batch: Batch, folder: Path, **target: Any) -> None:
        silence = _Silence(self.folder)
        try:
            with silence:
                self.wp.compile_aot_module(
                    batch.module, module_dir=str(folder), strip_hash=True, **target
                )
        except OSError as error:  # a full disk is not the kernel's fault
            raise storage.explained(error, folder) from error
        except Exception as error:  # Warp raises many kinds, Exception itself among them
            said = silence.first_error() or _first_line(error)
            raise WarpError(f"Warp does not compile it: {said}") from error

    def launch(
        self, batch: Batch, number: int, kernel: str, dim: Sequence[int], values: list[Any]
    ) -> None:
        """Run a kernel on Warp's CPU backend; arrays are Warp's own."""
        self.wp.launch(batch.names[number][kernel], dim=tuple(dim), inputs=values, device="cpu")

    def launch_tiled(
        self, batch: Batch, number: int, kernel: str, dim: Sequence[int], values: list[Any]
    ) -> None:
        """Run a kernel with tiles on Warp's CPU backend."""
        self.wp.launch_tiled(
            batch.names[number][kernel],
            dim=list(dim),
            inputs=values,
            block_dim=BLOCK,
            device="cpu",
        )

    def array(self, value: np.ndarray[Any, Any], spelled: str, *, gradient: bool) -> Any:
        """A Warp array with a copy of the values; `spelled` is its type as ``wp.vec3``."""
        return self.wp.array(
            value,
            dtype=getattr(self.wp, spelled.removeprefix("wp.")),
            device="cpu",
            requires_grad=gradient,
        )


class _Silence:
    """Keeps what Warp's libraries print to standard error, where it would break a progress bar."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.text = ""

    def __enter__(self) -> None:
        sys.stderr.flush()
        self._kept = os.dup(2)
        self._file = tempfile.TemporaryFile(dir=self._folder)
        os.dup2(self._file.fileno(), 2)
        self._warnings = ExitStack()
        self._warnings.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")

    def __exit__(self, *error: object) -> None:
        self._warnings.close()
        sys.stderr.flush()
        os.dup2(self._kept, 2)
        os.close(self._kept)
        self._file.seek(0)
        self.text = self._file.read().decode("utf-8", "replace")
        self._file.close()

    def first_error(self) -> str:
        """The first error a compiler printed, without the place in a file that is gone."""
        for line in self.text.splitlines():
            _, found, what = line.partition("error: ")
            if found:
                return what.strip()
        return ""


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
