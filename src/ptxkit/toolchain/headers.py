"""What to write instead of a header that NVRTC does not find."""

from __future__ import annotations

from ptxkit.toolchain import locate

#: Headers of C that kernels include for what NVRTC knows without them.
BUILT_IN = {
    "stdio": "printf is", "assert": "assert is", "stdlib": "malloc and free are",
    "string": "memcpy and memset are", "math": "the functions of math.h are",
    "time": "clock and clock64 are", "stdbool": "bool is",
}  # fmt: skip

#: Headers of C++ that CUDA's own library has for device code, as <cuda/std/...>.
CUDA_STD = frozenset(
    """
    algorithm array atomic barrier bit bitset charconv chrono complex concepts expected
    functional initializer_list iterator latch limits mdspan memory numbers numeric optional
    random ranges ratio semaphore source_location span string_view tuple type_traits utility
    variant version cassert cfloat climits cmath cstddef cstdint cstdlib cstring ctime
    """.split()
)

#: Headers that only programs of the host have.
_HOST = frozenset(
    """
    any codecvt condition_variable deque exception filesystem forward_list fstream future
    iomanip ios iosfwd iostream istream list locale map mutex new ostream print queue regex
    set shared_mutex sstream stack stdexcept stop_token streambuf string strstream
    syncstream system_error thread typeindex typeinfo unordered_map unordered_set valarray
    vector ccomplex cctype cerrno cfenv cinttypes clocale csetjmp csignal cstdarg cuchar
    cwchar cwctype unistd.h pthread.h sys/types.h sys/time.h windows.h ctype.h errno.h
    fenv.h inttypes.h locale.h setjmp.h signal.h stdarg.h wchar.h wctype.h stdatomic.h
    """.split()
)


def missing_header(name: str) -> str:
    """What to do about an ``#include`` that failed.

    >>> missing_header("stdio.h")
    'printf is built into NVRTC: leave the #include out'
    >>> missing_header("stdint.h")
    'NVRTC has no headers of the host: write #include <cuda/std/cstdint>, or compile with nvcc'
    >>> missing_header("vector")
    'NVRTC has no headers of the host: leave it out, or compile with nvcc'
    """
    for part, begins in (("headers", "cuda_"), ("cccl", ("cuda/", "cub/", "thrust/"))):
        if name.startswith(begins) and locate.find(part) is None:
            return f"run: {locate.pip_command(part)}"
    plain = name.removesuffix(".h")
    if name.endswith(".h") or name.startswith("c"):
        known = BUILT_IN.get(plain if name.endswith(".h") else plain.removeprefix("c"))
        if known is not None:
            return f"{known} built into NVRTC: leave the #include out"
    modern = f"c{plain}" if name.endswith(".h") else name
    if modern in CUDA_STD:
        return (
            "NVRTC has no headers of the host: "
            f"write #include <cuda/std/{modern}>, or compile with nvcc"
        )
    if name in _HOST:
        return "NVRTC has no headers of the host: leave it out, or compile with nvcc"
    return "name its folder in include_dirs (-I)"
