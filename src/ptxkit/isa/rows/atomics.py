"""Atomic operations and reductions on memory."""

from ptxkit.isa.forms import form, instruction

SPACES = "global shared shared::cta@7.8 shared::cluster@7.8/90"
SCOPES = "cta@5.0/60 gpu@5.0/60 sys@5.0/60 cluster@7.8/90"
ATOM_ORDERS = "relaxed@6.0/70 acquire@6.0/70 release@6.0/70 acq_rel@6.0/70"
RED_ORDERS = "relaxed@6.0/70 release@6.0/70"
ATOM = {"order": ATOM_ORDERS, "scope": SCOPES, "space": SPACES, "hint": "L2::cache_hint@7.4/80"}
RED = {**ATOM, "order": RED_ORDERS}
ATOM_GLOBAL, RED_GLOBAL = {**ATOM, "space": "global"}, {**RED, "space": "global"}
HINTED = {"hint": "space=|global"}
FIRST = {
    "!space": "2.0/20",
    "space=shared": "1.2/12",
    "space=shared & type=u64|b64": "2.0/20",
}
LARGE = {**FIRST, "type=b128 & scope=sys": "8.4"}
ADD = "u32 s32 u64@1.2/12 f32@2.0/20 f64@5.0/60"
MIN_MAX = "u32 s32 u64@3.1/32 s64@3.1/32"
BITWISE = "b32 b64@3.1/32"
HALVES = "f16@6.3/70 f16x2@6.2/60 bf16@7.8/90 bf16x2@7.8/90 f32@9.4/90"
VECTOR_HALVES = "f16 f16x2 bf16 bf16x2 f32@9.4/90"
PACKED = {"type=f16x2|bf16x2|f32": "vec!=v8", "type=f32": "op=add"}

ASYNC = {
    "add": "u32 s32 u64 s64",
    "min max": "u32 s32",
    "and or xor": "b32",
    "inc dec": "u32",
}

INSTRUCTIONS = [
    instruction(
        "atom",
        "Change a value in memory in one step that no other thread can split; give the old one.",
        form("atom{.order}{.scope}{.space}.add{.hint}.type "
             "=d_, +[a:space].unified, b{?hint, policy:u64}",
             needs="1.1/11", type=ADD, rules=HINTED, gates=FIRST, **ATOM),
        form("atom{.order}{.scope}{.space}.op{.hint}.type "
             "=d_, +[a:space].unified, b{?hint, policy:u64}",
             needs="1.1/11", op="min max", type=MIN_MAX, rules=HINTED, gates=FIRST, **ATOM),
        form("atom{.order}{.scope}{.space}.op{.hint}.type "
             "=d_, +[a:space].unified, b{?hint, policy:u64}",
             needs="1.1/11", op="and or xor", type=BITWISE, rules=HINTED, gates=FIRST, **ATOM),
        form("atom{.order}{.scope}{.space}.op{.hint}.u32 "
             "=d_, +[a:space].unified, b{?hint, policy:u64}",
             needs="1.1/11", op="inc dec", rules=HINTED, gates=FIRST, **ATOM),
        form("atom{.order}{.scope}{.space}.exch{.hint}.type "
             "=d_, +[a:space].unified, b{?hint, policy:u64}",
             needs="1.1/11", type="b32 b64@1.2/12 b128@8.3/90", rules=HINTED, gates=LARGE, **ATOM),
        form("atom{.order}{.scope}{.space}.cas.type =d_, +[a:space].unified, b, c",
             needs="1.1/11", type="b16@6.3/70 b32 b64@1.2/12 b128@8.3/90", gates=LARGE, **ATOM),
        form("atom{.order}{.scope}{.space}.add.noftz{.hint}.type "
             "=d_, +[a:space].unified, b{?hint, policy:u64}",
             needs="6.2/60", type=HALVES, rules=HINTED, **ATOM),
        form("atom{.order}{.scope}{.space}.add{.hint}.vec.type "
             "=d_:vec*type, +[a:space].unified, b:vec*type{?hint, policy:u64}",
             needs="8.1/90", vec="v2 v4", type="f32", **ATOM_GLOBAL),
        form("atom{.order}{.scope}{.space}.op.noftz{.hint}.vec.type "
             "=d_:vec*type, +[a:space].unified, b:vec*type{?hint, policy:u64}",
             needs="8.1/90", op="add min max", vec="v2 v4 v8", type=VECTOR_HALVES,
             rules=PACKED, **ATOM_GLOBAL),
        effects="reads writes",
        ignores="pred texref samplerref surfref",
    ),
    instruction(
        "red",
        "Change a value in memory in one step that no other thread can split.",
        form("red{.order}{.scope}{.space}.add{.hint}.type +[a:space], b{?hint, policy:u64}",
             needs="1.2/12", type=ADD, rules=HINTED, gates=FIRST, **RED),
        form("red{.order}{.scope}{.space}.op{.hint}.type +[a:space], b{?hint, policy:u64}",
             needs="1.2/12", op="min max", type=MIN_MAX, rules=HINTED, gates=FIRST, **RED),
        form("red{.order}{.scope}{.space}.op{.hint}.type +[a:space], b{?hint, policy:u64}",
             needs="1.2/12", op="and or xor", type=BITWISE, rules=HINTED, gates=FIRST, **RED),
        form("red{.order}{.scope}{.space}.op{.hint}.u32 +[a:space], b{?hint, policy:u64}",
             needs="1.2/12", op="inc dec", rules=HINTED, gates=FIRST, **RED),
        form("red{.order}{.scope}{.space}.add.noftz{.hint}.type +[a:space], b{?hint, policy:u64}",
             needs="6.2/60", type=HALVES, rules=HINTED, **RED),
        form("red{.order}{.scope}{.space}.add{.hint}.vec.type "
             "+[a:space], b:vec*type{?hint, policy:u64}",
             needs="8.1/90", vec="v2 v4", type="f32", **RED_GLOBAL),
        form("red{.order}{.scope}{.space}.op.noftz{.hint}.vec.type "
             "+[a:space], b:vec*type{?hint, policy:u64}",
             needs="8.1/90", op="add min max", vec="v2 v4 v8", type=VECTOR_HALVES,
             rules=PACKED, **RED_GLOBAL),
        effects="reads writes",
        ignores="pred texref samplerref surfref",
    ),
    instruction(
        "red.async",
        "Reduce into the shared memory of a CTA in the cluster and count the bytes at an mbarrier "
        "there, or into device memory with release order, without waiting for it.",
        *(
            form("red.async.relaxed.cluster{.space}.mbarrier::complete_tx::bytes.op.type "
                 "+[a:space/pointer], b{, [mbar:space/pointer]}",
                 needs="8.1/90", space="shared::cluster", op=op, type=type)
            for op, type in ASYNC.items()
        ),
        *(
            form("red.async{.mmio}.order.scope{.space}.op.type +[a:space/pointer], b",
                 needs="8.1/90", order="release@8.7/100 relaxed", scope="sys gpu",
                 space="global@8.7/100", op=op, type=type,
                 rules={"mmio": "order=release & scope=sys"})
            for op, type in ASYNC.items()
        ),
        effects="reads writes sync",
    ),
]
