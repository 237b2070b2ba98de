"""What calls do to a symbolic state, and what lies in parameters: a function's own, and theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.decompiler.verify.dataflow.arguments import argument
from ptxkit.decompiler.verify.dataflow.decisions import Diagram
from ptxkit.decompiler.verify.dataflow.decode import Step, called, calls_through
from ptxkit.decompiler.verify.dataflow.loads import extension_of
from ptxkit.decompiler.verify.dataflow.state import State
from ptxkit.decompiler.verify.dataflow.terms import Fills, GiveUpError, Term
from ptxkit.isa.types import SCALAR_TYPES

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.semantics import Semantics


def run_parameter(semantics: Semantics, state: State, step: Step, guard: Diagram | None) -> None:
    """Read or set a part of a parameter."""
    place = next(s for s in step.sources if s.kind == "address")
    symbol = place.parts[0]
    if symbol.kind != "symbol":
        _computed_parameter(semantics, state, step, guard)
        return
    name, width = str(symbol.value), SCALAR_TYPES[step.type].width
    if step.name == "ld":
        for number, target in enumerate(step.targets):
            if target is None:
                continue
            offset = place.value + number * width // 8
            extension = extension_of(step, target[1])
            value = _slot(semantics, state, symbol.value[0], name, offset, extension)
            semantics.write(state, target, value, guard)
        return
    if guard is not None:
        raise GiveUpError("a guarded store to a parameter")
    values = [s for s in step.sources if s.kind != "address"]
    parts = values[0].parts if values[0].kind == "vector" else values
    size = width // 8
    for number, one in enumerate(parts):
        start = place.value + number * size
        for slot in [key for key in state.slots if key[0] == name]:
            inside = slot[1] < start + size and start < slot[1] + max(slot[2], 1)
            if not inside or slot[1:] == (start, size):
                continue
            if slot[2]:
                # Which of two is there in the end depends on their order.
                raise GiveUpError("an argument of which parts overlap")
            del state.slots[slot]
        state.slots[name, start, size] = semantics.value(state, one, step.type)


def _computed_parameter(
    semantics: Semantics, state: State, step: Step, guard: Diagram | None
) -> None:
    """A parameter that is read through its address: one part of it, or any."""
    if step.name != "ld":
        raise GiveUpError("a store to a parameter at an address that is computed")
    terms, width = semantics.terms, SCALAR_TYPES[step.type].width
    address = semantics.address(state, step.sources[0])
    semantics.touch(state, step, address, guard)
    for number, target in enumerate(step.targets):
        if target is None:
            continue
        extension = extension_of(step, target[1])
        start = number * width // 8

        def read(place: Term, by: int = start, fills: Fills = extension) -> Diagram:
            constant, parts = terms.parts(64, terms.add(64, place, terms.constant(64, by)))
            only = next(iter(parts), 0)
            row = terms.rows[only]
            if row[:2] == ("symbol", "parameter") and parts == {only: 1}:
                made = argument(terms, str(row[1:]), constant, fills)
            else:
                # Nobody writes there: it is a function of the address alone.
                where = terms.add(64, place, terms.constant(64, by))
                made = terms.make("op", f"ld.param {fills}", 0, where)
            return semantics.decisions.leaf(made)

        value = semantics.decisions.apply(("parameter", start, extension), read, (address,))
        semantics.write(state, target, value, guard)


def _slot(
    semantics: Semantics, state: State, kind: str, name: str, offset: int, extension: Fills
) -> Diagram:
    """What lies in a parameter."""
    terms, decisions = semantics.terms, semantics.decisions
    if kind == "parameter":
        return decisions.leaf(argument(terms, name, offset, extension))
    held = state.slots.get((name, offset, extension[0] // 8))
    held = state.slots.get((name, offset, 0)) if held is None else held
    if held is None:
        raise GiveUpError("a result of a call that is read in parts or late")
    if extension[0] == extension[2]:
        return held
    return decisions.apply(
        ("slot", extension), lambda a: decisions.leaf(terms.make("slot", extension, a)), (held,)
    )


def run_call(semantics: Semantics, state: State, step: Step, guard: Diagram | None) -> None:
    """Call a function that nothing is known of: it may change memory, and gives what it gives."""
    if guard is not None:
        raise GiveUpError("a guarded call")
    function, target = _called(semantics, state, step)
    lists = [s for s in step.sources if s.kind == "vector"]
    names = [str(p.value) for one in lists for p in one.parts if p.kind == "symbol"]
    if any(p.kind != "symbol" for one in lists for p in one.parts):
        raise GiveUpError("a call with registers")
    before = sorted((k, v) for k, v in state.slots.items() if k[0] in names)
    opcode = *function, tuple((names.index(k[0]), *k[1:]) for k, _ in before)
    arguments = (state.memory, *target, *(v for _, v in before))
    state.memory = semantics.decisions.apply(
        ("after", opcode),
        lambda *a: semantics.decisions.leaf(semantics.terms.make("after", opcode, *a)),
        arguments,
    )
    if target or function[1] not in semantics.settled_calls:
        state.since = state.memory
    # What it returns lies in its results; each part is named by its offset when it is read.
    for key in [k for k in state.slots if k[0] in names]:
        del state.slots[key]
    for number, name in enumerate(names):
        for offset in range(0, 64, 4):
            state.slots[name, offset, 0] = semantics.decisions.apply(
                ("returned", number, offset),
                lambda m, n=number, o=offset: semantics.decisions.leaf(
                    semantics.terms.make("returned", n, o, m)
                ),
                (state.memory,),
            )


def _called(
    semantics: Semantics, state: State, step: Step
) -> tuple[tuple[str, str], tuple[Diagram, ...]]:
    """What is called: the function, or the prototype of one and its address."""
    names = called(step)
    if not calls_through(step):
        if len(names) != 1:
            raise GiveUpError("a call of something else than a function")
        semantics.calls.add(names[0])
        return ("call", names[0]), ()
    # Where the address is the same, so is the function: what it does with the same memory and
    # arguments is not known, but it is the same. Both are part of what it leaves behind.
    targets = [one for one in step.sources if one.kind == "register"]
    prototypes = [str(one.value) for one in step.sources if one.kind == "prototype"]
    if names or len(targets) != 1 or len(prototypes) != 1:
        raise GiveUpError("a call through a pointer that has no prototype")
    return ("call through", prototypes[0]), (semantics.value(state, targets[0], "b64"),)
