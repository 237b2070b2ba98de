"""Calls behind which all memory is still there, and the thread that called.

A function that gives memory back, or ends the thread, parts what is touched before it from what is
touched behind it: a load that nobody needs must not be moved over a call of it.
"""

from __future__ import annotations

import re

from ptxkit.syntax import Function, Module

#: Functions without a body that keep all as it is; a launch in which an assertion fails has failed.
_KEEPING = frozenset(("vprintf", "malloc", "__assertfail"))
_NAME = re.compile(r"[A-Za-z_$%][\w$]*")


def settled(module: Module) -> frozenset[str]:
    """The functions that neither end their thread nor give memory back.

    >>> import ptxkit
    >>> m = ptxkit.parse('''.extern .func free(.param .u64 p);
    ...     .func a() { exit; } .func b() { ret; } .func c() { call b; } .func d() { call a; }''')
    >>> sorted(settled(m) - {"vprintf", "malloc", "__assertfail"})
    ['b', 'c']
    """
    bodies = {f.name: f for f in module.functions if f.has_body and not f.is_entry}
    calls = {name: _calls(function, set(bodies) | _KEEPING) for name, function in bodies.items()}
    left = {name for name, called in calls.items() if called is not None}
    while True:
        kept = {name for name in left if (calls[name] or set()) <= left | _KEEPING}
        if kept == left:
            return _KEEPING | frozenset(left)
        left = kept


def _calls(function: Function, known: set[str] | frozenset[str]) -> set[str] | None:
    """The functions that one calls; None where it ends threads, or calls what nobody knows."""
    found: set[str] = set()
    for one in function.instructions:
        if one.name == "exit":
            return None
        if one.name == "call":
            named = known.intersection(_NAME.findall(one.text))
            if not named:
                return None
            found |= named
    return found
