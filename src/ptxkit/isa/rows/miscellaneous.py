"""Miscellaneous."""

from ptxkit.isa.forms import form, instruction

SETMAXNREG = "8.0/90a 8.6/100a 101a 8.7/120a 8.8/100f 101f 120f"

INSTRUCTIONS = [
    instruction(
        "brkpt",
        "Suspend the thread for a debugger.",
        form("brkpt", needs="1.0/11"),
        effects="control",
    ),
    instruction(
        "nanosleep",
        "Suspend the thread for about t nanoseconds, at most twice that.",
        form("nanosleep.u32 t:u32", needs="6.3/70"),
        effects="sync",
    ),
    instruction(
        "pmevent",
        "Trigger a performance-monitor event, or with .mask every event of a mask.",
        form("pmevent #a:u32(0..15)", needs="1.4"),
        form("pmevent.mask #a:u32(0..65535)", needs="3.0/20"),
        effects="state",
    ),
    instruction(
        "trap",
        "Abort the whole grid and interrupt the host.",
        form("trap"),
        effects="control",
    ),
    instruction(
        "setmaxnreg.inc",
        "Ask for registers up to a count per thread of the warp, waiting until they are free.",
        form("setmaxnreg.inc.sync.aligned.u32 #count:u32(24..256/8)", needs=SETMAXNREG),
        effects="state sync",
    ),
    instruction(
        "setmaxnreg.dec",
        "Give back registers beyond a count per thread of the warp.",
        form("setmaxnreg.dec.sync.aligned.u32 #count:u32(24..256/8)", needs=SETMAXNREG),
        effects="state sync",
    ),
]
