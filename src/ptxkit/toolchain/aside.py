"""NVRTC in a process of its own, for options that it does not forget, and for what takes long.

After one compilation with ``-Ofc=mid`` or ``--restrict``, or for a new architecture with
``--use_fast_math``, NVRTC compiles everything else in the same process in another way than before,
whatever options that has (``pow(x, 2.0)`` as ``x * x``, say). So what asks for such an option
is compiled by a second process, which does nothing else. So is a long source where there is only so
much time (`limited`): nobody can stop NVRTC, but a process can be ended.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path

from ptxkit.errors import ToolchainError
from ptxkit.toolchain.nvrtc import Compiled, Nvrtc

#: How options begin that are not forgotten.
_STICK = (
    "-Ofc", "--Ofast-compile", "-restrict", "--restrict", "-use_fast_math", "--use_fast_math",
)  # fmt: skip
#: Bytes of sources that compilers may take many seconds for.
LONG = 60_000
#: Seconds between two looks at how long a compiler has computed.
_BETWEEN = 0.1
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ptxkit.toolchain.aside import serve; serve(sys.argv[2])"
)


def sticking(options: Sequence[str]) -> tuple[str, ...]:
    """The options that would change what is compiled after them.

    >>> sticking(["-ftz=true", "-Ofc=mid"])
    ('-Ofc=mid',)
    """
    return tuple(option for option in options if option.startswith(_STICK))


class UnfinishedCompilationError(ToolchainError):
    """A long source that the compiler takes too long for, or dies of."""


_left: ContextVar[Callable[[], float] | None] = ContextVar("seconds left", default=None)


@contextlib.contextmanager
def limited(left: Callable[[], float]) -> Iterator[None]:
    """Long sources that are compiled inside take no more seconds of computing than are left then.

    >>> with limited(lambda: 0.0):
    ...     seconds_for(bytes(LONG)), seconds_for(b"__global__ void k() {}")
    (0.0, None)
    """
    token = _left.set(left)
    try:
        yield
    finally:
        _left.reset(token)


def seconds_for(source: bytes) -> float | None:
    """How long a source may be compiled; None for as long as it takes."""
    left = _left.get()
    return left() if left is not None and len(source) >= LONG else None


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

    def compile(
        self, source: bytes, name: str, options: Sequence[str], most: float | None = None
    ) -> Compiled:
        """As `Nvrtc.compile`; in so many seconds of computing at ``most``."""
        overdue = UnfinishedCompilationError(f"NVRTC takes too long for '{name}'")
        if most is not None and most <= 0:
            raise overdue
        with self._lock:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            try:
                pickle.dump((source, name, tuple(options)), process.stdin)
                process.stdin.flush()
                if most is not None and not _answers(process, most):
                    self.seconds += most
                    raise overdue
                answer, seconds = pickle.load(process.stdout)
            except (EOFError, OSError, pickle.UnpicklingError) as error:
                self._stop()
                if most is not None:
                    raise UnfinishedCompilationError(f"NVRTC ended at '{name}'") from error
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


def _answers(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a process has something to say before it has computed so long."""
    assert process.stdout is not None
    end = _computed(process.pid) + seconds
    while not select.select([process.stdout], [], [], _BETWEEN)[0]:
        if _computed(process.pid) > end:
            return False
    return True


def _computed(process: int) -> float:
    """How long a process has computed; where the system does not say, what a clock says."""
    try:
        # The number that Linux gives to the clock of a process: its complement, and two flags.
        return time.clock_gettime(~process << 3 | 2)
    except OSError:
        return time.monotonic()


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
