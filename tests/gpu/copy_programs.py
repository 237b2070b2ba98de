"""Programs of mbarriers and asynchronous copies."""

from __future__ import annotations

import numpy as np
from tests.gpu.thread_program import ThreadProgram, put
from tests.gpu.variants import Leaf, edges

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
    width = int("".join(c for c in scalar if c.isdigit())[:2])
    values = edges(Leaf("", scalar, scalar, False, True)).tolist()
    generator = np.random.default_rng(width)
    picked = generator.choice(np.array(values, dtype=np.uint64), 256 * 8 * 8 // width)
    return [int(word) for word in picked.astype(f"<u{width // 8}").view(np.uint64)]


def programs() -> list[ThreadProgram]:
    """All of them."""
    return [*_mbarriers(), *_copies(), *_bulk()]
