"""A program of several threads: the body of a kernel, and how it is launched."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class ThreadProgram:
    """The body of a kernel.

    ``%in`` and ``%out`` point to the words of source and result, ``%t`` is the thread's number
    in the grid, ``%mine`` the address of its word in the first row of the result, ``%lane`` its
    lane. ``rows`` are the words of the result for each thread. ``NAME`` in names is replaced.
    """

    key: str
    body: str
    rows: int = 1
    block: int = 32
    grid: int = 1
    cluster: int = 1
    outside: str = ""  # declarations before the kernel
    values: tuple[int, int] = (0, 1 << 64)  # range of the random source words
    source_words: int = 512
    directives: str = ""
    special: tuple[int, ...] = field(default=())  # the first words of the source

    @property
    def words(self) -> int:
        """Words of the result."""
        return self.rows * self.block * self.grid


_HEAD = """\
{outside}
.visible .entry NAME(.param .u64 source, .param .u64 result) {directives}
{{
.reg .b64 %in, %out, %mine, %near, %x<20>;
.reg .b32 %t, %lane, %local, %cta, %threads, %w<20>;
.reg .b16 %h<4>;
.reg .pred %p<8>;
ld.param.u64 %in, [source];
ld.param.u64 %out, [result];
mov.u32 %local, %tid.x;
mov.u32 %cta, %ctaid.x;
mov.u32 %threads, %ntid.x;
mad.lo.u32 %t, %cta, %threads, %local;
mov.u32 %lane, %laneid;
mul.wide.u32 %near, %t, 8;
add.u64 %mine, %out, %near;
add.u64 %near, %in, %near;
"""


def kernel(name: str, one: ThreadProgram) -> str:
    """The program as a kernel."""
    text = _HEAD.format(outside=one.outside, directives=one.directives)
    return (text + one.body + "\nret;\n}\n").replace("NAME", name)


def source(one: ThreadProgram) -> npt.NDArray[np.uint64]:
    """Random words of the program's range."""
    seed = int.from_bytes(one.key.encode()[:96].ljust(96, b"\0"), "little") % (1 << 63)
    generator = np.random.Generator(np.random.Philox(seed))
    low, high = one.values
    words = generator.integers(low, high, one.source_words, dtype=np.uint64, endpoint=False)
    words[: len(one.special)] = one.special
    return words


def put(row: int, register: str, total: int, width: int = 32) -> str:
    """Store a register as this thread's word of a row of the result."""
    return f"st.global.u{width} [%mine+{8 * row * total}], {register};\n"
