"""A kernel as an operator of torch: eager, under ``torch.compile``, with a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.errors import DslError
from ptxkit.dsl.specs import Tile
from ptxkit.dsl.types import Type
from ptxkit.errors import import_extra

if TYPE_CHECKING:
    from ptxkit.dsl.kernels import Kernel

_TORCH_NAMES = {
    "u8": "uint8", "s8": "int8", "u16": "uint16", "s16": "int16", "u32": "uint32", "s32": "int32",
    "u64": "uint64", "s64": "int64", "f16": "float16", "bf16": "bfloat16", "f32": "float32",
    "tf32": "float32", "f64": "float64", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2",
    "b8": "uint8", "b16": "int16", "b32": "int32", "b64": "int64",
}  # fmt: skip


def schema_of(kernel: Kernel) -> str:
    """The operator's schema: tensors, numbers, and which tensors are changed."""
    plan = kernel.plan
    parts = []
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    for name in plan.given:
        spec = plan.specs[name]
        if isinstance(spec, Tile):
            kind = f"Tensor({next(letters)}!)" if spec.is_inout else "Tensor"
        elif isinstance(spec, Type):
            kind = "float" if spec.is_float else "int"
        else:
            raise DslError(
                f"the parameter '{name}' of '{kernel.name}' is neither an array nor a number",
                'say what it is: Tile("N", f32), or f32',
            )
        parts.append(f"{kind} {name}")
    results = ["Tensor"] * len(plan.outs)
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(parts)}) -> {returned}"


def torch_op(
    kernel: Kernel,
    name: str,
    *,
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., Any] | None = None,
    **constants: Any,
) -> Any:
    """Register a kernel as the operator ``name`` (``"library::name"``) and give it.

    On tensors of the host it runs on the simulator. ``backward(ctx, *gradients)`` gives a
    gradient for each argument, None where there is none; ``ctx.saved_tensors`` are the tensors
    among the arguments and then the results, unless ``setup_context`` saves others.
    """
    torch: Any = import_extra("torch", extra="neural")
    plan = kernel.plan
    tiles = {name: spec for name in plan.given if isinstance(spec := plan.specs[name], Tile)}
    changed = [name for name, spec in tiles.items() if spec.is_inout]
    copied = {name for name, spec in tiles.items() if spec.is_contiguous and not spec.is_inout}

    def run(*arguments: Any) -> Any:
        # As torch's own operators do: gradients often are views.
        values = [
            one.contiguous() if name in copied else one
            for name, one in zip(plan.given, arguments, strict=True)
        ]
        return kernel(*values, **constants)

    def fake(*arguments: Any) -> Any:
        first = next(one for one in arguments if isinstance(one, torch.Tensor))
        made = tuple(
            first.new_empty(shape, dtype=getattr(torch, _TORCH_NAMES[type]))
            for shape, type in plan.outputs(arguments, memory=False)
        )
        return None if not made else made[0] if len(made) == 1 else made

    made = torch.library.custom_op(name, run, mutates_args=tuple(changed), schema=schema_of(kernel))
    made.register_fake(fake)
    if backward is not None:
        made.register_autograd(backward, setup_context=setup_context or _save)
    return made


def _save(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Keep all tensors for the backward function."""
    import torch

    results = output if isinstance(output, tuple) else (output,)
    ctx.save_for_backward(*[one for one in (*inputs, *results) if isinstance(one, torch.Tensor)])


__all__ = ["schema_of", "torch_op"]
