"""Pictures of random complex functions: python examples/stack_colours.py --out FOLDER

A random program maps z to f(z), real and imaginary parts in registers of their own. Each
pixel is a z; its colour is the direction of f(z), its brightness tells the magnitude in
steps. The complex operations are routines; the programs run on numpy, without a GPU.
"""

from __future__ import annotations

import argparse
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit import stack
from ptxkit.stack import Instruction, Isa, Routine, Stack


def _complex(name: str, arguments: int, body: str) -> Instruction:
    """An instruction on complex numbers; ``body`` computes cr, ci from ar, ai, br, bi."""
    names = ["ar", "ai", "br", "bi"][: 2 * arguments]
    text = f"{{ .reg .f32 {', '.join([*names, 'cr', 'ci', 'ct', 'cu'])};"
    for number in range(arguments):
        text += f" mov.b64 {{{names[2 * number]}, {names[2 * number + 1]}}}, ${number + 1};"
    return Instruction(
        name, ("c",) * arguments, ("c",), f"{text} {body} mov.b64 $0, {{cr, ci}}; }}"
    )


INSTRUCTIONS = [
    Instruction("complex", ("f32", "f32"), ("c",), "mov.b64 $0, {$1, $2};"),
    Instruction("parts", ("c",), ("f32", "f32"), "mov.b64 {$0, $1}, $2;"),
    _complex("add.c", 2, "add.rn.f32 cr, ar, br; add.rn.f32 ci, ai, bi;"),
    _complex("sub.c", 2, "sub.rn.f32 cr, ar, br; sub.rn.f32 ci, ai, bi;"),
    _complex("mul.c", 2, "mul.rn.f32 ct, ai, bi; neg.f32 ct, ct; fma.rn.f32 cr, ar, br, ct;"
             " mul.rn.f32 cu, ai, br; fma.rn.f32 ci, ar, bi, cu;"),
    _complex("inv.c", 1, "mul.rn.f32 ct, ar, ar; fma.rn.f32 ct, ai, ai, ct; rcp.rn.f32 cu, ct;"
             " mul.rn.f32 cr, ar, cu; neg.f32 ai, ai; mul.rn.f32 ci, ai, cu;"),
    _complex("exp.c", 1, "mul.rn.f32 ct, ar, 0f3FB8AA3B; ex2.approx.f32 ct, ct;"
             " cos.approx.f32 cr, ai; mul.rn.f32 cr, cr, ct; sin.approx.f32 ci, ai;"
             " mul.rn.f32 ci, ci, ct;"),
]  # fmt: skip
ROUTINES = [Routine("square", "a a mul.c", ("a:c",), ("c",))]


def instruction_set() -> Isa:
    """Complex arithmetic, and nothing else to choose from."""
    empty = Isa.default().only([])
    return empty.extended(INSTRUCTIONS, stacks=[Stack("c", "b64", "packed")], routines=ROUTINES)


def colours(re: Any, im: Any) -> Any:
    """Hue from the argument, value from the magnitude, in steps of powers of two."""
    with np.errstate(all="ignore"):
        hue = (np.arctan2(im, re) / (2 * np.pi)) % 1.0
        steps = np.log2(np.hypot(re, im))
        value = np.nan_to_num(0.6 + 0.4 * (steps - np.floor(steps)))
    hue = np.nan_to_num(hue)
    wheel = (np.asarray([5, 3, 1])[:, None, None] + hue * 6) % 6
    rgb = value - value * np.clip(np.minimum(wheel, 4 - wheel), 0, 1) * 0.85
    return (np.moveaxis(rgb, 0, -1) * 255).astype(np.uint8)


def write_png(path: Path, pixels: Any) -> None:
    """A PNG of 8 bits a channel."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + data)


def main(arguments: list[str] | None = None) -> list[Path]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/colours"))
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    isa = instruction_set()
    names = ["add.c", "sub.c", "mul.c", "inv.c", "exp.c", "complex"]
    weights = {"input": 0.3, "constant": 0.12, "routine": 0.06, "slot": 0, "block": 0}
    source = stack.Source(["z"], isa, instructions=names, weights=weights, guarded=0)
    interface = stack.Interface(
        [stack.Operand("z", "b64", stack="c")], ["re:f32", "im:f32"], isa, missing="zero"
    )
    axis = np.linspace(-2, 2, options.size, dtype=np.float32)
    plane = np.stack(np.meshgrid(axis, -axis), axis=-1)
    z = np.ascontiguousarray(plane).view(np.uint64)[..., 0]
    options.out.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    seed = options.seed
    while len(written) < options.count:
        program = stack.random(24, seed, source=source)
        seed += 1
        words = [*program.words(), "parts"]
        if stack.report(words, interface)[1].emitted < 6:
            continue  # too plain to look at
        found = stack.evaluate(words, {"z": z}, interface)
        values = found["re"][np.isfinite(found["re"]) & np.isfinite(found["im"])]
        if len(values) < z.size / 2 or len(np.unique(values)) < z.size / 8:
            continue  # all but one colour
        path = options.out / f"{seed - 1}.png"
        write_png(path, colours(found["re"], found["im"]))
        print(f"{path}: {program}")
        written.append(path)
    return written


if __name__ == "__main__":
    main()
