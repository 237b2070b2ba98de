#include "parser.hpp"

#include <stdexcept>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace ptxkit::syntax {

namespace {
constexpr unsigned kMaximumDepth = 400;  // of parentheses, signs and braces in operands
constexpr std::size_t kMaximumDiagnostics = 1000;

// Have an array in large pages, if it is large. The faults of small ones took a third of
// the time of parsing 30 MB.
void prefer_large_pages([[maybe_unused]] const void *array, [[maybe_unused]] std::size_t size) {
#ifdef __linux__
    constexpr std::uintptr_t kPage = 4096;
    if (size < 8u << 20) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(array);
    const std::uintptr_t aligned = (begin + kPage - 1) / kPage * kPage;
    madvise(reinterpret_cast<void *>(aligned), begin + size - aligned, MADV_HUGEPAGE);
#endif
}

}  // namespace

std::shared_ptr<const Tree> parse(std::string_view text, std::shared_ptr<const void> owner,
                                  std::string filename) {
    if (text.size() >= UINT32_MAX) throw std::length_error("the text is 4 GiB or larger");
    auto tree = std::make_shared<Tree>(text, std::move(owner), std::move(filename));
    Parser(*tree).parse_module();
    return tree;
}

std::shared_ptr<const Tree> parse(std::string text, std::string filename) {
    auto kept = std::make_shared<const std::string>(std::move(text));
    const std::string_view view = *kept;
    return parse(view, std::move(kept), std::move(filename));
}

Parser::Parser(Tree &tree)
    : tree_(tree),
      nodes_(tree.nodes_),
      lexer_(tree.text_.data(), tree.text_.data() + tree.text_.size()) {
    // Compiler output has about one node for six bytes; pages not written cost nothing.
    nodes_.reserve(tree.text_.size() / 5 + 16);
    prefer_large_pages(nodes_.data(), nodes_.capacity() * sizeof(Node));
}

Parser::Depth::Depth(Parser &parser) : parser_(parser) {
    if (++parser_.depth_ > kMaximumDepth) {
        --parser_.depth_;
        parser_.fail("nesting", "this is nested more than " + std::to_string(kMaximumDepth) + " deep",
                     "take away some of the parentheses, brackets, braces or signs");
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

bool Parser::at_bad_token() const {
    const Token kind = lexer_.kind();
    return kind == Token::BadNumber || kind == Token::BadString || kind == Token::BadComment ||
           kind == Token::BadCharacter;
}

void Parser::unexpected(const std::string &expected, std::string hint) {
    switch (lexer_.kind()) {
        case Token::BadNumber:
            if (out_of_range(lexer_.text()))
                fail("bad-number", "the number " + found() + " is out of range",
                     "integers have 64 bits; floats are doubles");
            fail("bad-number", "malformed number " + found(),
                 "numbers are written 12, 0x1F, 0b101 or 017 (U may follow), 1.5 or 1e3, "
                 "0f with 8 hex digits, or 0d with 16");
        case Token::BadString:
            fail_at(lexer_.start(), lexer_.start() + 1, "open-string", "the string is never closed",
                    "add the closing '\"'");
        case Token::BadComment:
            fail_at(lexer_.start(), lexer_.start() + 2, "open-comment",
                    "the comment is never closed", "add the closing '*/'");
        case Token::BadCharacter: bad_character();
        default: break;
    }
    // What is missing at the end of a line is shown there, not where the next one begins.
    const bool at_end = lexer_.kind() == Token::End;
    if ((at_end || lexer_.on_new_line()) && lexer_.start() != statement_start_) {
        const std::string line = std::to_string(tree_.position(lexer_.start()).line);
        const std::string where = at_end ? "" : " on line " + line;
        fail_at(lexer_.previous_end(), lexer_.previous_end(), "syntax",
                "expected " + expected + ", found " + found() + where, std::move(hint));
    }
    fail("syntax", "expected " + expected + ", found " + found(), std::move(hint));
}

void Parser::bad_character() {
    const auto first = static_cast<unsigned char>(lexer_.symbol());
    switch (first) {
        case '\0':
            fail("bad-character", "a NUL byte stands inside the text",
                 "PTX is text; for a binary, 'cuobjdump -ptx' prints the PTX inside it");
        case '.':
            fail("bad-character", "a '.' without a word after it",
                 "no space may stand between '.' and its word");
        case '$':
            fail("bad-character", "a '$' without a name after it", "names are such as $x or $L__1");
        case '#':
            fail("bad-character", "a '#' stands inside a line", "a comment begins with '//'");
        case '\'':
            fail("bad-character", "PTX has no character literals",
                 "write the character's number, such as 65 for 'A'");
        case '\\':
            fail("bad-character", "a '\\' stands outside strings",
                 "a statement goes on in the next line by itself, until its ';'");
        default: break;
    }
    const std::string hint = "outside comments and strings PTX is plain ASCII";
    const std::string_view text = lexer_.text();
    constexpr char kDigits[] = "0123456789ABCDEF";
    const auto hex = [&](std::uint32_t value, int digits) {
        std::string out;
        for (int at = digits - 1; at >= 0; --at) out += kDigits[value >> (4 * at) & 15];
        return out;
    };
    const unsigned length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (text.size() != length || (first >= 0x80 && first < 0xC2) || first < ' ' || first == 0x7F)
        fail("bad-character", "the byte 0x" + hex(first, 2) + " has no place in PTX", hint);
    if (first < 0x80) fail("bad-character", "the character " + found() + " has no place in PTX");
    std::uint32_t code = first & (0xFFu >> (length + 1));
    for (const char c : text.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
    fail("bad-character",
         "the character " + found() + " (U+" + hex(code, code > 0xFFFF ? 6 : 4) +
             ") has no place in PTX",
         hint);
}

void Parser::expect(char symbol, const char *after) {
    if (!lexer_.is_symbol(symbol))
        unexpected(std::string("'") + symbol + "' " + after);
    lexer_.next();
}

void Parser::expect_semicolon(const char *after, bool in_list) {
    if (lexer_.is_symbol(';')) {
        lexer_.next();
        return;
    }
    const bool ended =
        lexer_.on_new_line() || lexer_.kind() == Token::End || lexer_.is_symbol('}');
    if (ended && !at_bad_token()) {
        // All else is there: the statement is kept, so that what it declares is known.
        const std::uint32_t end = lexer_.previous_end();
        report(end, end, "missing-semicolon", std::string("expected ';' ") + after,
               "add ';' at the end of the statement");
        return;
    }
    unexpected(std::string(in_list ? "',' or ';' " : "';' ") + after);
}

// Whether a new statement seems to begin at the token, while an unreadable one is skipped.
bool Parser::at_statement_begin(bool in_body) const {
    if (!lexer_.on_new_line()) return false;
    if (lexer_.kind() == Token::DotWord) return classify(lexer_.text()) != Word::Unknown;
    if (!in_body) return false;
    return lexer_.is_symbol('@') || (lexer_.kind() == Token::Identifier && lexer_.symbol() != '%');
}

// How many braces are open between a place and the token.
unsigned Parser::open_braces(std::uint32_t start) const {
    Lexer again = lexer_;
    again.move_to(lexer_.base() + start);
    unsigned braces = 0;
    for (again.next(); again.start() < lexer_.start(); again.next()) {
        if (again.is_symbol('{')) ++braces;
        if (again.is_symbol('}') && braces > 0) --braces;
    }
    return braces;
}

// Give up a statement: drop its nodes, skip to where the next one can begin, and keep
// the skipped text as one Error node.
void Parser::recover(Index statement, std::uint32_t start) {
    const bool in_section = nodes_[statement].kind == Kind::Section;
    parent_ = nodes_[statement].parent;
    const bool in_body = nodes_[parent_].kind == Kind::Block;
    nodes_.resize(statement);
    if (tree_.diagnostics_.size() >= kMaximumDiagnostics) {
        // Not PTX at all, a binary perhaps: the rest of the text is one Error node.
        while (lexer_.kind() != Token::End) lexer_.next();
    } else {
        // Braces of vectors and initialisers hold no ';', those of blocks and sections do.
        const unsigned outer = open_braces(start);
        unsigned braces = outer;
        while (lexer_.kind() != Token::End) {
            const bool outside = braces <= outer && !in_section;
            if (lexer_.is_symbol(';') && outside) {
                lexer_.next();
                break;
            }
            if (lexer_.start() > start && (braces <= outer) &&
                at_statement_begin(in_body && outside))
                break;
            if (lexer_.is_symbol('{')) ++braces;
            if (lexer_.is_symbol('}')) {
                if (braces == 0) break;
                if (--braces == 0 && (outer == 0 || in_section)) {
                    lexer_.next();
                    if (lexer_.is_symbol(';')) lexer_.next();
                    break;
                }
            }
            lexer_.next();
        }
    }
    const Index error = open(Kind::Error, start);
    const std::uint32_t end = lexer_.previous_end();
    close_at(error, end > start ? end : start);
}

}  // namespace ptxkit::syntax
