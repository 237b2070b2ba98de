"""Which line of CUDA C++ is which lines of PTX.

The compiler knows: the C++ is compiled again with line information, and the PTX that comes out is
laid beside the original. Where the two are the same, every instruction has its line; a line of
which nothing is the same stands for what is left of the original between its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from ptxkit.decompiler.verify.certificates import compiled, paired, to_certify
from ptxkit.errors import ToolchainError
from ptxkit.syntax import Function, Instruction, Module
from ptxkit.syntax.nodes import Loc
from ptxkit.syntax.renaming import align_up_to_renaming
from ptxkit.syntax.statements import StatementReader

Links = dict[int, tuple[int, ...]]
"""Lines of C++, and the lines of PTX that each became; both count from 1."""


def links(module: Module, text: str, arch: str) -> Links:
    """The lines of PTX that each line of a source text stands for; none without a compiler.

    >>> import ptxkit
    >>> text = "__global__ void k(int *x) {\\n    x[threadIdx.x] = 7;\\n}"
    >>> m = ptxkit.compile_cuda(text, arch="sm_90")
    >>> found = links(m, text, "sm_90")
    >>> any("st.global" in m.emit().splitlines()[line - 1] for line in found[2])
    True
    """
    names = to_certify(module)
    separate = any(not module[name].is_entry for name in names)
    try:
        made = compiled(text, arch, separate=separate, line_info=True).module
    except ToolchainError:
        return {}
    if made is None:
        return {}
    partners = paired(module, made)
    found: dict[int, set[int]] = {}
    every = [f.name for f in module.functions if f.has_body]
    for name in dict.fromkeys((*names, *every)):
        other = partners.get(name, name)
        if other in made and made[other].has_body:
            _function(module, module[name], made, made[other], found)
    return {line: tuple(sorted(lines)) for line, lines in sorted(found.items())}


def _function(
    module: Module, function: Function, made: Module, other: Function, found: dict[int, set[int]]
) -> None:
    sources = _source_lines(other)
    readers = [StatementReader(m, debug=False, names=False) for m in (module, made)]
    a, b = readers[0].of_function(function), readers[1].of_function(other)
    by_line: dict[int, int] = {i.line: sources[i.span[0]] for i in other.instructions}
    instructions = {i.line for i in function.instructions}
    between: dict[int, set[int]] = {}
    one = two = 0
    for first, second, length in (*align_up_to_renaming(a, b), (len(a), len(b), 0)):
        for k in range(length):
            source = by_line.get(b[second + k].line, 0)
            if source:
                found.setdefault(source, set()).add(a[first + k].line)
        # Between what is the same, the one stands for the other, whatever it looks like.
        for statement in b[two:second]:
            source = by_line.get(statement.line, 0)
            if source:
                lines = {s.line for s in a[one:first] if s.line in instructions}
                between.setdefault(source, set()).update(lines)
        one, two = first + length, second + length
    for source, lines in between.items():
        if lines and source not in found:
            found[source] = lines


def _source_lines(function: Function) -> dict[int, int]:
    """For each instruction, by its start, the line of the source that it came from."""
    found: dict[int, int] = {}
    line = 0
    body = function.body
    for node in body.walk() if body is not None else ():
        if isinstance(node, Loc):
            line = node.place[1]
        elif isinstance(node, Instruction):
            found[node.span[0]] = line
    return found


def ranges(lines: Iterable[int]) -> str:
    """Line numbers in short.

    >>> ranges([4, 5, 6, 9])
    '4-6, 9'
    """
    runs: list[list[int]] = []
    for line in sorted(lines):
        if runs and runs[-1][1] + 1 == line:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


Places = dict[int, tuple[str, int]]
"""Lines of PTX, and the file and line of the source that each came from."""


def source_places(module: Module) -> Places:
    """Where a module's instructions came from, as its ``.loc`` say.

    >>> import ptxkit
    >>> text = "__global__ void k(int *x) {\\n    x[threadIdx.x] = 7;\\n}"
    >>> m = ptxkit.compile_cuda(text, arch="sm_90", line_info=True, name="k.cu")
    >>> ("k.cu", 2) in source_places(m).values()
    True
    """
    files = {file.number: PurePath(file.path).name for file in module.find("File")}
    found: Places = {}
    for function in module.functions:
        place: tuple[str, int] | None = None
        for node in function.walk():
            if isinstance(node, Loc):
                number, line, _ = node.place
                place = (files.get(number, ""), line) if line else None
            elif isinstance(node, Instruction) and place is not None:
                found[node.line] = place
    return found


def commented(text: str, found: Links, places: Places | None = None) -> str:
    """The text with the lines of PTX noted at its lines, and of the source where that is known.

    >>> commented("a;\\nb;\\n", {2: (7, 8)})
    'a;\\nb;  // PTX 7-8\\n'
    >>> commented("a;\\n", {1: (7, 8)}, {7: ("k.cu", 3), 8: ("k.cu", 4)})
    'a;  // PTX 7-8; k.cu 3-4\\n'
    """
    made: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        lines = found.get(number, ())
        if not line or not lines:
            made.append(f"{line}\n")
            continue
        sources: dict[str, set[int]] = {}
        for file, row in (places[one] for one in lines if places and one in places):
            sources.setdefault(file, set()).add(row)
        parts = [f"PTX {ranges(lines)}", *(f"{f} {ranges(rows)}" for f, rows in sources.items())]
        made.append(f"{line}  // {'; '.join(parts)}\n")
    return "".join(made)
