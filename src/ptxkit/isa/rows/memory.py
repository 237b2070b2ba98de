"""Loads, stores, and instructions on addresses and caches."""

from ptxkit.isa.forms import form, instruction

BYTE_TO_WORD = "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64"
TYPES = BYTE_TO_WORD + " b128@8.3/70"
WIDE_TYPES = "b32 u32 s32 f32 b64 u64 s64 f64"
SHARED = "shared shared::cta@7.8 shared::cluster@7.8/90"
LOAD_SPACES = f"global local const param param::entry@8.3 param::func@8.3 {SHARED}"
STORE_SPACES = f"global local param param::func@8.3 {SHARED}"
STRONG_SPACES = f"global {SHARED}"
VOLATILE_SPACES = f"global local@9.1 {SHARED}"
SCOPES = "cta gpu sys cluster@7.8/90"
WEAK = "weak@6.0/70"
HINT = "L2::cache_hint@7.4/80"
PREFETCH = "L2::64B L2::128B L2::256B@7.4/80"
EVICT = (
    "L1::evict_normal@7.4/70 L1::evict_unchanged@7.4/70 L1::evict_first@7.4/70 "
    "L1::evict_last@7.4/70 L1::no_allocate@7.4/70"
)
EVICT_L2 = "L2::evict_normal L2::evict_first L2::evict_last"

#: Vectors of up to 128 bits; ptxas takes eight elements of 8 or 16 bits as well.
NARROW = {
    "vec=v2": "type!=b128",
    "vec=v4": "type!=b64|u64|s64|f64|b128",
    "vec=v8": "type=b8|u8|s8|b16|u16|s16",
}
#: Vectors of 256 bits.
WIDE = {"vec=v8": "type=b32|u32|s32|f32", "vec=v4": "type=b64|u64|s64|f64"}
GLOBAL_ONLY = {
    "evict": "space=|global",
    "hint": "space=|global",
    "prefetch": "space=|global",
}
NO_COP = {"evict": "!cop & space=|global"}
GENERIC = {"!space": "2.0/20"}
STRONG = {**GENERIC, "type=b128 & scope=sys": "8.4"}
CACHED = {"prefetch": "7.4/75"}
PRIORITIES = "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged"
SECOND = {"second": "second=L2::evict_first|L2::evict_unchanged"}

INSTRUCTIONS = [
    instruction(
        "ld",
        "Load a value or a vector from memory.",
        form(
            "ld{.weak}{.space}{.cop}{.evict}{.hint}{.prefetch}{.vec}.type "
            "=d:vec*type~, [a[]:space].unified{?hint, policy:u64}",
            weak=WEAK, space=LOAD_SPACES, cop="ca cg cs lu cv", evict=EVICT, hint=HINT,
            prefetch=PREFETCH, vec="v2 v4 v8", type=TYPES,
            rules={**NARROW, **GLOBAL_ONLY, **NO_COP}, gates={**GENERIC, **CACHED, "cop": "2.0/20"},
        ),
        form(
            "ld{.weak}{.space}{.cop}{.evict}{.evict_l2}{.hint}{.prefetch}.vec.type "
            "=d:vec*type~, [a[]:space].unified{?hint, policy:u64}",
            needs="8.8/100", weak=WEAK, space="global", cop="ca cg cs lu cv", evict=EVICT,
            evict_l2=EVICT_L2, hint=HINT, prefetch=PREFETCH, vec="v4 v8", type=WIDE_TYPES,
            rules={**WIDE, **NO_COP},
        ),
        form(
            "ld.volatile{.space}{.prefetch}{.vec}.type =d:vec*type~, [a[]:space].unified",
            needs="1.1", space=VOLATILE_SPACES, prefetch=PREFETCH, vec="v2 v4 v8", type=TYPES,
            rules={**NARROW, "prefetch": "space=|global"}, gates={**GENERIC, **CACHED},
        ),
        form(
            "ld.volatile{.space}{.evict_l2}{.prefetch}.vec.type "
            "=d:vec*type~, [a[]:space].unified",
            needs="8.8/100", space="global", evict_l2=EVICT_L2, prefetch=PREFETCH, vec="v4 v8",
            type=WIDE_TYPES, rules=WIDE,
        ),
        form(
            "ld.order.scope{.space}{.evict}{.hint}{.prefetch}{.vec}.type "
            "=d:vec*type~, [a[]:space].unified{?hint, policy:u64}",
            needs="6.0/70", order="relaxed acquire", scope=SCOPES, space=STRONG_SPACES,
            evict=EVICT, hint=HINT, prefetch=PREFETCH, vec="v2 v4 v8", type=TYPES,
            rules={**NARROW, **GLOBAL_ONLY}, gates={**STRONG, **CACHED},
        ),
        form(
            "ld.order.scope{.space}{.evict}{.evict_l2}{.hint}{.prefetch}.vec.type "
            "=d:vec*type~, [a[]:space].unified{?hint, policy:u64}",
            needs="8.8/100", order="relaxed acquire", scope=SCOPES, space="global", evict=EVICT,
            evict_l2=EVICT_L2, hint=HINT, prefetch=PREFETCH, vec="v4 v8", type=WIDE_TYPES,
            rules=WIDE,
        ),
        form(
            "ld.mmio.order.sys{.space}.type =d:vec*type~, [a[]:space].unified",
            needs="8.2/70", order="relaxed acquire@9.3", space="global", type=TYPES,
            gates={"type=b128": "8.4"},
        ),
        form(
            "ld.global{.cop}.nc{.evict}{.hint}{.prefetch}{.vec}.type "
            "=d:vec*type~, [a[]:global].unified{?hint, policy:u64}",
            needs="3.1/32", cop="ca cg cs", evict=EVICT, hint=HINT, prefetch=PREFETCH,
            vec="v2 v4 v8", type=TYPES, rules={**NARROW, "evict": "!cop"}, gates=CACHED,
        ),
        form(
            "ld.global{.cop}.nc{.evict}{.evict_l2}{.hint}{.prefetch}.vec.type "
            "=d:vec*type~, [a[]:global].unified{?hint, policy:u64}",
            needs="8.8/100", cop="ca cg cs", evict=EVICT, evict_l2=EVICT_L2, hint=HINT,
            prefetch=PREFETCH, vec="v4 v8", type=WIDE_TYPES, rules={**WIDE, "evict": "!cop"},
        ),
        effects="reads",
    ),
    instruction(
        "ldu",
        "Load read-only global data from an address that all threads of the warp share.",
        form(
            "ldu{.space}{.vec}.type =d:vec*type~, [a[]:space].unified",
            needs="2.0/20", space="global", vec="v2 v4", type=TYPES,
            rules={"vec=v2": NARROW["vec=v2"], "vec=v4": NARROW["vec=v4"]},
        ),
        effects="reads",
    ),
    instruction(
        "st",
        "Store a value or a vector to memory.",
        form(
            "st{.weak}{.space}{.cop}{.evict}{.hint}{.vec}.type "
            "=[a[]:space], b:vec*type~{?hint, policy:u64}",
            weak=WEAK, space=STORE_SPACES, cop="wb cg cs wt", evict=EVICT, hint=HINT,
            vec="v2 v4 v8", type=TYPES, rules={**NARROW, **GLOBAL_ONLY, **NO_COP},
            gates={**GENERIC, "cop": "2.0/20"},
        ),
        form(
            "st{.weak}{.space}{.cop}{.evict}{.evict_l2}{.hint}.vec.type "
            "=[a[]:space], b_:vec*type~{?hint, policy:u64}",
            needs="8.8/100", weak=WEAK, space="global", cop="wb cg cs wt", evict=EVICT,
            evict_l2=EVICT_L2, hint=HINT, vec="v4 v8", type=WIDE_TYPES, rules={**WIDE, **NO_COP},
        ),
        form(
            "st.volatile{.space}{.vec}.type =[a[]:space], b:vec*type~",
            needs="1.1", space=VOLATILE_SPACES, vec="v2 v4 v8", type=TYPES, rules=NARROW,
            gates=GENERIC,
        ),
        form(
            "st.volatile{.space}{.evict_l2}.vec.type =[a[]:space], b_:vec*type~",
            needs="8.8/100", space="global", evict_l2=EVICT_L2, vec="v4 v8", type=WIDE_TYPES,
            rules=WIDE,
        ),
        form(
            "st.order.scope{.space}{.evict}{.hint}{.vec}.type "
            "=[a[]:space], b:vec*type~{?hint, policy:u64}",
            needs="6.0/70", order="relaxed release", scope=SCOPES, space=STRONG_SPACES,
            evict=EVICT, hint=HINT, vec="v2 v4 v8", type=TYPES,
            rules={**NARROW, **GLOBAL_ONLY}, gates=STRONG,
        ),
        form(
            "st.order.scope{.space}{.evict}{.evict_l2}{.hint}.vec.type "
            "=[a[]:space], b_:vec*type~{?hint, policy:u64}",
            needs="8.8/100", order="relaxed release", scope=SCOPES, space="global", evict=EVICT,
            evict_l2=EVICT_L2, hint=HINT, vec="v4 v8", type=WIDE_TYPES, rules=WIDE,
        ),
        form(
            "st.mmio.order.sys{.space}.type =[a[]:space], b:vec*type~",
            needs="8.2/70", order="relaxed release@9.3", space="global", type=TYPES,
            gates={"type=b128": "8.4"},
        ),
        effects="writes",
    ),
    instruction(
        "st.async",
        "Store to the shared memory of a CTA in the cluster and count the bytes at an mbarrier "
        "there, or release a store to device memory, without waiting for it.",
        form(
            "st.async{.weak}{.scope}{.space}.mbarrier::complete_tx::bytes{.vec}.type "
            "=[a:space/pointer], b:vec+*type, [mbar:space/pointer]",
            needs="8.1/90", weak=WEAK, scope="cluster", space=SHARED, vec="v2 v4",
            type=WIDE_TYPES, rules={"vec=v4": NARROW["vec=v4"], "weak": "!scope",
                                    "scope": "space=|shared::cluster"},
        ),
        form(
            "st.async{.weak}{.space}{.mbarrier::complete_tx::bytes}.type =[a:space/pointer], b",
            needs="8.1/90", weak=WEAK, space="shared shared::cta global@8.7/100",
            type="b16 u16 s16 " + WIDE_TYPES, rules={"mbarrier::complete_tx::bytes": "!space"},
        ),
        form(
            "st.async{.mmio}{.release}.scope{.space}.type =[a:space/pointer], b",
            needs="8.1/90", scope="sys gpu", space="global@8.7/100",
            type="b16 u16 s16 " + WIDE_TYPES, rules={"mmio": "release & scope=sys"},
            gates={"release": "8.7/100"},
        ),
        effects="writes sync",
    ),
    instruction(
        "st.bulk",
        "Fill a region of shared memory with zeros.",
        form(
            "st.bulk{.weak}{.space} =[a:space/pointer], size:u64(0..16777216/8), #zero:u64(0..0)",
            needs="8.6/100", weak=WEAK, space="shared::cta",
        ),
        form(
            "st.bulk{.weak}{.space} =[a:space/pointer], size%:u32, #zero:u64(0..0)",
            needs="8.6/100", weak=WEAK, space="shared::cta",
        ),
        effects="writes",
    ),
    instruction(
        "prefetch",
        "Bring the cache line of an address, or a tensor map, into a cache.",
        form("prefetch{.space}.level [a:space]", needs="2.0/20", space="global local",
             level="L1 L2"),
        form("prefetch{.space}.level [a:space]", needs="7.4/80", space="global",
             level="L2::evict_last L2::evict_normal"),
        form("prefetch{.space}.tensormap [a:space]", needs="8.0/90", space="const param"),
        form("prefetch{.space}.L1::32B.valid_addr [a:space]", needs="9.4/90", space="global"),
        effects="reads",
    ),
    instruction(
        "prefetchu",
        "Bring the line of a generic address into the uniform cache.",
        form("prefetchu.L1 [a:global]", needs="2.0/20"),
        effects="reads",
    ),
    instruction(
        "isspacep",
        "Tell whether a generic address lies in a state space.",
        form("isspacep.space =p:pred, a:u64", needs="2.0/20",
             space=f"global local const@3.1 param@7.7/70 param::entry@8.3/70 {SHARED}"),
        form("isspacep.space =p:pred, a:u32", needs="2.0/20",
             space=f"global local const@3.1 param@7.7/70 param::entry@8.3/70 {SHARED}"),
    ),
    instruction(
        "cvta",
        "Turn an address of a state space, or a symbol there, into a generic address.",
        form("cvta.space.type =d, a&/space", needs="2.0/20", type="u32 u64",
             space=f"global local const@3.1 param@7.7/70 param::entry@8.3/70 {SHARED}"),
    ),
    instruction(
        "cvta.to",
        "Turn a generic address into an address of a state space.",
        form("cvta.to.space.type =d, a", needs="2.0/20", type="u32 u64",
             space=f"global local const@3.1 param@7.7/70 param::entry@8.3/70 {SHARED}"),
    ),
    instruction(
        "mapa",
        "Map an address of shared memory to the same place in another CTA of the cluster.",
        form("mapa{.space}.type =d, a&/shared, b:u32", needs="7.8/90", space="shared::cluster",
             type="u32 u64 s32 s64"),
    ),
    instruction(
        "getctarank",
        "Give the rank of the CTA in whose shared memory an address lies.",
        form("getctarank{.space}.type =d:u32, a&/shared", needs="7.8/90",
             space="shared::cluster", type="u32 u64 s32 s64"),
    ),
    instruction(
        "applypriority",
        "Give the cache lines of an address range another eviction priority.",
        form("applypriority{.space}.L2::evict_normal [a:space], #size:u32(128..128)",
             needs="7.4/80", space="global"),
        effects="state",
    ),
    instruction(
        "applypriority.async.bulk",
        "Give the cache lines of an address range another eviction priority, without waiting.",
        form("applypriority.async.bulk{.space}.bulk_group.L2::evict_normal "
             "[a:space], size:u32(0..4294967280/16)",
             needs="9.4/107a 107f", space="global"),
        effects="state",
    ),
    instruction(
        "discard",
        "Drop the data of cache lines without writing it back; the memory is then undefined.",
        form("discard{.space}.L2 =[a:space], #size:u32(128..128)", needs="7.4/80",
             space="global"),
        effects="writes",
    ),
    instruction(
        "createpolicy.fractional",
        "Make a cache policy that gives a fraction of the accesses the first priority.",
        form(
            "createpolicy.fractional.first{.second}.b64 =d:u64{, fraction:f32(0..1)}",
            needs="7.4/80", second=PRIORITIES, rules=SECOND,
            first=PRIORITIES,
        ),
    ),
    instruction(
        "createpolicy.range",
        "Make a cache policy that gives the first bytes of a range the first priority.",
        form(
            "createpolicy.range{.space}.first{.second}.b64 "
            "=d:u64, [a:space/pointer].unified, primary:u32, total:u32",
            needs="7.4/80", space="global", second=PRIORITIES, rules=SECOND,
            first=PRIORITIES,
        ),
    ),
    instruction(
        "createpolicy.cvt",
        "Turn an access property of CUDA C++ into a cache policy.",
        form("createpolicy.cvt.L2.b64 =d:u64, a:u64", needs="7.4/80"),
    ),
]
