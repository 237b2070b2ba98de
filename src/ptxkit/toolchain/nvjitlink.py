"""nvJitLink, the assembler and linker as a library, through its C interface."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxkit.errors import ToolchainError
from ptxkit.toolchain import locate

_INPUT_PTX = 2
# What each status means, in the order of the C enumeration.
_STATUS = (
    "success",
    "unrecognized option",
    "no architecture was given",
    "invalid input",
    "error in the PTX",
    "error in NVVM",
    "internal error",
    "thread pool failure",
    "unrecognized input",
    "error while finishing",
    "no input",
    "options that exclude each other",
    "input of the wrong kind",
    "architecture mismatch",
    "outdated library",
    "missing fat binary",
    "unrecognized architecture",
    "unsupported architecture",
    "input needs link-time optimisation",
)
_UNRECOGNIZED_OPTION = 1


@dataclass(frozen=True, slots=True)
class Linked:
    """What one run gave: a cubin (None after an error) and the log."""

    cubin: bytes | None
    log: str


class NvJitLink:
    """A loaded nvJitLink. Calls release the GIL, so threads assemble side by side."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._library = ctypes.CDLL(str(path))
            major, minor = ctypes.c_uint(), ctypes.c_uint()
            status = self._library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor))
            _ = self._library.nvJitLinkCreate
        except (OSError, AttributeError) as error:
            raise ToolchainError(f"'{path}' cannot be used as nvJitLink: {error}") from error
        self._check(status)
        self.release = f"{major.value}.{minor.value}"
        """The CUDA release, such as ``"13.4"``."""

    def assemble(self, ptx: bytes, arch: str, options: Sequence[str], name: str) -> Linked:
        """Assemble; an error in the PTX is `cubin=None` and a log, not an exception.

        `options` are those of ptxas. The architecture must be one of this release: an
        unknown one ends the process.
        """
        words = [f"-arch={arch}", *(f"-Xptxas={option}" for option in options)]
        array = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
        handle = ctypes.c_void_p()
        status = self._library.nvJitLinkCreate(ctypes.byref(handle), len(words), array)
        if status:
            if handle:
                self._library.nvJitLinkDestroy(ctypes.byref(handle))
            if status == _UNRECOGNIZED_OPTION:
                raise ToolchainError(f"nvJitLink does not take one of: {' '.join(words)}")
            self._check(status)
        try:
            data = ptx + b"\0"
            status = self._library.nvJitLinkAddData(
                handle, _INPUT_PTX, data, ctypes.c_size_t(len(data)), name.encode() or b"ptx"
            ) or self._library.nvJitLinkComplete(handle)
            log = self._log(handle, "Error") + self._log(handle, "Info")
            if status:
                return Linked(None, log or f"fatal   : {_meaning(status)}\n")
            size = ctypes.c_size_t()
            self._check(self._library.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size)))
            cubin = ctypes.create_string_buffer(size.value)
            self._check(self._library.nvJitLinkGetLinkedCubin(handle, cubin))
            return Linked(cubin.raw, log)
        finally:
            self._library.nvJitLinkDestroy(ctypes.byref(handle))

    def _log(self, handle: ctypes.c_void_p, kind: str) -> str:
        size = ctypes.c_size_t()
        status = getattr(self._library, f"nvJitLinkGet{kind}LogSize")(handle, ctypes.byref(size))
        if status or not size.value:
            return ""
        buffer = ctypes.create_string_buffer(size.value + 1)
        self._check(getattr(self._library, f"nvJitLinkGet{kind}Log")(handle, buffer))
        return buffer.value.decode("utf-8", "replace")

    def _check(self, status: int) -> None:
        if status:
            raise ToolchainError(f"nvJitLink failed: {_meaning(status)} ('{self.path}')")


def _meaning(status: int) -> str:
    return _STATUS[status] if status < len(_STATUS) else f"status {status}"


_loaded: dict[Path, NvJitLink] = {}
_lock = threading.Lock()


def load() -> NvJitLink:
    """The nvJitLink that `locate` finds; loaded once."""
    path = locate.require("nvjitlink").path
    with _lock:
        if path not in _loaded:
            _loaded[path] = NvJitLink(path)
        return _loaded[path]
