"""Ways to break the parser on purpose: each one is a small change of its source."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """In one file, the first place where ``before`` stands becomes ``after``."""

    name: str
    file: str
    before: str
    after: str


MUTANTS = (
    Mutant(
        "an integer operand has no node",
        "parser_body.cpp",
        "operand(is_call);",
        "operand(is_call);\n"
        "            if (nodes_.back().kind == Kind::Integer) nodes_.pop_back();",
    ),
    Mutant(
        "the second name of a pair has no node",
        "parser_operand.cpp",
        "    name();\n    close(first);",
        "    lexer_.next();\n    close(first);",
    ),
    Mutant(
        "what follows a comma in a vector is skipped",
        "parser_operand.cpp",
        "vector_element();",
        "{\n                vector_element();\n"
        "                while (!lexer_.is_symbol(closing)) lexer_.next();\n            }",
    ),
    Mutant(
        "an instruction ends before its semicolon",
        "parser.cpp",
        "    node.end = end;",
        "    node.end = node.kind == Kind::Instruction ? end - 1 : end;",
    ),
    Mutant(
        "vectors and argument lists are swapped",
        "parser_operand.cpp",
        "operand_list(Kind::Vector,",
        "operand_list(Kind::ArgumentList,",
    ),
    Mutant(
        "integers are called floats",
        "parser_operand.cpp",
        "leaf(Kind::Integer)",
        "leaf(Kind::Float)",
    ),
    Mutant(
        "guards are forgotten",
        "parser_body.cpp",
        "        guard();\n",
        "        lexer_.next();\n        if (lexer_.is_symbol('!')) lexer_.next();\n"
        "        lexer_.next();\n",
    ),
    Mutant(
        "labels are skipped",
        "parser_body.cpp",
        "after_label_ = true;",
        "after_label_ = true;\n                nodes_.resize(node);",
    ),
    Mutant(
        "line information is skipped",
        "parser_body.cpp",
        "case Word::Loc: return loc();",
        "case Word::Loc:\n            do lexer_.next();\n"
        "            while (!lexer_.on_new_line());\n            return;",
    ),
    Mutant(
        "a line comment takes the next line along",
        "lexer.cpp",
        "at_ = found ? static_cast<const char *>(found) : end_;",
        "at_ = found ? static_cast<const char *>(found) : end_;\n"
        "            while (at_ + 1 < end_ && at_[1] != '\\n') ++at_;",
    ),
    Mutant("a block comment ends at any star", "lexer.cpp", "if (*close == '/') break;", "break;"),
    Mutant(
        "a name and its selector are one token",
        "lexer.cpp",
        "        while (is(*at_, kFollow)) ++at_;\n        kind_ = Token::Identifier;",
        "        while (is(*at_, kFollow | kWordDot) && *at_ != ':') ++at_;\n"
        "        kind_ = Token::Identifier;",
    ),
    Mutant(
        "a string takes the next character along",
        "lexer.cpp",
        "static_cast<const char *>(close) + 1 : end_",
        "static_cast<const char *>(close) + 2 : end_",
    ),
    Mutant(
        "the subtree of an address is one node too long",
        "parser.cpp",
        "    node.next = static_cast<Index>(nodes_.size());",
        "    node.next = static_cast<Index>(nodes_.size()) + (node.kind == Kind::Address);",
    ),
    Mutant("a node put above others keeps their ends", "parser.cpp", "        ++node.next;\n", ""),
    Mutant(
        "a node put above others is no one's parent",
        "parser.cpp",
        "if (at == index + 1) node.parent = index;",
        "if (at == index + 1) node.parent = first.parent;",
    ),
    Mutant("offsets are not marked", "parser_operand.cpp", "flags |= kHasOffset;", "flags |= 0;"),
    Mutant("negated guards are not marked", "parser_body.cpp", "flags |= kNegated;", "flags |= 0;"),
    Mutant(
        "returned parameters are not marked",
        "parser_module.cpp",
        "parameter_list(kReturnList);",
        "parameter_list(0);",
    ),
    Mutant(
        "a selector is not part of its name",
        "parser_operand.cpp",
        "        node.end = lexer_.end();\n",
        "",
    ),
    Mutant(
        "the module ends with its last token",
        "parser_module.cpp",
        "close_at(module, static_cast<std::uint32_t>(tree_.text_.size()));",
        "close(module);",
    ),
    Mutant(
        "the end of a nested node is not written",
        "tree.cpp",
        "            copy_to(nodes_[open.back()].end);\n",
        "            written = nodes_[open.back()].end;\n",
    ),
)
