"""Which definitions addresses are made of."""

from __future__ import annotations

from ptxkit.decompiler.lift.context import copied_bytes
from ptxkit.decompiler.lift.flow import Flow
from ptxkit.decompiler.lift.reading import exit_values, leaves, leaves_here
from ptxkit.decompiler.lift.values import (
    Definition,
    Value,
    Variable,
)

_ADDRESS_PARTS = frozenset(
    "add sub mul shl sext zext const var symbol slot generic specific builtin component".split()
)
_BITWISE = frozenset(("and", "or", "xor"))
_SIGNED_TAKERS = frozenset("lt.s le.s gt.s ge.s div.s rem.s shr.s min.s max.s sext mulhi.s".split())


def parts_of_addresses(flow: Flow) -> tuple[set[Definition], set[Definition]]:
    """Definitions that addresses are made of, and those that are read with a sign."""
    addresses: set[Definition] = set()
    signed: set[Definition] = set()
    values: dict[Definition, Value] = {}
    sets: dict[Variable, list[Value]] = {}
    pending: list[Definition] = []
    for block in flow.blocks.values():
        for step in block.statements:
            if step.kind == "set":
                values[step.targets[0]] = step.args[0]
                if step.targets[0].variable.definitions > 1:
                    sets.setdefault(step.targets[0].variable, []).append(step.args[0])
            if step.kind == "store":
                pending.extend(leaves(step.args[0]))
            elif step.kind == "asm" and copied_bytes(step.data[0]):
                pending.extend(leaf for address in step.args[:2] for leaf in leaves(address))
            for value in step.args:
                for part in value.walk():
                    if part.op in ("load", "atomic"):
                        pending.extend(leaves(part.args[0]))
                    if part.op in _SIGNED_TAKERS or (part.op == "cvt" and part.data[1][0] == "s"):
                        signed.update(leaves_here(part))
        for value in exit_values(block):
            for part in value.walk():
                if part.op in _SIGNED_TAKERS:
                    signed.update(leaves_here(part))
    # What holds bytes: an index is scaled in there, and belongs to the address.
    whole = set(pending)
    while pending:
        definition = pending.pop()
        if definition in addresses:
            continue
        # A pointer that moves is set to addresses.
        for value in sets.pop(definition.variable, ()):
            if value.width == 64:
                pending.extend(leaves(value))
        value = values.get(definition)
        bytes_ = definition in whole
        if bytes_ and value is not None and value.op in _BITWISE and _cuts_index(value, values):
            addresses.update((definition, *leaves(value)))
            continue
        if value is None or value.op not in _ADDRESS_PARTS:
            continue
        scales = bytes_ and value.op in ("shl", "mul") and value.args[1].op == "const"
        if definition.variable.width != 64 and not (scales or _names_memory(value, values)):
            continue
        addresses.add(definition)
        inner = list(leaves(value))
        if bytes_ and value.op in ("add", "sub", "var", "generic", "specific"):
            whole.update(inner)
        pending.extend(inner)
    return addresses, signed


def _cuts_index(value: Value, values: dict[Definition, Value]) -> bool:
    """Whether bits of an index that is scaled are changed: ``(x << 2) & 124``, ``(x * 4) ^ 8``."""
    inner, mask = value.args
    if mask.op != "const" or mask.data & 1:
        return False
    if inner.op == "var":
        inner = values.get(inner.data, inner)
    while inner.op in ("not", "neg") or (
        inner.op in ("add", "sub") and inner.args[1].op == "const"
    ):
        inner = inner.args[0]
        if inner.op == "var":
            inner = values.get(inner.data, inner)
    return inner.op in ("shl", "shr.u", "mul") and inner.args[1].op == "const"


def _names_memory(value: Value, values: dict[Definition, Value]) -> bool:
    """Whether a 32-bit value is an address of shared memory: it names a variable there."""
    seen: set[Definition] = set()
    stack = [value]
    while stack:
        one = stack.pop()
        if one.op in ("symbol", "specific"):
            return True
        if one.op == "var":
            inner = values.get(one.data)
            if one.data not in seen and inner is not None and inner.op in _ADDRESS_PARTS:
                seen.add(one.data)
                stack.append(inner)
        else:
            stack.extend(one.args)
    return False
