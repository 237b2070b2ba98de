"""Local arrays that a compiler put into one frame: variables of their own again.

What a function keeps in local memory is one variable of PTX, `__local_depot0`, and each array of
the source is reached by ``add.u64 %rd1, %SPL, 128``: the numbers say where the arrays begin. As in
`roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from itertools import pairwise

from ptxkit.run.layout import variable_size
from ptxkit.syntax import Editor, Function, Instruction, Module, Variable

#: What compilers call the variable.
FRAME = "__local_depot"
#: What NVVM aligns local arrays to at most: by their sizes, as far as these are multiples of that.
_ALIGNED = 16


def natural_alignment(size: int) -> int:
    """The alignment that a compiler gives to a local array of so many bytes by itself.

    >>> [natural_alignment(size) for size in (36, 40, 512)]
    [4, 8, 16]
    """
    return min(size & -size, _ALIGNED) if size else 1


def with_own_arrays(module: Module) -> Module:
    """A module whose functions have a variable for each of their local arrays.

    >>> import ptxkit
    >>> m = ptxkit.parse('''.version 8.0
    ... .target sm_80
    ... .address_size 64
    ... .visible .entry k() {
    ...     .local .align 16 .b8 __local_depot0[160];
    ...     .reg .b64 %SP, %SPL, %rd<3>;
    ...     mov.u64 %SPL, __local_depot0;
    ...     add.u64 %rd1, %SPL, 0;
    ...     add.u64 %rd2, %SPL, 32;
    ...     st.local.u32 [%rd2], 7;
    ...     ret;
    ... }''')
    >>> print("\\n".join(with_own_arrays(m).emit().splitlines()[4:9]))
        .local .align 16 .b8 __local_depot0_0[32];
        .local .align 16 .b8 __local_depot0_32[128];
        .reg .b64 %SP, %SPL, %rd<3>;
        mov.u64 %rd1, __local_depot0_0;
        mov.u64 %rd2, __local_depot0_32;
    """
    edit = module.edit()
    changed = False
    for function in module.functions:
        # What is printed stands in the frame, too: an index may get there.
        if function.has_body and FRAME in function.text and "vprintf" not in function.text:
            changed |= _split(function, edit)
    return edit.apply() if changed else module


def _split(function: Function, edit: Editor) -> bool:
    """Give a function a variable for each array of its frame; whether it has several."""
    frame = next((v for v in function.find("Variable") if FRAME in v.text), None)
    if not isinstance(frame, Variable) or len(frame.declarators) != 1:
        return False
    name = frame.declarators[0].name
    size, align = variable_size(frame, frame.declarators[0])
    own = {name}
    setters: list[Instruction] = []
    places: list[tuple[Instruction, int]] = []
    for instruction in function.instructions:
        operands = [operand.text for operand in instruction.operands]
        if own.isdisjoint(operands) and not any(x in instruction.text for x in own):
            continue
        match instruction.opcode, operands:
            case (("mov.u64" | "mov.b64" | "cvta.local.u64"), [register, whole]) if whole in own:
                own.add(register)
                setters.append(instruction)
            case (("add.u64" | "add.s64"), [_, whole, number]) if whole in own and number.isdigit():
                places.append((instruction, int(number)))
            case _:
                return False  # it is used in another way
    starts = sorted({0, *(start for _, start in places)})
    if len(starts) < 2 or starts[-1] >= size:
        return False
    lines = [
        f".local .align {_alignment(start, end, align)} .b8 {name}_{start}[{end - start}];"
        for start, end in pairwise((*starts, size))
    ]
    edit.replace(frame, "\n    ".join(lines))
    generic = {i.operands[0].text for i in setters if i.name == "cvta"}
    for instruction, start in places:
        register, whole = (operand.text for operand in instruction.operands[:2])
        made = f"mov.u64 {register}, {name}_{start};"
        if whole in generic:
            made += f" cvta.local.u64 {register}, {register};"
        edit.replace(instruction, made)
    for instruction in setters:
        edit.delete(instruction)
    return True


def _alignment(start: int, end: int, frame: int) -> int:
    """What an array is aligned to that lies there in a frame."""
    known = min(frame, start & -start) if start else frame
    return min(known, max(natural_alignment(end - start), 4))
