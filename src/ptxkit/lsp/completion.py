"""What may come next: words of an opcode, names in scope, directives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ptxkit.isa.directives import DIRECTIVES
from ptxkit.isa.forms import Form
from ptxkit.isa.registry import known_names, specs_of, table
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.isa.targets import Requirement
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.lsp.document import Document
from ptxkit.syntax import Declaration
from ptxkit.syntax.declarations import LINKAGES, SPACES
from ptxkit.syntax.scopes import Scope

#: What stands before the cursor in the statement it is in.
_STATEMENT = re.compile(rb"[;{}:]|\n\s*(?=\.)|//[^\n]*\n")
_GUARD = re.compile(r"^\s*(?:@!?\S+\s+)?")
_OPCODE = re.compile(r"[A-Za-z]\w*(?:\.[\w:]*)*$")
_WORD = re.compile(r"[\w$%.:]*$")
_MOST_MEMBERS = 4096  # registers of a range that are proposed one by one
_JUMPS = frozenset(("bra", "brx"))


@dataclass(frozen=True, slots=True)
class Proposal:
    """One completion. ``span`` is what it replaces; ``rank`` sorts, low first."""

    label: str
    kind: str  # instruction, modifier, register, special, variable, label, function, directive
    detail: str
    span: tuple[int, int]
    rank: int = 0


def complete(document: Document, offset: int) -> list[Proposal]:
    """Everything that may be written at an offset, best first.

    >>> text = ".version 8.0 .target sm_90 .func f() { .reg .b32 a; add.s"
    >>> [p.label for p in complete(Document(text), len(text))][:3]
    ['.s16', '.s16x2', '.s32']
    """
    if _in_comment(document, offset):
        return []
    before = _statement_before(document.source, offset)
    head = before[_GUARD.match(before).end() :]  # type: ignore[union-attr]
    opcode = _OPCODE.fullmatch(head)
    if head.startswith(".") and not re.search(r"\s", head):
        found = _directives(head, offset)
    elif opcode is not None and "." in head:
        found = _modifiers(document, head, offset)
    elif opcode is not None or not head:
        found = _instructions(document, head, offset)
    elif head.startswith("."):
        found = _declaration_words(head, offset)
    else:
        found = _operands(document, head, offset)
    return sorted(found, key=lambda one: (one.rank, one.label))


def _in_comment(document: Document, offset: int) -> bool:
    line_start = document.source.rfind(b"\n", 0, offset) + 1
    if b"//" in document.source[line_start:offset]:
        return True
    window = document.source[max(0, offset - 65536) : offset]
    return window.rfind(b"/*") > window.rfind(b"*/")


def _statement_before(source: bytes, offset: int) -> str:
    window = source[max(0, offset - 4096) : offset]
    start = 0
    for found in _STATEMENT.finditer(window):
        if found.group() == b":" and (
            window[found.end() : found.end() + 1] == b":" or window[: found.start()].endswith(b":")
        ):
            continue  # the '::' of '.shared::cta'
        if found.group() in (b"{", b"}") and _is_vector(window, found.start()):
            continue
        start = found.end()
    return window[start:].decode("utf-8", "replace").lstrip()


def _is_vector(window: bytes, at: int) -> bool:
    """Say whether a brace belongs to a vector operand: it follows an opcode, comma or element."""
    line = window[window.rfind(b"\n", 0, at) + 1 : at].strip()
    statement = line.rsplit(b";", 1)[-1].strip()
    return (
        bool(re.match(rb"(@!?\S+\s+)?[a-z]\w*[.\w:]*\s", statement + b" "))
        and (statement[-1:]) != b")"
    )


@lru_cache(maxsize=4096)
def next_modifiers(name: str, words: tuple[str, ...]) -> tuple[tuple[str, Requirement, str], ...]:
    """The modifiers that may follow those written: (word, what it needs, of which form).

    >>> [word for word, _, _ in next_modifiers("mul", (".wide",))][:2]
    ['.u16', '.u32']
    """
    found: dict[str, tuple[Requirement, str]] = {}
    for spec in specs_of(name):
        for form in spec.forms:
            for word, needs in _following(form, words):
                found.setdefault(word, (needs, form.syntax))
    return tuple((word, needs, syntax) for word, (needs, syntax) in found.items())


def _following(form: Form, words: tuple[str, ...]) -> Iterator[tuple[str, Requirement]]:
    """Walk the slots of a form over the words; several slots may take the same word."""
    positions = {0}
    for word in words:
        reached: set[int] = set()
        for position in positions:
            for at in _open_slots(form, position):
                if word in form.slots[at].values:
                    reached.add(at + 1)
        positions = reached
        if not positions:
            return
    for position in positions:
        for at in _open_slots(form, position):
            for value, needs in form.slots[at].values.items():
                later = needs if str(needs) != "PTX 1.0" else form.requirement
                yield value, later


def _open_slots(form: Form, position: int) -> Iterator[int]:
    """The slots that may be filled next: optional ones and the first compulsory one."""
    for at in range(position, len(form.slots)):
        yield at
        if not form.slots[at].optional:
            return


def _modifiers(document: Document, head: str, offset: int) -> list[Proposal]:
    name, *words = head.split(".")
    typed = words.pop()
    span = (offset - len(typed) - 1, offset)
    found = []
    for word, needs, syntax in next_modifiers(name, tuple("." + one for one in words)):
        if word.startswith("." + typed):
            rank, note = _availability(document, needs)
            found.append(Proposal(word, "modifier", note or syntax, span, rank))
    return found


def _availability(document: Document, needs: Requirement) -> tuple[int, str]:
    if document.version is None or document.target is None:
        return 0, ""
    met = needs.met_by(document.version, document.target)
    return (0, "") if met else (1, f"needs {needs}")


def _instructions(document: Document, head: str, offset: int) -> list[Proposal]:
    span = (offset - len(head), offset)
    rows = table()
    found = []
    for name in known_names():
        if name.startswith(head):
            summary = rows[name].summary if name in rows else specs_of(name)[-1].summary
            found.append(Proposal(name, "instruction", summary, span))
    if not head:
        found += _directives("", offset)
    return found


def _directives(head: str, offset: int) -> list[Proposal]:
    span = (offset - len(head), offset)
    words = {f".{name}": row.summary for name, row in DIRECTIVES.items()}
    words |= dict.fromkeys(sorted(SPACES | LINKAGES), "declaration")
    words |= {".entry": "a kernel", ".func": "a function", ".param": "a parameter"}
    return [
        Proposal(word, "directive", summary, span, 2)
        for word, summary in words.items()
        if word.startswith(head)
    ]


def _declaration_words(head: str, offset: int) -> list[Proposal]:
    word = _WORD.search(head)
    typed = word.group() if word else ""
    if not typed.startswith("."):
        return []
    span = (offset - len(typed), offset)
    words = [f".{name}" for name in SCALAR_TYPES] + [".align", ".v2", ".v4", ".ptr"]
    return [Proposal(one, "directive", "type", span) for one in words if one.startswith(typed)]


def _operands(document: Document, head: str, offset: int) -> list[Proposal]:
    word = _WORD.search(head)
    typed = word.group() if word else ""
    span = (offset - len(typed.encode()), offset)
    name = head.split(None, 1)[0].split(".", 1)[0]
    found = [
        Proposal(label, kind, detail, span, _rank(name, kind))
        for label, kind, detail in _names_in_scope(document, offset, typed)
    ]
    for register in SPECIAL_REGISTERS.values():
        labels = [f"{register.name}.{part}" for part in register.components] or [register.name]
        found += [
            Proposal(label, "special", register.summary, span, 3)
            for label in labels
            if typed and label.startswith(typed)
        ]
    return found


def _rank(instruction: str, kind: str) -> int:
    """Labels first where a branch wants one, functions first in a call."""
    wanted = "label" if instruction in _JUMPS else "function" if instruction == "call" else ""
    if wanted:
        return 0 if kind == wanted else 1
    return 2 if kind in ("label", "function") else 0


def _names_in_scope(document: Document, offset: int, typed: str) -> Iterator[tuple[str, str, str]]:
    # In an unfinished file the space behind the last word belongs to nothing.
    window = document.source[max(0, offset - 4096) : offset]
    node = document.module.node_at(max(0, offset - len(window) + len(window.rstrip()) - 1))
    scope: Scope | None = document.scopes.root if node is None else document.scopes.scope_of(node)
    seen: set[str] = set()
    while scope is not None:
        for group in (*scope.names.values(), *scope.ranges.values()):
            for declaration in group:
                if declaration.position > offset:
                    continue
                for name in _members(declaration, typed):
                    if name.startswith(typed) and name not in seen:
                        seen.add(name)
                        yield name, declaration.kind, _detail(declaration)
        scope = scope.parent


def _members(declaration: Declaration, typed: str) -> Iterator[str]:
    if declaration.count is None:
        yield declaration.name
    elif typed.startswith(declaration.name) or declaration.name.startswith(typed):
        for number in range(min(declaration.count, _MOST_MEMBERS)):
            yield f"{declaration.name}{number}"


def _detail(declaration: Declaration) -> str:
    words = (declaration.kind, declaration.space, declaration.type)
    return " ".join(f".{word}" if at else word for at, word in enumerate(words) if word)
