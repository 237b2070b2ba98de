"""Stack: the thread's own stack of local memory."""

from ptxkit.isa.forms import form, instruction

INSTRUCTIONS = [
    instruction(
        "stacksave",
        "Copy the stack pointer into a register.",
        form("stacksave.type =d", type="u32 u64", needs="7.3/52"),
        effects="state",
    ),
    instruction(
        "stackrestore",
        "Set the stack pointer to a value that stacksave gave.",
        form("stackrestore.type a%", type="u32 u64", needs="7.3/52"),
        effects="state",
    ),
    instruction(
        "alloca",
        "Reserve bytes on the stack, optionally aligned, and give their local address.",
        form("alloca.type =p, size{, #align:u32(1..8388608*2)}", type="u32 u64", needs="7.3/52"),
        effects="state",
    ),
]
