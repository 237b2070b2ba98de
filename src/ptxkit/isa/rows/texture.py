"""Texture fetches and queries."""

from ptxkit.isa.forms import form, instruction

GEOMETRIES = "1d 2d 3d a1d@2.3 a2d@2.3 cube@3.0 acube@3.0"
#: Coordinates: as many elements as the vector must have; in arrays an index stands first.
PLACE = {"1d": "1", "2d": "2", "3d": "4", "a1d": "i2", "a2d": "i4", "cube": "4", "acube": "i4",
         "2dms": "4", "a2dms": "4"}  # fmt: skip
#: Offsets in texels, and derivatives.
OFFSET = {"1d": "1", "2d": "2", "3d": "4", "a1d": "1", "a2d": "2", "2dms": "2", "a2dms": "2"}
SLOPE = {"1d": "1", "2d": "2", "3d": "4", "a1d": "1", "a2d": "2"}
TYPES = {"type": "f32 u32 s32 f16x2@4.2/53 f16@4.2/53", "vec": "v4 v2", "place": PLACE}
SIZES = {"type=f16x2": "vec=v2", "type!=f16x2": "vec=v4"}
CUBES = {**SIZES, "geom=cube|acube": "ctype=f32"}
D = "=d:vec*type{!7.1/60|p:pred}"
AT = "[a:texref{!1.5, s:samplerref}, c:place[geom]+*ctype]"

#: What stands before the offset: nothing, the level of detail, or two derivatives.
MODES = {
    "tex": ("", "1.0"),
    "tex.base": ("", "3.1"),
    "tex.level": (", lod:1+*ctype", "3.1"),
}
SUMMARIES = {
    "tex": "Fetch from a texture, from the mipmap level that the hardware chooses.",
    "tex.base": "Fetch from the finest level of a texture.",
    "tex.level": "Fetch from the mipmap level of a texture that an operand gives.",
}

QUERIES = (
    "width height depth channel_data_type@2.1 channel_order@2.1 normalized_coords "
    "array_size@4.1 num_mipmap_levels@4.1 num_samples@4.1/30 memory_layout@4.2"
)
SAMPLER_QUERIES = "filter_mode addr_mode_0 addr_mode_1 addr_mode_2"

INSTRUCTIONS = [
    *(
        instruction(
            root,
            SUMMARIES[root],
            form(f"{root}.geom.vec.type.ctype {D}, {AT}{more}",
                 needs=needs, geom=GEOMETRIES, ctype="f32 s32", rules=CUBES, **TYPES),
            form(f"{root}.geom.vec.type.ctype {D}, {AT}{more}, e:offset[geom]+*s32",
                 needs="4.3/30", geom="1d 2d 3d a1d a2d", ctype="f32 s32", rules=SIZES,
                 offset=OFFSET, **TYPES),
            form(f"{root}.geom.vec.type.ctype {D}, {AT}{more}, e:offset[geom]+*s32, f:f32",
                 needs="4.3/30", geom="1d 2d a1d a2d", ctype="f32", rules=SIZES,
                 offset=OFFSET, **TYPES),
            form(f"{root}.geom.vec.type.ctype {D}, {AT}{more}, f:f32",
                 needs="4.3/30", geom="1d 2d a1d a2d cube acube", ctype="f32", rules=SIZES,
                 **TYPES),
            *(
                form(f"{root}.geom.vec.type.ctype {D}, {AT}{{!4.3/30, e:offset[geom]+*s32}}",
                     needs="3.2/30", geom="2dms a2dms", ctype="s32", rules=SIZES,
                     offset=OFFSET, **TYPES)
                for _ in range(not more)
            ),
            effects="reads",
            ignores="uni",
        )
        for root, (more, needs) in MODES.items()
    ),
    instruction(
        "tex.grad",
        "Fetch from the mipmap level of a texture that the derivatives of its coordinates give.",
        form(f"tex.grad.geom.vec.type.ctype {D}, {AT}, x:slope[geom]*f32, y:slope[geom]*f32",
             needs="3.1", geom="1d 2d 3d a1d a2d", ctype="f32 s32", rules=SIZES, slope=SLOPE,
             **TYPES),
        form(f"tex.grad.geom.vec.type.ctype {D}, {AT}, x:4*f32, y:4*f32{{!4.3/30, f:f32}}",
             needs="4.3", geom="cube acube", ctype="f32", rules=SIZES, **TYPES),
        form(f"tex.grad.geom.vec.type.ctype {D}, {AT}, x:slope[geom]*f32, y:slope[geom]*f32, "
             "e:offset[geom]+*s32",
             needs="4.3/30", geom="1d 2d 3d a1d a2d", ctype="f32 s32", rules=SIZES, slope=SLOPE,
             offset=OFFSET, **TYPES),
        form(f"tex.grad.geom.vec.type.ctype {D}, {AT}, "
             "x:slope[geom]*f32, y:slope[geom]*f32, e:offset[geom]+*s32, f:f32",
             needs="4.3/30", geom="1d 2d a1d a2d", ctype="f32", rules=SIZES, slope=SLOPE,
             offset=OFFSET, **TYPES),
        form(f"tex.grad.geom.vec.type.ctype {D}, {AT}, "
             "x:slope[geom]*f32, y:slope[geom]*f32, f:f32",
             needs="4.3/30", geom="1d 2d a1d a2d", ctype="f32", rules=SIZES, slope=SLOPE, **TYPES),
        effects="reads",
        ignores="uni",
    ),
    instruction(
        "tld4",
        "Gather one component of the four texels that bilinear filtering would mix.",
        form("tld4.component.geom.v4.type.f32 =d:4*type{!7.1/60|p:pred}, "
             "[a:texref{!1.5, s:samplerref}, c:place[geom]+*f32]",
             needs="2.2/20", component="r g b a", type="f32 u32 s32", place=PLACE,
             geom="2d a2d@4.3/30 cube@4.3/30 acube@4.3/30"),
        form("tld4.component.geom.v4.type.f32 =d:4*type{!7.1/60|p:pred}, "
             "[a:texref{!1.5, s:samplerref}, c:place[geom]+*f32], e:offset[geom]+*s32{, f:f32}",
             needs="4.3/30", component="r g b a", type="f32 u32 s32", place=PLACE,
             offset=OFFSET, geom="2d a2d"),
        form("tld4.component.geom.v4.type.f32 =d:4*type{!7.1/60|p:pred}, "
             "[a:texref{!1.5, s:samplerref}, c:place[geom]+*f32], f:f32",
             needs="4.3/30", component="r g b a", type="f32 u32 s32", place=PLACE,
             geom="2d a2d cube acube"),
        effects="reads",
        ignores="uni",
    ),
    instruction(
        "txq",
        "Ask for an attribute of a texture or sampler.",
        form("txq.query.b32 =d, [a:texref]", needs="1.5", query=QUERIES),
        form("txq.query.b32 =d, [a:texref]", needs="1.5", query=SAMPLER_QUERIES),
        form("txq.query.b32 =d, [a:samplerref]", needs="1.5",
             query=SAMPLER_QUERIES + " force_unnormalized_coords@2.2"),
    ),
    instruction(
        "txq.level",
        "Ask for the size of one mipmap level of a texture.",
        form("txq.level.query.b32 =d, [a:texref], lod:1+*u32", needs="4.3/30",
             query="width height depth"),
    ),
    instruction(
        "istypep",
        "Tell whether a handle stands for a texture, a sampler or a surface.",
        form("istypep.kind =p:pred, a:u64", needs="4.0/30", kind="texref samplerref surfref"),
    ),
]
