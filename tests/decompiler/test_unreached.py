"""Code that no launch reaches, told by what registers held where it begins and ends."""

from __future__ import annotations

import numpy as np
import pytest

import ptxkit
from ptxkit.decompiler.verify import same_execution
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.looking import Looking
from ptxkit.decompiler.verify.outcome import Side
from ptxkit.decompiler.verify.pair import Against, Pair
from ptxkit.decompiler.verify.trials import trials
from ptxkit.decompiler.verify.unreached import Ground, ground
from ptxkit.run.watch import Digest, Point
from ptxkit.syntax import Module, Name, parse
from ptxkit.syntax.scopes import Scopes
from ptxkit.toolchain import compile_cuda

#: The branch is never taken: a hash of 32 bits is not that large. How the hash is made differs.
HASHED = """
extern "C" __global__ void k(const unsigned *x, double *out, unsigned *count, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = x[i + 1], c = a * 747796405u + b;
    unsigned h = {hash};
    double y = h * 2.3283064e-10;
    unsigned steps = b & 1023, more = a & 511;
    if (y > 1.5) {{
        {rare}
    }}
    out[i] = y + 1.0;
    count[i] = steps * 3 + more;
}}"""
HASHES = ("((a & c) | (~a & b)) + c", "(((b ^ c) & a) ^ b) + c")
#: Bits that rules bring into one form; the last of them are others.
BITS = "__byte_perm(a, 0, 0x1032) ^ c"
SAME_BITS, OTHER_BITS = "((a << 16) | (a >> 16)) ^ c", "((a << 8) | (a >> 24)) ^ c"
RARE = "y = y * 0.25 + b; steps += 17; if (y < 4.0) more ^= h;"
WRONG = {
    "another number": RARE.replace("17", "18"),
    "another register": RARE.replace("+ b", "+ c"),
    "another place": RARE.replace("steps +=", "more +="),
    "another condition": RARE.replace("y < 4.0", "y <= 4.0"),
    "less": RARE.replace("steps += 17;", ""),
    "more": RARE + " count[i + n] = 1;",
    "a place of its own": RARE.replace("more ^= h", "steps ^= h"),
}


#: Each turn goes by code that never runs, with counters of its own around that.
TURNS = """
extern "C" __global__ void k(const unsigned *x, unsigned *out, int m) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = x[i];
    #pragma unroll 1
    for ({turns}) {{
        unsigned v = x[i + {at}], r;
        {before}
        if (v & 1) {{
            asm volatile("// odd"); r = v + 7;
        }} else if ((v * 2654435761u ^ v) * 2.3283064e-10 > 1.5) {{
            asm volatile("// rare"); r = v {rare}; {rarely}
        }} else {{
            asm volatile("// usual"); r = v * 3 + 1; {usual}
        }}
        out[i + {at}] = r + s;
    }}
}}"""
UPWARDS = {"turns": "int j = 0; j < m; j++", "at": "j", "before": "", "rare": "^ 9", "rarely": "",
           "usual": "s += v;"}  # fmt: skip
DOWNWARDS = UPWARDS | {"turns": "int j = m; j > 0; j--", "at": "(m - j)"}
WRONG_TURNS = {
    "set before": {"before": "s += v & 1 ? 0 : v;", "usual": ""},
    "set on both ways": {"rarely": "s += v;"},
    "another number": {"rare": "^ 8"},
    "a counter": {"rarely": "j--;"},
}


def told(first: str, second: str) -> Ground:
    """What is said about the code that some launches, in which nothing differs, do not reach."""
    return told_of(*(compile_cuda(source, arch="sm_90") for source in (first, second)))


def told_of(first: Module, second: Module) -> Ground:
    """The same of two modules."""
    pair = Pair(first, second, "k", "k")
    for trial in trials(pair.usage, pair.rules, 30):
        assert not isinstance(pair.launch(trial), Against), trial
    assert not any(covered.complete for covered in pair.coverage)
    return ground(*pair.coverage, Looking(pair).look)


def sources(*rare: str) -> list[str]:
    return [HASHED.format(hash=h, rare=code) for h, code in zip(HASHES, rare, strict=True)]


def test_code_that_did_not_run_is_told_by_what_was_seen() -> None:
    assert told(*sources(RARE, RARE)).name == "seen"


@pytest.mark.parametrize("what", WRONG)
def test_code_that_did_not_run_must_do_the_same(what: str) -> None:
    assert not told(*sources(RARE, WRONG[what])).name


@pytest.mark.parametrize(("other", "name"), [(SAME_BITS, "same"), (OTHER_BITS, "")])
def test_bits_are_the_same_however_they_are_made(other: str, name: str) -> None:
    used = "atomicAdd(count + n, h);"
    both = (HASHED.format(hash=h, rare=used) for h in (BITS, other))
    coverage = [_unrun(compile_cuda(source, arch="sm_90")) for source in both]
    assert ground(*coverage).name == name


def _unrun(module: Module) -> Coverage:
    """A kernel of which all has run but for what does the one update."""
    coverage = Coverage.of(module, module["k"])
    hidden = [b for b in coverage.blocks if any(i.name in ("atom", "red") for i in b.instructions)]
    coverage.ran.update(
        one.span[0] for b in coverage.blocks if b not in hidden for one in b.instructions
    )
    coverage.wrote = True
    return coverage


def test_what_no_way_sets_need_not_be_told() -> None:
    assert told(*(TURNS.format(**one) for one in (UPWARDS, DOWNWARDS))).name == "seen"


@pytest.mark.parametrize("what", WRONG_TURNS)
def test_what_some_way_sets_must_be_told(what: str) -> None:
    both = UPWARDS, DOWNWARDS | WRONG_TURNS[what]
    assert not told(*(TURNS.format(**one) for one in both)).name


#: A field of a parameter that only code reads which no launch reaches.
FIELD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y, .param .align 8 .b8 x[32], .param .u32 n) {{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [y]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];
    mul.lo.u32 %r4, %r3, 747796405; {before} setp.ne.u32 %p1, %r4, 305419896;
    @%p1 bra L;
    {rare} st.global.u32 [%rd3+4096], %r5;
L:  add.s32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; ret; }}"""
BY_NAME = FIELD.format(before="", rare="ld.param.u32 %r5, [x+8];")
BY_ADDRESS = "mov.b64 %rd4, x;", "ld.param.u32 %r5, [%rd4+{}];"


def test_a_parameter_is_the_same_by_its_name_and_by_its_address() -> None:
    before, rare = BY_ADDRESS
    for place, name in ((8, "same"), (12, "")):
        other = FIELD.format(before=before, rare=rare.format(place))
        assert told_of(parse(BY_NAME), parse(other)).name == name


def test_where_stores_stand_is_part_of_it() -> None:
    """A store before the branch or behind it leaves the same as long as the branch is not taken."""
    first, second = sources(*[RARE + " out[i] = 9.0;"] * 2)
    early = first.replace("if (y > 1.5)", "out[i] = 2.0 * (b * 0.5); if (y > 1.5)")
    late = second.replace("out[i] = y + 1.0;", "out[i] = 2.0 * (b * 0.5);")
    assert not told(early.replace("out[i] = y + 1.0;", ""), late).name


def test_a_point_sums_up_what_threads_hold() -> None:
    """The same sums in another order of threads; other ones for other numbers."""
    module = compile_cuda(HASHED.format(hash=HASHES[0], rare=RARE), arch="sm_90")
    side = Side(module, "k")
    first = next(one for one in module["k"].instructions if one.name == "mad")
    name = first.operands[0]
    assert isinstance(name, Name)
    declared = Scopes(module).resolve(name)
    assert declared is not None
    points = (Point(first, True, ((declared.node.index, name.identifier),)),)
    kernel = side.kernel
    x, out, count = np.arange(200, dtype=np.uint32), np.zeros(200), np.zeros(200, np.uint32)

    def digest(threads: int, **options: bool) -> Digest:
        (found,) = kernel[2, threads](x, out, count, 100, points=points, **options).digests
        return found

    assert digest(64) == digest(64, descending=True) != digest(32)
    assert digest(64).values[0][1].bit_count() > 30 > digest(1).values[0][1].bit_count()


#: What is loaded only in code that no launch reaches, from memory of some kind.
KINDS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y, .param .u32 n) {{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<6>; .shared .b32 room[64];
    ld.param.u64 %rd1, [y]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];
    mul.lo.u32 %r4, %r3, 747796405; setp.ne.u32 %p1, %r4, 305419896;
    @%p1 bra L;
    {rare} st.global.u32 [%rd3+4096], %r5;
L:  add.s32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; {always} ret; }}"""
LATER = "st.shared.u32 [room], %r2; ld.global.u32 %r5, [%rd3+64];"
EARLIER = "ld.global.u32 %r5, [%rd3+64]; st.shared.u32 [room], %r2;"
OTHER_KINDS = {
    "of any kind": (LATER, LATER.replace("ld.global", "ld"), "", True),
    "before a store to another kind": (LATER, EARLIER, "", True),
    "not of any kind": (LATER.replace("ld.global", "ld"), LATER, "", False),
    "of any kind, as others are": (
        LATER, LATER.replace("ld.global", "ld"), "ld.u32 %r5, [%rd3]; st.u32 [%rd3], %r5;", False,
    ),
    "before a store to the same": (
        LATER.replace("shared.u32 [room]", "global.u32 [%rd3+64]"),
        EARLIER.replace("shared.u32 [room]", "global.u32 [%rd3+64]"), "", False,
    ),
    "before a store to any": (
        LATER.replace("shared.u32 [room]", "u32 [%rd1]"),
        EARLIER.replace("shared.u32 [room]", "u32 [%rd1]"), "", False,
    ),
    "relied on": (LATER, LATER.replace("ld.global", "ld.global.nc"), "", False),
    "no more relied on": (LATER.replace("ld.global", "ld.global.nc"), LATER, "", True),
}  # fmt: skip


@pytest.mark.parametrize("what", OTHER_KINDS)
def test_memory_is_of_the_same_kind(what: str) -> None:
    first, second, always, same = OTHER_KINDS[what]
    both = (parse(KINDS.format(rare=rare, always=always)) for rare in (first, second))
    assert bool(told_of(*both).name) is same


JUMPS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 o) {
    .reg .b64 %d<6>; .reg .b32 %r<9>; .reg .pred %p1;
    ld.param.u64 %d1, [x]; ld.param.u64 %d2, [o]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
    ld.global.u32 %r2, [%d4]; ld.global.u32 %r3, [%d4+4];
    mul.lo.u32 %r4, %r2, 741371805; shr.u32 %r5, %r4, 12; xor.b32 %r4, %r4, %r5;
    mul.lo.u32 %r4, %r4, 695876921; xor.b32 %r4, %r4, %r3;
    and.b32 %r6, %r2, 1; and.b32 %r7, %r3, 1; add.u32 %r8, %r6, %r7; st.global.u32 [%d5], %r8;
    setp.ne.u32 %p1, %r4, 324478056; @%p1 bra E;
    table: .branchtargets FIRST, SECOND;
    brx.idx %rSELECTOR, table;
    L0: st.global.u32 [%d5+8192], %r2; bra E;
    L1: st.global.u32 [%d5+8192], %r3;
    E: ret; }"""


@pytest.mark.parametrize(
    ("selector", "first", "second", "same"),
    [("6", "L0", "L1", True), ("7", "L0", "L1", False), ("6", "L1", "L0", False)],
)
def test_jumps_by_tables_that_never_ran(selector: str, first: str, second: str, same: bool) -> None:
    def jumping(selector: str, first: str, second: str) -> Module:
        text = JUMPS.replace("SELECTOR", selector)
        return ptxkit.parse(text.replace("FIRST", first).replace("SECOND", second))

    other = jumping(selector, first, second)
    assert same_execution(jumping("6", "L0", "L1"), other, "k").equal is same
