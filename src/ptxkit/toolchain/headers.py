"""What to write instead of a header that NVRTC does not find, or of a name it does not know."""

from __future__ import annotations

import re

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

#: Names that nvcc has from headers of C, and where else they are. What they look like tells which
#: header it is; the first that fits counts.
_DEFINED_IN: tuple[tuple[str, str], ...] = (
    (r"INFINITY|NAN", "<cuda/std/cmath>"),
    (r"(FLT|DBL|LDBL)_[A-Z0-9_]+", "<cuda/std/cfloat>"),
    (r"(S?CHAR|UCHAR|U?SHRT|U?INT|U?LONG|U?LLONG)_(MIN|MAX)|CHAR_BIT", "<cuda/std/climits>"),
    (r"u?int(_least|_fast)?\d+_t|u?int(ptr|max)_t", "<cuda/std/cstdint>"),
    (r"U?INT(_LEAST|_FAST)?\d+_(MIN|MAX)|SIZE_MAX|U?INT(PTR|MAX)_(MIN|MAX)", "<cuda/std/cstdint>"),
    (r"CUDART_[A-Z0-9_]+", "<math_constants.h>"),
    (r"(__)?half2?", "<cuda_fp16.h>"),
    (r"__nv_bfloat16[2]?", "<cuda_bf16.h>"),
    (r"cooperative_groups", "<cooperative_groups.h>"),
)

#: Types that headers of a system have beside C's own.
_SHORT_TYPES = {
    "uint": "unsigned int", "ulong": "unsigned long", "ushort": "unsigned short",
    "uchar": "unsigned char",
}  # fmt: skip


def undefined_name(name: str) -> str:
    """What to do about a name that a compiler does not know; empty where it may be anything.

    >>> undefined_name("INFINITY")
    'NVRTC has no headers of the host: write #include <cuda/std/cmath>, or compile with nvcc'
    >>> undefined_name("uchar")
    'NVRTC has no headers of the host: write unsigned char, or compile with nvcc'
    >>> undefined_name("M_PI")
    'NVRTC has no headers of the host: write its number, or compile with nvcc'
    >>> undefined_name("n")
    ''
    """
    header = next((where for form, where in _DEFINED_IN if re.fullmatch(form, name)), None)
    if header is not None and not header.startswith("<cuda/std/"):
        return f"write #include {header}"  # nvcc asks for it, too
    instead = f"#include {header}" if header is not None else _SHORT_TYPES.get(name)
    if instead is None and re.fullmatch(r"M_[A-Z0-9_]+", name):
        instead = "its number"
    if instead is None:
        return ""
    return f"NVRTC has no headers of the host: write {instead}, or compile with nvcc"


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
