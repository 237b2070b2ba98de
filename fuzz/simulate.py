"""Run mutated kernels on the simulator: whatever they do, the process must live.

    python fuzz/simulate.py [--seconds N] [--seed S] [--findings FOLDER]

Kernels are changed token by token (registers, constants, labels, types, whole lines), so that
most still load; each then runs with small arrays and limits, plainly or watched. An error of
ptxkit's own is what is expected. A crash, a report of a sanitizer that the extension was built
with, a hang or any other exception is a finding: the kernel that did it is kept.

The kernels run in a child process, which is started anew after a crash. `fuzz/run.sh 600 simulator`
builds the extension with AddressSanitizer and UndefinedBehaviorSanitizer and calls this.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CURRENT = "current.ptx"
STEP_LIMIT, TIME_LIMIT = 20_000, 2.0
HANG = 60.0  # seconds without a new kernel: the limits do not work

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"
SEEDS = [
    """.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<4>; .reg .b32 %r<10>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
    .shared .align 16 .b8 tile[512]; .local .align 16 .b8 depot[64];
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
    mad.lo.s32 %r5, %r3, %r4, %r2;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.s32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd5];
    fma.rn.f32 %f3, %f1, %f2, %f1;
    and.b32 %r6, %r2, 15; shl.b32 %r6, %r6, 2; mov.u32 %r7, tile; add.u32 %r7, %r7, %r6;
    st.shared.f32 [%r7], %f3;
    mov.u64 %rd6, depot; st.local.v2.f32 [%rd6+8], {%f1, %f2}; ld.local.f32 %f5, [%rd6+8];
    bar.sync 0;
    ld.shared.v4.f32 {%f4, %f5, %f6, %f7}, [tile+16];
    mov.u32 %r8, 0;
LOOP:
    add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 5;
    @%p2 bra LOOP;
    st.global.f32 [%rd5], %f4;
    atom.shared.add.u32 %r9, [%r7], %r8; red.global.max.u32 [%rd4], %r9;
DONE:
    ret;
}
""",
    """.func (.param .b32 result) twice(.param .b32 a)
{
    .reg .b32 %r<4>; .reg .pred %p<2>;
    .param .b32 inner; .param .b32 back;
    ld.param.b32 %r1, [a];
    setp.gt.s32 %p1, %r1, 40;
    @%p1 bra END;
    add.s32 %r2, %r1, 7; st.param.b32 [inner], %r2;
    call (back), twice, (inner);
    ld.param.b32 %r1, [back];
END:
    st.param.b32 [result], %r1;
    ret;
}
.visible .entry k(.param .u64 x)
{
    .reg .b32 %r<8>; .reg .b64 %rd<6>; .reg .pred %p<4>;
    .param .b32 in; .param .b32 out;
    ld.param.u64 %rd1, [x]; mov.u32 %r1, %laneid; st.param.b32 [in], %r1;
    call (out), twice, (in);
    ld.param.b32 %r2, [out];
    shfl.sync.bfly.b32 %r3|%p1, %r2, 1, 0x1f, -1;
    vote.sync.ballot.b32 %r4, %p1, -1; match.any.sync.b32 %r5, %r3, 0xffffffff;
    redux.sync.add.s32 %r6, %r5, 0xffffffff; activemask.b32 %r7;
    bar.warp.sync -1; bar.red.popc.u32 %r6, 0, %p1;
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r6;
    and.b32 %r7, %r1, 1;
    brx.idx %r7, TABLE;
TABLE: .branchtargets ONE, TWO;
ONE:
    barrier.sync 1; bar.arrive 2, 64;
TWO:
    exit;
}
""",
    """.visible .entry k(.param .u64 x)
{
    .reg .b32 %r<12>; .reg .b64 %rd<10>; .reg .pred %p<4>; .reg .f16x2 %h<6>;
    .shared .align 128 .b8 data[1024]; .shared .align 8 .b64 bar;
    ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 1;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd2, [bar], 128;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data],
        [%rd1], 128, [bar];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra WAIT;
    shl.b32 %r2, %r1, 4; and.b32 %r2, %r2, 511; mov.u32 %r3, data; add.u32 %r3, %r3, %r2;
    cp.async.ca.shared.global [%r3], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];
    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r8, %r9, %r10, %r11},
        {%r4, %r5, %r6, %r7}, {%r4, %r5}, {%r8, %r9, %r10, %r11};
    mapa.shared::cluster.u32 %r8, %r3, 1; ld.shared::cluster.u32 %r9, [%r8];
    barrier.cluster.arrive; barrier.cluster.wait;
    atom.global.cas.b64 %rd3, [%rd1], %rd2, %rd1; atom.shared.exch.b32 %r5, [%r3], %r9;
    isspacep.shared %p3, %rd3; cvta.shared.u64 %rd4, %rd3; ld.u32 %r6, [%rd4];
    fence.acq_rel.gpu; membar.cta; ld.volatile.shared.u32 %r7, [%r3];
    prmt.b32 %r5, %r6, %r7, 0x3210; bfe.u32 %r6, %r5, %r1, 9; shf.l.wrap.b32 %r5, %r6, %r7, %r1;
    div.s32 %r5, %r6, %r7; rem.u32 %r6, %r5, %r1; cvt.rni.s32.f32 %r5, %r6;
    st.global.u32 [%rd1+16], %r5;
    ret;
}
""",
]  # fmt: skip

_REGISTER = re.compile(r"%[a-z]+\d+\b")
_NUMBER = re.compile(r"(?<![\w%.$])-?(?:0x[0-9a-fA-F]+|\d+)(?![\w.:])")
_TYPE = re.compile(r"\.(?:[usbf](?:8|16|32|64)|v[24]|pred|f16x2)\b")
_LABEL = re.compile(r"^\s*([A-Za-z_$][\w$]*):", re.MULTILINE)
_EDGES = [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 511, 512, 1024, 4096,
          65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, -1, -4, -8, 1 << 33, 0x1000000000000000,
          0x2000000000000000, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF]  # fmt: skip
_TYPES = [
    ".u8",
    ".s16",
    ".u32",
    ".s32",
    ".b32",
    ".f32",
    ".u64",
    ".s64",
    ".b64",
    ".f64",
    ".v2",
    ".v4",
]


def _swap(chooser: random.Random, text: str, pattern: re.Pattern[str], other: list[str]) -> str:
    found = list(pattern.finditer(text))
    if not found or not other:
        return text
    one = chooser.choice(found)
    return text[: one.start()] + chooser.choice(other) + text[one.end() :]


def _labels(chooser: random.Random, text: str) -> str:
    names = _LABEL.findall(text)
    if not names:
        return text
    pattern = re.compile(r"(?<=\bbra )[\w$]+|(?<=\bbra\t)[\w$]+")
    return _swap(chooser, text, pattern, names)


def _lines(chooser: random.Random, text: str) -> str:
    lines = text.split(";")
    at, to = chooser.randrange(len(lines)), chooser.randrange(len(lines))
    kind = chooser.randrange(3)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines[at], lines[to] = lines[to], lines[at]
    else:
        lines.insert(to, lines[at])
    return ";".join(lines)


def mutate(chooser: random.Random, text: str) -> str:
    """A kernel that differs in one to six places.

    >>> mutate(random.Random(1), SEEDS[0]) != SEEDS[0]
    True
    """
    head, body = text[: text.index("{")], text[text.index("{") :]
    for _ in range(chooser.choice((1, 1, 2, 3, 6))):
        kind = chooser.random()
        if kind < 0.4:
            body = _swap(chooser, body, _REGISTER, sorted(set(_REGISTER.findall(body))))
        elif kind < 0.7:
            body = _swap(chooser, body, _NUMBER, [str(edge) for edge in _EDGES])
        elif kind < 0.8:
            body = _labels(chooser, body)
        elif kind < 0.9:
            body = _swap(chooser, body, _TYPE, _TYPES)
        else:
            body = _lines(chooser, body)
    return head + body


def seeds() -> list[str]:
    """The kernels to start from: those above and small ones of the corpus, if it is there."""
    found = [HEADER + text for text in SEEDS]
    corpus = ROOT / ".cache" / "corpus"
    for path in sorted(corpus.rglob("*.ptx")) if corpus.is_dir() else []:
        if path.stat().st_size < 12_000 and (text := path.read_text("latin-1")).count("{"):
            found.append(text)
    return found


def run_one(chooser: random.Random, text: str) -> str:
    """Load and run a kernel; what became of it in one word."""
    import numpy as np

    import ptxkit
    from ptxkit.run.watch import TraceRequest

    try:
        # Without the check too: what is wrong must not bring the process down either.
        module = ptxkit.load(text, check=chooser.random() < 0.2)
    except ptxkit.PtxkitError:
        return "refused"
    if not module.kernels:
        return "refused"
    block = chooser.choice((1, 16, 32, 33, 64, (8, 4), 128))
    options = chooser.choice(
        ({}, {}, {"sanitize": "report"}, {"profile": True}, {"count": True},
         {"trace": TraceRequest(limit=50, last=True)}, {"sanitize": True, "profile": True})
    )  # fmt: skip
    try:
        kernel = module[chooser.choice(module.kernels)]
        arguments: list[object] = []
        for item in kernel.parameters:
            if item.is_array:
                arguments.append(chooser.randbytes(item.size))
            elif item.size == 8 and chooser.random() < 0.9:
                size = chooser.choice((0, 4, 64, 256, 1024))
                arguments.append(np.frombuffer(bytearray(chooser.randbytes(4 * size)), np.int32))
            else:
                arguments.append(chooser.choice((0, 1, 32, 64)))
        launcher = kernel[chooser.choice((1, 2, 4)), block, chooser.choice((0, 64, 4096))]
        if chooser.random() < 0.3:
            launcher = launcher.with_options(cluster=2 if chooser.random() < 0.7 else 4)
        launcher(
            *arguments, threads=chooser.choice((1, 2)), step_limit=STEP_LIMIT,
            time_limit=TIME_LIMIT, **options,
        )  # fmt: skip
    except ptxkit.run.SimulationError as error:
        str(error)
        return error.kind
    except ptxkit.PtxkitError:
        return "refused"
    except MemoryError:
        return "memory"
    return "ran"


def work(seed: int, seconds: float, folder: Path) -> None:
    """The child: mutate and run until the time is over."""
    chooser = random.Random(seed)
    texts = seeds()
    outcomes: dict[str, int] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        # The kernels above reach more of the simulator than most of the corpus.
        one = chooser.choice(texts[: len(SEEDS)] if chooser.random() < 0.6 else texts)
        text = mutate(chooser, one)
        (folder / CURRENT).write_text(text, "latin-1")
        try:
            word = run_one(chooser, text)
        except Exception:
            traceback.print_exc()
            word = "exception"
            shutil.copy(folder / CURRENT, folder / f"exception-{seed}-{sum(outcomes.values())}.ptx")
        outcomes[word] = outcomes.get(word, 0) + 1
    print(" ".join(f"{word}={count}" for word, count in sorted(outcomes.items())), flush=True)
    if "exception" in outcomes:
        sys.exit(3)


def main() -> int:
    """Start children until the time is over; non-zero where there were findings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--findings", type=Path, default=ROOT / "fuzz" / "findings")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.findings.mkdir(parents=True, exist_ok=True)
    if options.child:
        work(options.seed, options.seconds, options.findings)
        return 0
    end = time.monotonic() + options.seconds
    found = 0
    seed = options.seed
    while (left := end - time.monotonic()) > 1:
        slice_ = min(left, 60.0)
        command = [sys.executable, __file__, "--child", "--seed", str(seed)]
        command += ["--seconds", str(slice_), "--findings", str(options.findings)]
        try:
            status = subprocess.run(command, timeout=slice_ + HANG, check=False).returncode
        except subprocess.TimeoutExpired:
            status = "a hang"
        if status != 0:
            found += 1
            if status != 3:  # exceptions were kept already
                kept = options.findings / f"simulator-{seed}.ptx"
                shutil.copy(options.findings / CURRENT, kept)
                print(f"finding ({status}): {kept}", flush=True)
        seed += 1
    (options.findings / CURRENT).unlink(missing_ok=True)
    print(f"{found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
