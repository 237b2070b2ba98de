"""The directives of PTX as data: where each may stand, what it takes, what it needs.

>>> DIRECTIVES["maxntid"].most, sorted(DIRECTIVES["noreturn"].places)
(3, ['func', 'prototype'])
>>> print(DIRECTIVES["reqnctapercluster"].requirement)
PTX 7.8 / sm_90
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ptxkit.isa.targets import Requirement

#: Where a directive may stand: at module level; after the parameters of a kernel, of a
#: function or of a prototype; among the instructions of a body; within a declaration.
PLACES = ("module", "entry", "func", "prototype", "body", "declaration")

#: Stands for "as many as you like".
MANY = 1 << 30


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive: its name without the dot, and its rules.

    ``argument`` is the kind of its arguments: ``integer``, ``string``, ``name``, ``target``
    (an architecture or an option), ``version``, ``block`` (in braces), ``mixed`` (checked by
    the grammar alone) or '' for none. Integers are at least ``low``.
    """

    name: str
    summary: str
    places: frozenset[str]
    requirement: Requirement
    argument: str = ""
    least: int = 0
    most: int = 0
    low: int = 0
    once: bool = False  # ptxas rejects a second one
    with_all: frozenset[str] = frozenset()  # directives that must stand with it
    with_none: frozenset[str] = frozenset()  # directives that may not stand with it


def directive(
    name: str,
    summary: str,
    *,
    at: str,
    takes: str = "",
    needs: str = "1.0",
    low: int = 0,
    once: bool = False,
    together: str = "",
    never: str = "",
) -> Directive:
    """Write one row. ``takes`` is ``"integer 1..3"``: a kind, and how many (one unless told)."""
    argument, _, number = takes.partition(" ")
    least, _, most = (number or ("1" if argument else "0")).partition("..")
    places = frozenset(at.split())
    assert places <= set(PLACES), at
    return Directive(
        name, summary, places, Requirement.parse(needs), argument, int(least),
        MANY if most == "*" else int(most or least), low, once,
        frozenset(together.split()), frozenset(never.split()),
    )  # fmt: skip


_ROWS = (
    # The head of a module
    directive("version", "Name the PTX version the module is written in.",
              at="module", takes="version", once=True),
    directive("target", "Name the architecture and the options the module is written for.",
              at="module", takes="target 1..*"),
    directive("address_size", "Give the width of addresses: 32 or 64 bits.",
              at="module", takes="integer", low=32, once=True, needs="2.3"),
    # Functions and linking
    directive("entry", "Begin a kernel.", at="module", takes="mixed 1..*"),
    directive("func", "Begin a function.", at="module", takes="mixed 1..*"),
    directive("alias", "Give a function a second name.",
              at="module", takes="name 2", needs="6.3/30"),
    directive("extern", "The symbol is defined in another module.", at="module"),
    directive("visible", "The symbol can be used by other modules.", at="module"),
    directive("weak", "The symbol gives way to another definition of it.",
              at="module", needs="3.1"),
    directive("common", "The variable is one in all modules that declare it.",
              at="module", needs="5.0"),
    # Limits and hints of a kernel
    directive("maxnreg", "Limit the registers of a thread.",
              at="entry", takes="integer", low=1, needs="1.3"),
    directive("local_maxnreg", "Limit the registers of a thread in this function.",
              at="entry func", takes="integer", low=1, needs="8.8"),
    directive("maxntid", "Limit the threads of a CTA, in up to three dimensions.",
              at="entry", takes="integer 1..3", low=1, never="reqntid", needs="1.3"),
    directive("reqntid", "Fix the threads of a CTA, in up to three dimensions.",
              at="entry", takes="integer 1..3", low=1, never="maxntid", needs="2.1"),
    directive("minnctapersm", "Ask for that many CTAs to fit on a multiprocessor.",
              at="entry", takes="integer", low=1, needs="2.0"),
    directive("maxnctapersm", "Ask for at most that many CTAs on a multiprocessor.",
              at="entry", takes="integer", low=1, needs="1.3 !2.1"),
    directive("minperctamemory", "State a least amount of memory for a CTA.",
              at="entry", takes="integer", needs="9.4/80"),
    # Clusters
    directive("reqnctapercluster", "Fix the CTAs of a cluster, in up to three dimensions.",
              at="entry", takes="integer 1..3", never="maxclusterrank", needs="7.8/90"),
    directive("explicitcluster", "The kernel must be launched with a cluster size.",
              at="entry", needs="7.8/90"),
    directive("maxclusterrank", "Limit the CTAs of a cluster.",
              at="entry", takes="integer", never="reqnctapercluster", needs="7.8/90"),
    directive("blocksareclusters", "The launch counts clusters, not CTAs.",
              at="entry", together="reqntid reqnctapercluster", needs="9.0/90"),
    # Functions
    directive("noreturn", "The function never returns to its caller.",
              at="func prototype", once=True, needs="6.4/30"),
    directive("abi_preserve", "That many general-purpose registers outlive a call of the function.",
              at="func prototype", takes="integer", once=True, needs="9.0/80"),
    directive("abi_preserve_control",
              "That many control-flow registers outlive a call of the function.",
              at="func prototype", takes="integer", once=True, needs="9.0/80"),
    # Hints to the compiler and information for debuggers
    directive("pragma", "Give the compiler hints, as strings.",
              at="module entry body", takes="string 1..*", needs="2.0"),
    directive("file", "Give a source file a number: number, name, then time and size.",
              at="module", takes="mixed 2..4"),
    directive("loc", "The code that follows comes from that file, line and column.",
              at="body", takes="mixed 3..*"),
    directive("section", "Begin a section of debug information.",
              at="module", takes="mixed 2", needs="2.0"),
    # Lists that indirect branches and calls refer to, each after a label
    directive("branchtargets", "List the labels a brx.idx may go to.",
              at="body", takes="name 1..*", needs="6.0/30"),
    directive("calltargets", "List the functions an indirect call may reach.",
              at="body", takes="name 1..*", needs="2.1"),
    directive("callprototype", "Declare the parameters of an indirect call.",
              at="body", takes="mixed 1..*", needs="2.1"),
    # Variables
    directive("reg", "Declare registers.", at="body declaration", takes="mixed 1..*"),
    directive("global", "Declare variables in global memory.",
              at="module body", takes="mixed 1..*"),
    directive("const", "Declare variables in constant memory.",
              at="module body", takes="mixed 1..*"),
    directive("shared", "Declare variables in the shared memory of a CTA.",
              at="module body", takes="mixed 1..*"),
    directive("local", "Declare variables in memory of the thread.",
              at="body", takes="mixed 1..*"),
    directive("param", "Declare parameters.", at="body declaration", takes="mixed 1..*"),
    directive("align", "Align a variable, or what a pointer points to, to so many bytes.",
              at="declaration", takes="integer", low=1),
    directive("ptr", "The parameter is a pointer into a state space.",
              at="declaration", takes="mixed 0..2", needs="2.2"),
    directive("attribute", "Give a variable or function attributes.",
              at="declaration", takes="mixed 1..*", needs="4.0"),
    directive("managed", "Attribute: the variable is in memory that CPU and GPU share.",
              at="declaration", needs="4.0/30"),
    directive("unified", "Attribute: the symbol is the same on all devices.",
              at="declaration", takes="integer 2", needs="8.0/90"),
)  # fmt: skip

#: Every directive by its name without the dot.
DIRECTIVES: Mapping[str, Directive] = MappingProxyType({row.name: row for row in _ROWS})
