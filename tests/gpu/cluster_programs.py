"""Programs of clusters: registers, shared memory of other blocks, copies between them."""

from __future__ import annotations

from tests.gpu.thread_program import ThreadProgram, put

_CLUSTER_REDUCTIONS = {
    "add": "u32 s32 u64", "min": "u32 s32", "max": "u32 s32", "inc": "u32", "dec": "u32",
    "and": "b32", "or": "b32", "xor": "b32",
}  # fmt: skip


def programs() -> list[ThreadProgram]:
    """All of them."""
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
