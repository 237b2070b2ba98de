"""Control flow."""

from ptxkit.isa.forms import form, instruction

INSTRUCTIONS = [
    instruction(
        "bra",
        "Go on at a label; '.uni' promises that all active lanes do the same.",
        form("bra{.uni} @label"),
        effects="control",
    ),
    instruction(
        "brx.idx",
        "Go on at the label that an index selects from a list of branch targets.",
        form("brx.idx{.uni} index:u32, @targets", needs="6.0/30"),
        effects="control",
    ),
    instruction(
        "call",
        "Call a function, by name or through an address with its possible targets or prototype.",
        form("call{.uni} @function"),
        form("call{.uni} @function, @arguments"),
        form("call{.uni} @results, @function"),
        form("call{.uni} @results, @function, @arguments"),
        form("call{.uni} pointer%:u32~, @prototype", needs="2.1/20"),
        form("call{.uni} pointer%:u32~, @arguments, @prototype", needs="2.1/20"),
        form("call{.uni} @results, pointer%:u32~, @prototype", needs="2.1/20"),
        form("call{.uni} @results, pointer%:u32~, @arguments, @prototype", needs="2.1/20"),
        effects="control reads writes",
    ),
    instruction(
        "ret",
        "Return from the function to its caller; at the end of a kernel, end the thread.",
        form("ret{.uni}"),
        effects="control",
    ),
    instruction("exit", "End the thread.", form("exit"), effects="control"),
]
