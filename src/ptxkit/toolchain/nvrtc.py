"""NVRTC, the CUDA compiler as a library, through its C interface."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxkit.errors import ToolchainError
from ptxkit.toolchain import locate

_SUCCESS = 0
_COMPILATION = 6


@dataclass(frozen=True, slots=True)
class Compiled:
    """What one run gave: PTX (None after an error) and the log."""

    ptx: bytes | None
    log: str


class Nvrtc:
    """A loaded NVRTC. Calls release the GIL, so threads compile side by side."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # libnvrtc opens this one by its bare name and, in 13.0, does not look beside itself.
        for builtins in path.parent.glob("libnvrtc-builtins.so*"):
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        try:
            self._library = ctypes.CDLL(str(path))
            self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
            major, minor = ctypes.c_int(), ctypes.c_int()
            self._check(self._library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        except (OSError, AttributeError) as error:
            raise ToolchainError(f"'{path}' cannot be used as NVRTC: {error}") from error
        self.release = f"{major.value}.{minor.value}"
        """The CUDA release, such as ``"13.4"``."""

    def architectures(self) -> tuple[int, ...]:
        """The numbers of the architectures it compiles for."""
        count = ctypes.c_int()
        self._check(self._library.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
        numbers = (ctypes.c_int * count.value)()
        self._check(self._library.nvrtcGetSupportedArchs(numbers))
        return tuple(numbers)

    def compile(self, source: bytes, name: str, options: Sequence[str]) -> Compiled:
        """Compile; an error in the source is `ptx=None` and a log, not an exception."""
        program = ctypes.c_void_p()
        self._check(
            self._library.nvrtcCreateProgram(
                ctypes.byref(program), source, name.encode(), 0, None, None
            )
        )
        try:
            words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            status = self._library.nvrtcCompileProgram(program, len(options), words)
            log = self._text(program, "ProgramLog").decode("utf-8", "replace")
            if status == _SUCCESS:
                return Compiled(self._text(program, "PTX"), log)
            if status != _COMPILATION and not log.strip():
                self._check(status)
            return Compiled(None, log)
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._check(getattr(self._library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._library, f"nvrtcGet{what}")(program, buffer))
        # The size counts the NUL at the end, and only that is not text.
        return buffer.raw.removesuffix(b"\0")

    def _check(self, status: int) -> None:
        if status != _SUCCESS:
            meaning = self._library.nvrtcGetErrorString(status).decode()
            raise ToolchainError(f"NVRTC failed: {meaning} ('{self.path}')")


_loaded: dict[Path, Nvrtc] = {}
_lock = threading.Lock()


def load() -> Nvrtc:
    """The NVRTC that `locate` finds; loaded once."""
    path = locate.require("nvrtc").path
    with _lock:
        if path not in _loaded:
            _loaded[path] = Nvrtc(path)
        return _loaded[path]
