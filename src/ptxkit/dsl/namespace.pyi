# Made from the instruction table by `python -m ptxkit.dsl.stubs`; do not edit.
# mypy: disable-error-code="overload-overlap, overload-cannot-match"
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, TypeAlias, overload

from ptxkit.dsl.control import Condition, Else, GivenLabel, If, Region
from ptxkit.dsl.instructions import Opcode
from ptxkit.dsl.loops import DoWhile, Loop, Repeat, While
from ptxkit.dsl.operands import Constant, Label, Operand
from ptxkit.dsl.registers import Register
from ptxkit.dsl.statements import Statement
from ptxkit.dsl.switches import Switch

Value: TypeAlias = Operand | int | float | str
Vector: TypeAlias = Sequence[Value]
Written: TypeAlias = Register | Operand | str | Sequence[Operand | str]
Immediate: TypeAlias = int | Constant
Guard: TypeAlias = Operand | None

class _Abs:
    """Absolute value."""

    bf16: _Abs
    bf16x2: _Abs
    f16: _Abs
    f16x2: _Abs
    f32: _Abs
    f64: _Abs
    ftz: _Abs
    s16: _Abs
    s32: _Abs
    s64: _Abs
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Activemask:
    """Give the mask of the lanes that execute this instruction together."""

    b32: _Activemask
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, /, *, when: Guard = None) -> Statement: ...

class _Add:
    """add: Add two values; .sat clamps the sum to the range of the type.
    add.cc: Add two integers and write the carry-out to the carry flag.
    """

    bf16: _Add
    bf16x2: _Add
    cc: _Add
    f16: _Add
    f16x2: _Add
    f32: _Add
    f32x2: _Add
    f64: _Add
    ftz: _Add
    rm: _Add
    rn: _Add
    rp: _Add
    rz: _Add
    s16: _Add
    s16x2: _Add
    s32: _Add
    s64: _Add
    s8x4: _Add
    sat: _Add
    u16: _Add
    u16x2: _Add
    u32: _Add
    u64: _Add
    u8x4: _Add
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Addc:
    """Add two integers and the carry flag; with .cc also write the carry-out."""

    cc: _Addc
    s32: _Addc
    s64: _Addc
    u32: _Addc
    u64: _Addc
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Alloca:
    """Reserve bytes on the stack, optionally aligned, and give their local address."""

    u32: _Alloca
    u64: _Alloca
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, p: Written, size: Value, align: Immediate = ..., /, *, when: Guard = None) -> Statement: ...

class _And:
    """Bitwise and of a and b."""

    b16: _And
    b32: _And
    b64: _And
    pred: _And
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Applypriority:
    """applypriority: Give the cache lines of an address range another eviction priority.
    applypriority.async.bulk: Give the cache lines of an address range another eviction priority, without waiting.
    """

    L2__evict_normal: _Applypriority
    async_: _Applypriority
    bulk: _Applypriority
    bulk_group: _Applypriority
    global_: _Applypriority
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, a: Operand, size: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, size: Value, /, *, when: Guard = None) -> Statement: ...

class _Atom:
    """Change a value in memory in one step that no other thread can split; give the old one."""

    L2__cache_hint: _Atom
    acq_rel: _Atom
    acquire: _Atom
    add: _Atom
    and_: _Atom
    b128: _Atom
    b16: _Atom
    b32: _Atom
    b64: _Atom
    bf16: _Atom
    bf16x2: _Atom
    cas: _Atom
    cluster: _Atom
    cta: _Atom
    dec: _Atom
    exch: _Atom
    f16: _Atom
    f16x2: _Atom
    f32: _Atom
    f64: _Atom
    global_: _Atom
    gpu: _Atom
    inc: _Atom
    max: _Atom
    min: _Atom
    noftz: _Atom
    or_: _Atom
    relaxed: _Atom
    release: _Atom
    s32: _Atom
    s64: _Atom
    shared: _Atom
    shared__cluster: _Atom
    shared__cta: _Atom
    sys: _Atom
    u32: _Atom
    u64: _Atom
    v2: _Atom
    v4: _Atom
    v8: _Atom
    xor: _Atom
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Operand, b: Value | Vector, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Operand, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Operand, b: Value, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Bar:
    """bar: Wait at a barrier of the CTA until all of its threads, or as many as given, are there.
    bar.arrive: Count this thread as arrived at a barrier of the CTA, without waiting.
    bar.cta: Wait at a barrier of the CTA until all of its threads, or as many as given, are there.
    bar.cta.arrive: Count this thread as arrived at a barrier of the CTA, without waiting.
    bar.cta.red: Wait at a barrier of the CTA and combine a predicate over its threads.
    bar.red: Wait at a barrier of the CTA and combine a predicate over its threads.
    bar.warp: Wait until the lanes of the mask are here, and order their memory accesses.
    """

    and_: _Bar
    arrive: _Bar
    cta: _Bar
    or_: _Bar
    popc: _Bar
    pred: _Bar
    red: _Bar
    sync: _Bar
    u32: _Bar
    warp: _Bar
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, mask: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Value, b: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value = ..., c: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Barrier:
    """barrier: Wait at a barrier of the CTA until all of its threads, or as many as given, are there.
    barrier.arrive: Count this thread as arrived at a barrier of the CTA, without waiting.
    barrier.cluster.arrive: Count this thread as arrived at the barrier of the cluster, without waiting.
    barrier.cluster.wait: Wait until all threads of the cluster have arrived at its barrier.
    barrier.cta: Wait at a barrier of the CTA until all of its threads, or as many as given, are there.
    barrier.cta.arrive: Count this thread as arrived at a barrier of the CTA, without waiting.
    barrier.cta.red: Wait at a barrier of the CTA and combine a predicate over its threads.
    barrier.red: Wait at a barrier of the CTA and combine a predicate over its threads.
    """

    acquire: _Barrier
    aligned: _Barrier
    and_: _Barrier
    arrive: _Barrier
    cluster: _Barrier
    cta: _Barrier
    or_: _Barrier
    popc: _Barrier
    pred: _Barrier
    red: _Barrier
    relaxed: _Barrier
    release: _Barrier
    sync: _Barrier
    u32: _Barrier
    wait: _Barrier
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Value, b: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value = ..., c: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Bfe:
    """Extract the field of c bits that begins at bit b of a, zero- or sign-extended."""

    s32: _Bfe
    s64: _Bfe
    u32: _Bfe
    u64: _Bfe
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Bfi:
    """Insert the low d bits of a into b, beginning at bit c."""

    b32: _Bfi
    b64: _Bfi
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, f: Written, a: Value, b: Value, c: Value, d: Value, /, *, when: Guard = None) -> Statement: ...

class _Bfind:
    """Position of the highest bit that is not a sign bit, or with .shiftamt the left shift that brings it to the top; all ones when there is none."""

    s32: _Bfind
    s64: _Bfind
    shiftamt: _Bfind
    u32: _Bfind
    u64: _Bfind
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Bmsk:
    """A mask of b one bits that begins at bit a; .clamp or .wrap treat values above 31."""

    b32: _Bmsk
    clamp: _Bmsk
    wrap: _Bmsk
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Bra:
    """Go on at a label; '.uni' promises that all active lanes do the same."""

    uni: _Bra
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, label: Any, /, *, when: Guard = None) -> Statement: ...

class _Brev:
    """Reverse the order of the bits of a."""

    b32: _Brev
    b64: _Brev
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Brkpt:
    """Suspend the thread for a debugger."""

    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, *, when: Guard = None) -> Statement: ...

class _Brx:
    """Go on at the label that an index selects from a list of branch targets."""

    idx: _Brx
    uni: _Brx
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, index: Value, targets: Any, /, *, when: Guard = None) -> Statement: ...

class _Call:
    """Call a function, by name or through an address with its possible targets or prototype."""

    uni: _Call
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, function: Any, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, pointer: Value, prototype: Any, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, results: Any, function: Any, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, pointer: Value, arguments: Any, prototype: Any, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, results: Any, function: Any, arguments: Any, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, results: Any, pointer: Value, prototype: Any, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, results: Any, pointer: Value, arguments: Any, prototype: Any, /, *, when: Guard = None) -> Statement: ...

class _Clusterlaunchcontrol:
    """clusterlaunchcontrol.query_cancel: Read the answer to a request for cancellation: whether, and which cluster.
    clusterlaunchcontrol.try_cancel.async: Ask to cancel the launch of a cluster that has not started, to take over its work.
    """

    async_: _Clusterlaunchcontrol
    b128: _Clusterlaunchcontrol
    b32: _Clusterlaunchcontrol
    get_first_ctaid: _Clusterlaunchcontrol
    get_first_ctaid__x: _Clusterlaunchcontrol
    get_first_ctaid__y: _Clusterlaunchcontrol
    get_first_ctaid__z: _Clusterlaunchcontrol
    is_canceled: _Clusterlaunchcontrol
    mbarrier__complete_tx__bytes: _Clusterlaunchcontrol
    multicast__cluster__all: _Clusterlaunchcontrol
    pred: _Clusterlaunchcontrol
    query_cancel: _Clusterlaunchcontrol
    shared__cta: _Clusterlaunchcontrol
    try_cancel: _Clusterlaunchcontrol
    v4: _Clusterlaunchcontrol
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Operand, m: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, p: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Clz:
    """Count the zero bits above the highest one bit of a."""

    b32: _Clz
    b64: _Clz
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Cnot:
    """One where a is zero, else zero, as C's '!' does."""

    b16: _Cnot
    b32: _Cnot
    b64: _Cnot
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Copysign:
    """The magnitude of b with the sign of a."""

    f32: _Copysign
    f64: _Copysign
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Cos:
    """Approximate cosine of a in radians."""

    approx: _Cos
    f32: _Cos
    ftz: _Cos
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Cp:
    """cp.async: Start a copy of 4, 8 or 16 bytes from global to shared memory, the rest zero-filled.
    cp.async.bulk: Start a copy of a block of bytes between global and shared memory, or within a cluster.
    cp.async.bulk.commit_group: Gather the bulk copies this thread has started so far into a group.
    cp.async.bulk.prefetch: Ask for a block of global memory to be brought into the L2 cache.
    cp.async.bulk.prefetch.tensor: Ask for a box of a tensor to be brought into the L2 cache.
    cp.async.bulk.tensor: Start a copy of a box of a tensor between global and shared memory.
    cp.async.bulk.wait_group: Wait until at most so many of the latest bulk groups are unfinished, or still read.
    cp.async.commit_group: Gather the copies this thread has started so far into a group.
    cp.async.mbarrier.arrive: Arrive at an mbarrier once the copies this thread has started are finished.
    cp.async.wait_all: Wait until all copies that this thread has started are finished.
    cp.async.wait_group: Wait until at most so many of this thread's latest copy groups are unfinished.
    cp.reduce.async.bulk: Start a reduction of a block of values in shared memory into memory elsewhere.
    cp.reduce.async.bulk.tensor: Start a reduction of a box of values in shared memory into a tensor.
    """

    _1d: _Cp
    _2d: _Cp
    _3d: _Cp
    _4d: _Cp
    _5d: _Cp
    L2: _Cp
    L2__128B: _Cp
    L2__256B: _Cp
    L2__64B: _Cp
    L2__cache_hint: _Cp
    add: _Cp
    and_: _Cp
    arrive: _Cp
    async_: _Cp
    b32: _Cp
    b64: _Cp
    bf16: _Cp
    bulk: _Cp
    bulk_group: _Cp
    ca: _Cp
    cg: _Cp
    commit_group: _Cp
    cp_mask: _Cp
    cta_group__1: _Cp
    cta_group__2: _Cp
    dec: _Cp
    f16: _Cp
    f32: _Cp
    f64: _Cp
    global_: _Cp
    ignore_oob: _Cp
    im2col: _Cp
    im2col__w: _Cp
    im2col__w__128: _Cp
    im2col_no_offs: _Cp
    inc: _Cp
    max: _Cp
    mbarrier: _Cp
    mbarrier__complete_tx__bytes: _Cp
    min: _Cp
    multicast__cluster: _Cp
    noftz: _Cp
    noinc: _Cp
    or_: _Cp
    prefetch: _Cp
    read: _Cp
    reduce: _Cp
    s32: _Cp
    s64: _Cp
    shared: _Cp
    shared__cluster: _Cp
    shared__cta: _Cp
    tensor: _Cp
    tile: _Cp
    tile__gather4: _Cp
    tile__scatter4: _Cp
    u32: _Cp
    u64: _Cp
    wait_all: _Cp
    wait_group: _Cp
    xor: _Cp
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, n: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, t: Operand, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, size: Value, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, t: Operand, a: Operand, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, t: Operand, o: Value | Vector, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, size: Value, m: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, size: Value, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, size: Immediate, bytes: Value = ..., policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, size: Immediate, ignore: Value, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, size: Value, m: Operand, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, size: Value, policy: Value = ..., mask: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, t: Operand, m: Operand, mask: Value = ..., policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, size: Value, m: Operand, mask: Value = ..., policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, t: Operand, m: Operand, o: Value | Vector, mask: Value = ..., policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, size: Value, left: Value, right: Value, m: Operand, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Createpolicy:
    """createpolicy.cvt: Turn an access property of CUDA C++ into a cache policy.
    createpolicy.fractional: Make a cache policy that gives a fraction of the accesses the first priority.
    createpolicy.range: Make a cache policy that gives the first bytes of a range the first priority.
    """

    L2: _Createpolicy
    L2__evict_first: _Createpolicy
    L2__evict_last: _Createpolicy
    L2__evict_normal: _Createpolicy
    L2__evict_unchanged: _Createpolicy
    b64: _Createpolicy
    cvt: _Createpolicy
    fractional: _Createpolicy
    global_: _Createpolicy
    range: _Createpolicy
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, fraction: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Operand, primary: Value, total: Value, /, *, when: Guard = None) -> Statement: ...

class _Cvt:
    """cvt: Convert a value to another type, rounding and saturating as the modifiers say.
    cvt.pack: Convert two integers to a narrower type with saturation and pack them, above the low bits of c where there is one.
    """

    b32: _Cvt
    bf16: _Cvt
    bf16x2: _Cvt
    e2m1x2: _Cvt
    e2m1x4: _Cvt
    e2m3x2: _Cvt
    e2m3x4: _Cvt
    e3m2x2: _Cvt
    e3m2x4: _Cvt
    e4m3x2: _Cvt
    e4m3x4: _Cvt
    e5m2x2: _Cvt
    e5m2x4: _Cvt
    f16: _Cvt
    f16x2: _Cvt
    f32: _Cvt
    f64: _Cvt
    ftz: _Cvt
    pack: _Cvt
    relu: _Cvt
    rm: _Cvt
    rmi: _Cvt
    rn: _Cvt
    rna: _Cvt
    rni: _Cvt
    rp: _Cvt
    rpi: _Cvt
    rs: _Cvt
    rz: _Cvt
    rzi: _Cvt
    s16: _Cvt
    s2: _Cvt
    s2f6x2: _Cvt
    s32: _Cvt
    s4: _Cvt
    s64: _Cvt
    s8: _Cvt
    sat: _Cvt
    satfinite: _Cvt
    scaled__n2__ue8m0: _Cvt
    tf32: _Cvt
    u16: _Cvt
    u2: _Cvt
    u32: _Cvt
    u4: _Cvt
    u64: _Cvt
    u8: _Cvt
    ue8m0x2: _Cvt
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, r: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, s: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, r: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, s: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Cvta:
    """cvta: Turn an address of a state space, or a symbol there, into a generic address.
    cvta.to: Turn a generic address into an address of a state space.
    """

    const: _Cvta
    global_: _Cvta
    local: _Cvta
    param: _Cvta
    param__entry: _Cvta
    shared: _Cvta
    shared__cluster: _Cvta
    shared__cta: _Cvta
    to: _Cvta
    u32: _Cvta
    u64: _Cvta
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Discard:
    """Drop the data of cache lines without writing it back; the memory is then undefined."""

    L2: _Discard
    global_: _Discard
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, a: Operand, size: Immediate, /, *, when: Guard = None) -> Statement: ...

class _Div:
    """div: Divide a by b; integers truncate towards zero.
    div.full: Divide a by b, fast and within 2 units in the last place over the full range.
    """

    approx: _Div
    f32: _Div
    f64: _Div
    ftz: _Div
    full: _Div
    rm: _Div
    rn: _Div
    rp: _Div
    rz: _Div
    s16: _Div
    s32: _Div
    s64: _Div
    u16: _Div
    u32: _Div
    u64: _Div
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Dp2a:
    """dp2a.hi: Multiply the halves of a by the two high bytes of b and add the two products to c.
    dp2a.lo: Multiply the halves of a by the two low bytes of b and add the two products to c.
    """

    hi: _Dp2a
    lo: _Dp2a
    s32: _Dp2a
    u32: _Dp2a
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Dp4a:
    """Multiply the four bytes of a by those of b and add the four products to c."""

    s32: _Dp4a
    u32: _Dp4a
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Elect:
    """Choose one lane of the mask as leader: its number, and whether it is this lane."""

    sync: _Elect
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def paired(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, predicate: int | None = None) -> Any: ...
    def __call__(self, d: Operand, mask: Value, /, *, when: Guard = None) -> Statement: ...

class _Ex2:
    """Approximate 2 raised to the power a."""

    approx: _Ex2
    bf16: _Ex2
    bf16x2: _Ex2
    f16: _Ex2
    f16x2: _Ex2
    f32: _Ex2
    ftz: _Ex2
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Exit:
    """End the thread."""

    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, *, when: Guard = None) -> Statement: ...

class _Fence:
    """fence: Order this thread's memory accesses, as seen by the threads of a scope.
    fence.proxy: Order memory accesses that go different ways: aliases, async copies, tensor maps.
    """

    acq_rel: _Fence
    acquire: _Fence
    alias: _Fence
    async_: _Fence
    async__generic: _Fence
    cluster: _Fence
    cta: _Fence
    fabric__fabric: _Fence
    fabric__generic: _Fence
    generic__fabric: _Fence
    global_: _Fence
    gpu: _Fence
    mbarrier_init: _Fence
    proxy: _Fence
    release: _Fence
    sc: _Fence
    shared__cluster: _Fence
    shared__cta: _Fence
    sync_restrict__shared__cluster: _Fence
    sync_restrict__shared__cta: _Fence
    sys: _Fence
    tensormap__generic: _Fence
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, size: Immediate, /, *, when: Guard = None) -> Statement: ...

class _Fma:
    """Multiply a by b and add c with a single rounding; .sat clamps the result to [0, 1]."""

    bf16: _Fma
    bf16x2: _Fma
    f16: _Fma
    f16x2: _Fma
    f32: _Fma
    f32x2: _Fma
    f64: _Fma
    ftz: _Fma
    oob: _Fma
    relu: _Fma
    rm: _Fma
    rn: _Fma
    rp: _Fma
    rz: _Fma
    sat: _Fma
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Fns:
    """Position of the n-th one bit of the mask, counted from the base bit; all ones when there is none."""

    b32: _Fns
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, mask: Value, base: Value, offset: Value, /, *, when: Guard = None) -> Statement: ...

class _Getctarank:
    """Give the rank of the CTA in whose shared memory an address lies."""

    s32: _Getctarank
    s64: _Getctarank
    shared__cluster: _Getctarank
    u32: _Getctarank
    u64: _Getctarank
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Griddepcontrol:
    """Let dependent grids start, or wait for the grids this one depends on."""

    launch_dependents: _Griddepcontrol
    wait: _Griddepcontrol
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, *, when: Guard = None) -> Statement: ...

class _Isspacep:
    """Tell whether a generic address lies in a state space."""

    const: _Isspacep
    global_: _Isspacep
    local: _Isspacep
    param: _Isspacep
    param__entry: _Isspacep
    shared: _Isspacep
    shared__cluster: _Isspacep
    shared__cta: _Isspacep
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, p: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Istypep:
    """Tell whether a handle stands for a texture, a sampler or a surface."""

    samplerref: _Istypep
    surfref: _Istypep
    texref: _Istypep
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, p: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Ld:
    """Load a value or a vector from memory."""

    L1__evict_first: _Ld
    L1__evict_last: _Ld
    L1__evict_normal: _Ld
    L1__evict_unchanged: _Ld
    L1__no_allocate: _Ld
    L2__128B: _Ld
    L2__256B: _Ld
    L2__64B: _Ld
    L2__cache_hint: _Ld
    L2__evict_first: _Ld
    L2__evict_last: _Ld
    L2__evict_normal: _Ld
    acquire: _Ld
    b128: _Ld
    b16: _Ld
    b32: _Ld
    b64: _Ld
    b8: _Ld
    ca: _Ld
    cg: _Ld
    cluster: _Ld
    const: _Ld
    cs: _Ld
    cta: _Ld
    cv: _Ld
    f32: _Ld
    f64: _Ld
    global_: _Ld
    gpu: _Ld
    local: _Ld
    lu: _Ld
    mmio: _Ld
    nc: _Ld
    param: _Ld
    param__entry: _Ld
    param__func: _Ld
    relaxed: _Ld
    s16: _Ld
    s32: _Ld
    s64: _Ld
    s8: _Ld
    shared: _Ld
    shared__cluster: _Ld
    shared__cta: _Ld
    sys: _Ld
    u16: _Ld
    u32: _Ld
    u64: _Ld
    u8: _Ld
    v2: _Ld
    v4: _Ld
    v8: _Ld
    volatile: _Ld
    weak: _Ld
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def at(self, base: Value, offset: Value | None = None, *, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Operand, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Ldmatrix:
    """Load one, two or four small matrices from shared memory into a warp's registers."""

    aligned: _Ldmatrix
    b16: _Ldmatrix
    b4x16_p64: _Ldmatrix
    b6x16_p32: _Ldmatrix
    b8: _Ldmatrix
    b8x16: _Ldmatrix
    m16n16: _Ldmatrix
    m8n16: _Ldmatrix
    m8n8: _Ldmatrix
    shared: _Ldmatrix
    shared__cta: _Ldmatrix
    sync: _Ldmatrix
    trans: _Ldmatrix
    x1: _Ldmatrix
    x2: _Ldmatrix
    x4: _Ldmatrix
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, r: Written, p: Operand, /, *, when: Guard = None) -> Statement: ...

class _Ldu:
    """Load read-only global data from an address that all threads of the warp share."""

    b128: _Ldu
    b16: _Ldu
    b32: _Ldu
    b64: _Ldu
    b8: _Ldu
    f32: _Ldu
    f64: _Ldu
    global_: _Ldu
    s16: _Ldu
    s32: _Ldu
    s64: _Ldu
    s8: _Ldu
    u16: _Ldu
    u32: _Ldu
    u64: _Ldu
    u8: _Ldu
    v2: _Ldu
    v4: _Ldu
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Operand, /, *, when: Guard = None) -> Statement: ...

class _Lg2:
    """Approximate logarithm of a to base 2."""

    approx: _Lg2
    f32: _Lg2
    ftz: _Lg2
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Lop3:
    """Any bitwise function of a, b and c, given as the eight bits of its truth table; the boolean form also writes whether the result is not zero, combined with q."""

    and_: _Lop3
    b32: _Lop3
    or_: _Lop3
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def paired(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, predicate: int | None = None) -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, lut: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, c: Value, lut: Immediate, q: Value, /, *, when: Guard = None) -> Statement: ...

class _Mad:
    """mad: Multiply a by b and add c; the same as fma since sm_20.
    mad.hi: Multiply two integers and add c to the high half of the product; .sat clamps the sum.
    mad.hi.cc: Add c to the high half of a product and write the carry-out to the carry flag.
    mad.lo: Multiply two integers and add c to the low half of the product.
    mad.lo.cc: Add c to the low half of a product and write the carry-out to the carry flag.
    mad.wide: Multiply two integers into a product of twice their width and add c of that width.
    """

    cc: _Mad
    f32: _Mad
    f64: _Mad
    ftz: _Mad
    hi: _Mad
    lo: _Mad
    rm: _Mad
    rn: _Mad
    rp: _Mad
    rz: _Mad
    s16: _Mad
    s32: _Mad
    s64: _Mad
    sat: _Mad
    u16: _Mad
    u32: _Mad
    u64: _Mad
    wide: _Mad
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Mad24:
    """mad24.hi: Multiply two 24-bit integers and add c to the high 32 bits of the 48-bit product.
    mad24.lo: Multiply two 24-bit integers and add c to the low 32 bits of the 48-bit product.
    """

    hi: _Mad24
    lo: _Mad24
    s32: _Mad24
    sat: _Mad24
    u32: _Mad24
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Madc:
    """madc.hi: Add c and the carry flag to the high half of a product; with .cc write the carry-out.
    madc.lo: Add c and the carry flag to the low half of a product; with .cc write the carry-out.
    """

    cc: _Madc
    hi: _Madc
    lo: _Madc
    s32: _Madc
    s64: _Madc
    u32: _Madc
    u64: _Madc
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Mapa:
    """Map an address of shared memory to the same place in another CTA of the cluster."""

    s32: _Mapa
    s64: _Mapa
    shared__cluster: _Mapa
    u32: _Mapa
    u64: _Mapa
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Match:
    """Find the lanes of a warp that hold the same value: as this lane, or all of them."""

    all: _Match
    any: _Match
    b32: _Match
    b64: _Match
    sync: _Match
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def paired(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, predicate: int | None = None) -> Any: ...
    @overload
    def __call__(self, d: Operand, a: Value, mask: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, mask: Value, /, *, when: Guard = None) -> Statement: ...

class _Max:
    """The largest operand; .relu clamps a negative result to zero."""

    NaN: _Max
    abs: _Max
    bf16: _Max
    bf16x2: _Max
    f16: _Max
    f16x2: _Max
    f32: _Max
    f64: _Max
    ftz: _Max
    relu: _Max
    s16: _Max
    s16x2: _Max
    s32: _Max
    s64: _Max
    s8x4: _Max
    u16: _Max
    u16x2: _Max
    u32: _Max
    u64: _Max
    u8x4: _Max
    xorsign: _Max
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Mbarrier:
    """mbarrier.arrive: Arrive at an mbarrier, once or as often as given; gives the state of the phase.
    mbarrier.arrive.expect_tx: Raise the bytes a phase waits for and arrive at its mbarrier, in one step.
    mbarrier.arrive_drop: Arrive at an mbarrier and lower the arrivals it expects in later phases.
    mbarrier.arrive_drop.expect_tx: Raise the bytes a phase waits for, arrive, and expect fewer arrivals later.
    mbarrier.complete_tx: Lower the number of bytes that the current phase waits for, as an async copy would.
    mbarrier.expect_tx: Raise the number of bytes that the current phase of an mbarrier waits for.
    mbarrier.init: Make an mbarrier in shared memory that expects so many arrivals a phase.
    mbarrier.inval: End the life of an mbarrier, so that its memory can be used otherwise.
    mbarrier.pending_count: Give the number of pending arrivals that a state of an mbarrier holds.
    mbarrier.test_wait: Say whether the phase of a state has completed, without waiting.
    mbarrier.test_wait.parity: Say whether the phase of a parity has completed, without waiting.
    mbarrier.try_wait: Wait a limited time for the phase of a state, and say whether it has completed.
    mbarrier.try_wait.parity: Wait a limited time for the phase of a parity, and say whether it has completed.
    """

    acquire: _Mbarrier
    arrive: _Mbarrier
    arrive_drop: _Mbarrier
    b64: _Mbarrier
    cluster: _Mbarrier
    complete_tx: _Mbarrier
    cta: _Mbarrier
    expect_tx: _Mbarrier
    init: _Mbarrier
    inval: _Mbarrier
    noComplete: _Mbarrier
    parity: _Mbarrier
    pending_count: _Mbarrier
    relaxed: _Mbarrier
    release: _Mbarrier
    shared: _Mbarrier
    shared__cluster: _Mbarrier
    shared__cta: _Mbarrier
    test_wait: _Mbarrier
    try_wait: _Mbarrier
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, count: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, state: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, sink: Literal["_"], a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, state: Written, a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, sink: Literal["_"], a: Operand, count: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, sink: Literal["_"], a: Operand, count: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, state: Written, a: Operand, count: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, p: Written, a: Operand, state: Value, time: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Membar:
    """membar: Order this thread's memory accesses as seen by its CTA, the GPU or the whole system.
    membar.proxy: Order accesses to one memory location through different addresses of it.
    """

    alias: _Membar
    cta: _Membar
    gl: _Membar
    proxy: _Membar
    sys: _Membar
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, *, when: Guard = None) -> Statement: ...

class _Min:
    """The smallest operand; .relu clamps a negative result to zero."""

    NaN: _Min
    abs: _Min
    bf16: _Min
    bf16x2: _Min
    f16: _Min
    f16x2: _Min
    f32: _Min
    f64: _Min
    ftz: _Min
    relu: _Min
    s16: _Min
    s16x2: _Min
    s32: _Min
    s64: _Min
    s8x4: _Min
    u16: _Min
    u16x2: _Min
    u32: _Min
    u64: _Min
    u8x4: _Min
    xorsign: _Min
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Mma:
    """Multiply two small matrices spread over a warp and add a third: d = a * b + c."""

    aligned: _Mma
    and_: _Mma
    b1: _Mma
    bf16: _Mma
    block_scale: _Mma
    col: _Mma
    e2m1: _Mma
    e2m3: _Mma
    e3m2: _Mma
    e4m3: _Mma
    e5m2: _Mma
    f16: _Mma
    f32: _Mma
    f64: _Mma
    kind__f8f6f4: _Mma
    kind__mxf4: _Mma
    kind__mxf4nvf4: _Mma
    kind__mxf8f6f4: _Mma
    m16n8k128: _Mma
    m16n8k16: _Mma
    m16n8k256: _Mma
    m16n8k32: _Mma
    m16n8k4: _Mma
    m16n8k64: _Mma
    m16n8k8: _Mma
    m8n8k128: _Mma
    m8n8k16: _Mma
    m8n8k32: _Mma
    m8n8k4: _Mma
    popc: _Mma
    rm: _Mma
    rn: _Mma
    row: _Mma
    rp: _Mma
    rz: _Mma
    s32: _Mma
    s4: _Mma
    s8: _Mma
    satfinite: _Mma
    scale_vec__1X: _Mma
    scale_vec__2X: _Mma
    scale_vec__4X: _Mma
    sp: _Mma
    sp__ordered_metadata: _Mma
    sync: _Mma
    tf32: _Mma
    u4: _Mma
    u8: _Mma
    ue4m3: _Mma
    ue8m0: _Mma
    xor: _Mma
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value | Vector, c: Value | Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value | Vector, c: Value | Vector, e: Value, f: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value | Vector, c: Value | Vector, scale_a: Value, byte_a_thread_a: Vector, scale_b: Value, byte_b_thread_b: Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value | Vector, c: Value | Vector, e: Value, f: Immediate, scale_a: Value, byte_a_thread_a: Vector, scale_b: Value, byte_b_thread_b: Vector, /, *, when: Guard = None) -> Statement: ...

class _Mov:
    """Copy a value, a constant, a special register or an address; pack a vector into one register or unpack it."""

    b128: _Mov
    b16: _Mov
    b32: _Mov
    b64: _Mov
    f32: _Mov
    f64: _Mov
    pred: _Mov
    s16: _Mov
    s32: _Mov
    s64: _Mov
    u16: _Mov
    u32: _Mov
    u64: _Mov
    v2: _Mov
    v4: _Mov
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def halves(self, value: Value, *, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Movmatrix:
    """Transpose an 8 by 8 matrix of 16-bit elements spread over a warp's registers."""

    aligned: _Movmatrix
    b16: _Movmatrix
    m8n8: _Movmatrix
    sync: _Movmatrix
    trans: _Movmatrix
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Mul:
    """mul: Multiply two floating-point values; .sat clamps the product to [0, 1].
    mul.hi: Multiply two integers and keep the high half of the product.
    mul.lo: Multiply two integers and keep the low half of the product.
    mul.wide: Multiply two integers into a product of twice their width.
    """

    bf16: _Mul
    bf16x2: _Mul
    f16: _Mul
    f16x2: _Mul
    f32: _Mul
    f32x2: _Mul
    f64: _Mul
    ftz: _Mul
    hi: _Mul
    lo: _Mul
    rm: _Mul
    rn: _Mul
    rp: _Mul
    rz: _Mul
    s16: _Mul
    s32: _Mul
    s64: _Mul
    sat: _Mul
    u16: _Mul
    u32: _Mul
    u64: _Mul
    wide: _Mul
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Mul24:
    """mul24.hi: Multiply two 24-bit integers and keep the high 32 bits of the 48-bit product.
    mul24.lo: Multiply two 24-bit integers and keep the low 32 bits of the 48-bit product.
    """

    hi: _Mul24
    lo: _Mul24
    s32: _Mul24
    u32: _Mul24
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Multimem:
    """multimem.ld_reduce: Load the values behind a multimem address from all devices and reduce them to one.
    multimem.red: Reduce a value into the place behind a multimem address on all devices.
    multimem.st: Store a value to the place behind a multimem address on all devices.
    """

    acc__f16: _Multimem
    acc__f32: _Multimem
    acquire: _Multimem
    add: _Multimem
    and_: _Multimem
    b32: _Multimem
    b64: _Multimem
    bf16: _Multimem
    bf16x2: _Multimem
    cluster: _Multimem
    cta: _Multimem
    e4m3x2: _Multimem
    e4m3x4: _Multimem
    e5m2x2: _Multimem
    e5m2x4: _Multimem
    f16: _Multimem
    f16x2: _Multimem
    f32: _Multimem
    f64: _Multimem
    global_: _Multimem
    gpu: _Multimem
    ld_reduce: _Multimem
    max: _Multimem
    min: _Multimem
    or_: _Multimem
    red: _Multimem
    relaxed: _Multimem
    release: _Multimem
    s32: _Multimem
    s64: _Multimem
    st: _Multimem
    sys: _Multimem
    u32: _Multimem
    u64: _Multimem
    v2: _Multimem
    v4: _Multimem
    v8: _Multimem
    weak: _Multimem
    xor: _Multimem
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, a: Operand, b: Value | Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Operand, /, *, when: Guard = None) -> Statement: ...

class _Nanosleep:
    """Suspend the thread for about t nanoseconds, at most twice that."""

    u32: _Nanosleep
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, t: Value, /, *, when: Guard = None) -> Statement: ...

class _Neg:
    """Negate a value."""

    bf16: _Neg
    bf16x2: _Neg
    f16: _Neg
    f16x2: _Neg
    f32: _Neg
    f64: _Neg
    ftz: _Neg
    s16: _Neg
    s32: _Neg
    s64: _Neg
    s8x4: _Neg
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Not:
    """Invert every bit of a."""

    b16: _Not
    b32: _Not
    b64: _Not
    pred: _Not
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Or:
    """Bitwise or of a and b."""

    b16: _Or
    b32: _Or
    b64: _Or
    pred: _Or
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Pmevent:
    """Trigger a performance-monitor event, or with .mask every event of a mask."""

    mask: _Pmevent
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, a: Immediate, /, *, when: Guard = None) -> Statement: ...

class _Popc:
    """Count the one bits of a."""

    b32: _Popc
    b64: _Popc
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Prefetch:
    """Bring the cache line of an address, or a tensor map, into a cache."""

    L1: _Prefetch
    L1__32B: _Prefetch
    L2: _Prefetch
    L2__evict_last: _Prefetch
    L2__evict_normal: _Prefetch
    const: _Prefetch
    global_: _Prefetch
    local: _Prefetch
    param: _Prefetch
    tensormap: _Prefetch
    valid_addr: _Prefetch
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, a: Operand, /, *, when: Guard = None) -> Statement: ...

class _Prefetchu:
    """Bring the line of a generic address into the uniform cache."""

    L1: _Prefetchu
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, a: Operand, /, *, when: Guard = None) -> Statement: ...

class _Prmt:
    """Pick four bytes out of the eight of b:a, by a selector of four nibbles or by a mode."""

    b32: _Prmt
    b4e: _Prmt
    ecl: _Prmt
    ecr: _Prmt
    f4e: _Prmt
    rc16: _Prmt
    rc8: _Prmt
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Rcp:
    """Reciprocal of a."""

    approx: _Rcp
    f32: _Rcp
    f64: _Rcp
    ftz: _Rcp
    rm: _Rcp
    rn: _Rcp
    rp: _Rcp
    rz: _Rcp
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Red:
    """red: Change a value in memory in one step that no other thread can split.
    red.async: Reduce into the shared memory of a CTA in the cluster and count the bytes at an mbarrier there, or into device memory with release order, without waiting for it.
    """

    L2__cache_hint: _Red
    add: _Red
    and_: _Red
    async_: _Red
    b32: _Red
    b64: _Red
    bf16: _Red
    bf16x2: _Red
    cluster: _Red
    cta: _Red
    dec: _Red
    f16: _Red
    f16x2: _Red
    f32: _Red
    f64: _Red
    global_: _Red
    gpu: _Red
    inc: _Red
    max: _Red
    mbarrier__complete_tx__bytes: _Red
    min: _Red
    mmio: _Red
    noftz: _Red
    or_: _Red
    relaxed: _Red
    release: _Red
    s32: _Red
    s64: _Red
    shared: _Red
    shared__cluster: _Red
    shared__cta: _Red
    sys: _Red
    u32: _Red
    u64: _Red
    v2: _Red
    v4: _Red
    v8: _Red
    xor: _Red
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, a: Operand, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, b: Value | Vector, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, b: Value, mbar: Operand = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, b: Value, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Redux:
    """Reduce a value over the lanes of a warp that the mask names."""

    NaN: _Redux
    abs: _Redux
    add: _Redux
    and_: _Redux
    b32: _Redux
    f32: _Redux
    max: _Redux
    min: _Redux
    or_: _Redux
    s32: _Redux
    sync: _Redux
    u32: _Redux
    xor: _Redux
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, mask: Value, /, *, when: Guard = None) -> Statement: ...

class _Rem:
    """Remainder of dividing a by b, with the sign of a."""

    s16: _Rem
    s32: _Rem
    s64: _Rem
    u16: _Rem
    u32: _Rem
    u64: _Rem
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Ret:
    """Return from the function to its caller; at the end of a kernel, end the thread."""

    uni: _Ret
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, *, when: Guard = None) -> Statement: ...

class _Rsqrt:
    """Approximate reciprocal of the square root of a."""

    approx: _Rsqrt
    f32: _Rsqrt
    f64: _Rsqrt
    ftz: _Rsqrt
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Sad:
    """Add the absolute difference of a and b to c."""

    s16: _Sad
    s32: _Sad
    s64: _Sad
    u16: _Sad
    u32: _Sad
    u64: _Sad
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Selp:
    """Select a where the predicate c holds, else b."""

    b16: _Selp
    b32: _Selp
    b64: _Selp
    f32: _Selp
    f64: _Selp
    s16: _Selp
    s32: _Selp
    s64: _Selp
    u16: _Selp
    u32: _Selp
    u64: _Selp
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Set:
    """Compare a with b, optionally combined with a predicate, into all ones (1.0 for float results) or zero."""

    and_: _Set
    b16: _Set
    b32: _Set
    b64: _Set
    bf16: _Set
    bf16x2: _Set
    eq: _Set
    equ: _Set
    f16: _Set
    f16x2: _Set
    f32: _Set
    f64: _Set
    ftz: _Set
    ge: _Set
    geu: _Set
    gt: _Set
    gtu: _Set
    hi: _Set
    hs: _Set
    le: _Set
    leu: _Set
    lo: _Set
    ls: _Set
    lt: _Set
    ltu: _Set
    nan: _Set
    ne: _Set
    neu: _Set
    num: _Set
    or_: _Set
    s16: _Set
    s32: _Set
    s64: _Set
    u16: _Set
    u32: _Set
    u64: _Set
    xor: _Set
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Setmaxnreg:
    """setmaxnreg.dec: Give back registers beyond a count per thread of the warp.
    setmaxnreg.inc: Ask for registers up to a count per thread of the warp, waiting until they are free.
    """

    aligned: _Setmaxnreg
    dec: _Setmaxnreg
    inc: _Setmaxnreg
    sync: _Setmaxnreg
    u32: _Setmaxnreg
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, count: Immediate, /, *, when: Guard = None) -> Statement: ...

class _Setp:
    """Compare a with b into a predicate, optionally combined with a third one; q receives the negated comparison, or the upper lane's for packed types."""

    and_: _Setp
    b16: _Setp
    b32: _Setp
    b64: _Setp
    bf16: _Setp
    bf16x2: _Setp
    eq: _Setp
    equ: _Setp
    f16: _Setp
    f16x2: _Setp
    f32: _Setp
    f64: _Setp
    ftz: _Setp
    ge: _Setp
    geu: _Setp
    gt: _Setp
    gtu: _Setp
    hi: _Setp
    hs: _Setp
    le: _Setp
    leu: _Setp
    lo: _Setp
    ls: _Setp
    lt: _Setp
    ltu: _Setp
    nan: _Setp
    ne: _Setp
    neu: _Setp
    num: _Setp
    or_: _Setp
    s16: _Setp
    s32: _Setp
    s64: _Setp
    u16: _Setp
    u32: _Setp
    u64: _Setp
    xor: _Setp
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def paired(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, predicate: int | None = None) -> Any: ...
    @overload
    def __call__(self, p: Operand, a: Value, b: Value, c: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, p: Written, a: Value, b: Value, c: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Shf:
    """shf.l: Shift the 64 bits of b:a left by c and keep the high half; c is clamped or wrapped.
    shf.r: Shift the 64 bits of b:a right by c and keep the low half; c is clamped or wrapped.
    """

    b32: _Shf
    clamp: _Shf
    l: _Shf
    r: _Shf
    wrap: _Shf
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Shfl:
    """Read a register of another lane: by index, above, below, or across a butterfly."""

    b32: _Shfl
    bfly: _Shfl
    down: _Shfl
    idx: _Shfl
    sync: _Shfl
    up: _Shfl
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def paired(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, predicate: int | None = None) -> Any: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, c: Value, mask: Value, /, *, when: Guard = None) -> Statement: ...

class _Shl:
    """Shift a left by b bits; amounts above the width give zero."""

    b16: _Shl
    b32: _Shl
    b64: _Shl
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Shr:
    """Shift a right by b bits, filling with the sign for signed types, else with zero."""

    b16: _Shr
    b32: _Shr
    b64: _Shr
    s16: _Shr
    s32: _Shr
    s64: _Shr
    u16: _Shr
    u32: _Shr
    u64: _Shr
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Sin:
    """Approximate sine of a in radians."""

    approx: _Sin
    f32: _Sin
    ftz: _Sin
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Slct:
    """Select a where c is at least zero, else b."""

    b16: _Slct
    b32: _Slct
    b64: _Slct
    f32: _Slct
    f64: _Slct
    ftz: _Slct
    s16: _Slct
    s32: _Slct
    s64: _Slct
    u16: _Slct
    u32: _Slct
    u64: _Slct
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Sqrt:
    """Square root of a."""

    approx: _Sqrt
    f32: _Sqrt
    f64: _Sqrt
    ftz: _Sqrt
    rm: _Sqrt
    rn: _Sqrt
    rp: _Sqrt
    rz: _Sqrt
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _St:
    """st: Store a value or a vector to memory.
    st.async: Store to the shared memory of a CTA in the cluster and count the bytes at an mbarrier there, or release a store to device memory, without waiting for it.
    st.bulk: Fill a region of shared memory with zeros.
    """

    L1__evict_first: _St
    L1__evict_last: _St
    L1__evict_normal: _St
    L1__evict_unchanged: _St
    L1__no_allocate: _St
    L2__cache_hint: _St
    L2__evict_first: _St
    L2__evict_last: _St
    L2__evict_normal: _St
    async_: _St
    b128: _St
    b16: _St
    b32: _St
    b64: _St
    b8: _St
    bulk: _St
    cg: _St
    cluster: _St
    cs: _St
    cta: _St
    f32: _St
    f64: _St
    global_: _St
    gpu: _St
    local: _St
    mbarrier__complete_tx__bytes: _St
    mmio: _St
    param: _St
    param__func: _St
    relaxed: _St
    release: _St
    s16: _St
    s32: _St
    s64: _St
    s8: _St
    shared: _St
    shared__cluster: _St
    shared__cta: _St
    sys: _St
    u16: _St
    u32: _St
    u64: _St
    u8: _St
    v2: _St
    v4: _St
    v8: _St
    volatile: _St
    wb: _St
    weak: _St
    wt: _St
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, a: Operand, b: Value | Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, b: Value | Vector, mbar: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, b: Value | Vector, policy: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, size: Value, zero: Immediate, /, *, when: Guard = None) -> Statement: ...

class _Stackrestore:
    """Set the stack pointer to a value that stacksave gave."""

    u32: _Stackrestore
    u64: _Stackrestore
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Stacksave:
    """Copy the stack pointer into a register."""

    u32: _Stacksave
    u64: _Stacksave
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, /, *, when: Guard = None) -> Statement: ...

class _Stmatrix:
    """Store one, two or four small matrices from a warp's registers to shared memory."""

    aligned: _Stmatrix
    b16: _Stmatrix
    b8: _Stmatrix
    m16n8: _Stmatrix
    m8n8: _Stmatrix
    shared: _Stmatrix
    shared__cta: _Stmatrix
    sync: _Stmatrix
    trans: _Stmatrix
    x1: _Stmatrix
    x2: _Stmatrix
    x4: _Stmatrix
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, p: Operand, r: Value | Vector, /, *, when: Guard = None) -> Statement: ...

class _Sub:
    """sub: Subtract b from a; .sat clamps the difference to the range of the type.
    sub.cc: Subtract two integers and write the borrow-out to the carry flag.
    """

    bf16: _Sub
    bf16x2: _Sub
    cc: _Sub
    f16: _Sub
    f16x2: _Sub
    f32: _Sub
    f32x2: _Sub
    f64: _Sub
    ftz: _Sub
    rm: _Sub
    rn: _Sub
    rp: _Sub
    rz: _Sub
    s16: _Sub
    s32: _Sub
    s64: _Sub
    s8x4: _Sub
    sat: _Sub
    u16: _Sub
    u32: _Sub
    u64: _Sub
    u8x4: _Sub
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Subc:
    """Subtract two integers and the borrow in the carry flag; with .cc also write the borrow."""

    cc: _Subc
    s32: _Subc
    s64: _Subc
    u32: _Subc
    u64: _Subc
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Suld:
    """Load bytes from a surface; the first coordinate counts bytes."""

    _1d: _Suld
    _2d: _Suld
    _3d: _Suld
    a1d: _Suld
    a2d: _Suld
    b: _Suld
    b16: _Suld
    b32: _Suld
    b64: _Suld
    b8: _Suld
    ca: _Suld
    cg: _Suld
    clamp: _Suld
    cs: _Suld
    cv: _Suld
    trap: _Suld
    v2: _Suld
    v4: _Suld
    zero: _Suld
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Operand, /, *, when: Guard = None) -> Statement: ...

class _Suq:
    """Ask for an attribute of a surface."""

    array_size: _Suq
    b32: _Suq
    channel_data_type: _Suq
    channel_order: _Suq
    depth: _Suq
    height: _Suq
    memory_layout: _Suq
    width: _Suq
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Operand, /, *, when: Guard = None) -> Statement: ...

class _Sured:
    """sured.b: Reduce into a surface in one step that no other thread can split; by bytes.
    sured.p: Reduce into a surface in one step that no other thread can split; by texels.
    """

    _1d: _Sured
    _2d: _Sured
    _3d: _Sured
    add: _Sured
    and_: _Sured
    b: _Sured
    b32: _Sured
    b64: _Sured
    clamp: _Sured
    max: _Sured
    min: _Sured
    or_: _Sured
    p: _Sured
    s32: _Sured
    s64: _Sured
    trap: _Sured
    u32: _Sured
    u64: _Sured
    zero: _Sured
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, a: Operand, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Sust:
    """sust.b: Store bytes to a surface; the first coordinate counts bytes.
    sust.p: Store texels to a surface, turned into its own format.
    """

    _1d: _Sust
    _2d: _Sust
    _3d: _Sust
    a1d: _Sust
    a2d: _Sust
    b: _Sust
    b16: _Sust
    b32: _Sust
    b64: _Sust
    b8: _Sust
    cg: _Sust
    clamp: _Sust
    cs: _Sust
    p: _Sust
    trap: _Sust
    v2: _Sust
    v4: _Sust
    wb: _Sust
    wt: _Sust
    zero: _Sust
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, a: Operand, b: Value | Vector, /, *, when: Guard = None) -> Statement: ...

class _Szext:
    """Sign- or zero-extend the low b bits of a; .clamp or .wrap treat b above 31."""

    clamp: _Szext
    s32: _Szext
    u32: _Szext
    wrap: _Szext
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class _Tanh:
    """Approximate hyperbolic tangent of a."""

    approx: _Tanh
    bf16: _Tanh
    bf16x2: _Tanh
    f16: _Tanh
    f16x2: _Tanh
    f32: _Tanh
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Tcgen05:
    """tcgen05.alloc: Allocate columns of tensor memory, wait until they are free, and store their address.
    tcgen05.commit: Let an mbarrier track the completion of this thread's earlier tcgen05 operations.
    tcgen05.cp: Start to copy a matrix from shared to tensor memory, widening its elements if asked.
    tcgen05.dealloc: Free columns of tensor memory.
    tcgen05.fence::after_thread_sync: Order later asynchronous tcgen05 operations after earlier thread synchronisation.
    tcgen05.fence::before_thread_sync: Order earlier asynchronous tcgen05 operations before later thread synchronisation.
    tcgen05.ld: Start to load rows of tensor memory into the registers of a warp.
    tcgen05.ld.red: Load rows of tensor memory, and the least or greatest of what each thread loads.
    tcgen05.mma: Start a matrix product into tensor memory: d = a * b (+ d), by one thread of the CTA.
    tcgen05.mma.ws: Start a matrix product into tensor memory that keeps b in a collector buffer.
    tcgen05.relinquish_alloc_permit: Give up the right of this CTA to allocate tensor memory.
    tcgen05.shift: Start to move rows of tensor memory down by one.
    tcgen05.st: Start to store the registers of a warp to rows of tensor memory.
    tcgen05.wait::ld: Wait until all earlier tcgen05.ld of this thread have finished.
    tcgen05.wait::st: Wait until all earlier tcgen05.st of this thread have finished.
    """

    _128x128b: _Tcgen05
    _128x256b: _Tcgen05
    _16x128b: _Tcgen05
    _16x256b: _Tcgen05
    _16x32bx2: _Tcgen05
    _16x64b: _Tcgen05
    _32x128b: _Tcgen05
    _32x32b: _Tcgen05
    _4x256b: _Tcgen05
    _64x128b: _Tcgen05
    NaN: _Tcgen05
    abs: _Tcgen05
    aligned: _Tcgen05
    alloc: _Tcgen05
    ashift: _Tcgen05
    b32: _Tcgen05
    b4x16_p64: _Tcgen05
    b64: _Tcgen05
    b6x16_p32: _Tcgen05
    b8x16: _Tcgen05
    block16: _Tcgen05
    block32: _Tcgen05
    block_scale: _Tcgen05
    collector__a__discard: _Tcgen05
    collector__a__fill: _Tcgen05
    collector__a__lastuse: _Tcgen05
    collector__a__use: _Tcgen05
    collector__b0__discard: _Tcgen05
    collector__b0__fill: _Tcgen05
    collector__b0__lastuse: _Tcgen05
    collector__b0__use: _Tcgen05
    collector__b1__discard: _Tcgen05
    collector__b1__fill: _Tcgen05
    collector__b1__lastuse: _Tcgen05
    collector__b1__use: _Tcgen05
    collector__b2__discard: _Tcgen05
    collector__b2__fill: _Tcgen05
    collector__b2__lastuse: _Tcgen05
    collector__b2__use: _Tcgen05
    collector__b3__discard: _Tcgen05
    collector__b3__fill: _Tcgen05
    collector__b3__lastuse: _Tcgen05
    collector__b3__use: _Tcgen05
    commit: _Tcgen05
    cp: _Tcgen05
    cta_group__1: _Tcgen05
    cta_group__2: _Tcgen05
    dealloc: _Tcgen05
    down: _Tcgen05
    exclusive: _Tcgen05
    f32: _Tcgen05
    fence__after_thread_sync: _Tcgen05
    fence__before_thread_sync: _Tcgen05
    kind__f16: _Tcgen05
    kind__f8f6f4: _Tcgen05
    kind__i8: _Tcgen05
    kind__mxf4: _Tcgen05
    kind__mxf4nvf4: _Tcgen05
    kind__mxf8f6f4: _Tcgen05
    kind__tf32: _Tcgen05
    ld: _Tcgen05
    max: _Tcgen05
    mbarrier__arrive__one: _Tcgen05
    min: _Tcgen05
    mma: _Tcgen05
    multicast__cluster: _Tcgen05
    pack__16b: _Tcgen05
    red: _Tcgen05
    relinquish_alloc_permit: _Tcgen05
    s32: _Tcgen05
    scale_vec__1X: _Tcgen05
    scale_vec__2X: _Tcgen05
    scale_vec__4X: _Tcgen05
    shared__cluster: _Tcgen05
    shared__cta: _Tcgen05
    shift: _Tcgen05
    sp: _Tcgen05
    st: _Tcgen05
    sync: _Tcgen05
    u32: _Tcgen05
    unpack__16b: _Tcgen05
    wait__ld: _Tcgen05
    wait__st: _Tcgen05
    warpx2__01_23: _Tcgen05
    warpx2__02_13: _Tcgen05
    warpx4: _Tcgen05
    ws: _Tcgen05
    x1: _Tcgen05
    x128: _Tcgen05
    x16: _Tcgen05
    x2: _Tcgen05
    x32: _Tcgen05
    x4: _Tcgen05
    x64: _Tcgen05
    x8: _Tcgen05
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, barrier: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, r: Value | Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, address: Value, columns: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, p: Operand, columns: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, r: Written, a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, half: Immediate, r: Value | Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, r: Written, a: Operand, half: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, r: Written, s: Written, a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, r: Written, s: Written, a: Operand, half: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, idesc: Value, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, idesc: Value, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, idesc: Value, enable: Value, columns: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, idesc: Value, enable: Value, scale: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, idesc: Value, lanes: Value | Vector, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, metadata: Operand, idesc: Value, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, idesc: Value, enable: Value, columns: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, idesc: Value, enable: Value, scale: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, idesc: Value, lanes: Value | Vector, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, metadata: Operand, idesc: Value, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, idesc: Value, lanes: Value | Vector, enable: Value, scale: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, idesc: Value, scale_a: Operand, scale_b: Operand, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, metadata: Operand, idesc: Value, enable: Value, columns: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, metadata: Operand, idesc: Value, enable: Value, scale: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, metadata: Operand, idesc: Value, lanes: Value | Vector, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, idesc: Value, lanes: Value | Vector, enable: Value, scale: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, idesc: Value, scale_a: Operand, scale_b: Operand, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, metadata: Operand, idesc: Value, enable: Value, columns: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, metadata: Operand, idesc: Value, enable: Value, scale: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, metadata: Operand, idesc: Value, lanes: Value | Vector, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, metadata: Operand, idesc: Value, lanes: Value | Vector, enable: Value, scale: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, b: Value, metadata: Operand, idesc: Value, scale_a: Operand, scale_b: Operand, enable: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, metadata: Operand, idesc: Value, lanes: Value | Vector, enable: Value, scale: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Value, b: Value, metadata: Operand, idesc: Value, scale_a: Operand, scale_b: Operand, enable: Value, /, *, when: Guard = None) -> Statement: ...

class _Tensormap:
    """tensormap.cp_fenceproxy: Copy a tensor map from shared to global memory, and order it before its later use.
    tensormap.replace: Change one field of a tensor map.
    """

    aligned: _Tensormap
    b1024: _Tensormap
    b32: _Tensormap
    b64: _Tensormap
    box_dim: _Tensormap
    cluster: _Tensormap
    cp_fenceproxy: _Tensormap
    cta: _Tensormap
    element_stride: _Tensormap
    elemtype: _Tensormap
    fill_mode: _Tensormap
    global_: _Tensormap
    global_address: _Tensormap
    global_dim: _Tensormap
    global_stride: _Tensormap
    gpu: _Tensormap
    interleave_layout: _Tensormap
    rank: _Tensormap
    release: _Tensormap
    replace: _Tensormap
    shared__cta: _Tensormap
    swizzle_atomicity: _Tensormap
    swizzle_mode: _Tensormap
    sync: _Tensormap
    sys: _Tensormap
    tensormap__generic: _Tensormap
    tile: _Tensormap
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, a: Operand, v: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, v: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, a: Operand, i: Immediate, v: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, size: Immediate, /, *, when: Guard = None) -> Statement: ...

class _Testp:
    """Test whether a belongs to a class of floating-point numbers."""

    f32: _Testp
    f64: _Testp
    finite: _Testp
    infinite: _Testp
    normal: _Testp
    notanumber: _Testp
    number: _Testp
    subnormal: _Testp
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, p: Written, a: Value, /, *, when: Guard = None) -> Statement: ...

class _Tex:
    """tex: Fetch from a texture, from the mipmap level that the hardware chooses.
    tex.base: Fetch from the finest level of a texture.
    tex.grad: Fetch from the mipmap level of a texture that the derivatives of its coordinates give.
    tex.level: Fetch from the mipmap level of a texture that an operand gives.
    """

    _1d: _Tex
    _2d: _Tex
    _2dms: _Tex
    _3d: _Tex
    a1d: _Tex
    a2d: _Tex
    a2dms: _Tex
    acube: _Tex
    base: _Tex
    cube: _Tex
    f16: _Tex
    f16x2: _Tex
    f32: _Tex
    grad: _Tex
    level: _Tex
    s32: _Tex
    u32: _Tex
    v2: _Tex
    v4: _Tex
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def paired(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, predicate: int | None = None) -> Any: ...
    @overload
    def __call__(self, d: Operand, a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, e: Value | Vector = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, f: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, lod: Value | Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, lod: Value | Vector, f: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, x: Value | Vector, y: Value | Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, x: Value | Vector, y: Value | Vector, e: Value | Vector, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, x: Value | Vector, y: Value | Vector, f: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, x: Value | Vector, y: Value | Vector, f: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, x: Value | Vector, y: Value | Vector, e: Value | Vector, f: Value, /, *, when: Guard = None) -> Statement: ...

class _Tld4:
    """Gather one component of the four texels that bilinear filtering would mix."""

    _2d: _Tld4
    a: _Tld4
    a2d: _Tld4
    acube: _Tld4
    b: _Tld4
    cube: _Tld4
    f32: _Tld4
    g: _Tld4
    r: _Tld4
    s32: _Tld4
    u32: _Tld4
    v4: _Tld4
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def paired(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, predicate: int | None = None) -> Any: ...
    @overload
    def __call__(self, d: Operand, a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, f: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Operand, a: Operand, e: Value | Vector, f: Value = ..., /, *, when: Guard = None) -> Statement: ...

class _Trap:
    """Abort the whole grid and interrupt the host."""

    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, *, when: Guard = None) -> Statement: ...

class _Txq:
    """txq: Ask for an attribute of a texture or sampler.
    txq.level: Ask for the size of one mipmap level of a texture.
    """

    addr_mode_0: _Txq
    addr_mode_1: _Txq
    addr_mode_2: _Txq
    array_size: _Txq
    b32: _Txq
    channel_data_type: _Txq
    channel_order: _Txq
    depth: _Txq
    filter_mode: _Txq
    force_unnormalized_coords: _Txq
    height: _Txq
    level: _Txq
    memory_layout: _Txq
    normalized_coords: _Txq
    num_mipmap_levels: _Txq
    num_samples: _Txq
    width: _Txq
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Operand, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Operand, lod: Value | Vector, /, *, when: Guard = None) -> Statement: ...

class _Vabsdiff:
    """Absolute difference of a byte, half or word of a and one of b, then optionally combine with or merge into c."""

    add: _Vabsdiff
    max: _Vabsdiff
    min: _Vabsdiff
    s32: _Vabsdiff
    sat: _Vabsdiff
    u32: _Vabsdiff
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vabsdiff2:
    """Absolute difference of halves, merged into c or with .add summed onto it."""

    add: _Vabsdiff2
    s32: _Vabsdiff2
    sat: _Vabsdiff2
    u32: _Vabsdiff2
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vabsdiff4:
    """Absolute difference of four bytes, merged into c or with .add summed onto it."""

    add: _Vabsdiff4
    s32: _Vabsdiff4
    sat: _Vabsdiff4
    u32: _Vabsdiff4
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vadd:
    """Add a byte, half or word of a to one of b, then optionally combine with or merge into c."""

    add: _Vadd
    max: _Vadd
    min: _Vadd
    s32: _Vadd
    sat: _Vadd
    u32: _Vadd
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vadd2:
    """Add halves pairwise, merged into c or with .add summed onto it."""

    add: _Vadd2
    s32: _Vadd2
    sat: _Vadd2
    u32: _Vadd2
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vadd4:
    """Add bytes four at a time, merged into c or with .add summed onto it."""

    add: _Vadd4
    s32: _Vadd4
    sat: _Vadd4
    u32: _Vadd4
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vavrg2:
    """Average halves pairwise, merged into c or with .add summed onto it."""

    add: _Vavrg2
    s32: _Vavrg2
    sat: _Vavrg2
    u32: _Vavrg2
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vavrg4:
    """Average bytes four at a time, merged into c or with .add summed onto it."""

    add: _Vavrg4
    s32: _Vavrg4
    sat: _Vavrg4
    u32: _Vavrg4
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vmad:
    """Multiply parts of a and b and add c, each optionally negated or with .po plus one, then shift right by 7 or 15 bits."""

    po: _Vmad
    s32: _Vmad
    sat: _Vmad
    shr15: _Vmad
    shr7: _Vmad
    u32: _Vmad
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vmax:
    """The larger of a byte, half or word of a and one of b, then optionally combine with or merge into c."""

    add: _Vmax
    max: _Vmax
    min: _Vmax
    s32: _Vmax
    sat: _Vmax
    u32: _Vmax
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vmax2:
    """The larger of each pair of halves, merged into c or with .add summed onto it."""

    add: _Vmax2
    s32: _Vmax2
    sat: _Vmax2
    u32: _Vmax2
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vmax4:
    """The larger of each of four pairs of bytes, merged into c or with .add summed onto it."""

    add: _Vmax4
    s32: _Vmax4
    sat: _Vmax4
    u32: _Vmax4
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vmin:
    """The smaller of a byte, half or word of a and one of b, then optionally combine with or merge into c."""

    add: _Vmin
    max: _Vmin
    min: _Vmin
    s32: _Vmin
    sat: _Vmin
    u32: _Vmin
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vmin2:
    """The smaller of each pair of halves, merged into c or with .add summed onto it."""

    add: _Vmin2
    s32: _Vmin2
    sat: _Vmin2
    u32: _Vmin2
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vmin4:
    """The smaller of each of four pairs of bytes, merged into c or with .add summed onto it."""

    add: _Vmin4
    s32: _Vmin4
    sat: _Vmin4
    u32: _Vmin4
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vote:
    """Combine a predicate over the lanes of a warp: all, any, all the same, or a bit mask."""

    all: _Vote
    any: _Vote
    b32: _Vote
    ballot: _Vote
    pred: _Vote
    sync: _Vote
    uni: _Vote
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, mask: Value, /, *, when: Guard = None) -> Statement: ...

class _Vset:
    """Compare a byte, half or word of a with one of b into 1 or 0, then optionally combine with or merge into c."""

    add: _Vset
    eq: _Vset
    ge: _Vset
    gt: _Vset
    le: _Vset
    lt: _Vset
    max: _Vset
    min: _Vset
    ne: _Vset
    s32: _Vset
    u32: _Vset
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vset2:
    """Compare halves pairwise into 1 or 0, merged into c or with .add summed onto it."""

    add: _Vset2
    eq: _Vset2
    ge: _Vset2
    gt: _Vset2
    le: _Vset2
    lt: _Vset2
    ne: _Vset2
    s32: _Vset2
    u32: _Vset2
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vset4:
    """Compare bytes four at a time into 1 or 0, merged into c or with .add summed onto it."""

    add: _Vset4
    eq: _Vset4
    ge: _Vset4
    gt: _Vset4
    le: _Vset4
    lt: _Vset4
    ne: _Vset4
    s32: _Vset4
    u32: _Vset4
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vshl:
    """Shift a byte, half or word of a left by one of b, then optionally combine with or merge into c."""

    add: _Vshl
    clamp: _Vshl
    max: _Vshl
    min: _Vshl
    s32: _Vshl
    sat: _Vshl
    u32: _Vshl
    wrap: _Vshl
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vshr:
    """Shift a byte, half or word of a right by one of b, then optionally combine with or merge into c."""

    add: _Vshr
    clamp: _Vshr
    max: _Vshr
    min: _Vshr
    s32: _Vshr
    sat: _Vshr
    u32: _Vshr
    wrap: _Vshr
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vsub:
    """Subtract a byte, half or word of b from one of a, then optionally combine with or merge into c."""

    add: _Vsub
    max: _Vsub
    min: _Vsub
    s32: _Vsub
    sat: _Vsub
    u32: _Vsub
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vsub2:
    """Subtract halves pairwise, merged into c or with .add summed onto it."""

    add: _Vsub2
    s32: _Vsub2
    sat: _Vsub2
    u32: _Vsub2
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Vsub4:
    """Subtract bytes four at a time, merged into c or with .add summed onto it."""

    add: _Vsub4
    s32: _Vsub4
    sat: _Vsub4
    u32: _Vsub4
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, c: Value, /, *, when: Guard = None) -> Statement: ...

class _Wgmma:
    """wgmma.commit_group: Gather all wgmma.mma_async started so far into a new group.
    wgmma.fence: Order register and shared memory accesses before later wgmma.mma_async of the warpgroup.
    wgmma.mma_async: Start a matrix product of a warpgroup, d = a * b (+ d), with b in shared memory.
    wgmma.wait_group: Wait until at most n of the latest wgmma groups are still running.
    """

    aligned: _Wgmma
    and_: _Wgmma
    b1: _Wgmma
    bf16: _Wgmma
    commit_group: _Wgmma
    e4m3: _Wgmma
    e5m2: _Wgmma
    f16: _Wgmma
    f32: _Wgmma
    fence: _Wgmma
    m64n104k16: _Wgmma
    m64n104k32: _Wgmma
    m64n104k64: _Wgmma
    m64n104k8: _Wgmma
    m64n112k16: _Wgmma
    m64n112k256: _Wgmma
    m64n112k32: _Wgmma
    m64n112k64: _Wgmma
    m64n112k8: _Wgmma
    m64n120k16: _Wgmma
    m64n120k32: _Wgmma
    m64n120k64: _Wgmma
    m64n120k8: _Wgmma
    m64n128k16: _Wgmma
    m64n128k256: _Wgmma
    m64n128k32: _Wgmma
    m64n128k64: _Wgmma
    m64n128k8: _Wgmma
    m64n136k16: _Wgmma
    m64n136k32: _Wgmma
    m64n136k64: _Wgmma
    m64n136k8: _Wgmma
    m64n144k16: _Wgmma
    m64n144k256: _Wgmma
    m64n144k32: _Wgmma
    m64n144k64: _Wgmma
    m64n144k8: _Wgmma
    m64n152k16: _Wgmma
    m64n152k32: _Wgmma
    m64n152k64: _Wgmma
    m64n152k8: _Wgmma
    m64n160k16: _Wgmma
    m64n160k256: _Wgmma
    m64n160k32: _Wgmma
    m64n160k64: _Wgmma
    m64n160k8: _Wgmma
    m64n168k16: _Wgmma
    m64n168k32: _Wgmma
    m64n168k64: _Wgmma
    m64n168k8: _Wgmma
    m64n16k16: _Wgmma
    m64n16k256: _Wgmma
    m64n16k32: _Wgmma
    m64n16k64: _Wgmma
    m64n16k8: _Wgmma
    m64n176k16: _Wgmma
    m64n176k256: _Wgmma
    m64n176k32: _Wgmma
    m64n176k64: _Wgmma
    m64n176k8: _Wgmma
    m64n184k16: _Wgmma
    m64n184k32: _Wgmma
    m64n184k64: _Wgmma
    m64n184k8: _Wgmma
    m64n192k16: _Wgmma
    m64n192k256: _Wgmma
    m64n192k32: _Wgmma
    m64n192k64: _Wgmma
    m64n192k8: _Wgmma
    m64n200k16: _Wgmma
    m64n200k32: _Wgmma
    m64n200k64: _Wgmma
    m64n200k8: _Wgmma
    m64n208k16: _Wgmma
    m64n208k256: _Wgmma
    m64n208k32: _Wgmma
    m64n208k64: _Wgmma
    m64n208k8: _Wgmma
    m64n216k16: _Wgmma
    m64n216k32: _Wgmma
    m64n216k64: _Wgmma
    m64n216k8: _Wgmma
    m64n224k16: _Wgmma
    m64n224k256: _Wgmma
    m64n224k32: _Wgmma
    m64n224k64: _Wgmma
    m64n224k8: _Wgmma
    m64n232k16: _Wgmma
    m64n232k32: _Wgmma
    m64n232k64: _Wgmma
    m64n232k8: _Wgmma
    m64n240k16: _Wgmma
    m64n240k256: _Wgmma
    m64n240k32: _Wgmma
    m64n240k64: _Wgmma
    m64n240k8: _Wgmma
    m64n248k16: _Wgmma
    m64n248k32: _Wgmma
    m64n248k64: _Wgmma
    m64n248k8: _Wgmma
    m64n24k16: _Wgmma
    m64n24k256: _Wgmma
    m64n24k32: _Wgmma
    m64n24k64: _Wgmma
    m64n24k8: _Wgmma
    m64n256k16: _Wgmma
    m64n256k256: _Wgmma
    m64n256k32: _Wgmma
    m64n256k64: _Wgmma
    m64n256k8: _Wgmma
    m64n32k16: _Wgmma
    m64n32k256: _Wgmma
    m64n32k32: _Wgmma
    m64n32k64: _Wgmma
    m64n32k8: _Wgmma
    m64n40k16: _Wgmma
    m64n40k32: _Wgmma
    m64n40k64: _Wgmma
    m64n40k8: _Wgmma
    m64n48k16: _Wgmma
    m64n48k256: _Wgmma
    m64n48k32: _Wgmma
    m64n48k64: _Wgmma
    m64n48k8: _Wgmma
    m64n56k16: _Wgmma
    m64n56k32: _Wgmma
    m64n56k64: _Wgmma
    m64n56k8: _Wgmma
    m64n64k16: _Wgmma
    m64n64k256: _Wgmma
    m64n64k32: _Wgmma
    m64n64k64: _Wgmma
    m64n64k8: _Wgmma
    m64n72k16: _Wgmma
    m64n72k32: _Wgmma
    m64n72k64: _Wgmma
    m64n72k8: _Wgmma
    m64n80k16: _Wgmma
    m64n80k256: _Wgmma
    m64n80k32: _Wgmma
    m64n80k64: _Wgmma
    m64n80k8: _Wgmma
    m64n88k16: _Wgmma
    m64n88k32: _Wgmma
    m64n88k64: _Wgmma
    m64n88k8: _Wgmma
    m64n8k16: _Wgmma
    m64n8k256: _Wgmma
    m64n8k32: _Wgmma
    m64n8k64: _Wgmma
    m64n8k8: _Wgmma
    m64n96k16: _Wgmma
    m64n96k256: _Wgmma
    m64n96k32: _Wgmma
    m64n96k64: _Wgmma
    m64n96k8: _Wgmma
    mma_async: _Wgmma
    popc: _Wgmma
    s32: _Wgmma
    s8: _Wgmma
    satfinite: _Wgmma
    sp: _Wgmma
    sync: _Wgmma
    tf32: _Wgmma
    u8: _Wgmma
    wait_group: _Wgmma
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, n: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value, scale_d: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, scale_d: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value, metadata: Value, selector: Immediate, scale_d: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value, scale_d: Value, scale_a: Immediate, scale_b: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, metadata: Value, selector: Immediate, scale_d: Value, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, scale_d: Value, scale_a: Immediate, scale_b: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value, scale_d: Value, scale_a: Immediate, scale_b: Immediate, trans_b: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value, metadata: Value, selector: Immediate, scale_d: Value, scale_a: Immediate, scale_b: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, metadata: Value, selector: Immediate, scale_d: Value, scale_a: Immediate, scale_b: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, scale_d: Value, scale_a: Immediate, scale_b: Immediate, trans_a: Immediate, trans_b: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value, metadata: Value, selector: Immediate, scale_d: Value, scale_a: Immediate, scale_b: Immediate, trans_b: Immediate, /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value, b: Value, metadata: Value, selector: Immediate, scale_d: Value, scale_a: Immediate, scale_b: Immediate, trans_a: Immediate, trans_b: Immediate, /, *, when: Guard = None) -> Statement: ...

class _Wmma:
    """wmma.load.a: Load the left multiplicand of a warp-wide matrix product from memory.
    wmma.load.b: Load the right multiplicand of a warp-wide matrix product from memory.
    wmma.load.c: Load the accumulator of a warp-wide matrix product from memory.
    wmma.mma: Multiply two matrices held by a warp and add a third: d = a * b + c.
    wmma.store.d: Store the result of a warp-wide matrix product to memory.
    """

    a: _Wmma
    aligned: _Wmma
    and_: _Wmma
    b: _Wmma
    b1: _Wmma
    bf16: _Wmma
    c: _Wmma
    col: _Wmma
    d: _Wmma
    f16: _Wmma
    f32: _Wmma
    f64: _Wmma
    global_: _Wmma
    load: _Wmma
    m16n16k16: _Wmma
    m16n16k8: _Wmma
    m32n8k16: _Wmma
    m8n32k16: _Wmma
    m8n8k128: _Wmma
    m8n8k32: _Wmma
    m8n8k4: _Wmma
    mma: _Wmma
    popc: _Wmma
    rm: _Wmma
    rn: _Wmma
    row: _Wmma
    rp: _Wmma
    rz: _Wmma
    s32: _Wmma
    s4: _Wmma
    s8: _Wmma
    satfinite: _Wmma
    shared: _Wmma
    shared__cta: _Wmma
    store: _Wmma
    sync: _Wmma
    tf32: _Wmma
    u4: _Wmma
    u8: _Wmma
    xor: _Wmma
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    @overload
    def __call__(self, p: Operand, r: Value | Vector, stride: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, r: Written, p: Operand, stride: Value = ..., /, *, when: Guard = None) -> Statement: ...
    @overload
    def __call__(self, d: Written, a: Value | Vector, b: Value | Vector, c: Value | Vector, /, *, when: Guard = None) -> Statement: ...

class _Xor:
    """Bitwise exclusive or of a and b."""

    b16: _Xor
    b32: _Xor
    b64: _Xor
    pred: _Xor
    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, next: int | None = None, type: str = "") -> Any: ...
    def __call__(self, d: Written, a: Value, b: Value, /, *, when: Guard = None) -> Statement: ...

class Ptx:
    """Instructions as attributes, statements of a body as methods."""

    abs: _Abs
    activemask: _Activemask
    add: _Add
    addc: _Addc
    alloca: _Alloca
    and_: _And
    applypriority: _Applypriority
    atom: _Atom
    bar: _Bar
    barrier: _Barrier
    bfe: _Bfe
    bfi: _Bfi
    bfind: _Bfind
    bmsk: _Bmsk
    bra: _Bra
    brev: _Brev
    brkpt: _Brkpt
    brx: _Brx
    call: _Call
    clusterlaunchcontrol: _Clusterlaunchcontrol
    clz: _Clz
    cnot: _Cnot
    copysign: _Copysign
    cos: _Cos
    cp: _Cp
    createpolicy: _Createpolicy
    cvt: _Cvt
    cvta: _Cvta
    discard: _Discard
    div: _Div
    dp2a: _Dp2a
    dp4a: _Dp4a
    elect: _Elect
    ex2: _Ex2
    exit: _Exit
    fence: _Fence
    fma: _Fma
    fns: _Fns
    getctarank: _Getctarank
    griddepcontrol: _Griddepcontrol
    isspacep: _Isspacep
    istypep: _Istypep
    ld: _Ld
    ldmatrix: _Ldmatrix
    ldu: _Ldu
    lg2: _Lg2
    lop3: _Lop3
    mad: _Mad
    mad24: _Mad24
    madc: _Madc
    mapa: _Mapa
    match: _Match
    max: _Max
    mbarrier: _Mbarrier
    membar: _Membar
    min: _Min
    mma: _Mma
    mov: _Mov
    movmatrix: _Movmatrix
    mul: _Mul
    mul24: _Mul24
    multimem: _Multimem
    nanosleep: _Nanosleep
    neg: _Neg
    not_: _Not
    or_: _Or
    pmevent: _Pmevent
    popc: _Popc
    prefetch: _Prefetch
    prefetchu: _Prefetchu
    prmt: _Prmt
    rcp: _Rcp
    red: _Red
    redux: _Redux
    rem: _Rem
    ret: _Ret
    rsqrt: _Rsqrt
    sad: _Sad
    selp: _Selp
    set: _Set
    setmaxnreg: _Setmaxnreg
    setp: _Setp
    shf: _Shf
    shfl: _Shfl
    shl: _Shl
    shr: _Shr
    sin: _Sin
    slct: _Slct
    sqrt: _Sqrt
    st: _St
    stackrestore: _Stackrestore
    stacksave: _Stacksave
    stmatrix: _Stmatrix
    sub: _Sub
    subc: _Subc
    suld: _Suld
    suq: _Suq
    sured: _Sured
    sust: _Sust
    szext: _Szext
    tanh: _Tanh
    tcgen05: _Tcgen05
    tensormap: _Tensormap
    testp: _Testp
    tex: _Tex
    tld4: _Tld4
    trap: _Trap
    txq: _Txq
    vabsdiff: _Vabsdiff
    vabsdiff2: _Vabsdiff2
    vabsdiff4: _Vabsdiff4
    vadd: _Vadd
    vadd2: _Vadd2
    vadd4: _Vadd4
    vavrg2: _Vavrg2
    vavrg4: _Vavrg4
    vmad: _Vmad
    vmax: _Vmax
    vmax2: _Vmax2
    vmax4: _Vmax4
    vmin: _Vmin
    vmin2: _Vmin2
    vmin4: _Vmin4
    vote: _Vote
    vset: _Vset
    vset2: _Vset2
    vset4: _Vset4
    vshl: _Vshl
    vshr: _Vshr
    vsub: _Vsub
    vsub2: _Vsub2
    vsub4: _Vsub4
    wgmma: _Wgmma
    wmma: _Wmma
    xor: _Xor
    def unchecked(self, text: str) -> Opcode:
        """An opcode that is not looked up in the table: ``ptx.unchecked("new.op.b32")(...)``."""
    asm: Any
    @property
    def returns(self) -> Any:
        """The parameters that carry the function's results."""
    def registers(self, *ranges: str) -> Any:
        """Declare ranges, ``"%r<28>"``, that new registers are taken from, one after another."""
    def label(self, name: str | int | Label | None = None, *, again: bool = False) -> Label:
        """Place a label here: one of that name or number, one made before, or a new one."""
    def new_label(self) -> Label:
        """A label to branch to before it is placed with ``ptx.label(it)``."""
    @staticmethod
    def if_(condition: Condition, label: GivenLabel = None, *, inside: GivenLabel | bool = False, uniform: bool = False) -> If:
        """The block runs where the condition holds; ``label`` names its end."""
    @staticmethod
    def else_(label: GivenLabel = None) -> Else:
        """The block runs where the condition of the ``if_`` just before it does not hold."""
    @staticmethod
    def once(label: GivenLabel = None) -> Region:
        """The block runs once, and can be left from inside: ``with ptx.once() as search:``."""
    @staticmethod
    def next_block(label: GivenLabel = None) -> Label:
        """A branch to right behind itself, as compilers leave it where they do not optimise."""
    @staticmethod
    def loop(top: GivenLabel = None, after: GivenLabel = None, *, inside: GivenLabel | bool = False) -> Loop:
        """Run the block again and again, until ``ptx.break_()``."""
    @staticmethod
    def repeat(top: GivenLabel = None, after: GivenLabel = None, *, inside: GivenLabel | bool = False) -> Repeat:
        """Run the block once, and again where ``ptx.continue_(when=...)`` says so."""
    @staticmethod
    def while_(condition: Condition, top: GivenLabel = None, after: GivenLabel = None) -> While:
        """Run the block as long as a condition holds, tested before each round."""
    @staticmethod
    def do_while(condition: Condition, top: GivenLabel = None, after: GivenLabel = None) -> DoWhile:
        """Run the block once, and again as long as a condition holds after it."""
    @staticmethod
    def range(*bounds: Any, type: str = "", unroll: bool | None = None) -> Iterator[Register]:
        """A loop of the GPU: ``for i in ptx.range(start, stop, step):``."""
    @staticmethod
    def break_(when: Any = None, uniform: bool | None = None) -> Statement:
        """Leave the innermost loop."""
    @staticmethod
    def continue_(when: Any = None, uniform: bool | None = None) -> Statement:
        """Go on with the next round of the innermost loop."""
    @staticmethod
    def switch(value: Callable[[], Any] | Any) -> AbstractContextManager[Switch]:
        """Choose a block by a value."""
    @staticmethod
    def wait(test: Any, flag: Any, *operands: Any, top: GivenLabel = None, after: GivenLabel = None, leaves: bool = False, uniform: bool | None = None, back: bool | None = None, spaced: Mapping[int, str] | None = None) -> None:
        """Repeat an instruction that sets a predicate until it holds."""
    def block(self, note: str | None = None, end: str | None = None) -> AbstractContextManager[None]:
        """A scope of its own: ``{ ... }``; comments go behind its braces."""
    def open_block(self) -> Statement:
        """The ``{`` of a scope, where ``with ptx.block():`` would nest too deep."""
    def close_block(self) -> Statement:
        """The ``}`` of a scope."""
    def loc(self, file: Any, line: Any, column: Any, function_name: Any = None, inlined_at: Sequence[Any] | None = None) -> Statement:
        """``.loc 1 2 3``: the source line that what follows was made from."""
    def lines(self, table: str, files: Mapping[int, str] | None = None) -> None:
        """The source lines of what follows as a table, see :mod:`ptxkit.dsl.line_tables`."""
    def pragma(self, *values: str) -> Statement:
        """``.pragma "nounroll";``."""
    def branchtargets(self, *labels: Any) -> Statement:
        """``.branchtargets a, b;`` after its label."""
    def calltargets(self, *functions: Any) -> Statement:
        """``.calltargets f, g;`` after its label."""
    def callprototype(self, returns: Sequence[Any] | None = None, parameters: Sequence[Any] | None = (), **directives: Any) -> Statement:
        """``.callprototype (.param .b32 _) _ (.param .b32 _);`` after its label."""
    def comment(self, text: str, before: int | str | None = None) -> Statement:
        """A comment in a line of its own."""
    def blank(self, lines: int = 1) -> None:
        """Exactly so many blank lines before the next statement."""
    def gap(self, text: str) -> None:
        """Exactly this white space before the next statement."""
    def note(self, text: str, before: str | None = None) -> None:
        """A comment behind the last statement, on its line."""
    def spaced(self, gaps: Mapping[int, str]) -> None:
        """White space inside the last statement, before its numbered tokens."""

ptx: Ptx
