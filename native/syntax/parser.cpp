#include "parser.hpp"

#include <stdexcept>

namespace ptxkit::syntax {

namespace {
constexpr unsigned kMaximumDepth = 400;  // of parentheses, signs and braces in operands
constexpr std::size_t kMaximumDiagnostics = 1000;
}  // namespace

std::shared_ptr<const Tree> parse(std::string text, std::string filename) {
    if (text.size() >= UINT32_MAX) throw std::length_error("the text is 4 GiB or larger");
    auto tree = std::make_shared<Tree>(std::move(text), std::move(filename));
    Parser(*tree).parse_module();
    return tree;
}

Parser::Parser(Tree &tree)
    : tree_(tree),
      nodes_(tree.nodes_),
      lexer_(tree.text_.data(), tree.text_.data() + tree.text_.size()) {
    // Compiler output has about one node for six bytes; pages not written cost nothing.
    nodes_.reserve(tree.text_.size() / 5 + 16);
}

Parser::Depth::Depth(Parser &parser) : parser_(parser) {
    if (++parser_.depth_ > kMaximumDepth) {
        --parser_.depth_;
        parser_.fail("nesting", "nested more than " + std::to_string(kMaximumDepth) + " deep",
                     "split the expression or the initialiser");
    }
}

Parser::Index Parser::open(Kind kind, std::uint32_t start) {
    const auto index = static_cast<Index>(nodes_.size());
    nodes_.push_back(Node{start, start, parent_, 0, kind, 0, 0});
    parent_ = index;
    return index;
}

void Parser::close_at(Index index, std::uint32_t end) {
    Node &node = nodes_[index];
    node.end = end;
    node.next = static_cast<Index>(nodes_.size());
    parent_ = node.parent;
}

void Parser::leaf(Kind kind) {
    const auto index = static_cast<Index>(nodes_.size());
    nodes_.push_back(Node{lexer_.start(), lexer_.end(), parent_, index + 1, kind, 0, 0});
    lexer_.next();
}

void Parser::wrap(Index index, Kind kind) {
    const Node first = nodes_[index];
    nodes_.insert(nodes_.begin() + index, Node{first.start, first.end, first.parent, 0, kind, 0, 0});
    for (std::size_t at = index + 1; at < nodes_.size(); ++at) {
        Node &node = nodes_[at];
        ++node.next;
        if (at == index + 1) node.parent = index;
        else if (node.parent >= index) ++node.parent;
    }
    parent_ = index;
}

void Parser::report(std::uint32_t start, std::uint32_t end, std::string code, std::string message,
                    std::string hint) {
    if (tree_.diagnostics_.size() >= kMaximumDiagnostics) return;
    if (tree_.diagnostics_.size() == kMaximumDiagnostics - 1) {
        code = "too-many-errors";
        message = "more than " + std::to_string(kMaximumDiagnostics) + " errors; the rest is not shown";
        hint.clear();
    }
    tree_.diagnostics_.push_back({std::move(code), std::move(message), std::move(hint), start, end});
}

void Parser::fail_at(std::uint32_t start, std::uint32_t end, std::string code, std::string message,
                     std::string hint) {
    report(start, end, std::move(code), std::move(message), std::move(hint));
    throw StatementError{};
}

void Parser::fail(std::string code, std::string message, std::string hint) {
    fail_at(lexer_.start(), lexer_.end(), std::move(code), std::move(message), std::move(hint));
}

std::string Parser::found() const {
    if (lexer_.kind() == Token::End) return "the end of the file";
    std::string text(lexer_.text().substr(0, 40));
    if (lexer_.text().size() > 40) text += "...";
    return "'" + text + "'";
}

void Parser::unexpected(const std::string &expected) {
    switch (lexer_.kind()) {
        case Token::BadNumber:
            fail("bad-number", "malformed number " + found(),
                 "literals are 12, 0x1F, 0b101, 017 (each may end in U), 1.5, 1e3, "
                 "0f and 8 hex digits, 0d and 16 hex digits");
        case Token::BadString:
            fail_at(lexer_.start(), lexer_.start() + 1, "open-string", "the string is never closed",
                    "add the closing '\"'");
        case Token::BadComment:
            fail_at(lexer_.start(), lexer_.start() + 2, "open-comment",
                    "the comment is never closed", "add the closing '*/'");
        case Token::BadCharacter:
            if (lexer_.symbol() == '\0')
                fail("bad-character", "a NUL byte stands inside the text",
                     "PTX is text; is this a binary? 'ptxkit extract' reads those");
            if (lexer_.symbol() == '.')
                fail("bad-character", "a '.' without a word after it",
                     "no space may stand between '.' and its word");
            fail("bad-character", "the character " + found() + " has no place in PTX",
                 "only comments and strings may hold it");
        default:
            fail("syntax", "expected " + expected + ", found " + found());
    }
}

void Parser::expect(char symbol, const char *after) {
    if (!lexer_.is_symbol(symbol))
        unexpected(std::string("'") + symbol + "' " + after);
    lexer_.next();
}

void Parser::expect_semicolon(const char *after) {
    if (lexer_.is_symbol(';')) {
        lexer_.next();
        return;
    }
    const Token kind = lexer_.kind();
    const bool bad = kind == Token::BadNumber || kind == Token::BadString ||
                     kind == Token::BadComment || kind == Token::BadCharacter;
    if (!bad && (lexer_.on_new_line() || kind == Token::End || lexer_.is_symbol('}'))) {
        const std::uint32_t end = lexer_.previous_end();
        fail_at(end, end, "missing-semicolon", std::string("expected ';' ") + after,
                "add ';' at the end of the statement");
    }
    unexpected(std::string("';' ") + after);
}

bool Parser::at_statement_begin() const {
    if (!lexer_.on_new_line()) return false;
    const Token kind = lexer_.kind();
    if (kind == Token::DotWord) return classify(lexer_.text()) != Word::Unknown;
    return kind == Token::Identifier || lexer_.is_symbol('@') || lexer_.is_symbol('{');
}

// Give up a statement: drop its nodes, skip to where the next one can begin, and keep
// the skipped text as one Error node.
void Parser::recover(Index statement, std::uint32_t start, std::size_t diagnostics) {
    const std::string &code = tree_.diagnostics_.back().code;
    const bool complete = code == "missing-semicolon" && tree_.diagnostics_.size() > diagnostics;
    parent_ = nodes_[statement].parent;
    nodes_.resize(statement);
    if (!complete) {
        // The token that failed may itself close the statement.
        unsigned braces = 0;
        while (lexer_.kind() != Token::End) {
            if (lexer_.is_symbol(';') && braces == 0) {
                lexer_.next();
                break;
            }
            if (lexer_.is_symbol('{')) ++braces;
            if (lexer_.is_symbol('}')) {
                if (braces == 0) break;
                if (--braces == 0) {
                    lexer_.next();
                    if (lexer_.is_symbol(';')) lexer_.next();
                    break;
                }
            }
            lexer_.next();
            if (braces == 0 && at_statement_begin() && !lexer_.is_symbol('{')) break;
        }
    }
    const Index error = open(Kind::Error, start);
    const std::uint32_t end = lexer_.previous_end();
    close_at(error, end > start ? end : start);
}

}  // namespace ptxkit::syntax
