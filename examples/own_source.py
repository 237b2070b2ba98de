"""A source of one's own: polynomials in PTX, for `ptxkit synth`.

Run from the folder above:

    python -m ptxkit synth examples.own_source:Polynomials --count 200 --out polynomials
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import ptxkit
from ptxkit.errors import PtxkitError
from ptxkit.synth import (
    Made,
    Rejected,
    Sample,
    Settings,
    Source,
    Stream,
    Target,
    Verification,
)
from ptxkit.synth.comparing import difference, digest, tolerance_of
from ptxkit.toolchain import assemble_many

_THREADS = 32


class Polynomials(Source):
    """Kernels that evaluate a polynomial of `x` for every thread, by Horner's rule."""

    name: ClassVar[str] = "polynomials"
    categories: ClassVar[tuple[str, ...]] = ("short", "long")
    text_view: ClassVar[str] = "expression"
    views: ClassVar[tuple[str, ...]] = ("expression",)

    def sample(self, seed: int, index: int, settings: Settings) -> Sample:
        """The polynomial at a place: its coefficients, zeros among them."""
        stream = Stream(seed, self.name, index)
        chosen = self.chosen(settings)
        category = chosen[index % len(chosen)]
        degree = stream.between(1, 6) if category == "short" else stream.between(7, 20)
        coefficients = [
            0.0 if stream.chance(0.4) else round(stream.uniform(-2, 2), 2) or 1.0
            for _ in range(degree)
        ]
        coefficients.append(1.5)
        text = " + ".join(f"{c} * x**{n}" for n, c in enumerate(coefficients) if c)
        shape = " + ".join(f"_ * x**{n}" for n, c in enumerate(coefficients) if c)
        return Sample(index, f"polynomial_{index}", category, text, shape, coefficients)

    def make(
        self, seed: int, samples: Sequence[Sample], settings: Settings, workspace: Path
    ) -> list[Made | Rejected]:
        """PTX for every sample; all are assembled together, and each is executed."""
        if settings.views == "source":
            unproved = Verification("not executed")
            return [Made({"expression": sample.text}, unproved) for sample in samples]
        columns = [_assembled(samples, arch) for arch in settings.archs]
        return [
            _row(seed, sample, [column[number] for column in columns])
            for number, sample in enumerate(samples)
        ]

    def replay(self, seed: int, sample: Sample, row: dict[str, Any]) -> str | None:
        """Execute the PTX of a row again."""
        x, expected = _oracle(seed, sample)
        for target in row["targets"]:
            found = _run(target["ptx_forward"], x)
            if digest({"y": found}) != row["verification"]["output_digest"]:
                return "the outputs have another digest"
            wrong = difference({"y": found}, {"y": expected})
            if wrong is not None:
                return wrong
        return None

    def provenance(self, settings: Settings) -> dict[str, str]:
        """The assembler is all it needs."""
        empty = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
        return {"assembler": ptxkit.assemble(empty, settings.archs[0], cache=False).engine}


def _assembled(samples: Sequence[Sample], arch: str) -> list[Target | Rejected]:
    """The PTX of all samples for one architecture, assembled together."""
    texts = [_ptx(sample.program, arch, f"k{n}_forward") for n, sample in enumerate(samples)]
    cubins = assemble_many(texts, arch, batch=True, errors="return", workers=1, cache=False)
    found: list[Target | Rejected] = []
    for number, cubin in enumerate(cubins):
        if isinstance(cubin, PtxkitError):
            found.append(Rejected("assemble", str(cubin)))
            continue
        text = texts[number].replace(f"k{number}_", "")
        needs = cubin.resources[f"k{number}_forward"]
        numbers = (needs.registers, needs.shared, needs.spills, needs.code)
        found.append(Target(arch, text, text, None, True, *numbers))
    return found


def _row(seed: int, sample: Sample, targets: Sequence[Target | Rejected]) -> Made | Rejected:
    """Execute the PTX for every architecture, and compare with numpy."""
    x, expected = _oracle(seed, sample)
    good = []
    for target in targets:
        if isinstance(target, Rejected):
            return target
        found = _run(target.ptx_forward, x)
        wrong = difference({"y": found}, {"y": expected})
        if wrong is not None:
            return Rejected("compare", wrong)
        good.append(target)
    tolerance = tolerance_of([expected])
    proof = Verification(
        "verified", tuple(f"ptx {target.arch} = numpy" for target in good),
        tolerance.relative, tolerance.absolute, digest({"x": x}), digest({"y": found}),
    )  # fmt: skip
    return Made({"expression": sample.text}, proof, tuple(good), (_THREADS,))


def _oracle(seed: int, sample: Sample) -> tuple[Any, Any]:
    stream = Stream(seed, "polynomials", "inputs", sample.index)
    x = stream.reals((_THREADS,), -1, 1).astype(np.float32)
    return x, np.polynomial.polynomial.polyval(x, sample.program).astype(np.float32)


def _run(text: str, x: Any) -> Any:
    y = np.zeros_like(x)
    ptxkit.load(text)["forward"][1, _THREADS](x, y)
    return y


def _ptx(coefficients: Sequence[float], arch: str, name: str) -> str:
    def bits(value: float) -> str:
        return f"0f{np.float32(value).view(np.uint32):08X}"

    lines = [f"mov.f32 %f2, {bits(coefficients[-1])};"]
    for value in reversed(coefficients[:-1]):
        lines.append(f"fma.rn.f32 %f2, %f2, %f1, {bits(value)};")
    body = "\n".join(f"    {line}" for line in lines)
    return f""".version 8.0
.target {arch}
.address_size 64
.visible .entry {name}(.param .u64 {name}_0, .param .u64 {name}_1)
{{
    .reg .b32 %r<2>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [{name}_0];
    ld.param.u64 %rd2, [{name}_1];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
{body}
    st.global.f32 [%rd5], %f2;
    ret;
}}
"""
