// Operands and constant expressions.
#include "parser.hpp"

namespace ptxkit::syntax {

void Parser::operand(bool is_call) {
    const auto first = static_cast<Index>(nodes_.size());
    switch (lexer_.kind()) {
        case Token::Identifier: {
            if (lexer_.text() == "WARP_SZ") return expression();
            name();
            if (!lexer_.is_symbol(',') && !lexer_.is_symbol(';')) {
                if (lexer_.is_symbol('|')) return vector_or_pair_tail(first);
                if (lexer_.is_symbol('[')) {
                    wrap(first, Kind::Subscript);
                    lexer_.next();
                    expression();
                    expect(']', "after the subscript");
                    close(first);
                    return;
                }
                if (is_binary_operator()) expression_tail(first);
            }
            return;
        }
        case Token::Punctuation:
            if (lexer_.symbol() == '[') return address();
            if (lexer_.symbol() == '{') {
                operand_list(Kind::Vector, '}', false, false);
                if (lexer_.is_symbol('|')) vector_or_pair_tail(first);
                return;
            }
            if (lexer_.symbol() == '(' && is_call)
                return operand_list(Kind::ArgumentList, ')', true, false);
            if (lexer_.symbol() == ',' || lexer_.symbol() == ';') unexpected("an operand");
            return expression();
        default: return expression();
    }
}

void Parser::vector_or_pair_tail(Index first) {
    wrap(first, Kind::Pair);
    lexer_.next();
    if (lexer_.kind() != Token::Identifier) unexpected("a predicate or '_' after '|'");
    name();
    close(first);
}

void Parser::operand_list(Kind kind, char closing, bool may_be_empty, bool is_call) {
    const Depth depth(*this);
    const Index node = open(kind, lexer_.start());
    lexer_.next();
    if (!(may_be_empty && lexer_.is_symbol(closing))) {
        for (;;) {
            if (kind == Kind::Vector) vector_element();
            else operand(is_call);
            if (!lexer_.is_symbol(',')) break;
            lexer_.next();
        }
    }
    expect(closing, "or ',' in the list");
    close(node);
}

void Parser::vector_element() {
    if (lexer_.kind() == Token::Identifier && lexer_.text() != "WARP_SZ") return name();
    if (lexer_.is_symbol('{') || lexer_.is_symbol('[')) unexpected("a register or constant");
    const auto first = static_cast<Index>(nodes_.size());
    primary(false);
    if (is_binary_operator()) expression_tail(first);
}

void Parser::name() {
    if (lexer_.end() - lexer_.start() == 1 && lexer_.symbol() == '_') return leaf(Kind::Sink);
    const auto index = static_cast<Index>(nodes_.size());
    leaf(Kind::Name);
    // "%tid.x", also written "%tid .x"
    if (lexer_.kind() == Token::DotWord) {
        Node &node = nodes_[index];
        node.selector = static_cast<std::uint16_t>(lexer_.end() - node.end);
        if (lexer_.end() - node.end > UINT16_MAX) unexpected("a short selector such as .x");
        node.end = lexer_.end();
        lexer_.next();
    }
}

void Parser::address() {
    const Depth depth(*this);
    const Index node = open(Kind::Address, lexer_.start());
    lexer_.next();
    if (lexer_.kind() == Token::Identifier) {
        name();
        if (lexer_.is_symbol('+')) {
            nodes_[node].flags |= kHasOffset;
            lexer_.next();
            const auto offset = static_cast<Index>(nodes_.size());
            if (lexer_.kind() == Token::Float)
                unexpected("an integer as the offset", "an offset counts bytes");
            primary(false);
            if (is_binary_operator()) expression_tail(offset);
        } else if (lexer_.is_symbol('-')) {
            fail("syntax", "an offset is added, never subtracted", "write [name+-8] for [name-8]");
        }
    } else if (lexer_.is_symbol(']')) {
        unexpected("an address");
    } else {
        expression();
    }
    while (lexer_.is_symbol(',')) {
        lexer_.next();
        operand(false);
    }
    expect(']', "after the address");
    if (lexer_.kind() == Token::DotWord) {  // "[a].unified"
        nodes_[node].selector = static_cast<std::uint16_t>(lexer_.end() - lexer_.start());
        if (lexer_.end() - lexer_.start() > UINT16_MAX) unexpected("a short word after ']'");
        lexer_.next();
    }
    close(node);
}

bool Parser::is_binary_operator() const {
    switch (lexer_.kind()) {
        case Token::ShiftLeft:
        case Token::ShiftRight:
        case Token::LessEqual:
        case Token::GreaterEqual:
        case Token::EqualEqual:
        case Token::NotEqual:
        case Token::AndAnd:
        case Token::OrOr: return true;
        case Token::Punctuation: break;
        default: return false;
    }
    switch (lexer_.symbol()) {
        case '+': case '-': case '*': case '/': case '%': case '<': case '>': case '&': case '|':
        case '^': case '?': return true;
        default: return false;
    }
}

void Parser::expression() {
    const auto first = static_cast<Index>(nodes_.size());
    primary(true);
    if (is_binary_operator()) expression_tail(first);
}

// The rest of "a + b * c": one flat node. `cond ? a : b` is part of it.
void Parser::expression_tail(Index first) {
    const Node &start = nodes_[first];
    const bool is_name =
        start.kind == Kind::Name && tree_.text(start.start, start.end) != "WARP_SZ";
    const bool is_address = is_name || start.kind == Kind::Application;
    if (is_address && (!lexer_.is_symbol('+') || is_mask(first)))
        fail("syntax", "the operator " + found() + " cannot stand after a name",
             "a name may have an offset added, as in 'name+8' or 'name+-8'");
    wrap(first, Kind::Expression);
    unsigned questions = 0;
    while (is_binary_operator() || (questions > 0 && lexer_.is_symbol(':'))) {
        if (lexer_.is_symbol('?')) ++questions;
        if (lexer_.is_symbol(':')) --questions;
        lexer_.next();
        primary(false);
    }
    if (questions > 0) unexpected("':' for the '?' before it");
    close(first);
}

// Whether a node is 0xff(symbol), which takes no offset outside its parentheses.
bool Parser::is_mask(Index index) const {
    return nodes_[index].kind == Kind::Application && nodes_[index + 1].kind == Kind::Integer;
}

void Parser::primary(bool names_allowed) {
    const Depth depth(*this);
    const char *wanted = in_initializer_ ? "a value" : "an operand";
    switch (lexer_.kind()) {
        case Token::Integer: {
            const auto first = static_cast<Index>(nodes_.size());
            leaf(Kind::Integer);
            if (in_initializer_ && lexer_.is_symbol('(')) {  // 0xff(symbol)
                wrap(first, Kind::Application);
                lexer_.next();
                expression();
                expect(')', "after the symbol");
                close(first);
            }
            return;
        }
        case Token::Float: return leaf(Kind::Float);
        case Token::Identifier: {
            if (lexer_.text() == "WARP_SZ") return leaf(Kind::Name);
            if (!names_allowed)
                fail("syntax", "the name " + found() + " cannot stand in a calculation",
                     "only constants are calculated with; a name comes first, as in 'name+8', and "
                     "registers are added by an instruction of their own");
            const auto first = static_cast<Index>(nodes_.size());
            const bool generic = in_initializer_ && lexer_.text() == "generic";
            name();
            if (generic && lexer_.is_symbol('(')) {
                wrap(first, Kind::Application);
                lexer_.next();
                expression();
                expect(')', "after the symbol");
                close(first);
            }
            return;
        }
        case Token::Punctuation: break;
        case Token::String:
            fail("syntax", "a string cannot be an operand", "only .file and .pragma take strings");
        default: unexpected(wanted);
    }
    const char symbol = lexer_.symbol();
    if (symbol == '!' || symbol == '-' || symbol == '~' || symbol == '+') {
        const Index node = open(Kind::Unary, lexer_.start());
        lexer_.next();
        // "!p" and "-r", but neither "!!p" nor "~r"
        const bool before_name = lexer_.kind() == Token::Identifier;
        primary(names_allowed && before_name && (symbol == '!' || symbol == '-'));
        close(node);
        return;
    }
    if (symbol != '(') unexpected(wanted);
    const std::uint32_t start = lexer_.start();
    lexer_.next();
    if (lexer_.kind() == Token::DotWord && (lexer_.text() == ".s64" || lexer_.text() == ".u64")) {
        const Index node = open(Kind::Unary, start);
        lexer_.next();
        expect(')', "after the type of the cast");
        primary(false);
        close(node);
        return;
    }
    if (lexer_.kind() == Token::DotWord)
        fail("syntax", "there is no cast to " + found(), "casts are (.s64) and (.u64)");
    const Index node = open(Kind::Parenthesized, start);
    const auto inner = static_cast<Index>(nodes_.size());
    primary(false);
    if (is_binary_operator()) expression_tail(inner);
    expect(')', "after the expression");
    close(node);
}

}  // namespace ptxkit::syntax
