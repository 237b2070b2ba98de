"""The stub of ``ptx``, made from the instruction table: ``python -m ptxkit.dsl.stubs``.

Every instruction is a class with its modifiers as attributes, so that editors complete them,
and with calls that say what operands there are, so that type checkers count them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from ptxkit.dsl.inline_assembly import Assembly
from ptxkit.dsl.words import attribute_of
from ptxkit.isa.forms import Form, OperandSpec
from ptxkit.isa.registry import known_names, specs_of

PATH = Path(__file__).with_name("namespace.pyi")
_HEAD = """\
# Made from the instruction table by `python -m ptxkit.dsl.stubs`; do not edit.
# mypy: disable-error-code="overload-overlap, overload-cannot-match"
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, TypeAlias, overload

from ptxkit.dsl.control import Condition, Else, GivenLabel, If, Region
from ptxkit.dsl.instructions import Opcode
from ptxkit.dsl.loops import DoWhile, Loop, Repeat, While
from ptxkit.dsl.operands import Constant, Label, Operand
from ptxkit.dsl.registers import Register
from ptxkit.dsl.statements import Statement
from ptxkit.dsl.switches import Switch

Value: TypeAlias = Operand | int | float | str
Vector: TypeAlias = Sequence[Value]
Written: TypeAlias = Register | Operand | str | Sequence[Operand | str]
Immediate: TypeAlias = int | Constant
Guard: TypeAlias = Operand | None
"""


def stub() -> str:
    """The text of ``namespace.pyi``."""
    names = sorted(known_names())
    parts = [_HEAD]
    parts += [_instruction(name) for name in names]
    parts.append("\n".join(_namespace(names)) + "\n")
    return "\n".join(parts)


def class_name(name: str) -> str:
    """The class of an instruction in the stub.

    >>> class_name("add"), class_name("and")
    ('_Add', '_And')
    """
    return "_" + name.capitalize()


def _instruction(name: str) -> str:
    own = class_name(name)
    specs = specs_of(name)
    lines = [f"class {own}:"]
    summaries = [f"{spec.root}: {spec.summary}" for spec in sorted(specs, key=lambda s: s.root)]
    if len(summaries) == 1:
        lines.append(f'    """{specs[0].summary}"""')
    else:
        lines += ['    """' + summaries[0], *[f"    {one}" for one in summaries[1:]], '    """']
    words: dict[str, None] = {}
    forms = [form for spec in specs for form in spec.forms]
    for spec in specs:
        for form in spec.forms:
            for slot in form.slots:
                words.update(dict.fromkeys(slot.values))
    lines.append("")
    for word in sorted(words):
        attribute = attribute_of(word[1:])
        if attribute is not None:
            lines.append(f"    {attribute}: {own}")
    lines.append(
        "    def new(self, *operands: Value | Vector, when: Guard = None, to: int | None = None, "
        'next: int | None = None, type: str = "") -> Any: ...'
    )
    if any(spec.kind == "pair" for form in forms for spec in form.operands[:1]):
        lines.append(
            "    def paired(self, *operands: Value | Vector, when: Guard = None, "
            "to: int | None = None, next: int | None = None, predicate: int | None = None) "
            "-> Any: ..."
        )
    if name == "ld":
        lines.append(
            "    def at(self, base: Value, offset: Value | None = None, *, when: Guard = None, "
            'to: int | None = None, next: int | None = None, type: str = "") -> Any: ...'
        )
    if name == "mov":
        lines.append(
            "    def halves(self, value: Value, *, to: int | None = None, "
            'next: int | None = None, type: str = "") -> Any: ...'
        )
    # Names do not tell calls apart, types do.
    by_types = {re.sub(r"\w+: ", "", call): call for call in sorted(map(_call, forms))}
    calls = sorted(by_types.values(), key=lambda call: (call.count(":"), call))
    for call in calls:
        if len(calls) > 1:
            lines.append("    @overload")
        lines.append(f"    def __call__({call}) -> Statement: ...")
    return "\n".join(lines) + "\n"


def _call(form: Form) -> str:
    """The parameters of a call: the operands by their names in the table."""
    parameters = ["self"]
    used: set[str] = set()
    optional = False
    for spec in form.operands:
        name = f"{spec.name}_" if spec.name in used or not spec.name.isidentifier() else spec.name
        name = "sink" if spec.kind == "sink" else attribute_of(name) or "operand"
        while name in used:
            name += "_"
        used.add(name)
        # What stands after an optional operand can be left out, too, as far as counting goes.
        optional = optional or spec.optional or bool(spec.present_with)
        parameters.append(f"{name}: {_type(spec)}{' = ...' if optional else ''}")
    if form.operands:
        parameters.append("/")
    return ", ".join([*parameters, "*", "when: Guard = None"])


def _type(spec: OperandSpec) -> str:
    if spec.kind == "immediate":
        return "Immediate"
    if spec.kind == "name":
        return "Any"  # functions, labels, lists of arguments
    if spec.kind in ("address", "pair"):
        return "Operand"
    if spec.kind == "tuple":
        return "Vector"
    if spec.kind == "sink":
        return 'Literal["_"]'
    if spec.access != "read":
        return "Written"
    return "Value | Vector" if spec.count else "Value"


def _namespace(names: list[str]) -> Iterator[str]:
    from ptxkit.dsl.namespace import Ptx

    yield "class Ptx:"
    yield f'    """{inspect.getdoc(Ptx)}"""'
    yield ""
    for name in names:
        yield f"    {attribute_of(name)}: {class_name(name)}"
    for name, member in vars(Ptx).items():
        if name.startswith("__"):
            continue
        yield from _member(name, member)
    yield ""
    yield "ptx: Ptx"


def _member(name: str, member: object) -> Iterator[str]:
    if isinstance(member, Assembly):
        yield f"    {name}: Any"
        return
    if isinstance(member, property):
        yield "    @property"
        yield f"    def {name}(self) -> Any:"
        yield f'        """{inspect.getdoc(member)}"""'
        return
    function = inspect.unwrap(member.__func__ if isinstance(member, staticmethod) else member)  # type: ignore[arg-type]
    if isinstance(member, staticmethod):
        yield "    @staticmethod"
    signature = str(inspect.signature(function)).replace("''", '""').replace("'", "")
    is_context = function is not (member.__func__ if isinstance(member, staticmethod) else member)
    if is_context:
        signature = signature.replace("-> Iterator[", "-> AbstractContextManager[")
    yield f"    def {name}{signature}:"
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    yield f'        """{summary}"""'


if __name__ == "__main__":
    PATH.write_text(stub())
