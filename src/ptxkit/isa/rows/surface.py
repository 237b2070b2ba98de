"""Surface loads, stores, reductions and queries."""

from ptxkit.isa.forms import form, instruction

GEOMETRIES = "1d 2d 3d@3.0 a1d@3.0 a2d@3.0"
#: Coordinates: as many elements as the vector must have.
PLACE = {"1d": "1", "2d": "2", "3d": "4", "a1d": "2", "a2d": "4"}
BOUNDS = "trap clamp zero"
BYTES = {"geom": GEOMETRIES, "vec": "v2 v4", "type": "b8 b16 b32 b64", "clamp": BOUNDS,
         "place": PLACE, "rules": {"vec=v4": "type!=b64"}}  # fmt: skip
REDUCED = {"geom": "1d 2d 3d@3.0", "clamp": BOUNDS, "place": PLACE}

INSTRUCTIONS = [
    instruction(
        "suld.b",
        "Load bytes from a surface; the first coordinate counts bytes.",
        form("suld.b.geom{.cop}{.vec}.type.clamp =d:vec+*type~, [a:surfref, c:place[geom]+*s32]",
             needs="1.5", cop="ca cg cs cv", **BYTES),
        effects="reads",
    ),
    instruction(
        "sust.b",
        "Store bytes to a surface; the first coordinate counts bytes.",
        form("sust.b.geom{.cop}{.vec}.type.clamp =[a:surfref, c:place[geom]+*s32], b:vec+*type~",
             needs="1.5", cop="wb cg cs wt", **BYTES),
        effects="writes",
    ),
    instruction(
        "sust.p",
        "Store texels to a surface, turned into its own format.",
        form("sust.p.geom{.cop}{.vec}.b32.clamp =[a:surfref, c:place[geom]+*s32], b:vec+*b32~",
             needs="2.0/20", geom=GEOMETRIES, cop="wb cg cs wt", vec="v2 v4", clamp=BOUNDS,
             place=PLACE),
        effects="writes",
    ),
    instruction(
        "sured.b",
        "Reduce into a surface in one step that no other thread can split; by bytes.",
        form("sured.b.add.geom.type.clamp +[a:surfref, c:place[geom]+*s32], b:type~",
             needs="2.0/20", type="u32 s32 u64", **REDUCED),
        form("sured.b.op.geom.type.clamp +[a:surfref, c:place[geom]+*s32], b:type~",
             needs="2.0/20", op="min max", type="u32 s32 u64@8.1/50 s64@8.1/50", **REDUCED),
        form("sured.b.op.geom.b32.clamp +[a:surfref, c:place[geom]+*s32], b:b32~",
             needs="2.0/20", op="and or", **REDUCED),
        effects="reads writes",
    ),
    instruction(
        "sured.p",
        "Reduce into a surface in one step that no other thread can split; by texels.",
        form("sured.p.op.geom.type.clamp +[a:surfref, c:place[geom]+*s32], b:type~",
             needs="2.0/20", op="add min max and or", type="b32 b64@8.1/50",
             rules={"type=b64": "op=min|max"}, **REDUCED),
        effects="reads writes",
    ),
    instruction(
        "suq",
        "Ask for an attribute of a surface.",
        form("suq.query.b32 =d, [a:surfref]", needs="2.0/20",
             query="width height depth channel_data_type@2.1 channel_order@2.1 array_size@4.1 "
                   "memory_layout@4.2"),
    ),
]
