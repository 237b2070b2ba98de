"""Multimem: one address for the same place in the memory of several devices."""

from ptxkit.isa.forms import form, instruction

SCOPES = "cta gpu sys cluster"
EIGHT_BITS = "8.6/100a 101a 120a 121a 8.8/100f 101f"
INTEGER = "u32 s32 u64"
#: Registers that hold each type; packed 8-bit floats and bfloats are plain bits.
HELD = {
    "f16": "f16", "f16x2": "f16x2", "bf16": "b16", "bf16x2": "b32", "f32": "f32",
    "e4m3x2": "b16", "e5m2x2": "b16", "e4m3x4": "b32", "e5m2x4": "b32",
}  # fmt: skip
#: A vector has 128 bits at most, and 16-bit elements stand in vectors only.
SIZES = {"type=f16x2|bf16x2|f32|e4m3x4|e5m2x4": "vec!=v8", "type=f16|bf16|e4m3x2|e5m2x2": "vec"}

#: ptxas reads over .acc elsewhere, but not on these rows.
NO_ACC = {"acc": "acc::f16 acc::f32", "rules": {"acc": "!type"}}
IGNORED = "pred texref samplerref surfref"

#: ld_reduce may be weak, relaxed or acquire; st weak, relaxed or release; red not weak.
LOAD = {"{.weak}": {}, ".order.scope": {"order": "relaxed acquire", "scope": SCOPES}}
STORE = {"{.weak}": {}, ".order.scope": {"order": "relaxed release", "scope": SCOPES}}
REDUCE = {"": {}, ".order.scope": STORE[".order.scope"]}

INSTRUCTIONS = [
    instruction(
        "multimem.ld_reduce",
        "Load the values behind a multimem address from all devices and reduce them to one.",
        *(
            one
            for order, sets in LOAD.items()
            for one in (
                form(f"multimem.ld_reduce{order}{{.space}}.op{{.acc}}.type =d, [a:space].unified",
                     needs="8.1/90", space="global", op="min max", type=INTEGER + " s64",
                     **NO_ACC, **sets),
                form(f"multimem.ld_reduce{order}{{.space}}.op{{.acc}}.type =d, [a:space].unified",
                     needs="8.1/90", space="global", op="and or xor", type="b32 b64",
                     **NO_ACC, **sets),
                form(f"multimem.ld_reduce{order}{{.space}}.add{{.acc}}.type =d, [a:space].unified",
                     needs="8.1/90", space="global", type=INTEGER + " f64", **NO_ACC, **sets),
                form(f"multimem.ld_reduce{order}{{.space}}.op{{.acc}}{{.vec}}.type "
                     "=d:vec*held[type], [a:space].unified",
                     needs="8.1/90", space="global", op="add min max", acc="acc::f32@8.2/90",
                     vec="v2 v4 v8", type="f16 f16x2 bf16 bf16x2 f32", held=HELD,
                     rules={**SIZES, "acc": "op=add & type!=f32", "type=f32": "op=add"}, **sets),
                form(f"multimem.ld_reduce{order}{{.space}}.op{{.acc}}{{.vec}}.type "
                     "=d:vec*held[type], [a:space].unified",
                     needs=EIGHT_BITS, space="global", op="add min max", acc="acc::f16",
                     vec="v2 v4 v8", type="e4m3x2 e5m2x2 e4m3x4 e5m2x4", held=HELD,
                     rules={**SIZES, "acc": "op=add"}, **sets),
            )
        ),
        effects="reads",
        ignores=IGNORED,
    ),
    instruction(
        "multimem.st",
        "Store a value to the place behind a multimem address on all devices.",
        *(
            one
            for order, sets in STORE.items()
            for one in (
                form(f"multimem.st{order}{{.space}}.type =[a:space], b",
                     needs="8.1/90", space="global", type="b32 u32 s32 b64 u64 s64 f64", **sets),
                form(f"multimem.st{order}{{.space}}{{.vec}}.type =[a:space], b:vec*held[type]",
                     needs="8.1/90", space="global", vec="v2 v4 v8",
                     type="f16 f16x2 bf16 bf16x2 f32", held=HELD, rules=SIZES, **sets),
                form(f"multimem.st{order}{{.space}}{{.vec}}.type =[a:space], b:vec*held[type]",
                     needs=EIGHT_BITS, space="global", vec="v2 v4 v8",
                     type="e4m3x2 e5m2x2 e4m3x4 e5m2x4", held=HELD, rules=SIZES, **sets),
            )
        ),
        effects="writes",
        ignores=IGNORED,
    ),
    instruction(
        "multimem.red",
        "Reduce a value into the place behind a multimem address on all devices.",
        *(
            one
            for order, sets in REDUCE.items()
            for one in (
                form(f"multimem.red{order}{{.space}}.op.type +[a[]:space/u64], b",
                     needs="8.1/90", space="global", op="min max", type=INTEGER + " s64", **sets),
                form(f"multimem.red{order}{{.space}}.op.type +[a[]:space/u64], b",
                     needs="8.1/90", space="global", op="and or xor", type="b32 b64", **sets),
                form(f"multimem.red{order}{{.space}}.add.type +[a[]:space/u64], b",
                     needs="8.1/90", space="global", type=INTEGER + " f64", **sets),
                form(f"multimem.red{order}{{.space}}.op{{.vec}}.type +[a[]:space/u64], b:vec*type",
                     needs="8.1/90", space="global", op="add min max", vec="v2 v4 v8",
                     type="f16 f16x2 bf16 bf16x2 f32",
                     rules={**SIZES, "type=f32": "op=add & vec!=v8",
                            "op=min|max": "vec & type!=f32"}, **sets),
            )
        ),
        effects="reads writes",
        ignores=IGNORED,
    ),
]
