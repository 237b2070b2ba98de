"""Mbarrier: barriers that live in shared memory and count threads and bytes."""

from ptxkit.isa.forms import form, instruction

SPACE = "shared shared::cta@7.8"
ALL_SPACES = SPACE + " shared::cluster@8.0/90"
CLUSTER = "shared::cluster"
SCOPE = "cta cluster@8.0/90"
ARRIVE = "release@8.0/80 relaxed@8.6/90"
RELEASE = "release@8.0/80"
WAIT = "acquire@8.0/80 relaxed@8.6/90"
#: Constants given as a count are positive.
COUNT = "count:u32(1..9223372036854775807)"
EFFECTS = "sync reads writes"

INSTRUCTIONS = [
    instruction(
        "mbarrier.init",
        "Make an mbarrier in shared memory that expects so many arrivals a phase.",
        form("mbarrier.init{.space}.b64 [a!:shared], count:u32", space=SPACE, needs="7.0/80"),
        effects="writes",
    ),
    instruction(
        "mbarrier.inval",
        "End the life of an mbarrier, so that its memory can be used otherwise.",
        form("mbarrier.inval{.space}.b64 [a!:shared]", space=SPACE, needs="7.0/80"),
        effects="writes",
    ),
    instruction(
        "mbarrier.expect_tx",
        "Raise the number of bytes that the current phase of an mbarrier waits for.",
        form("mbarrier.expect_tx{.sem.scope}{.space}.b64 [a!:shared], bytes:u32", sem="relaxed",
             scope="cta cluster", space=ALL_SPACES, needs="8.0/90"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.complete_tx",
        "Lower the number of bytes that the current phase waits for, as an async copy would.",
        form("mbarrier.complete_tx{.sem.scope}{.space}.b64 [a!:shared], bytes:u32", sem="relaxed",
             scope="cta cluster", space=ALL_SPACES, needs="8.0/90"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.arrive",
        "Arrive at an mbarrier, once or as often as given; gives the state of the phase.",
        form("mbarrier.arrive{.sem.scope}{.space}.b64 =state:u64, [a!:shared].unified",
             sem=ARRIVE, scope=SCOPE, space=SPACE, needs="7.0/80"),
        form("mbarrier.arrive{.sem.scope}{.space}.b64 =_, [a!:shared].unified",
             sem=ARRIVE, scope=SCOPE, space=SPACE, needs="7.1/80"),
        form("mbarrier.arrive{.sem.scope}{.space}.b64 =state_:u64, [a!:shared].unified, " + COUNT,
             sem=ARRIVE, scope=SCOPE, space=SPACE, needs="7.8/90"),
        form("mbarrier.arrive{.sem.scope}.space.b64 =_, [a!:shared].unified{, " + COUNT + "}",
             sem=ARRIVE, scope=SCOPE, space=CLUSTER, needs="8.0/90"),
        form("mbarrier.arrive.noComplete{.sem.scope}{.space}.b64 =state:u64, [a!:shared].unified, "
             + COUNT, sem=RELEASE, scope="cta", space=SPACE, needs="7.0/80"),
        form("mbarrier.arrive.noComplete{.sem.scope}{.space}.b64 =_, [a!:shared].unified, "
             + COUNT, sem=RELEASE, scope="cta", space=SPACE, needs="7.1/80"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.arrive.expect_tx",
        "Raise the bytes a phase waits for and arrive at its mbarrier, in one step.",
        form("mbarrier.arrive.expect_tx{.sem.scope}{.space}.b64 "
             "=state_:u64, [a!:shared].unified, bytes:u32",
             sem=ARRIVE, scope=SCOPE, space=SPACE, needs="8.0/90"),
        form("mbarrier.arrive.expect_tx{.sem.scope}.space.b64 =_, [a!:shared].unified, bytes:u32",
             sem=ARRIVE, scope=SCOPE, space=CLUSTER, needs="8.0/90"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.arrive_drop",
        "Arrive at an mbarrier and lower the arrivals it expects in later phases.",
        form("mbarrier.arrive_drop{.sem.scope}{.space}.b64 =state:u64, [a!:shared].unified",
             sem=ARRIVE, scope=SCOPE, space=SPACE, needs="7.0/80"),
        form("mbarrier.arrive_drop{.sem.scope}{.space}.b64 =_, [a!:shared].unified",
             sem=ARRIVE, scope=SCOPE, space=SPACE, needs="7.1/80"),
        form("mbarrier.arrive_drop{.sem.scope}{.space}.b64 "
             "=state_:u64, [a!:shared].unified, " + COUNT,
             sem=ARRIVE, scope=SCOPE, space=SPACE, needs="7.8/90"),
        form("mbarrier.arrive_drop{.sem.scope}.space.b64 =_, [a!:shared].unified{, " + COUNT + "}",
             sem=ARRIVE, scope=SCOPE, space=CLUSTER, needs="8.0/90"),
        form("mbarrier.arrive_drop.noComplete{.sem.scope}{.space}.b64 "
             "=state:u64, [a!:shared].unified, "
             + COUNT, sem=RELEASE, scope="cta", space=SPACE, needs="7.0/80"),
        form("mbarrier.arrive_drop.noComplete{.sem.scope}{.space}.b64 =_, [a!:shared].unified, "
             + COUNT, sem=RELEASE, scope="cta", space=SPACE, needs="7.1/80"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.arrive_drop.expect_tx",
        "Raise the bytes a phase waits for, arrive, and expect fewer arrivals later.",
        form("mbarrier.arrive_drop.expect_tx{.sem.scope}{.space}.b64 "
             "=state_:u64, [a!:shared].unified, bytes:u32",
             sem=ARRIVE, scope=SCOPE, space=SPACE, needs="8.0/90"),
        form("mbarrier.arrive_drop.expect_tx{.sem.scope}.space.b64 "
             "=_, [a!:shared].unified, bytes:u32",
             sem=ARRIVE, scope=SCOPE, space=CLUSTER, needs="8.0/90"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.test_wait",
        "Say whether the phase of a state has completed, without waiting.",
        form("mbarrier.test_wait{.sem.scope}{.space}.b64 "
             "=p:pred, [a!:shared].unified, state:u64", sem=WAIT,
             scope=SCOPE, space=SPACE, needs="7.0/80"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.test_wait.parity",
        "Say whether the phase of a parity has completed, without waiting.",
        form("mbarrier.test_wait.parity{.sem.scope}{.space}.b64 "
             "=p:pred, [a!:shared].unified, parity:u32(0..1)",
             sem=WAIT, scope=SCOPE, space=SPACE, needs="7.1/80"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.try_wait",
        "Wait a limited time for the phase of a state, and say whether it has completed.",
        form("mbarrier.try_wait{.sem.scope}{.space}.b64 "
             "=p:pred, [a!:shared].unified, state:u64{, time:u32}",
             sem=WAIT, scope=SCOPE, space=SPACE, needs="7.8/90"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.try_wait.parity",
        "Wait a limited time for the phase of a parity, and say whether it has completed.",
        form("mbarrier.try_wait.parity{.sem.scope}{.space}.b64 "
             "=p:pred, [a!:shared].unified, parity:u32(0..1){, time:u32}",
             sem=WAIT, scope=SCOPE, space=SPACE, needs="7.8/90"),
        effects=EFFECTS,
    ),
    instruction(
        "mbarrier.pending_count",
        "Give the number of pending arrivals that a state of an mbarrier holds.",
        form("mbarrier.pending_count.b64 =d:u32, state:u64", needs="7.0/80"),
    ),
]  # fmt: skip
