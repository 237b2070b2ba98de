"""Registers that may be read before anything was put into them.

The simulator begins with zeros, a GPU with whatever there is: a program that forgets to begin a
sum with 0 leaves the same behind in all launches, and is wrong all the same. Compilers leave such
registers, too, but never do anything with what is in them. So other numbers are put there first.
"""

from __future__ import annotations

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.liveness import flowed_back
from ptxkit.isa.dataflow import registers
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Module, Scopes
from ptxkit.syntax.graph import BasicBlock

#: What is put there, by the bits that registers have.
_JUNK = {1: "setp.eq.u32 {}, 0, 0;", **{n: f"mov.b{n} {{}}, {0x5A5A};" for n in (16, 32, 64)}}
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
        for name in sorted(live[id(block)]):
            found = scope.resolve(name, first.span[0])
            width = SCALAR_TYPES[found.type].width if found and found.type in SCALAR_TYPES else 1
            if found is not None and width in _JUNK:
                editor.insert_before(first, _JUNK[width].format(name) + " ")
                changed = True
    return editor.apply() if changed else None


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
