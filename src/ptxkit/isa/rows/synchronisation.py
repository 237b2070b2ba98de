"""Barriers, memory fences and dependencies between grids."""

from ptxkit.isa.forms import form, instruction

SYNC = "Wait at a barrier of the CTA until all of its threads, or as many as given, are there."
ARRIVE = "Count this thread as arrived at a barrier of the CTA, without waiting."
REDUCE = "Wait at a barrier of the CTA and combine a predicate over its threads."
BARRIER = "a:u32(0..15)"
THREADS = "b:u32(0..18446744073709551615/32)"
SOME_THREADS = "b:u32(32..18446744073709551615/32)"
SCOPE = "cta gpu sys cluster@7.8/90"
RESTRICTIONS = "sync_restrict::shared::cta sync_restrict::shared::cluster"
SPACES = "global shared shared::cta shared::cluster"

INSTRUCTIONS = [
    instruction("bar", SYNC, form(f"bar.sync {BARRIER}{{, {THREADS}}}", ignores="all any"),
        effects="sync"),
    instruction(
        "bar.cta", SYNC, form(f"bar.cta.sync {BARRIER}{{, {THREADS}}}", needs="7.8"),
        effects="sync",
    ),
    instruction(
        "bar.arrive", ARRIVE, form(f"bar.arrive {BARRIER}, {SOME_THREADS}", ignores="any",
                                 needs="2.0/20"),
        effects="sync",
    ),
    instruction(
        "bar.cta.arrive", ARRIVE, form(f"bar.cta.arrive {BARRIER}, {SOME_THREADS}", needs="7.8/20"),
        effects="sync",
    ),
    instruction(
        "bar.red", REDUCE,
        form(f"bar.red.popc.u32 =d, {BARRIER}{{, {THREADS}}}, c:pred", ignores="any",
             needs="2.0/20"),
        form(f"bar.red.op.pred =d, {BARRIER}{{, {THREADS}}}, c:pred", op="and or", ignores="any",
             needs="2.0/20"),
        effects="sync",
    ),
    instruction(
        "bar.cta.red", REDUCE,
        form(f"bar.cta.red.popc.u32 =d, {BARRIER}{{, {THREADS}}}, c:pred", needs="7.8/20"),
        form(f"bar.cta.red.op.pred =d, {BARRIER}{{, {THREADS}}}, c:pred", op="and or",
             needs="7.8/20"),
        effects="sync",
    ),
    instruction(
        "barrier", SYNC,
        form(f"barrier.sync{{.aligned}} {BARRIER}{{, {THREADS}}}", needs="6.0/30"),
        effects="sync",
    ),
    instruction(
        "barrier.cta", SYNC,
        form(f"barrier.cta.sync{{.aligned}} {BARRIER}{{, {THREADS}}}", needs="7.8/30"),
        effects="sync",
    ),
    instruction(
        "barrier.arrive", ARRIVE,
        form(f"barrier.arrive{{.aligned}} {BARRIER}, {SOME_THREADS}", needs="6.0/30"),
        effects="sync",
    ),
    instruction(
        "barrier.cta.arrive", ARRIVE,
        form(f"barrier.cta.arrive{{.aligned}} {BARRIER}, {SOME_THREADS}", needs="7.8/30"),
        effects="sync",
    ),
    instruction(
        "barrier.red", REDUCE,
        form(f"barrier.red.popc{{.aligned}}.u32 =d, {BARRIER}{{, {THREADS}}}, c:pred",
             needs="6.0/30"),
        form(f"barrier.red.op{{.aligned}}.pred =d, {BARRIER}{{, {THREADS}}}, c:pred", op="and or",
             needs="6.0/30"),
        effects="sync",
    ),
    instruction(
        "barrier.cta.red", REDUCE,
        form(f"barrier.cta.red.popc{{.aligned}}.u32 =d, {BARRIER}{{, {THREADS}}}, c:pred",
             needs="7.8/30"),
        form(f"barrier.cta.red.op{{.aligned}}.pred =d, {BARRIER}{{, {THREADS}}}, c:pred",
             op="and or", needs="7.8/30"),
        effects="sync",
    ),
    instruction(
        "bar.warp", "Wait until the lanes of the mask are here, and order their memory accesses.",
        form("bar.warp.sync mask:u32", needs="6.0/30"),
        effects="sync warp",
    ),
    instruction(
        "barrier.cluster.arrive",
        "Count this thread as arrived at the barrier of the cluster, without waiting.",
        form("barrier.cluster.arrive{.sem}{.aligned}", sem="release@8.0/90 relaxed@8.0/90",
             needs="7.8/90"),
        effects="sync",
    ),
    instruction(
        "barrier.cluster.wait",
        "Wait until all threads of the cluster have arrived at its barrier.",
        form("barrier.cluster.wait{.sem}{.aligned}", sem="acquire@8.0/90", needs="7.8/90"),
        effects="sync",
    ),
    instruction(
        "membar",
        "Order this thread's memory accesses as seen by its CTA, the GPU or the whole system.",
        form("membar.level", level="cta gl sys@2.0/20"),
        effects="sync",
    ),
    instruction(
        "membar.proxy",
        "Order accesses to one memory location through different addresses of it.",
        form("membar.proxy.alias", needs="7.5/60"),
        effects="sync",
    ),
    instruction(
        "fence",
        "Order this thread's memory accesses, as seen by the threads of a scope.",
        form("fence{.sem}.scope", sem="sc acq_rel acquire@8.6/90 release@8.6/90", scope=SCOPE,
             needs="6.0/70"),
        form("fence.acquire.sync_restrict::shared::cluster.cluster", needs="8.6/90"),
        form("fence.release.sync_restrict::shared::cta.cluster", needs="8.6/90"),
        form("fence.mbarrier_init.release.cluster", ignores=RESTRICTIONS,
             needs="8.0/90"),
        effects="sync",
    ),
    instruction(
        "fence.proxy",
        "Order memory accesses that go different ways: aliases, async copies, tensor maps.",
        form("fence.proxy.alias", ignores=RESTRICTIONS, needs="7.5/70"),
        form("fence.proxy.alias.sem.sys", sem="acquire release", needs="9.4/90"),
        form("fence.proxy.way.alias.sem.sys", sem="acquire release acq_rel",
             way="fabric::fabric fabric::generic generic::fabric", ignores=SPACES, needs="9.3/100"),
        form("fence.proxy.async{.space}", space="global shared::cta shared::cluster",
             ignores=RESTRICTIONS, needs="8.0/90"),
        form("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
             ignores=SPACES, needs="8.6/90"),
        form("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
             ignores=SPACES, needs="8.6/90"),
        form("fence.proxy.tensormap::generic.release.scope", scope=SCOPE,
             ignores=f"{RESTRICTIONS} {SPACES}", needs="8.3/90"),
        form("fence.proxy.tensormap::generic.acquire.scope [a:any], #size:u32(128..128)",
             scope=SCOPE, needs="8.3/90"),
        effects="sync",
    ),
    instruction(
        "griddepcontrol",
        "Let dependent grids start, or wait for the grids this one depends on.",
        form("griddepcontrol.action", action="launch_dependents wait", needs="7.8/90"),
        effects="sync",
    ),
]  # fmt: skip
