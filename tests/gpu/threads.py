"""Programs of several threads: warps, barriers, asynchronous copies, clusters, calls."""

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


_MASKS = (0xFFFFFFFF, 0x0000FFFF, 0xFF00FF00, 0x13579BDF, 0x80000001)


def _with_mask(mask: int, body: str) -> str:
    """Run a body in the lanes of a mask only."""
    return f"""
shr.u32 %w18, {mask:#x}, %lane;
and.b32 %w18, %w18, 1;
setp.eq.u32 %p7, %w18, 0;
@%p7 bra SKIP_{mask:x};
{body}
SKIP_{mask:x}:
bar.warp.sync 0xffffffff;
"""


def _shuffles() -> list[ThreadProgram]:
    found = []
    for mode in ("up", "down", "bfly", "idx"):
        for mask, width in ((0xFFFFFFFF, 32), (0xFFFFFFFF, 8), (0x0000FFFF, 16), (0xFF00FF00, 8)):
            clamp = (32 - width) << 8 | (0 if mode == "up" else 31)
            found.append(ThreadProgram(
                f"shfl.sync.{mode} width {width} mask {mask:#x}",
                "ld.global.u32 %w1, [%near]; ld.global.u32 %w2, [%near+512];\n"
                # A butterfly may leave its segment, and what lanes there hold is not defined.
                + (f"and.b32 %w2, %w2, {width - 1};\n" if mode == "bfly" else "")
                + _with_mask(
                    mask,
                    f"shfl.sync.{mode}.b32 %w3|%p1, %w1, %w2, {clamp}, {mask:#x};\n"
                    "selp.u32 %w4, 1, 0, %p1;\n" + put(0, "%w3", 32) + put(1, "%w4", 32),
                ), rows=2,
            ))  # fmt: skip
        found.append(ThreadProgram(
            f"shfl.sync.{mode} any c",
            "ld.global.u32 %w1, [%near]; ld.global.u32 %w2, [%near+512];\n"
            "ld.global.u32 %w5, [%near+1024];\n"
            f"shfl.sync.{mode}.b32 %w3|%p1, %w1, %w2, %w5, 0xffffffff;\n"
            "selp.u32 %w4, 1, 0, %p1;\n" + put(0, "%w3", 32) + put(1, "%w4", 32), rows=2,
        ))  # fmt: skip
    return found


def _votes() -> list[ThreadProgram]:
    found = []
    for mask in _MASKS:
        for mode in ("all", "any", "uni", "ballot"):
            suffix = "b32 %w3" if mode == "ballot" else "pred %p2"
            result = "" if mode == "ballot" else "selp.u32 %w3, 1, 0, %p2;\n"
            body = ""
            for row, test in enumerate(("and.b32 %w2, %w1, 1", "mov.u32 %w2, 0", "mov.u32 %w2, 1")):
                body += (
                    f"{test};\nsetp.ne.u32 %p1, %w2, 0;\n"
                    f"vote.sync.{mode}.{suffix}, %p1, {mask:#x};\n{result}" + put(row, "%w3", 32)
                )
            found.append(ThreadProgram(
                f"vote.sync.{mode} mask {mask:#x}",
                "ld.global.u32 %w1, [%near];\n" + _with_mask(mask, body), rows=3,
            ))  # fmt: skip
        for scalar, register in (("b32", "%w1"), ("b64", "%x1")):
            load = f"ld.global.{scalar} {register}, [%near];\n"
            found.append(ThreadProgram(
                f"match.any.sync.{scalar} mask {mask:#x}",
                load + _with_mask(
                    mask,
                    f"match.any.sync.{scalar} %w3, {register}, {mask:#x};\n" + put(0, "%w3", 32),
                ), values=(0, 4),
            ))  # fmt: skip
            for high in (1, 3):
                found.append(ThreadProgram(
                    f"match.all.sync.{scalar} of {high} mask {mask:#x}",
                    load + _with_mask(
                        mask,
                        f"match.all.sync.{scalar} %w3|%p2, {register}, {mask:#x};\n"
                        "selp.u32 %w4, 1, 0, %p2;\n" + put(0, "%w3", 32) + put(1, "%w4", 32),
                    ), values=(0, high), rows=2,
                ))  # fmt: skip
        for op in ("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32",
                   "or.b32", "xor.b32"):  # fmt: skip
            found.append(ThreadProgram(
                f"redux.sync.{op} mask {mask:#x}",
                "ld.global.u32 %w1, [%near];\n" + _with_mask(
                    mask, f"redux.sync.{op} %w3, %w1, {mask:#x};\n" + put(0, "%w3", 32)
                ),
            ))  # fmt: skip
        found.append(ThreadProgram(
            f"activemask in {mask:#x}",
            _with_mask(mask, "activemask.b32 %w3;\n" + put(0, "%w3", 32)),
        ))  # fmt: skip
        found.append(ThreadProgram(
            f"elect in {mask:#x}",
            _with_mask(
                mask,
                f"elect.sync %w3|%p2, {mask:#x};\nselp.u32 %w4, 1, 0, %p2;\n"
                + put(0, "%w3", 32) + put(1, "%w4", 32),
            ), rows=2,
        ))  # fmt: skip
    return found


def _barriers() -> list[ThreadProgram]:
    found = []
    for name in ("bar", "barrier", "barrier.cta", "bar.cta"):
        aligned = ".aligned" if name.startswith("barrier") else ""
        for op in ("popc", "and", "or"):
            scalar = "u32 %w3" if op == "popc" else "pred %p2"
            result = "" if op == "popc" else "selp.u32 %w3, 1, 0, %p2;\n"
            body = "ld.global.u32 %w1, [%near];\n"
            for row, test in enumerate(("and.b32 %w2, %w1, 1", "mov.u32 %w2, 0", "mov.u32 %w2, 1")):
                body += (
                    f"{test};\nsetp.ne.u32 %p1, %w2, 0;\n"
                    f"{name}.red.{op}{aligned}.{scalar}, {row}, %p1;\n{result}"
                    + put(row, "%w3", 128)
                    # and the two halves of the block by themselves
                    + f"shr.u32 %w5, %local, 6;\nadd.u32 %w5, %w5, {4 + 2 * row};\n"
                    f"{name}.red.{op}{aligned}.{scalar}, %w5, 64, %p1;\n{result}"
                    + put(3 + row, "%w3", 128)
                )
            found.append(ThreadProgram(f"{name}.red.{op}{aligned}", body, rows=6, block=128))
    return found


_MBARRIER_STEPS = (
    # name, instruction; each is followed by the barrier's word and the state
    ("init 5", "mbarrier.init.shared.b64 [%w10], 5;"),
    ("arrive", "mbarrier.arrive.shared.b64 %x1, [%w10];"),
    ("arrive 2", "mbarrier.arrive.release.cta.shared::cta.b64 %x1, [%w10], 2;"),
    ("expect", "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%w10], 48;"),
    ("drop", "mbarrier.arrive_drop.shared.b64 %x1, [%w10];"),
    ("last", "mbarrier.arrive.shared.b64 %x1, [%w10];"),
    ("complete 16", "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%w10], 16;"),
    ("complete 32", "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%w10], 32;"),
    ("arrive 3", "mbarrier.arrive.release.cta.shared::cta.b64 %x1, [%w10], 3;"),
    ("arrive 4", "mbarrier.arrive.shared.b64 %x1, [%w10];"),
    ("arrive.expect", "mbarrier.arrive.expect_tx.shared::cta.b64 %x1, [%w10], 100;"),
    ("noComplete", "mbarrier.arrive.noComplete.shared.b64 %x1, [%w10], 2;"),
    ("complete 100", "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%w10], 100;"),
    ("drop.expect", "mbarrier.arrive_drop.expect_tx.shared::cta.b64 %x1, [%w10], 7;"),
    ("complete 7", "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%w10], 7;"),
    ("inval", "mbarrier.inval.shared.b64 [%w10];"),
)


def _mbarriers() -> list[ThreadProgram]:
    """The steps up to each one, and then what the barrier shows. Of a state only the phase and
    the pending arrivals mean something, in its upper bits."""
    found = []
    for end, (name, _) in enumerate(_MBARRIER_STEPS, 1):
        if name == "inval":
            continue
        body = (
            ".shared .align 8 .b64 bar_NAME;\nmov.u32 %w10, bar_NAME;\nmov.u64 %x1, 0;\n"
            + "".join(f"{text}\n" for _, text in _MBARRIER_STEPS[:end])
        )  # fmt: skip
        for parity in (0, 1):
            body += (
                f"mbarrier.test_wait.parity.shared.b64 %p1, [%w10], {parity};\n"
                "selp.u32 %w4, 1, 0, %p1;\n" + put(parity, "%w4", 1)
            )
        if name != "init 5":
            body += (
                "mbarrier.test_wait.shared.b64 %p1, [%w10], %x1;\n"
                "selp.u32 %w4, 1, 0, %p1;\n" + put(2, "%w4", 1)
                + "mbarrier.pending_count.b64 %w3, %x1;\n" + put(3, "%w3", 1)
                + "shr.u64 %x1, %x1, 43;\n" + put(4, "%x1", 1, 64)
            )  # fmt: skip
        found.append(ThreadProgram(f"mbarrier to {name}", body, rows=5, block=1))
    return found


def _copies() -> list[ThreadProgram]:
    found = []
    area = ".shared .align 128 .b8 area_NAME[4096];\n.shared .align 8 .b64 bar_NAME;\n"
    fill = (
        "mov.u32 %w10, area_NAME;\nmul.lo.u32 %w11, %local, 16;\nadd.u32 %w10, %w10, %w11;\n"
        "mov.u64 %x5, 0xABABABABABABABAB;\nst.shared.u64 [%w10], %x5;\n"
        "st.shared.u64 [%w10+8], %x5;\nmul.wide.u32 %x6, %t, 16;\nadd.u64 %x6, %in, %x6;\n"
    )
    show = (
        "ld.shared.u64 %x2, [%w10];\nld.shared.u64 %x3, [%w10+8];\n"
        + put(0, "%x2", 32, 64) + put(1, "%x3", 32, 64)
    )  # fmt: skip
    waits = {
        "wait_all": "cp.async.wait_all;\n",
        "wait_group": "cp.async.commit_group;\ncp.async.wait_group 0;\n",
        "mbarrier": (
            "cp.async.mbarrier.arrive.noinc.shared.b64 [bar_NAME];\n"
            "W: mbarrier.test_wait.parity.shared.b64 %p3, [bar_NAME], 0;\n@!%p3 bra W;\n"
        ),
        "mbarrier with inc": (
            "cp.async.mbarrier.arrive.shared.b64 [bar_NAME];\n"
            "mbarrier.arrive.shared.b64 _, [bar_NAME];\n"
            "W: mbarrier.test_wait.parity.shared.b64 %p3, [bar_NAME], 0;\n@!%p3 bra W;\n"
        ),
    }
    for size, level in ((4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")):
        for how, wait in waits.items():
            start = (
                "setp.eq.u32 %p1, %local, 0;\n@%p1 mbarrier.init.shared.b64 [bar_NAME], 32;\n"
                "bar.sync 0;\n"
            )
            copies = {
                "": "",
                " of some bytes": ", %w12",
                " ignoring some": ", %p2",
            }
            for what, operand in copies.items():
                found.append(ThreadProgram(
                    f"cp.async.{level} {size}{what}, {how}",
                    area + fill + start
                    + f"rem.u32 %w12, %local, {size + 1};\nand.b32 %w13, %local, 1;\n"
                    "setp.eq.u32 %p2, %w13, 0;\n"
                    f"cp.async.{level}.shared.global [%w10], [%x6], {size}{operand};\n"
                    + wait + show, rows=2,
                ))  # fmt: skip
    return found


_BULK_WAIT = (
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar_NAME], {bytes};\n"
)  # fmt: skip
_BULK_TYPES = {
    "add": "u32 s32 u64 f32 f64", "add.noftz": "f16 bf16", "min": "u32 s32 u64 s64 f16 bf16",
    "max": "u32 s32 u64 s64 f16 bf16", "inc": "u32", "dec": "u32", "and": "b32 b64",
    "or": "b32 b64", "xor": "b32 b64",
}  # fmt: skip


def _bulk() -> list[ThreadProgram]:
    area = ".shared .align 128 .b8 area_NAME[1024];\n.shared .align 8 .b64 bar_NAME;\n"
    one = (
        "mov.u32 %w10, area_NAME;\nmov.u32 %w11, bar_NAME;\n"
        "setp.ne.u32 %p7, %local, 0;\n"
        "@!%p7 mbarrier.init.shared.b64 [bar_NAME], 1;\nfence.proxy.async;\nbar.sync 0;\n"
    )
    load = (
        "@%p7 bra LOADED;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar_NAME], 256;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%w10], [%in], 256, [%w11];\n"
        "LOADED:\nbar.warp.sync 0xffffffff;\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p3, [bar_NAME], 0;\n@!%p3 bra W;\n"
    )
    show = (
        "mul.lo.u32 %w12, %local, 8;\nadd.u32 %w12, %w12, %w10;\n"
        "ld.shared.u64 %x2, [%w12];\n" + put(0, "%x2", 32, 64)
    )
    found = [ThreadProgram("cp.async.bulk to shared", area + one + load + show)]
    for form in ("", ".read"):
        found.append(ThreadProgram(
            f"cp.async.bulk to global{form}",
            area + one + load + "fence.proxy.async;\nbar.sync 0;\n@%p7 bra END;\n"
            "cp.async.bulk.global.shared::cta.bulk_group [%out], [%w10], 256;\n"
            f"cp.async.bulk.commit_group;\ncp.async.bulk.wait_group{form} 0;\nEND:\n",
        ))  # fmt: skip
    for op, scalars in _BULK_TYPES.items():
        for scalar in scalars.split():
            # The result first holds other words of the source, put there by the threads.
            found.append(ThreadProgram(
                f"cp.reduce.async.bulk.{op}.{scalar} to global",
                area + one + load
                + "ld.global.u64 %x3, [%near+1024];\n" + put(0, "%x3", 32, 64)
                + "fence.proxy.async;\nbar.sync 0;\n@%p7 bra END;\n"
                f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{scalar} "
                "[%out], [%w10], 256;\n"
                "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nEND:\n",
                special=tuple(_mixed(scalar)),
            ))  # fmt: skip
    return found


def _mixed(scalar: str) -> list[int]:
    """Words that make both operands of a reduction edge cases of a type."""
    from tests.gpu.variants import Leaf, edges

    width = int("".join(c for c in scalar if c.isdigit())[:2])
    values = edges(Leaf("", scalar, scalar, False, True)).tolist()
    generator = np.random.default_rng(width)
    picked = generator.choice(np.array(values, dtype=np.uint64), 256 * 8 * 8 // width)
    return [int(word) for word in picked.astype(f"<u{width // 8}").view(np.uint64)]


_CLUSTER_REDUCTIONS = {
    "add": "u32 s32 u64", "min": "u32 s32", "max": "u32 s32", "inc": "u32", "dec": "u32",
    "and": "b32", "or": "b32", "xor": "b32",
}  # fmt: skip


def _clusters() -> list[ThreadProgram]:
    shape = {"grid": 8, "cluster": 4, "block": 32}
    total = 8 * 32
    registers = (
        "%clusterid.x %clusterid.y %nclusterid.x %nclusterid.y %cluster_ctaid.x %cluster_ctaid.y "
        "%cluster_nctaid.x %cluster_nctaid.z %cluster_ctarank %cluster_nctarank"
    ).split()
    body = "".join(
        f"mov.u32 %w1, {name};\n" + put(row, "%w1", total) for row, name in enumerate(registers)
    )
    body += "mov.pred %p1, %is_explicit_cluster;\nselp.u32 %w1, 1, 0, %p1;\n"
    body += put(len(registers), "%w1", total)
    found = [ThreadProgram("cluster registers", body, rows=len(registers) + 1, **shape)]
    sync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
    words = ".shared .align 128 .b64 words_NAME[64];\n.shared .align 8 .b64 bar_NAME;\n"
    next_rank = (
        "mov.u32 %w1, %cluster_ctarank;\nadd.u32 %w2, %w1, 1;\nrem.u32 %w2, %w2, 4;\n"
        "mov.u32 %w10, words_NAME;\nmul.lo.u32 %w11, %local, 8;\nadd.u32 %w10, %w10, %w11;\n"
    )
    own = "ld.global.u64 %x1, [%near];\nst.shared.u64 [%w10], %x1;\n"
    found.append(ThreadProgram(
        "ld.shared::cluster",
        words + next_rank + own + sync
        + "mapa.shared::cluster.u32 %w4, %w10, %w2;\nld.shared::cluster.u64 %x2, [%w4];\n"
        + put(0, "%x2", total, 64)
        + "getctarank.shared::cluster.u32 %w5, %w4;\n" + put(1, "%w5", total)
        + "cvt.u64.u32 %x3, %w10;\ncvta.shared.u64 %x3, %x3;\nmapa.u64 %x4, %x3, %w2;\n"
        "ld.u64 %x5, [%x4];\n" + put(2, "%x5", total, 64)
        + "isspacep.shared::cta %p1, %x4;\nselp.u32 %w6, 1, 0, %p1;\n" + put(3, "%w6", total)
        + "isspacep.shared::cluster %p1, %x4;\nselp.u32 %w6, 1, 0, %p1;\n" + put(4, "%w6", total)
        + "isspacep.shared::cta %p1, %x3;\nselp.u32 %w6, 1, 0, %p1;\n" + put(5, "%w6", total)
        + "isspacep.shared::cluster %p1, %x3;\nselp.u32 %w6, 1, 0, %p1;\n" + put(6, "%w6", total)
        + "isspacep.global %p1, %x4;\nselp.u32 %w6, 1, 0, %p1;\n" + put(7, "%w6", total)
        + "getctarank.u64 %w5, %x3;\n" + put(8, "%w5", total)
        + sync, rows=9, **shape,
    ))  # fmt: skip
    found.append(ThreadProgram(
        "st and atom.shared::cluster",
        words + next_rank + "mov.u64 %x1, 0;\nst.shared.u64 [%w10], %x1;\n"
        "st.shared.u64 [%w10+256], %x1;\n" + sync
        + "mapa.shared::cluster.u32 %w4, %w10, %w2;\nld.global.u64 %x1, [%near];\n"
        "st.shared::cluster.u64 [%w4], %x1;\n"
        "mapa.shared::cluster.u32 %w4, words_NAME, 0;\n"
        "atom.shared::cluster.add.u32 %w6, [%w4+256], 3;\n"
        "red.shared::cluster.max.u32 [%w4+264], %t;\n" + sync
        + "ld.shared.u64 %x2, [%w10];\n" + put(0, "%x2", total, 64)
        + "mov.u32 %w10, words_NAME;\n"
        "ld.shared.u32 %w5, [%w10+256];\n" + put(1, "%w5", total)
        + "ld.shared.u32 %w5, [%w10+264];\n" + put(2, "%w5", total),
        rows=3, **shape,
    ))  # fmt: skip
    barrier = (
        "setp.eq.u32 %p1, %local, 0;\n@%p1 mbarrier.init.shared.b64 [bar_NAME], 1;\n"
        "fence.mbarrier_init.release.cluster;\n" + sync
    )
    wait = "W: mbarrier.try_wait.parity.shared.b64 %p3, [bar_NAME], 0;\n@!%p3 bra W;\n"
    remote = (
        "mapa.shared::cluster.u32 %w4, %w10, %w2;\nmov.u32 %w7, bar_NAME;\n"
        "mapa.shared::cluster.u32 %w8, %w7, %w2;\n"
    )
    expect = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar_NAME], {bytes};\n"
    show = "ld.shared.u64 %x2, [%w10];\n" + put(0, "%x2", total, 64)
    for form, register, bytes in (
        ("b32", "%w6", 4), ("u64", "%x1", 8), ("v2.b32", "{%w6, %w9}", 8),
    ):  # fmt: skip
        found.append(ThreadProgram(
            f"st.async.{form}",
            words + next_rank + own + barrier + remote
            + "ld.global.u64 %x1, [%near+512];\nmov.b64 {%w6, %w9}, %x1;\n"
            + expect.format(bytes=32 * bytes)
            + f"st.async.shared::cluster.mbarrier::complete_tx::bytes.{form} "
            f"[%w4], {register}, [%w8];\n" + wait + show + sync, **shape,
        ))  # fmt: skip
    for op, scalars in _CLUSTER_REDUCTIONS.items():
        for scalar in scalars.split():
            wide = scalar.endswith("64")
            value = "%x1" if wide else "%w6"
            found.append(ThreadProgram(
                f"red.async.{op}.{scalar}",
                words + next_rank + own + barrier + remote
                + "ld.global.u64 %x1, [%near+512];\nmov.b64 {%w6, %w9}, %x1;\n"
                + expect.format(bytes=32 * (8 if wide else 4))
                + "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
                f"{op}.{scalar} [%w4], {value}, [%w8];\n" + wait + show + sync, **shape,
            ))  # fmt: skip
            found.append(ThreadProgram(
                f"cp.reduce.async.bulk.{op}.{scalar} to shared::cluster",
                words.replace("[64]", "[64], more_NAME[32]") + next_rank + own
                + "mov.u32 %w12, more_NAME;\nadd.u32 %w13, %w12, %w11;\n"
                "ld.global.u64 %x1, [%near+512];\nst.shared.u64 [%w13], %x1;\n"
                "fence.proxy.async;\n" + barrier + remote + expect.format(bytes=256)
                + "mov.u32 %w4, words_NAME;\nmapa.shared::cluster.u32 %w4, %w4, %w2;\n"
                "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta."
                f"mbarrier::complete_tx::bytes.{op}.{scalar} [%w4], [%w12], 256, [%w8];\n"
                + wait + show + sync, **shape,
            ))  # fmt: skip
    found.append(ThreadProgram(
        "cp.async.bulk shared to shared::cluster",
        words.replace("[64]", "[64], more_NAME[32]") + next_rank + own + barrier
        + remote + "fence.proxy.async;\nbar.sync 0;\n" + expect.format(bytes=256)
        + "mov.u32 %w4, more_NAME;\nmapa.shared::cluster.u32 %w4, %w4, %w2;\n"
        "mov.u32 %w12, words_NAME;\n"
        "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
        "[%w4], [%w12], 256, [%w8];\n" + wait
        + "mov.u32 %w10, more_NAME;\nadd.u32 %w10, %w10, %w11;\n" + show + sync, **shape,
    ))  # fmt: skip
    found.append(ThreadProgram(
        "cp.async.bulk multicast",
        words + next_rank + own + barrier + expect.format(bytes=128)
        + "mov.u32 %w12, words_NAME;\nmov.u32 %w7, bar_NAME;\nmov.u16 %h1, 10;\n"
        "setp.eq.u32 %p2, %w1, 0;\nand.pred %p2, %p2, %p1;\n"
        "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%w12], [%in], 128, [%w7], %h1;\n"
        # The blocks of ranks 1 and 3 get the copy; the others complete their barriers alone.
        "and.b32 %w13, %w1, 1;\nsetp.eq.u32 %p2, %w13, 0;\nand.pred %p2, %p2, %p1;\n"
        "@%p2 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar_NAME], 128;\n"
        + wait + show + sync, **shape,
    ))  # fmt: skip
    return found


def _calls() -> list[ThreadProgram]:
    outside = """\
.func (.reg .u32 r) twice_NAME(.reg .u32 a, .reg .u32 b) { add.u32 r, a, a; add.u32 r, r, b; ret; }
.func (.param .b32 r) plus_NAME(.param .b32 a, .param .b32 b) {
.reg .b32 x, y; ld.param.u32 x, [a]; ld.param.u32 y, [b]; add.u32 x, x, y;
st.param.u32 [r], x; ret; }
.func (.param .b32 r) minus_NAME(.param .b32 a, .param .b32 b) {
.reg .b32 x, y; ld.param.u32 x, [a]; ld.param.u32 y, [b]; sub.u32 x, x, y;
st.param.u32 [r], x; ret; }
.func (.param .b32 r) times_NAME(.param .b32 a, .param .b32 b) {
.reg .b32 x, y; ld.param.u32 x, [a]; ld.param.u32 y, [b]; mul.lo.u32 x, x, y;
st.param.u32 [r], x; ret; }
.global .u64 table_NAME[3] = {plus_NAME, minus_NAME, times_NAME};
"""
    body = (
        "ld.global.u32 %w1, [%near];\nld.global.u32 %w2, [%near+4];\n"
        "{ .reg .u32 u, v, w; mov.u32 u, %w1; mov.u32 v, %w2;\n"
        "call (w), twice_NAME, (u, v); mov.u32 %w3, w; }\n" + put(0, "%w3", 32)
        + "{ .param .b32 p, q, s; st.param.b32 [p], %w1; st.param.b32 [q], %w2;\n"
        "call (s), minus_NAME, (p, q); ld.param.b32 %w3, [s]; }\n" + put(1, "%w3", 32)
        + "rem.u32 %w4, %lane, 3;\nmul.wide.u32 %x1, %w4, 8;\nmov.u64 %x2, table_NAME;\n"
        "add.u64 %x2, %x2, %x1;\nld.global.u64 %x3, [%x2];\n"
        "{ .param .b32 p, q, s; st.param.b32 [p], %w1; st.param.b32 [q], %w2;\n"
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n"
        "call (s), %x3, (p, q), proto; ld.param.b32 %w3, [s]; }\n" + put(2, "%w3", 32)
    )  # fmt: skip
    frames = (
        "stacksave.u64 %x1;\nalloca.u64 %x2, 64;\nalloca.u64 %x3, 32, 64;\n"
        "st.local.u32 [%x2], %t;\nst.local.u32 [%x3], %lane;\nst.local.u32 [%x2+60], %cta;\n"
        "ld.local.u32 %w1, [%x2];\n" + put(0, "%w1", 32)
        + "ld.local.u32 %w1, [%x3];\n" + put(1, "%w1", 32)
        + "and.b64 %x4, %x3, 63;\n" + put(2, "%x4", 32, 64)
        + "stackrestore.u64 %x1;\nalloca.u64 %x5, 64;\nsub.u64 %x5, %x5, %x2;\n"
        + put(3, "%x5", 32, 64)
    )  # fmt: skip
    return [
        ThreadProgram("calls", body, rows=3, outside=outside),
        ThreadProgram("alloca", frames, rows=4),
    ]


def _contended() -> list[ThreadProgram]:
    """Many threads on one place, where the end does not depend on their order."""
    found = []
    for scalar, op in (
        ("u32", "add"), ("s32", "max"), ("u32", "min"), ("u64", "add"), ("b32", "xor"),
        ("b32", "and"), ("b64", "or"), ("u32", "inc"), ("u32", "dec"), ("s64", "min"),
    ):  # fmt: skip
        register, width = ("%x1", 64) if scalar.endswith("64") else ("%w1", 32)
        for space in ("global", "shared"):
            place = "[%out]" if space == "global" else "[cell_NAME]"
            value = "17" if op in ("inc", "dec") else register
            after = (
                "" if space == "global" else
                "bar.sync 0;\nld.shared.u64 %x2, [cell_NAME];\nsetp.eq.u32 %p1, %local, 0;\n"
                "@%p1 st.global.u64 [%out], %x2;\n"
            )  # fmt: skip
            found.append(ThreadProgram(
                f"red.{space}.{op}.{scalar} by many",
                ".shared .align 8 .b64 cell_NAME;\nsetp.eq.u32 %p1, %local, 0;\n"
                "mov.u64 %x2, 0;\n@%p1 st.shared.u64 [cell_NAME], %x2;\nbar.sync 0;\n"
                f"ld.global.u{width} {register}, [%near];\n"
                f"red.{space}.{op}.{scalar} {place}, {value};\n" + after, block=128,
            ))  # fmt: skip
    return found


PROGRAMS: tuple[ThreadProgram, ...] = (
    *_shuffles(),
    *_votes(),
    *_barriers(),
    *_mbarriers(),
    *_copies(),
    *_bulk(),
    *_clusters(),
    *_calls(),
    *_contended(),
)
