"""Registers and local memory that may be read before anything was put into them.

The simulator begins with zeros, a GPU with whatever there is: a program that forgets to begin a
sum with 0 leaves the same behind in all launches, and is wrong all the same. Compilers leave such
registers, too, but never do anything with what is in them. So other numbers are put there first.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.liveness import flowed_back
from ptxkit.isa.dataflow import registers
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.layout import variable_size
from ptxkit.syntax import Function, Module, Scopes, Variable
from ptxkit.syntax.graph import BasicBlock

#: What is put there, by the bits that registers have.
_JUNK = {1: "setp.eq.u32 {}, 0, 0;", **{n: f"mov.b{n} {{}}, {0x5A5A};" for n in (16, 32, 64)}}
#: The same for a variable in local memory, from its end on.
_FILLED = (
    "{{ .reg .pred %unset_p; .reg .b64 %unset_at, %unset_to; mov.b64 %unset_at, {size};"
    " $unset_{name}: sub.u64 %unset_at, %unset_at, {step}; mov.b64 %unset_to, {name};"
    " add.u64 %unset_to, %unset_to, %unset_at; st.local.b{bits} [%unset_to], {junk};"
    " setp.ne.u64 %unset_p, %unset_at, 0; @%unset_p bra $unset_{name}; }} "
)
#: So many bytes of it at most: what is larger takes too long.
_ROOM = 4096
_Reads = tuple[frozenset[str], frozenset[str]]
_NOTHING: _Reads = frozenset(), frozenset()


def with_junk(coverage: Coverage, module: Module) -> Module | None:
    """A module that begins with numbers in registers that may be read before they are set.

    None where all are set first.

    >>> import ptxkit
    >>> m = ptxkit.parse(".entry k() { .reg .pred %p; .reg .b32 %r<3>; @%p bra L; mov.u32 %r1, 0;"
    ...                  "L: add.u32 %r2, %r1, 1; setp.eq.u32 %p, %r2, 0; ret; }")
    >>> with_junk(Coverage.of(m, m["k"]), m)["k"].instructions[1].text
    'mov.b32 %r1, 23130;'
    """
    scopes = Scopes(module)
    reads = {id(block): _reads(block, scopes) for block in coverage.blocks}
    for after in (after for block in coverage.blocks for after in block.successors):
        reads.setdefault(id(after), _NOTHING)  # one without instructions
    blocks = {id(b): b for block in coverage.blocks for b in (block, *block.successors)}
    live = flowed_back(reads, {key: [id(b) for b in one.successors] for key, one in blocks.items()})
    editor, changed = module.edit(), False
    for place, block in enumerate(coverage.blocks):
        begins = not place or coverage.functions[place] is not coverage.functions[place - 1]
        if not begins or block.predecessors:
            continue
        first = block.instructions[0]
        scope = scopes.scope_of(first)
        for text in _filling(coverage.functions[place]):
            editor.insert_before(first, text)
            changed = True
        for name in sorted(live[id(block)]):
            found = scope.resolve(name, first.span[0])
            width = SCALAR_TYPES[found.type].width if found and found.type in SCALAR_TYPES else 1
            if found is not None and width in _JUNK:
                editor.insert_before(first, _JUNK[width].format(name) + " ")
                changed = True
    return editor.apply() if changed else None


def _filling(function: Function) -> Iterator[str]:
    """Code that puts numbers into the variables of a function in local memory."""
    for variable in function.find("Variable"):
        if not isinstance(variable, Variable) or variable.space != "local":
            continue
        for one in variable.declarators:
            size, alignment = variable_size(variable, one)
            step = 4 if size % 4 == alignment % 4 == 0 else 1
            if 0 < size <= _ROOM:
                yield _FILLED.format(
                    name=one.name,
                    size=size,
                    step=step,
                    bits=8 * step,
                    junk=0x5A5A5A5A >> 32 - 8 * step,
                )


def _reads(block: BasicBlock, scopes: Scopes) -> _Reads:
    """What a block reads before it sets it, and what it sets in any case."""
    used: set[str] = set()
    whole: set[str] = set()
    for one in block.instructions:
        names = registers(one, scopes)
        used.update(name.text for name in names.used if name.text not in whole)
        if one.guard is None:
            whole.update(name.text for name in names.defined)
    return frozenset(used), frozenset(whole)
