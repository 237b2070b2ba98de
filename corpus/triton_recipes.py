"""Which Triton kernel is compiled with which types and sizes, for which architectures."""
# mypy: disable-error-code="import-untyped, import-not-found"

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import triton.language as tl

from corpus import triton_kernels as k


@dataclass(frozen=True)
class Recipe:
    """One kernel, its argument types in order, its constants, and where to compile it."""

    name: str
    kernel: Any
    types: str  # one per run-time argument, separated by spaces
    constants: dict[str, Any]
    capabilities: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)


def dot_recipe(name: str, types: str, accumulator: Any, *capabilities: int, **more: Any) -> Recipe:
    """A matmul on pointers of the given element types: a, b, c."""
    a, b, c = types.split()
    sizes = {"M": 128, "N": 128, "K": 64, "ACC": accumulator} | more.pop("sizes", {})
    arguments = f"*{a} *{b} *{c} i32 i32 i32 i32 i32 i32"
    return Recipe(name, k.matmul, arguments, sizes, capabilities, more)


BLOCK = {"BLOCK": 1024}
MMA = {"num_warps": 4, "num_stages": 3}
ATTENTION = "*{0} *{0} *{0} *{0} i32 fp32"
TILE = {"M": 128, "N": 64, "D": 64}
TMA = "*fp16 *fp16 *fp16 i32 i32 i32"

RECIPES = [
    Recipe("vector_add_f32", k.vector_add, "*fp32 *fp32 *fp32 i32", BLOCK,
           (75, 80, 86, 89, 90, 100, 103, 110, 120, 121)),
    Recipe("vector_add_bf16", k.vector_add, "*bf16 *bf16 *bf16 i32", BLOCK, (80, 90, 100)),
    Recipe("vector_add_f16_i64", k.vector_add, "*fp16 *fp16 *fp16 i64", BLOCK, (75, 120)),
    Recipe("vector_add_i8", k.vector_add, "*i8 *i8 *i8 i32", BLOCK, (75, 90)),
    Recipe("vector_add_f64", k.vector_add, "*fp64 *fp64 *fp64 i32", BLOCK, (80,)),
    Recipe("activations_f32", k.activations, "*fp32 *fp32 i32", BLOCK, (75, 90, 120)),
    Recipe("softmax_f32", k.softmax, "*fp32 *fp32 i32 i32", BLOCK, (75, 80, 90, 100)),
    Recipe("softmax_bf16_wide", k.softmax, "*bf16 *bf16 i32 i32", {"BLOCK": 8192},
           (86, 90, 121), {"num_warps": 16}),
    Recipe("layer_norm_f16", k.layer_norm, "*fp16 *fp32 *fp32 *fp16 *fp32 i32 i32 fp32",
           BLOCK, (75, 80, 90, 100, 120), {"num_warps": 8}),
    dot_recipe("matmul_f16", "fp16 fp16 fp16", tl.float32, 75, 80, 86, 89, 90, 100, 103, 110,
               120, 121, **MMA),
    dot_recipe("matmul_bf16", "bf16 bf16 fp32", tl.float32, 80, 90, 100, 120, num_stages=4,
               num_warps=8),
    dot_recipe("matmul_tf32", "fp32 fp32 fp32", tl.float32, 80, 90, 100, 120,
               sizes={"K": 32}, **MMA),
    dot_recipe("matmul_i8", "i8 i8 i32", tl.int32, 80, 90, 120, **MMA),
    dot_recipe("matmul_f8", "fp8e4nv fp8e4nv fp16", tl.float32, 89, 90, 100, 120, **MMA),
    dot_recipe("matmul_f8e5", "fp8e5 fp8e5 fp32", tl.float32, 89, 90, 100, **MMA),
    dot_recipe("matmul_f16_acc", "fp16 fp16 fp16", tl.float16, 80, 90, 100, **MMA),
    dot_recipe("matmul_f64", "fp64 fp64 fp64", tl.float64, 80, 90, num_warps=4,
               sizes={"M": 32, "N": 32, "K": 16}),
    dot_recipe("matmul_small", "fp16 fp16 fp32", tl.float32, 75, 90, 100, num_warps=1,
               sizes={"M": 16, "N": 16, "K": 16}),
    Recipe("matmul_tma", k.matmul_tma, TMA,
           {"M": 128, "N": 128, "K": 64, "SPECIALIZE": False}, (90, 100, 103, 120), MMA),
    Recipe("matmul_tma_specialized", k.matmul_tma, TMA,
           {"M": 128, "N": 256, "K": 64, "SPECIALIZE": True}, (90, 100, 103), MMA),
    Recipe("copy_descriptor", k.copy_descriptor,
           "tensordesc<fp32[64,64]> tensordesc<fp32[64,64]>", {"M": 64, "N": 64},
           (90, 100, 120)),
    Recipe("matmul_scaled", k.matmul_scaled, "*fp8e4nv *u8 *fp8e5 *u8 *fp32 i32",
           {"M": 128, "N": 128, "K": 128}, (90, 100, 103, 120), MMA),
    Recipe("flash_attention_f16", k.flash_attention, ATTENTION.format("fp16"),
           TILE | {"CAUSAL": False}, (75, 80, 89, 90, 100, 120), MMA),
    Recipe("flash_attention_causal_bf16", k.flash_attention, ATTENTION.format("bf16"),
           TILE | {"CAUSAL": True}, (80, 90, 100, 121), MMA | {"num_warps": 8}),
    Recipe("atomics", k.atomics, "*i32 *i32 *i32 *fp32 i32", BLOCK, (75, 80, 90, 100, 120)),
    Recipe("reductions", k.reductions, "*fp32 *fp32 *fp32", {"M": 32, "N": 128},
           (75, 86, 90, 120)),
    Recipe("sort_rows", k.sort_rows, "*i32 *i32 *i32", {"M": 8, "N": 64}, (75, 90, 100)),
    Recipe("convert_f32_f8e4", k.convert, "*fp32 *fp8e4nv i32", BLOCK, (89, 90, 100)),
    Recipe("convert_f8e4_f16", k.convert, "*fp8e4nv *fp16 i32", BLOCK, (89, 90)),
    Recipe("convert_f8e5_f32", k.convert, "*fp8e5 *fp32 i32", BLOCK, (75, 80, 90)),
    Recipe("convert_f16_f8e5", k.convert, "*fp16 *fp8e5 i32", BLOCK, (80, 100)),
    Recipe("convert_f32_bf16", k.convert, "*fp32 *bf16 i32", BLOCK, (75, 80, 90)),
    Recipe("convert_f64_i8", k.convert, "*fp64 *i8 i32", BLOCK, (80,)),
    Recipe("convert_u16_f32", k.convert, "*u16 *fp32 i32", BLOCK, (75,)),
    Recipe("convert_i64_f16", k.convert, "*i64 *fp16 i32", BLOCK, (90,)),
    Recipe("transpose_f16", k.transpose, "*fp16 *fp16 i32 i32", {"M": 64, "N": 64},
           (75, 80, 90, 100)),
    Recipe("collatz", k.collatz, "*i32 *i32 i32 i32", {}, (75, 90, 120), {"num_warps": 1}),
    Recipe("dropout", k.dropout, "*fp32 *fp32 i32 fp32 i32", BLOCK, (75, 90, 100),
           {"debug": True}),
    Recipe("inline_ptx", k.inline_ptx, "*i32 *i32", {"BLOCK": 256}, (75, 90)),
    Recipe("double_integers", k.double_integers, "*fp64 *fp64 *fp64 *i64", {"BLOCK": 256},
           (80, 100)),
]  # fmt: skip
