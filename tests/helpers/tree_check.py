"""An independent judge of syntax trees. It shares no code with the parser.

The text is cut into tokens by regular expressions of our own, each token is given to the
deepest node that holds it, and what a node holds, in order, must fit one line of the
grammar below. A parser that loses a node, closes one too early, names one wrongly or
skips a token leaves some node with a sequence that fits no line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ptxkit._native import Node as View


class Node(NamedTuple):
    """One node of a dumped tree; nodes stand in pre-order."""

    kind: str
    start: int
    end: int
    parent: int
    next: int
    flags: int
    selector: int


class Token(NamedTuple):
    """One token: its class as a letter (a punctuation mark is its own class) and span."""

    kind: str
    text: str
    start: int
    end: int


class TreeError(AssertionError):
    """The tree does not fit its text."""


# I name, D word with a dot, N integer, F float, S string.
_TOKEN = re.compile(
    rb"""
      (?P<trivia> [ \t\n\r\f\v]+ | //[^\n]* | /\*.*?\*/ | \#[^\n]* | \A\xef\xbb\xbf )
    | (?P<F> 0[fF][0-9a-fA-F]{8}\b | 0[dD][0-9a-fA-F]{16}\b
           | \d+\.\d*(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+ | \.\d+(?:[eE][+-]?\d+)?(?![\w$]) )
    | (?P<N> 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | \d+U? )
    | (?P<I> [%$][\w$]+ | [A-Za-z_][\w$]* )
    | (?P<D> \.[\w$]+(?:::[\w$]+)* )
    | (?P<S> "[^"]*" )
    | (?P<P> << | >> | <= | >= | == | != | && | \|\| | [-+*/%^~?@,;:{}\[\]()<>=!&|] )
    """,
    re.VERBOSE | re.DOTALL,
)

# Names used in the grammar below.
_PARTS = {
    "directive": "<Version> | <Target> | <AddressSize> | <File> | <Section> | <DwarfLine> "
    "| <Pragma> | <Alias> | <Variable> | <Function>",
    "statement": "<Block> | <Label> | <Instruction> | <Variable> | <Loc> | <Pragma> "
    "| <BranchTargets> | <CallTargets> | <CallPrototype>",
    "datum": "<Name> ( '-' <Name> | '+' N ) ? | <SectionName> ( '+' N ) ? | '-' ? N",
    "numbers": "'-' ? N ( ',' '-' ? N ) *",
    "specifier": "'.align' N | '.const' '[' N ']' | <Attribute> | D",
    "array": "'[' N ? ']'",
    "primary": "<Name> | <Sink> | <Integer> | <Float> | <Parenthesized> | <Unary> | <Application>",
    "constant": "primary | <Expression>",
    "operand": "constant | <Subscript> | <Vector> | <Pair> | <Address> | <ArgumentList>",
    "operands": "operand ( ',' operand ) *",
    "value": "constant | <InitializerList> | <FieldInitializer>",
    "operator": "'+' | '-' | '*' | '/' | '%' | '<<' | '>>' | '<' | '>' | '<=' | '>=' | '==' "
    "| '!=' | '&' | '|' | '^' | '&&' | '||' | '?' | ':'",
    "header": "<FunctionDirective> | <Pragma> | <Attribute>",
}

GRAMMAR = {
    "Module": "directive *",
    "Version": "'.version' F",
    "Target": "'.target' I ( ',' I ) *",
    "AddressSize": "'.address_size' N",
    "File": "'.file' N S ( ',' N ) *",
    "Section": "'.section' D '{' ( <SectionLabel> | <SectionData> ) * '}'",
    "SectionLabel": "I ':'",
    "SectionData": "D datum ( ',' datum ) *",
    "DwarfLine": "'@' '@' I ( D | I | N | S | ',' | ':' | '-' | '+' ) *",
    "Loc": "'.loc' N N N ( ',' ( 'function_name' <Name> ( '+' N ) ? | 'inlined_at' N N N ) ) *",
    "Pragma": "'.pragma' S ( ',' S ) * ';'",
    "Alias": "'.alias' <Name> ',' <Name> ';'",
    "Variable": "specifier + ( <Declarator> ( ',' <Declarator> ) * ) ? ';'",
    "Declarator": "I ( '<' N '>' ) ? array * ( '=' value ) ?",
    "Attribute": "'.attribute' '(' D ( '(' numbers ')' ) ? ( ',' D ( '(' numbers ')' ) ? ) * ')'",
    "InitializerList": "'{' ( value ( ',' value ) * ) ? '}'",
    "FieldInitializer": "I '=' constant",
    "Function": "D + <Attribute> ? <ParameterList> ? I <ParameterList> ? header * "
    "( <Block> | ';' )",
    "ParameterList": "'(' ( <Parameter> ( ',' <Parameter> ) * ) ? ')'",
    "Parameter": "specifier + I array *",
    "FunctionDirective": "D numbers ?",
    "Block": "'{' statement * '}'",
    "Label": "I ':'",
    "BranchTargets": "'.branchtargets' <Name> ( ',' <Name> ) * ';'",
    "CallTargets": "'.calltargets' <Name> ( ',' <Name> ) * ';'",
    "CallPrototype": "'.callprototype' <ParameterList> ? '_' <ParameterList> ? header * ';'",
    "Instruction": "<Guard> ? <Opcode> operands ? ';'",
    "Guard": "'@' '!' ? <Name>",
    "Opcode": "I D *",
    "Name": "I D ?",
    "Sink": "'_'",
    "Integer": "N",
    "Float": "F",
    "SectionName": "D",
    "Expression": "primary ( operator primary ) +",
    "Parenthesized": "'(' constant ')'",
    "Unary": "( '!' | '-' | '~' | '+' | '(' D ')' ) primary",
    "Application": "( <Name> | <Integer> ) '(' constant ')'",
    "Subscript": "<Name> '[' constant ']'",
    "Vector": "'{' operands '}'",
    "Pair": "( <Name> | <Sink> | <Vector> ) '|' ( <Name> | <Sink> )",
    "Address": "'[' ( <Name> '+' constant | constant ) ( ',' operand ) * ']' D ?",
    "ArgumentList": "'(' operands ? ')'",
}


def _compile(rule: str) -> str:
    """A grammar line as a regular expression over items "class:text " and "<Kind> "."""
    out = ""
    for word in rule.split():
        if word in _PARTS:
            out += f"(?:{_compile(_PARTS[word])})"
        elif word in ("(", ")", "|", "*", "+", "?"):
            out += word.replace("(", "(?:")
        elif word.startswith("'"):
            out += f"(?:[A-Z]:{re.escape(word[1:-1])} )"
        elif word.startswith("<"):
            out += f"(?:{word} )"
        else:
            out += rf"(?:{word}:\S* )"
    return out


_RULES = {kind: re.compile(_compile(rule)) for kind, rule in GRAMMAR.items()}

NEGATED, HAS_OFFSET, RETURN_LIST, IS_ENTRY, HAS_BODY = 1, 2, 4, 8, 16


def tokenize(text: bytes, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of a stretch of the text."""
    tail = len(text.rstrip(b"\0 \t\n\r\f\v"))  # NUL bytes may stand at the very end
    end = min(tail, len(text) if end is None else end)
    at = start
    while at < end:
        match = _TOKEN.match(text, at, end)
        if match is None or match.end() == at:
            raise TreeError(f"no token at byte {at}: {text[at : at + 20]!r}")
        kind = match.lastgroup or ""
        if text[at] == ord("#"):
            line = text[text.rfind(b"\n", 0, at) + 1 : at].removeprefix(b"\xef\xbb\xbf")
            if line.strip():
                raise TreeError(f"a '#' at byte {at} that begins no line")
        if kind != "trivia":
            yield Token(kind, match[0].decode("utf-8", "surrogateescape"), *match.span())
        at = match.end()


def nodes_of(module: View) -> list[Node]:
    """The nodes of a parsed module, read through the Python views."""
    return [
        Node(
            view.kind,
            view.span[0],
            view.span[1],
            -1 if view.parent is None else view.parent.index,
            view.index + 1 + len(view.walk()),
            view.flags,
            view.selector_length,
        )
        for view in (module, *module.walk())
    ]


def check_tree(text: bytes, nodes: Sequence[Node]) -> None:
    """Raise TreeError unless the tree fits the text and the grammar."""
    _check_shape(text, nodes)
    rebuilt: list[Token] = []
    _walk(text, nodes, rebuilt)
    rebuilt.sort(key=lambda token: token.start)
    if rebuilt != list(tokenize(text)):
        raise TreeError("the tokens of the nodes are not the tokens of the text")


def _check_shape(text: bytes, nodes: Sequence[Node]) -> None:
    _require(bool(nodes) and nodes[0].kind == "Module", 0, "the first node is not a module")
    _require(nodes[0].start == 0 and nodes[0].end == len(text), 0, "the module is not the text")
    _require(nodes[0].parent == -1 and nodes[0].next == len(nodes), 0, "the module is cut short")
    for index, node in enumerate(nodes):
        _require(index < node.next <= len(nodes), index, "its subtree ends before it begins")
        covered = node.start
        for child in children(nodes, index):
            _require(nodes[child].parent == index, child, "it does not know its parent")
            _require(covered <= nodes[child].start, child, "it overlaps its neighbour")
            _require(nodes[child].next <= node.next, child, "its subtree leaves its parent's")
            covered = nodes[child].end
            _require(nodes[child].start < covered <= node.end, child, "it leaves its parent")


def children(nodes: Sequence[Node], index: int) -> Iterator[int]:
    """Indices of a node's children."""
    at = index + 1
    while at < nodes[index].next:
        yield at
        _require(nodes[at].next > at, at, "its subtree ends before it begins")
        at = nodes[at].next


def _walk(text: bytes, nodes: Sequence[Node], rebuilt: list[Token]) -> None:
    for index, node in enumerate(nodes):
        items: list[Token | Node] = []
        at = node.start
        for child in children(nodes, index):
            items += tokenize(text, at, nodes[child].start)
            items.append(nodes[child])
            at = nodes[child].end
        items += tokenize(text, at, node.end)
        own = [item for item in items if isinstance(item, Token)]
        rebuilt += own
        rule = _RULES.get(node.kind)
        _require(rule is not None, index, f"{node.kind} is no kind of the grammar")
        spelled = "".join(_spell(items))
        if rule is not None and rule.fullmatch(spelled) is None:
            raise TreeError(f"node {index}, a {node.kind}, holds {spelled!r}")
        _check_flags(index, node, items, own)


def _spell(items: Iterable[Token | Node]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Node):
            yield f"<{item.kind}> "
        else:
            yield f"{item.kind}:{'' if item.kind == 'S' else item.text} "


def _check_flags(
    index: int, node: Node, items: Sequence[Token | Node], own: Sequence[Token]
) -> None:
    texts = [token.text for token in own]
    expected = selector = 0
    if node.kind == "Guard" and "!" in texts:
        expected = NEGATED
    elif node.kind == "Address":
        expected = HAS_OFFSET if "+" in texts else 0
        selector = len(texts[-1]) if texts[-1] != "]" else 0
    elif node.kind == "Name":
        selector = own[-1].end - own[0].end
    elif node.kind == "Function":
        last = items[-1]
        expected = IS_ENTRY if ".entry" in texts else 0
        expected |= HAS_BODY if isinstance(last, Node) and last.kind == "Block" else 0
    elif node.kind == "ParameterList":
        expected = node.flags & RETURN_LIST  # the function or prototype around it decides
    _require(node.flags == expected, index, f"its flags are {node.flags}, not {expected}")
    _require(node.selector == selector, index, f"its selector is {node.selector} bytes long")
    if node.kind in ("Function", "CallPrototype"):
        name = next(token.start for token in own if token.kind == "I")
        for item in items:
            if isinstance(item, Node) and item.kind == "ParameterList":
                returned = bool(item.flags & RETURN_LIST)
                _require(returned == (item.start < name), index, "a list has the wrong side")


def _require(holds: bool, index: int, message: str) -> None:
    if not holds:
        raise TreeError(f"node {index}: {message}")
