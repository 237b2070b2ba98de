"""Words of C++, and names that CUDA has taken: what nothing else may be called."""

from __future__ import annotations

import re

from ptxkit.cuda.functions import BUILTINS

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_KEYWORDS = frozenset(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t "
    "char32_t class compl concept const const_cast consteval constexpr constinit continue co_await "
    "co_return co_yield decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
    "return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename typeof union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq".split()
)
#: Names of CUDA that code makes use of: a variable of a function must not hide them.
_USED = frozenset(
    "main NULL INFINITY NAN assert threadIdx blockIdx blockDim gridDim warpSize half min max abs "
    "printf malloc free".split()
)
RESERVED = _KEYWORDS | _USED
#: What NVRTC declares before the first line of a file: nothing else outside of functions is that.
_DECLARED = frozenset(
    "dim3 std size_t ptrdiff_t va_list cudaError_t cudaStream_t vprintf abort exit clock clock64 "
    "memcpy memset strlen labs llabs isfinite isinf isnan signbit j0 j1 jn y0 y1 yn tex1D tex2D "
    "tex3D surf1Dread surf2Dread surf3Dread".split()
) | {
    f"{sign}{word}{count}"
    for word in "char short int long longlong float double".split()
    for sign in ("", "u")
    for count in ("1", "2", "3", "4", "4_16a", "4_32a")
}


def is_free(name: str) -> bool:
    """Whether a kernel or a variable can be called so, and its symbol is just that.

    >>> [word for word in ("scale", "float", "long4", "sinf", "a$b") if is_free(word)]
    ['scale']
    """
    if _WORD.fullmatch(name) is None or (name.startswith("__") and name.endswith("__")):
        return False
    return name not in RESERVED and name not in _DECLARED and name not in BUILTINS
