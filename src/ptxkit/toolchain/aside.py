"""NVRTC in a process of its own, for options that it does not forget.

After one compilation with ``-Ofc=mid`` or ``--restrict``, NVRTC compiles everything else in the
same process in another way than before, whatever options that has. So what asks for such an option
is compiled by a second process, which does nothing else.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ptxkit.errors import ToolchainError
from ptxkit.toolchain.nvrtc import Compiled, Nvrtc

#: How options begin that are not forgotten.
_STICK = ("-Ofc", "--Ofast-compile", "-restrict", "--restrict")
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ptxkit.toolchain.aside import serve; serve(sys.argv[2])"
)


def sticking(options: Sequence[str]) -> tuple[str, ...]:
    """The options that would change what is compiled after them.

    >>> sticking(["--use_fast_math", "-Ofc=mid"])
    ('-Ofc=mid',)
    """
    return tuple(option for option in options if option.startswith(_STICK))


class Aside:
    """A second process with the same compiler, started when it is needed first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds = 0.0
        """How long it has computed."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        atexit.register(self._stop)

    def compile(self, source: bytes, name: str, options: Sequence[str]) -> Compiled:
        """As `Nvrtc.compile`."""
        with self._lock:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            try:
                pickle.dump((source, name, tuple(options)), process.stdin)
                process.stdin.flush()
                answer, seconds = pickle.load(process.stdout)
            except (EOFError, OSError, pickle.UnpicklingError) as error:
                self._stop()
                raise ToolchainError(
                    f"NVRTC ended while it compiled '{name}' with {' '.join(options)}; "
                    "try it without those options"
                ) from error
            except BaseException:
                # Its answer would be taken for that to the next question.
                self._stop()
                raise
        self.seconds += seconds
        if isinstance(answer, str):
            raise ToolchainError(answer)
        compiled: Compiled = answer
        return compiled

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner == os.getpid():
            if self._process.poll() is None:
                return self._process
            self._stop()
        words = [sys.executable, "-c", _START, json.dumps(sys.path), str(self.path)]
        # Its own group: Ctrl-C is for who asked, and who asked ends it.
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._owner = os.getpid()
        return self._process

    def _stop(self) -> None:
        """End the process, if it is one of ours."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was not sent yet needs not be
                    stream.close()
        process.wait()


_known: dict[tuple[Path, tuple[str, ...]], Aside] = {}
_lock = threading.Lock()


def of(path: Path, options: tuple[str, ...]) -> Aside:
    """The process beside this one for the library in a file, and for some options alone."""
    with _lock:
        return _known.setdefault((path, options), Aside(path))


def seconds() -> float:
    """How long all of them have computed for this process."""
    return sum(one.seconds for one in _known.values())


def serve(path: str) -> None:
    """Compile what comes in, until nothing does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a library prints is no answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    library = Nvrtc(Path(path))
    while True:
        try:
            source, name, options = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        before = time.process_time()
        answer: Compiled | str
        try:
            answer = library.compile(source, name, options)
        except ToolchainError as error:
            answer = str(error)
        pickle.dump((answer, time.process_time() - before), answers)
        answers.flush()
