"""What ptxkit does, in under a minute: read, check, edit and run PTX."""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.syntax import Syntax

import ptxkit

SAXPY = """\
.version 8.0
.target sm_90
.address_size 64

.visible .entry saxpy(.param .u64 .ptr .global x, .param .u64 .ptr .global y,
                      .param .f32 a, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<6>;

    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;      // i = blockIdx.x * blockDim.x + threadIdx.x
    ld.param.u32 %r5, [n];
    setp.ge.u32 %p, %r4, %r5;
    @%p bra DONE;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.param.f32 %f1, [a];
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f4;
DONE:
    ret;
}
"""


def main() -> None:
    """Run every step and print it."""
    console = Console()

    console.rule("[bold]read: every byte belongs to a node")
    module = ptxkit.parse(SAXPY, filename="saxpy.ptx")
    assert module.emit() == SAXPY
    kernel = module["saxpy"]
    console.print(f"{len(kernel.instructions)} instructions, {module.node_count} nodes")
    for instruction in kernel.find_instructions("*.global.*"):
        written = ptxkit.isa.registers(instruction)
        console.print(
            f"  line {instruction.line}: {instruction.opcode} "
            f"defines {[n.text for n in written.defined]} uses {[n.text for n in written.used]}",
            highlight=False,
        )
    blocks = [(b.name, [s.name for s in b.successors]) for b in kernel.cfg().blocks]
    console.print(f"control flow: {blocks}", highlight=False)

    console.rule("[bold]edit: only the bytes of what was edited change")
    edit = module.edit()
    fma = next(kernel.find_instructions("fma.*"))
    edit.replace(fma.opcode_node, "fma.rz.ftz.f32")
    console.print(Syntax(edit.apply()["saxpy"].instructions[-3].text, "nasm"))

    console.rule("[bold]check: what ptxas would reject, in words")
    broken = SAXPY.replace("mul.wide.u32 %rd3", "mul.wide.u32 %r3").replace("fma.rn", "fma")
    for finding in ptxkit.check(broken):
        console.print(finding.render(), highlight=False, markup=False)

    console.rule("[bold]run: without a GPU, on numpy arrays")
    x = np.arange(1000, dtype=np.float32)
    y = np.ones(1000, dtype=np.float32)
    saxpy = ptxkit.load(module, device="cpu")["saxpy"]
    saxpy[4, 256](x, y, 2.0, 1000)
    assert (y == 2 * x + 1).all()
    console.print(f"saxpy on 1,000 numbers: y = {np.array2string(y, threshold=6)}")
    try:
        saxpy[4, 256](x, y, 2.0, 1010)
    except ptxkit.PtxkitError as error:
        console.print("asked for 10 numbers too many:")
        console.print(str(error), highlight=False, markup=False)

    console.rule("[bold]fast: a large file")
    head, body = SAXPY.split("\n\n", 1)
    large = head + "\n" + "".join(body.replace("saxpy", f"saxpy{number}") for number in range(4000))
    begin = time.perf_counter()
    parsed = ptxkit.parse(large)
    seconds = time.perf_counter() - begin
    console.print(
        f"parsed {len(large) / 1e6:.1f} MB with {len(parsed.functions)} kernels "
        f"in {1000 * seconds:.0f} ms ({len(large) / seconds / 1e6:.0f} MB/s)"
    )


if __name__ == "__main__":
    main()
