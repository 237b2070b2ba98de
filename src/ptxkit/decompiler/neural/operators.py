"""Every operator of the value graph: what it takes and what it gives, as one table."""

from __future__ import annotations

from ptxkit.cuda.functions import BUILTINS

FLOATS = ("f16", "f32", "f64")
INTEGERS = ("i32", "i64")
SIGNED = {"i32": ("s32", "u32"), "i64": ("s64", "u64")}
COMPARISONS = ("<", "<=", ">", ">=")
#: ``globalIdx.x`` stands for ``blockIdx.x * blockDim.x + threadIdx.x``.
SPECIALS = tuple(
    f"{base}.{axis}"
    for base in ("globalIdx", "threadIdx", "blockIdx", "blockDim", "gridDim")
    for axis in ("x", "y", "z")
)
NARROW = ("s8", "u8", "s16", "u16")

Signature = tuple[tuple[str, ...], str]


def value_type(word: str) -> str:
    """The type of values that are called ``s32``, ``u32``, ``i32`` or ``f32``.

    >>> value_type("u64"), value_type("f16")
    ('i64', 'f16')
    """
    return "i" + word[1:] if word[0] in "su" else word


def _arithmetic() -> dict[str, Signature]:
    table: dict[str, Signature] = {}
    for t in (*FLOATS, *INTEGERS):
        for operator in ("+", "-", "*"):
            table[f"{operator}.{t}"] = (t, t), t
        for operator in ("==", "!="):
            table[f"{operator}.{t}"] = (t, t), "b"
        table[f"neg.{t}"] = (t,), t
        table[f"?.{t}"] = ("b", t, t), t
    for t in FLOATS:
        table[f"/.{t}"] = (t, t), t
        for operator in COMPARISONS:
            table[f"{operator}.{t}"] = (t, t), "b"
    for t in INTEGERS:
        for operator in ("&", "|", "^"):
            table[f"{operator}.{t}"] = (t, t), t
        table[f"<<.{t}"] = (t, "i32"), t
        table[f"~.{t}"] = (t,), t
        table[f"abs.{t}"] = (t,), t
        for s in SIGNED[t]:
            for operator in ("/", "%", "min", "max"):
                table[f"{operator}.{s}"] = (t, t), t
            table[f">>.{s}"] = (t, "i32"), t
            for operator in COMPARISONS:
                table[f"{operator}.{s}"] = (t, t), "b"
    table.update({"&&": (("b", "b"), "b"), "||": (("b", "b"), "b"), "!": (("b",), "b")})
    return table


def _conversions() -> dict[str, Signature]:
    table: dict[str, Signature] = {
        "sext": (("i32",), "i64"),
        "zext": (("i32",), "i64"),
        "low32": (("i64",), "i32"),
        **{f"ext.{n}": (("i32",), "i32") for n in NARROW},
    }
    for f in FLOATS:
        for other in FLOATS:
            if other != f:
                table[f"cast.{f}.{other}"] = (other,), f
        for s in ("s32", "u32", "s64", "u64"):
            table[f"cast.{f}.{s}"] = (value_type(s),), f
            table[f"cast.{s}.{f}"] = (f,), value_type(s)
    return table


_WORDS = {"float": "f32", "double": "f64", "half": "f16", "int": "i32", "uint": "i32",
          "longlong": "i64", "ulonglong": "i64", "bool": "b"}  # fmt: skip


def _functions() -> dict[str, Signature]:
    table: dict[str, Signature] = {}
    for name, builtin in BUILTINS.items():
        if builtin.result is None or None in builtin.arguments or "half" in name:
            continue
        words = [t.word for t in builtin.arguments if t is not None]
        if all(w in _WORDS for w in (*words, builtin.result.word)):
            table[name] = tuple(_WORDS[w] for w in words), _WORDS[builtin.result.word]
    return table


def _warp() -> dict[str, Signature]:
    table: dict[str, Signature] = {
        "__ballot_sync": (("i32", "b"), "i32"),
        "__any_sync": (("i32", "b"), "b"),
        "__all_sync": (("i32", "b"), "b"),
        "__activemask": ((), "i32"),
    }
    for t in ("i32", "i64", "f32", "f64"):
        for way in ("", "_xor", "_down", "_up"):
            table[f"__shfl{way}_sync.{t}"] = ("i32", t, "i32"), t
    for way in ("add", "min", "max", "and", "or", "xor"):
        table[f"__reduce_{way}_sync"] = ("i32", "i32"), "i32"
    return table


OPERATORS: dict[str, Signature] = {
    **_arithmetic(),
    **_conversions(),
    **_functions(),
    **_warp(),
}
"""Word of an operator: the types it takes and the type it gives."""

ATOMICS: dict[str, tuple[str, ...]] = {
    "atomicAdd": ("i32", "f32", "f64"),
    "atomicSub": ("i32",),
    "atomicMin": ("s32", "u32"),
    "atomicMax": ("s32", "u32"),
    "atomicAnd": ("i32",),
    "atomicOr": ("i32",),
    "atomicXor": ("i32",),
    "atomicExch": ("i32", "f32"),
}
"""Atomic updates and what they work on, whatever its sign."""
