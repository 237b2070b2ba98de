"""Asynchronous copies of a thread: cp.async."""

from ptxkit.isa.forms import form, instruction

HEAD = "{.hint}{.prefetch} =[d:shared], [a:global]"
TAIL = "{?hint, policy:u64}"
SHARED = "shared shared::cta"
HINT = "L2::cache_hint@7.4/80"
PREFETCH = "L2::64B@7.4/80 L2::128B@7.4/80 L2::256B@7.4/80"
COPY = "cp.async.level.shared.global" + HEAD

INSTRUCTIONS = [
    instruction(
        "cp.async",
        "Start a copy of 4, 8 or 16 bytes from global to shared memory, the rest zero-filled.",
        form(f"{COPY}, #size:u32(4..4){{, bytes:u32(0..4)}}{TAIL}", level="ca",
             shared=SHARED, hint=HINT, prefetch=PREFETCH, needs="7.0/80"),
        form(f"{COPY}, #size:u32(8..8){{, bytes:u32(0..8)}}{TAIL}", level="ca",
             shared=SHARED, hint=HINT, prefetch=PREFETCH, needs="7.0/80"),
        form(f"{COPY}, #size:u32(16..16){{, bytes:u32(0..16)}}{TAIL}", level="ca cg",
             shared=SHARED, hint=HINT, prefetch=PREFETCH, needs="7.0/80"),
        form(f"{COPY}, #size:u32(4..8/4), ignore%:pred{TAIL}", level="ca",
             shared=SHARED, hint=HINT, prefetch=PREFETCH, needs="7.5/80"),
        form(f"{COPY}, #size:u32(16..16), ignore%:pred{TAIL}", level="ca cg",
             shared=SHARED, hint=HINT, prefetch=PREFETCH, needs="7.5/80"),
        effects="reads writes",
    ),
    instruction(
        "cp.async.commit_group",
        "Gather the copies this thread has started so far into a group.",
        form("cp.async.commit_group", needs="7.0/80"),
        effects="state",
    ),
    instruction(
        "cp.async.wait_group",
        "Wait until at most so many of this thread's latest copy groups are unfinished.",
        form("cp.async.wait_group #n:u32", needs="7.0/80"),
        effects="sync",
    ),
    instruction(
        "cp.async.wait_all",
        "Wait until all copies that this thread has started are finished.",
        form("cp.async.wait_all", needs="7.0/80"),
        effects="sync",
    ),
    instruction(
        "cp.async.mbarrier.arrive",
        "Arrive at an mbarrier once the copies this thread has started are finished.",
        form("cp.async.mbarrier.arrive{.noinc}{.space}.b64 [a:space]",
             space="shared shared::cta@7.8", needs="7.0/80"),
        effects="sync reads writes",
    ),
]  # fmt: skip
