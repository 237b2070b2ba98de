"""Programs of warps and blocks: shuffles, votes, barriers, places that many threads change."""

from __future__ import annotations

from tests.gpu.thread_program import ThreadProgram, put

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


def programs() -> list[ThreadProgram]:
    """All of them."""
    return [*_shuffles(), *_votes(), *_barriers(), *_contended()]
