"""How much memory a kernel asks for by being there: shared and local variables.

The simulator has enough of both. A GPU has not: where a candidate needs much more than the
original, it does not start where the original did.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.run.layout import variable_size
from ptxkit.syntax import Declarator, Function, Module

#: What shared memory is given out in, so that variables in another order make no difference.
_UNIT = 1024
#: Bytes of a thread that nobody misses, and how many times as much as the original a candidate
#: may take: compilers keep variables in memory at other times.
_SPARE, _TIMES = 4096, 2


def needs(module: Module, functions: Iterable[Function]) -> tuple[int, int]:
    """Bytes of the shared and of the local variables that functions have or name.

    >>> import ptxkit
    >>> m = ptxkit.parse(".shared .b8 s[64]; .shared .b8 t[8]; .func f() "
    ...                  "{ .reg .b32 r; .local .b8 d[16]; ld.shared.u32 r, [s]; }")
    >>> needs(m, m.functions)
    (64, 16)
    """
    functions = list({function.index: function for function in functions}.values())
    named = {name.text for function in functions for name in function.find("Name")}
    inside = [one for function in functions for one in function.find("Declarator")]
    outside = [one for v in module.variables for one in v.declarators if one.name in named]
    sizes = {"shared": 0, "local": 0}
    for one in (*inside, *outside):
        if isinstance(one, Declarator) and one.variable.space in sizes:
            sizes[one.variable.space] += variable_size(one.variable, one)[0]
    return sizes["shared"], sizes["local"]


def too_much(first: tuple[int, int], second: tuple[int, int]) -> str:
    """What the second of two kernels needs too much of, by their shared and local bytes.

    >>> too_much((4000, 0), (4090, 512)), too_much((0, 0), (0, 1 << 20))
    ('', 'it takes 1,048,576 bytes of local memory for 0')
    """
    shared, local = ((first[n], second[n]) for n in (0, 1))
    if shared[1] > -(-shared[0] // _UNIT) * _UNIT:
        return f"it takes {shared[1]:,} bytes of shared memory for {shared[0]:,}"
    if local[1] > _TIMES * local[0] + _SPARE:
        return f"it takes {local[1]:,} bytes of local memory for {local[0]:,}"
    return ""
