"""The plain form: one Python statement for each PTX statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ptxkit._native import Node
from ptxkit.dsl.declarations import SPACES
from ptxkit.dsl.styles import Style
from ptxkit.syntax import Function, Instruction, Label, Module, Variable
from ptxkit.syntax.nodes import NEGATED
from ptxkit.transpiler.declarations import parameter, variable
from ptxkit.transpiler.functions import (
    DEEPEST_BLOCK,
    FunctionHeader,
    directive,
    directive_keywords,
    opcode_chain,
)
from ptxkit.transpiler.layout import Layout, spacing_argument
from ptxkit.transpiler.names import Scope, reserved_names
from ptxkit.transpiler.operands import OperandReader
from ptxkit.transpiler.tree import Argument, Entry, File, Group, Line, Suite, Symbol, quoted


class Plain:
    """Turns a parsed module into a Python file."""

    def __init__(
        self, module: Module, style: Style, source: bytes, *, demangles: bool = False
    ) -> None:
        self.module = module
        self.style = style
        self.file = File()
        self.unknown: set[str] = set()
        """Opcodes that the table does not know."""
        self.layout = Layout(source, style)
        self.layout.body = self.file.body
        self.scope = Scope(None, reserved_names(), demangles=demangles)
        self.reader = OperandReader(self.scope)
        self.reader.ready = set()
        self._labels: set[str] = set()
        self._placed: set[tuple[object, str]] = set()
        self._blocks = 0
        self._functions = 0  # those with a body
        self._head: int | None = None  # how many lines of the head are said already

    def run(self) -> File:
        """The file, but for the line that makes ``module``."""
        self._declare()
        children = self.module.children
        for number, child in enumerate(children):
            if self._head and child.kind in ("Target", "AddressSize"):
                self._head -= 1  # said with the version
            elif child.kind != "Version" or not self._whole_head(children[number : number + 3]):
                _MODULE[child.kind](self, child)
        self.layout.statement("end", len(self.layout.source), len(self.layout.source), None, "")
        return self.file

    def _declare(self) -> None:
        """Name functions and variables before they are met: bodies may name later ones."""
        for child in self.module.children:
            if child.kind == "Function":
                if child.name not in self.scope.symbols:
                    self.scope.declare(child.name, "function")
            elif child.kind == "Variable":
                for declarator in child.declarators:
                    if declarator.name not in self.scope.symbols:
                        self.scope.declare(declarator.name, "variable", child.type)

    def _add(self, kind: str, node: Node, line: Line, predicted: str) -> None:
        start, end = node.span
        self.layout.statement(kind, start, end, line, predicted)

    def _whole_head(self, nodes: tuple[Node, ...]) -> bool:
        """Take version, target and address size in one, where they stand as they always do."""
        if [node.kind for node in nodes] != ["Version", "Target", "AddressSize"]:
            return False
        module = self.module
        targets = ", ".join([str(module.target), *module.target_options])
        texts = (
            f".version {module.version}",
            f"{self.style.gap('version', 'target', 0)}.target {targets}",
            f"{self.style.gap('target', 'address_size', 0)}.address_size {module.address_size}",
        )
        lines = "".join(texts)
        start, end = nodes[0].span[0], nodes[2].span[1]
        if self._head is not None or self.layout.text(start, end) != lines:
            return False
        self.layout.statement("version", start, end, Line("head", "module.head"), lines)
        self.layout.stood("address_size")
        self._head = 2
        return True

    # -- module level --------------------------------------------------------------------------

    def _version(self, node: Node) -> None:
        value = node.tokens()[1][1]
        line = Line("version", "module.version_line", [quoted(value)], node=node)
        self._add("version", node, line, f".version {value}")

    def _target(self, node: Node) -> None:
        values = [text for kind, text, _, _ in node.tokens() if kind == "identifier"]
        line = Line("target", "module.target_line", [quoted(one) for one in values], node=node)
        self._add("target", node, line, f".target {', '.join(values)}")

    def _address_size(self, node: Node) -> None:
        argument, text = self.reader.integer(node.tokens()[1][1])
        line = Line("address_size", "module.address_size_line", [argument], node=node)
        self._add("address_size", node, line, f".address_size {text}")

    def _file(self, node: Node) -> None:
        _, number, path, *rest = [text for _, text, _, _ in node.tokens() if text != ","]
        numbers = [self.reader.integer(text) for text in (number, *rest)]
        arguments: list[Argument] = [numbers[0][0], quoted(path[1:-1])]
        arguments += [argument for argument, _ in numbers[1:]]
        text = f".file{self.style.directive_gap}{number} {path}"
        text = ", ".join([text, *rest])
        self._add("file", node, Line("file", "module.file", arguments, node=node), text)

    def _pragma(self, node: Node) -> None:
        strings = [text for kind, text, _, _ in node.tokens() if kind == "string"]
        arguments: list[Argument] = [quoted(text[1:-1]) for text in strings]
        line = Line("pragma", f"{self.layout.prefix}.pragma", arguments, node=node)
        self._add("pragma", node, line, f".pragma {', '.join(strings)};")

    def _alias(self, node: Node) -> None:
        (first, first_text), (second, second_text) = (
            self.reader.read(child) for child in node.children
        )
        line = Line("alias", "module.alias", [first, second], node=node)
        self._add("alias", node, line, f".alias {first_text}, {second_text};")

    def _dwarf(self, node: Node) -> None:
        _, _, keyword, *words = [text for _, text, _, _ in node.tokens()]
        line = Line("dwarf", "module.dwarf", [quoted(word) for word in words], node=node)
        if keyword != "DWARF":
            line.keywords.append(("keyword", quoted(keyword)))
        self._add("dwarf", node, line, " ".join([f"@@{keyword}", *words]))

    def _section(self, node: Node) -> None:
        _, name, brace = node.tokens(own=True)[:3]
        style, layout = self.style, self.layout
        predicted = f".section{style.directive_gap}{name[1]}{style.section_brace}{{"
        layout.statement("section", node.span[0], brace[3], None, "")
        spacing = layout.departures(predicted, node.span[0], brace[3])
        spaced = f", spaced={spacing_argument(spacing)}" if spacing else ""
        suite = Suite("section", [f"with module.section({quoted(name[1])}{spaced}):"], node)
        outer = self._enter(suite)
        for child in node.children:
            if child.kind == "SectionLabel":
                label = child.tokens()[0][1]
                line = Line("section_label", "module.label", [quoted(label)], node=child)
                self._add("section_label", child, line, f"{label}:")
            else:
                self._data(child)
        layout.statement("section_close", node.span[1] - 1, node.span[1], None, "")
        layout.body = outer

    def _data(self, node: Node) -> None:
        text = node.text
        type, _, rest = text.partition(" ")
        plain = rest.isdecimal() and (rest[0] != "0" or rest == "0")
        if not plain:
            words = [word for _, word, _, _ in node.tokens()]
            type = words[0]
            items = "".join(words[1:]).split(",")
        else:
            items = [rest]
        arguments: list[Argument] = [quoted(type[1:])]
        arguments += [
            item if item.isdecimal() and (item[0] != "0" or item == "0") else quoted(item)
            for item in items
        ]
        line = Line("section_data", "module.data", arguments, node=node)
        count = len(self.layout.body)
        predicted = f"{type} {self.style.data_comma.join(items)}"
        self._add("section_data", node, line, predicted)
        body = self.layout.body
        if plain and len(body) == count + 1 and count and not line.suffixes:
            self._join(body, line)

    @staticmethod
    def _join(body: list[Entry], line: Line) -> None:
        """Put lines of one number each into one call."""
        before = body[-2]
        if not isinstance(before, Line) or before.suffixes or len(before.arguments) < 2:
            return
        is_single = before.call == "module.data" and len(before.arguments) == 2
        if before.arguments[0] != line.arguments[0] or not (
            before.call == "module.lines" or (is_single and str(before.arguments[1]).isdecimal())
        ):
            return
        before.call = "module.lines"
        before.kind = "section_lines"
        before.arguments.append(line.arguments[1])
        body.pop()

    def _enter(self, suite: Suite) -> list[Entry]:
        """Go into a suite; gives the body to come back to."""
        outer = self.layout.body
        outer.append(suite)
        self.layout.body = suite.body
        return outer

    def _variable(self, node: Variable) -> None:
        layout, is_body = self.layout, self.layout.is_body
        # Comments before the declaration may begin or end inline assembly: first those.
        line = Line("declaration", "", node=node)
        kind = "variable"
        if is_body:
            own = [word for _, word, _, _ in node.tokens(own=True)]
            space = next((word for word in own if word in SPACES), "")
            kind = "register" if space == ".reg" else "declaration"
        layout.begin(kind, node.span[0], line)
        made, words, names = variable(node, self.reader, is_body=is_body)
        if is_body and names:
            nested = self._blocks > 0
            begin = self.style.declaration(words, space, is_asm=layout.is_asm, is_nested=nested)
            predicted = f"{begin}{names};"
        else:
            predicted = f"{words} {names};" if names else f"{words};"
        line.kind, line.call, line.target = made.kind, made.call, made.target
        line.arguments, line.keywords = made.arguments, made.keywords
        layout.finish(line, node.span[1], predicted)
        if self.reader.ready is not None:
            self.reader.ready.update(one.name for one in node.declarators)

    def _function(self, node: Function) -> None:
        layout = self.layout
        symbol = self.scope.symbols[node.name]
        kind = "header" if node.has_body else "prototype"
        header = FunctionHeader(node, symbol, layout, self.reader)
        layout.statement(kind, node.span[0], header.end, None, "")
        suite = header.suite(self._functions)
        self._functions += node.has_body
        outer = self._enter(suite)
        body = node.body
        if body is not None:
            reader, self.reader = self.reader, header.reader
            layout.is_body = True
            self._labels = {label.name for label in node.labels}
            self._statements(body)
            layout.statement("body_close", node.span[1] - 1, node.span[1], None, "")
            layout.is_body = False
            layout.is_asm = False
            self.reader = reader
        layout.body = outer
        if self.reader.ready is not None:
            self.reader.ready.add(node.name)

    # -- bodies ----------------------------------------------------------------------------------

    def _statements(self, body: Node) -> None:
        """The statements of a body; blocks may nest deeper than Python calls."""
        open_blocks: list[tuple[Node, Iterator[Node], list[Entry], Scope]] = []
        children = iter(body.children)
        while True:
            child = next(children, None)
            if child is None:
                if not open_blocks:
                    return
                node, children, outer_body, outer_scope = open_blocks.pop()
                self._close_block(node, outer_body, outer_scope)
            elif child.kind == "Block":
                open_blocks.append((child, children, self.layout.body, self.reader.scope))
                self._open_block(child)
                children = iter(child.children)
            else:
                _BODY[child.kind](self, child)

    def _open_block(self, node: Node) -> None:
        layout = self.layout
        start = node.span[0]
        if self._blocks >= DEEPEST_BLOCK:
            line = Line("block", "ptx.open_block", node=node)
            layout.statement("block", start, start + 1, line, "{")
        else:
            layout.statement("block", start, start + 1, None, "")
            self._enter(Suite("block", ["with ptx.block():"], node))
        self._blocks += 1
        self.reader.changed(self.reader.scope.inner())

    def _close_block(self, node: Node, outer_body: list[Entry], outer_scope: Scope) -> None:
        self._blocks -= 1
        end = node.span[1]
        deep = self._blocks >= DEEPEST_BLOCK
        line = Line("block_close", "ptx.close_block", node=node) if deep else None
        self.layout.statement("block_close", end - 1, end, line, "}")
        self.layout.body = outer_body
        self.reader.changed(outer_scope)

    def _label(self, node: Label) -> None:
        name = node.name
        arguments: list[Argument] = [quoted(name)]
        place = (node.parent, name)
        if place in self._placed:  # no PTX may have it, but it is what the file says
            arguments.append("again=True")
        self._placed.add(place)
        line = Line("label", "ptx.label", arguments, node=node)
        self._add(self.style.label_kind(name), node, line, f"{name}:")

    def _loc(self, node: Node) -> None:
        words = [text for _, text, _, _ in node.tokens() if text != ","]
        numbers = [self.reader.integer(text) for text in words[1:4]]
        arguments: list[Argument] = [argument for argument, _ in numbers]
        predicted = f".loc{self.style.directive_gap}{' '.join(words[1:4])}"
        if len(words) > 4:
            name = words[5]
            at = words.index("inlined_at", 6) + 1
            shown: Argument = quoted(name)
            if words[6] == "+":
                shown = Group("offset(", [quoted(name), self.reader.integer(words[7])[0]], ")")
                name = f"{name}+{words[7]}"
            inlined = [self.reader.integer(text)[0] for text in words[at : at + 3]]
            arguments += [shown, Group("(", inlined, ")")]
            place = " ".join(words[at : at + 3])
            predicted += f", function_name {name}, inlined_at {place}"
        self._add("loc", node, Line("loc", "ptx.loc", arguments, node=node), predicted)

    def _targets(self, node: Node) -> None:
        word = "branchtargets" if node.kind == "BranchTargets" else "calltargets"
        parts = [self.reader.read(child) for child in node.children]
        line = Line(word, f"ptx.{word}", [argument for argument, _ in parts], node=node)
        self._add(word, node, line, f".{word} {', '.join([text for _, text in parts])};")

    def _prototype(self, node: Node) -> None:
        keywords: list[tuple[str, Argument]] = []
        text = ".callprototype"
        after = ""
        has_parameters = False
        directives = []
        for child in node.children:
            if child.kind != "ParameterList":
                directives.append(directive(child, self.reader))
                continue
            shown: list[Argument] = []
            texts: list[str] = []
            for one in child.children:
                chain, name, whole = parameter(one, self.reader)
                texts.append(f"{chain.ptx} {whole}")
                if whole == "_":
                    shown.append(chain.python)
                else:
                    shown.append(f"named({chain.python}, {quoted(whole)})")
            if child.flags & 4:
                keywords.append(("returns", Group("[", shown, "]")))
                text += f" ({', '.join(texts)})"
            else:
                has_parameters = True
                keywords.append(("parameters", Group("[", shown, "]")))
                after = f" ({', '.join(texts)})"
        if not has_parameters:
            keywords.append(("parameters", "None"))
        for keyword in directive_keywords(directives) if directives else ():
            name, _, value = keyword.partition("=")
            keywords.append((name, value))
        text = " ".join([f"{text} _{after}", *[one for _, _, one in directives]])
        line = Line("callprototype", "ptx.callprototype", (), keywords, node=node)
        self._add("callprototype", node, line, f"{text};")

    def _instruction(self, node: Instruction) -> None:
        opcode: str = node.opcode
        if not node.name:  # a register's name stands where the opcode does
            opcode = f"%{opcode}"
        read = self.reader.read
        call = opcode_chain(opcode)
        if call is None:
            self.unknown.add(opcode)
            call = f"ptx.unchecked({quoted(opcode)})"
        arguments: list[Argument] = []
        texts: list[str] = []
        for operand in node.operands:
            argument, text = read(operand)
            arguments.append(argument)
            texts.append(text)
        line = Line("instruction", call, arguments, node=node)
        name = node.name
        if name in ("bra", "brx"):
            self._branch(line.arguments)
        guard = node.guard
        guard_text = ""
        if guard is not None:
            argument, text = read(guard.children[0])
            if guard.flags & NEGATED:
                argument, text = self.reader.inverted(argument), f"!{text}"
            line.keywords.append(("when", argument))
            guard_text = f"@{text} "
        layout, style = self.layout, self.style
        start, end = node.span
        # Comments before the instruction may begin or end inline assembly: first those.
        layout.begin("instruction", start, line)
        predicted = style.instruction(name, opcode, texts, layout.is_asm, guard_text)
        layout.finish(line, end, predicted)

    def _branch(self, arguments: list[Argument]) -> None:
        """Labels are named by text; one that is not there is no label to the writer."""
        for number, argument in enumerate(arguments):
            if isinstance(argument, Symbol):
                if argument.ptx in self._labels:
                    arguments[number] = quoted(argument.ptx)
                elif argument.kind == "name":
                    arguments[number] = Group("name(", [argument], ")")
            elif isinstance(argument, str) and argument.startswith('"'):
                arguments[number] = Group("name(", [argument], ")")


_Visitor = Callable[[Plain, Any], None]
_BODY: dict[str, _Visitor] = {
    "Instruction": Plain._instruction,
    "Label": Plain._label,
    "Loc": Plain._loc,
    "Variable": Plain._variable,
    "Pragma": Plain._pragma,
    "BranchTargets": Plain._targets,
    "CallTargets": Plain._targets,
    "CallPrototype": Plain._prototype,
}
_MODULE: dict[str, _Visitor] = {
    "Version": Plain._version,
    "Target": Plain._target,
    "AddressSize": Plain._address_size,
    "File": Plain._file,
    "Section": Plain._section,
    "DwarfLine": Plain._dwarf,
    "Pragma": Plain._pragma,
    "Alias": Plain._alias,
    "Variable": Plain._variable,
    "Function": Plain._function,
}
