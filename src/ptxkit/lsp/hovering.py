"""What a word means: instructions and special registers from the table, names from the file."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit._native import Node
from ptxkit.isa.directives import DIRECTIVES
from ptxkit.isa.families import family_of
from ptxkit.isa.forms import Form
from ptxkit.isa.match import match
from ptxkit.isa.registry import lookup
from ptxkit.isa.special_registers import find_special_register
from ptxkit.lsp.document import Document
from ptxkit.syntax import Declaration, Function, evaluate
from ptxkit.syntax.constants import float_value

_MOST_FORMS = 6


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown text about the bytes of ``span``."""

    text: str
    span: tuple[int, int]


def hover(document: Document, offset: int) -> Hover | None:
    """What there is to say about the word at an offset; None where that is nothing.

    >>> found = hover(Document(".func f() { mov.u32 %r1, %tid.x; }"), 26)
    >>> found.text
    '**%tid.x** · special register, `.u32` · PTX 1.0\\n\\nIndex of the thread in its CTA.'
    """
    node = document.module.node_at(offset)
    if node is None:
        return None
    explain = _EXPLAIN.get(node.kind)
    if explain is not None:
        text = explain(document, node)
        if text is not None:
            return Hover(text, node.span)
    return _directive(node, offset)


def describe_instruction(opcode: str) -> str | None:
    """An opcode in Markdown: meaning, forms, values of its words, since when it exists."""
    spec = lookup(opcode)
    if spec is None:
        return None
    name, *words = opcode.split(".")
    matches = match(name, tuple("." + word for word in words))
    forms = list({found.form.syntax: found.form for found in matches}.values()) or list(spec.forms)
    family = family_of(opcode) if matches else spec.family
    lines = [f"**{spec.root}** · {family}", "", spec.summary]
    if spec.effects:
        lines += ["", f"*Effects: {', '.join(sorted(spec.effects))}.*"]
    lines += ["", "```ptx", *[_form(one) for one in forms[:_MOST_FORMS]], "```"]
    if len(forms) > _MOST_FORMS:
        lines.append(f"and {len(forms) - _MOST_FORMS} more forms")
    values = _values(forms[:_MOST_FORMS])
    return "\n".join(lines + (["", *values] if values else []))


def _form(form: Form) -> str:
    needs = str(form.requirement)
    return form.syntax + ("" if needs == "PTX 1.0" else f"    // {needs}")


def _values(forms: list[Form]) -> list[str]:
    """The words each slot takes, a line a slot."""
    slots: dict[str, dict[str, str]] = {}
    for form in forms:
        for slot in form.slots:
            if not slot.is_literal:
                found = slots.setdefault(slot.name, {})
                for value, needs in slot.values.items():
                    since = "" if str(needs) == "PTX 1.0" else f" ({needs})"
                    found[value] = f"`{value}`{since}"
    return [f"- `.{name}`: {', '.join(values.values())}" for name, values in slots.items()]


def _opcode(document: Document, node: Node) -> str | None:
    del document
    return describe_instruction(node.text)


def _name(document: Document, node: Node) -> str | None:
    declaration = document.scopes.resolve(node)
    if declaration is not None:
        return describe_declaration(declaration, node.identifier)
    found = find_special_register(node.text)
    if found is None:
        return None
    register, component = found
    shape = (
        f"`.v4 .{register.type}`"
        if register.is_vector and not component
        else (f"`.{register.type}`")
    )
    return (
        f"**{node.text}** · special register, {shape} · {register.requirement}\n\n"
        f"{register.summary}"
    )


def describe_declaration(declaration: Declaration, name: str) -> str:
    """A declared name in Markdown: what it is, and the line that declares it."""
    node = declaration.node
    if isinstance(node, Function):
        what, text = "kernel" if node.is_entry else "function", _signature(node)
    else:
        what = declaration.kind
        whole = node.parent if node.kind == "Declarator" else node
        text = " ".join(whole.text.split())
    if len(text) > 400:
        text = text[:400] + " ..."
    return f"**{name}** · {what}, line {node.line}\n\n```ptx\n{text}\n```"


def _signature(function: Function) -> str:
    body = function.body
    source = function.root.source()
    end = function.span[1] if body is None else body.span[0]
    head = source[function.span[0] : end].decode("utf-8", "replace")
    return " ".join(head.split())


def _declared(document: Document, node: Node) -> str | None:
    declaration = document.scopes.declaration(node)
    return None if declaration is None else describe_declaration(declaration, declaration.name)


def _integer(document: Document, node: Node) -> str | None:
    del document
    value = evaluate(node)
    if not isinstance(value, int):
        return None
    unsigned = value & 0xFFFF_FFFF_FFFF_FFFF
    return f"`{value}` · `{unsigned:#x}` · `{unsigned:#b}`"


def _float(document: Document, node: Node) -> str | None:
    del document
    return f"`{node.text}` = {float_value(node.text)!r}"


_EXPLAIN = {
    "Opcode": _opcode,
    "Name": _name,
    "Declarator": _declared,
    "Parameter": _declared,
    "Label": _declared,
    "Integer": _integer,
    "Float": _float,
}


def _directive(node: Node, offset: int) -> Hover | None:
    for kind, text, start, end in node.tokens(own=True):
        if start <= offset < end and kind == "dotword":
            found = DIRECTIVES.get(text[1:])
            if found is not None:
                return Hover(f"**{text}** · {found.requirement}\n\n{found.summary}", (start, end))
    return None
