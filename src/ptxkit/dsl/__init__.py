"""PTX written in Python.

>>> from ptxkit.dsl import Module, addr, param, ptx, reg
>>> module = Module(version="8.0", target="sm_80")
>>> @module.kernel
... def store(out: param.u64):
...     place = reg.b64("%rd1")
...     ptx.ld.param.u64(place, addr(out))
...     ptx.st.global_.u32(addr(place), 7)
...     ptx.ret()
>>> print(module.ptx())
.version 8.0
.target sm_80
.address_size 64
<BLANKLINE>
.visible .entry store(.param .u64 out)
{
    .reg .b64 %rd1;
<BLANKLINE>
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], 7;
    ret;
}
<BLANKLINE>
"""

from ptxkit.dsl import cp_async, mma, tma, warp, wgmma
from ptxkit.dsl.barriers import Barrier, Barriers, Ring, fence_copies, fence_init
from ptxkit.dsl.constants import (
    FULL_MASK,
    INFINITY,
    INFINITY_BITS,
    LN_2,
    LOG2_E,
    MAGNITUDE_BITS,
    NEGATIVE_INFINITY_BITS,
    PI,
    SIGN_BIT,
    TWO_PI,
)
from ptxkit.dsl.declarations import Declared as declared  # noqa: N813
from ptxkit.dsl.declarations import Field as field  # noqa: N813
from ptxkit.dsl.declarations import Words
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.functions import Function
from ptxkit.dsl.kernels import Kernel, kernel
from ptxkit.dsl.launching import cdiv
from ptxkit.dsl.module import Module
from ptxkit.dsl.namespace import ptx
from ptxkit.dsl.operands import (
    addr,
    applied,
    element,
    inverted,
    lit,
    minus,
    name,
    offset,
    pair,
    sreg,
)
from ptxkit.dsl.shared import Pool, SharedTile, smem
from ptxkit.dsl.signatures import Named as named  # noqa: N813
from ptxkit.dsl.specs import Size, Stride, Tile
from ptxkit.dsl.swizzles import swizzled
from ptxkit.dsl.tma import tensor_map
from ptxkit.dsl.types import (
    b8,
    b16,
    b32,
    b64,
    b128,
    bf16,
    e4m3,
    e5m2,
    f16,
    f16x2,
    f32,
    f64,
    pred,
    ptr,
    s8,
    s16,
    s32,
    s64,
    tf32,
    u8,
    u16,
    u32,
    u64,
)
from ptxkit.dsl.views import View, view

reg = Words((".reg",))
shared = smem
local = Words((".local",))
const = Words((".const",))
global_ = Words((".global",))
ordered = Words()
param = Words((".param",))

__all__ = [
    "FULL_MASK",
    "INFINITY",
    "INFINITY_BITS",
    "LN_2",
    "LOG2_E",
    "MAGNITUDE_BITS",
    "NEGATIVE_INFINITY_BITS",
    "PI",
    "SIGN_BIT",
    "TWO_PI",
    "Barrier",
    "Barriers",
    "DslError",
    "Function",
    "Kernel",
    "Module",
    "Pool",
    "Ring",
    "SharedTile",
    "Size",
    "Stride",
    "Tile",
    "View",
    "addr",
    "applied",
    "b8",
    "b16",
    "b32",
    "b64",
    "b128",
    "bf16",
    "cdiv",
    "const",
    "cp_async",
    "declared",
    "e4m3",
    "e5m2",
    "element",
    "f16",
    "f16x2",
    "f32",
    "f64",
    "fence_copies",
    "fence_init",
    "field",
    "global_",
    "inverted",
    "kernel",
    "lit",
    "local",
    "minus",
    "mma",
    "name",
    "named",
    "offset",
    "ordered",
    "pair",
    "param",
    "pred",
    "ptr",
    "ptx",
    "reg",
    "s8",
    "s16",
    "s32",
    "s64",
    "shared",
    "smem",
    "sreg",
    "swizzled",
    "tensor_map",
    "tf32",
    "tma",
    "u8",
    "u16",
    "u32",
    "u64",
    "view",
    "warp",
    "wgmma",
]
