"""Which options of the compiler a module was compiled with, as far as its code shows them.

Plain operators become other instructions with these options. Told back to the compiler, they
make operators of those instructions again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from ptxkit.syntax import Module

#: What operators and comparisons of C++ become.
_OPERATORS = frozenset("add sub mul fma div setp min max neg abs".split())
#: What functions of the library flush with any options.
_ALWAYS = frozenset(("ex2.approx", "rcp.approx", "rsqrt.approx"))
#: What only precise divisions and square roots become.
_PRECISE = frozenset(("div.rn", "rcp.rn", "sqrt.rn", "div.full"))
#: What ``-use_fast_math`` makes of operators and functions, and their precise forms do not have.
_FAST = frozenset(f"{name}.approx" for name in "div sqrt sin cos lg2 tanh".split())
#: What NVRTC needs to know numbers of 128 bits.
WIDE = "--device-int128"
#: What is put together, or is not and says so.
_SUMS = ("add", "sub", "mul")
#: Where none of these occurs, there was no option.
_SIGNS = (b".ftz", b"div.full", b"sqrt.approx", b"rcp.approx")


@dataclass(frozen=True, slots=True)
class Flags:
    """What plain arithmetic of 32 bits becomes."""

    flush: bool = False
    """Subnormal numbers count as 0: ``.ftz`` everywhere."""
    division: str = "rn"
    """The instruction of ``a / b``: "rn", "full" or "approx"."""
    root: str = "rn"
    """That of ``sqrtf``: "rn" or "approx"."""
    fuse: bool = True
    """Whether a product and a sum may be rounded once, of any size."""

    @property
    def fast(self) -> bool:
        """Whether all that ``-use_fast_math`` stands for is asked for."""
        return self.flush and self.division == self.root == "approx"

    @property
    def reciprocal(self) -> str:
        """The instruction of ``1.0f / b``."""
        return "rn" if self.division == "rn" else "approx"

    @property
    def options(self) -> tuple[str, ...]:
        """The compiler's options.

        >>> Flags(flush=True, division="full").options
        ('-ftz=true', '-prec-div=false')
        >>> Flags(flush=True, division="approx", root="approx").options
        ('-use_fast_math',)
        """
        if self.fast:
            return ("-use_fast_math", *(() if self.fuse else ("-fmad=false",)))
        asked = {
            "-ftz=true": self.flush,
            "-prec-div=false": self.division != "rn",
            "-prec-sqrt=false": self.root != "rn",
            "-fmad=false": not self.fuse,
        }
        return tuple(option for option, wanted in asked.items() if wanted)


#: No options.
PLAIN = Flags()


def shown_flags(module: Module) -> tuple[Flags, ...]:
    """The options that a module may have been compiled with: one, or two that its code allows.

    >>> import ptxkit
    >>> source = "__global__ void k(float *x) { x[0] = x[1] / x[2] + x[3]; }"
    >>> tried = ("-ftz=true",), ("-prec-div=false",), ("-use_fast_math",), ("-fmad=false",)
    >>> for options in ((), *tried):
    ...     print([f.options for f in shown_flags(ptxkit.compile_cuda(source, options=options))])
    [()]
    [('-ftz=true',)]
    [('-prec-div=false',)]
    [('-use_fast_math',)]
    [('-fmad=false',)]
    """
    found = _shown(module)
    if _fuses(module):
        return found
    return tuple(replace(one, fuse=False) for one in found)


def _fuses(module: Module) -> bool:
    """Whether a sum or product says nothing of rounding; or none says that it is not fused."""
    text = module.emit_bytes()
    if not any(f"{name}.rn.".encode() in text for name in _SUMS):
        return True
    opcodes = {one.opcode for function in module.functions for one in function.instructions}
    plain = {f"{name}.{type}" for name in _SUMS for type in ("f32", "ftz.f32", "f64")}
    rounded = {f"{name}.rn.{type}" for name in _SUMS for type in ("f32", "ftz.f32", "f64")}
    return bool(opcodes & plain) or not opcodes & rounded


def _shown(module: Module) -> tuple[Flags, ...]:
    """The options but for those about sums of products."""
    text = module.emit_bytes()
    if not any(sign in text for sign in _SIGNS):
        return (PLAIN,)
    flushed: Counter[bool] = Counter()
    seen: set[str] = set()
    for function in module.functions:
        for instruction in function.instructions:
            words = instruction.opcode.split(".")
            if "f32" not in words:
                continue
            flushes, what = "ftz" in words, ".".join(words[:2])
            seen.add(what + ".ftz" * (flushes and what in _ALWAYS))
            if (flushes and what not in _ALWAYS) or (words[0] in _OPERATORS and not flushes):
                flushed[flushes] += 1
    always = {f"{what}.ftz" for what in _ALWAYS} & seen
    if flushed[True] > flushed[False] or (always and not flushed):
        precise = Flags(True, "full" if "div.full" in seen else "rn",
                        "approx" if "sqrt.approx" in seen else "rn")  # fmt: skip
        if seen & _PRECISE or not (seen & _FAST or always):
            return (precise,)
        fast = Flags(True, "approx", "approx")
        return (fast,) if seen & _FAST else (precise, fast)
    quick = "div.full" in seen or "rcp.approx" in seen
    root = "approx" if "sqrt.approx" in seen else "rn"
    return (Flags(False, "full" if quick else "rn", root),)
