#include "format.hpp"

#include <algorithm>
#include <stdexcept>

#include "lexer.hpp"

namespace ptxkit::syntax {

namespace {

constexpr unsigned kIndent = 4;
constexpr unsigned kContinuation = 8;

constexpr unsigned kMaximumIndent = 80;  // else deep nesting would give a quadratic text

unsigned indent_of(unsigned depth) { return std::min(depth, kMaximumIndent / kIndent) * kIndent; }

// A token at `offset` begins a line.
struct Break {
    std::uint32_t offset;
    unsigned indent;
};

bool begins_line(Kind kind) {
    switch (kind) {
        case Kind::Version:
        case Kind::Target:
        case Kind::AddressSize:
        case Kind::File:
        case Kind::Section:
        case Kind::SectionLabel:
        case Kind::SectionData:
        case Kind::DwarfLine:
        case Kind::Loc:
        case Kind::Pragma:
        case Kind::Alias:
        case Kind::Variable:
        case Kind::Function:
        case Kind::FunctionDirective:
        case Kind::Block:
        case Kind::Label:
        case Kind::BranchTargets:
        case Kind::CallTargets:
        case Kind::Instruction: return true;
        default: return false;
    }
}

std::vector<Break> find_breaks(const Tree &tree) {
    std::vector<Break> breaks;
    std::vector<std::uint32_t> open;  // ancestors that indent what they hold
    std::vector<Break> closings;
    const auto &nodes = tree.nodes();
    const auto finish = [&](std::uint32_t index) {
        while (!open.empty() && nodes[open.back()].next <= index) {
            open.pop_back();
            breaks.push_back(closings.back());
            closings.pop_back();
        }
    };
    for (std::uint32_t index = 1; index < nodes.size(); ++index) {
        finish(index);
        const Node &node = nodes[index];
        const auto depth = static_cast<unsigned>(open.size());
        const Kind parent = nodes[node.parent].kind;
        if (node.kind == Kind::CallPrototype) {
            breaks.push_back({node.start, indent_of(depth)});
        } else if (node.kind == Kind::Label) {
            breaks.push_back({node.start, indent_of(depth - 1)});
        } else if (node.kind == Kind::Parameter) {
            const Node &list = nodes[node.parent];
            const bool several = nodes[node.parent + 1].next < list.next;
            if (several && !(list.flags & kReturnList) &&
                nodes[list.parent].kind == Kind::Function)
                breaks.push_back({node.start, kIndent});
        } else if (begins_line(node.kind) &&
                   !(node.kind == Kind::FunctionDirective && parent == Kind::CallPrototype)) {
            breaks.push_back({node.start, indent_of(depth)});
        }
        if (node.kind == Kind::Block || node.kind == Kind::Section) {
            open.push_back(index);
            closings.push_back({node.end - 1, indent_of(depth)});
        } else if (node.kind == Kind::ParameterList && nodes[node.parent].kind == Kind::Function) {
            const bool several = index + 1 < node.next && nodes[index + 1].next < node.next;
            if (several && !(node.flags & kReturnList)) breaks.push_back({node.end - 1, 0});
        }
    }
    finish(static_cast<std::uint32_t>(nodes.size()));
    std::sort(breaks.begin(), breaks.end(),
              [](const Break &a, const Break &b) { return a.offset < b.offset; });
    return breaks;
}

// Finds the deepest node of each token, going through the text once.
class Owners {
  public:
    explicit Owners(const Tree &tree) : nodes_(tree.nodes()) { open_.push_back(0); }

    Kind of(std::uint32_t offset) {
        while (open_.size() > 1 && nodes_[open_.back()].end <= offset) open_.pop_back();
        while (next_ < nodes_.size() && nodes_[next_].start <= offset) {
            if (nodes_[next_].end > offset) open_.push_back(next_);
            ++next_;
        }
        return nodes_[open_.back()].kind;
    }
    // The first child of the owner last asked for.
    Kind first_child() const {
        const std::uint32_t at = open_.back();
        return at + 1 < nodes_[at].next ? nodes_[at + 1].kind : Kind::Module;
    }

  private:
    const std::vector<Node> &nodes_;
    std::vector<std::uint32_t> open_;
    std::uint32_t next_ = 1;
};

struct Piece {
    Token kind = Token::End;
    std::string_view text;
    Kind owner = Kind::Module;
    bool tight = false;  // an operator written without spaces: [a+8]
};

bool is_operator(const Piece &piece) {
    return piece.owner == Kind::Expression && piece.kind >= Token::Punctuation &&
           piece.kind <= Token::OrOr;
}

bool would_merge(std::string_view left, std::string_view right) {
    const char a = left.back();
    const char b = right.front();
    if (is(a, kFollow) && is(b, kFollow)) return true;
    if (a == '%' && is(b, kFollow)) return true;
    if (is(a, kFollow) && b == '.' && is(left.front(), kDigit)) return true;
    switch (a) {
        case '<':
        case '>': return b == a || b == '=';
        case '=':
        case '!': return b == '=';
        case '&':
        case '|': return b == a;
        case '/': return b == '/' || b == '*';
        default: return false;
    }
}

bool wants_space(const Piece &left, const Piece &right) {
    if (left.kind == Token::End) return false;
    const char a = left.kind == Token::Punctuation ? left.text.front() : '\0';
    const char b = right.kind == Token::Punctuation ? right.text.front() : '\0';
    if (left.tight || right.tight) return false;
    if (is_operator(left) || is_operator(right)) return true;
    if (a == ',') return true;
    if (b == ',' || b == ';' || b == ')' || b == ']' || b == '}' || b == ':') return false;
    if (a == '(' || a == '[' || a == '{' || a == '@' || a == '!' || a == '~') return false;
    if (left.owner == Kind::Unary && a != '\0') return false;
    if (b == '<' || a == '<' || b == '>') return false;  // %r<8>
    if (a == '|' || b == '|') return false;
    if (right.owner == Kind::Address && b == '+') return false;
    if (left.owner == Kind::Address && a == '+') return false;
    if (left.owner == Kind::SectionData && (a == '-' || a == '+')) return false;
    if (right.owner == Kind::SectionData && b == '+') return false;
    if (right.owner == Kind::SectionData && b == '-') return left.kind == Token::DotWord;
    if (b == '[') return right.owner == Kind::Address;
    if (b == '(') {
        if (right.owner == Kind::ParameterList) return left.kind != Token::Identifier ||
                                                       left.owner == Kind::CallPrototype;
        return right.owner != Kind::Attribute && right.owner != Kind::Application;
    }
    if (right.kind == Token::DotWord)
        return right.owner != Kind::Opcode && right.owner != Kind::Name &&
               right.owner != Kind::Address;
    return true;
}

class Writer {
  public:
    Writer(const Tree &tree, unsigned width)
        : tree_(tree), width_(width), breaks_(find_breaks(tree)), owners_(tree) {}

    std::string run() {
        const std::string_view text = tree_.text();
        out_.reserve(text.size());
        Lexer lexer(text.data(), text.data() + text.size());
        for (;;) {
            lexer.next_with_trivia();
            if (lexer.kind() == Token::End) break;
            const std::string_view gap =
                text.substr(lexer.previous_end(), lexer.start() - lexer.previous_end());
            const auto newlines = std::count(gap.begin(), gap.end(), '\n');
            if (lexer.kind() == Token::Comment || lexer.kind() == Token::Preprocessor)
                comment(lexer, newlines);
            else
                token(lexer, newlines);
        }
        if (!out_.empty()) end_line();
        return std::move(out_);
    }

  private:
    const Break *next_break(std::uint32_t offset) {
        while (at_break_ < breaks_.size() && breaks_[at_break_].offset < offset) ++at_break_;
        return at_break_ < breaks_.size() ? &breaks_[at_break_] : nullptr;
    }

    void end_line() {
        while (!out_.empty() && out_.back() == ' ') out_.pop_back();
        if (!out_.empty() && out_.back() != '\n') out_ += '\n';
        line_start_ = out_.size();
        last_comma_ = 0;
    }

    void begin_line(unsigned indent, bool blank) {
        end_line();
        if (blank && !out_.empty()) out_ += '\n';
        line_start_ = out_.size();
        out_.append(indent, ' ');
        indent_ = indent;
        previous_ = Piece{};
    }

    void token(const Lexer &lexer, std::ptrdiff_t newlines) {
        const Break *line = next_break(lexer.start());
        Piece piece{lexer.kind(), lexer.text(), owners_.of(lexer.start()), false};
        const bool sum = piece.text == "+" && piece.owner == Kind::Expression;
        const Kind first = owners_.first_child();
        piece.tight = sum && (first == Kind::Name || first == Kind::Application);
        if (line != nullptr && line->offset == lexer.start()) {
            const bool blank = newlines > 1 || (after_body_ && piece.text != "}");
            begin_line(line->indent, blank && !just_opened_);
        } else if (must_break_) {
            begin_line(indent_ + kContinuation, false);
            indent_ -= kContinuation;
        } else if (!previous_.text.empty() &&
                   (wants_space(previous_, piece) || would_merge(previous_.text, piece.text))) {
            // An @@DWARF statement ends with its line, so it has no second one.
            if (previous_.text == "," && piece.owner != Kind::DwarfLine) last_comma_ = out_.size();
            out_ += ' ';
        }
        must_break_ = false;
        out_ += piece.text;
        after_body_ = piece.text == "}" && piece.owner == Kind::Block && indent_ == 0;
        just_opened_ = piece.text == "{" && piece.owner == Kind::Block;
        previous_ = piece;
        // Break an over-long line at its last comma.
        if (out_.size() - line_start_ > width_ && last_comma_ > line_start_) {
            out_.replace(last_comma_, 1, "\n" + std::string(indent_ + kContinuation, ' '));
            line_start_ = last_comma_ + 1;
            last_comma_ = 0;
        }
    }

    void comment(const Lexer &lexer, std::ptrdiff_t newlines) {
        std::string_view text = lexer.text();
        const bool to_end_of_line = lexer.kind() == Token::Preprocessor || text[1] == '/';
        if (to_end_of_line)
            while (!text.empty() && is(text.back(), kSpace)) text.remove_suffix(1);
        const Break *line = next_break(lexer.start());
        const bool own_line = newlines > 0 || out_.empty();
        if (lexer.kind() == Token::Preprocessor) {
            const unsigned indent = indent_;
            begin_line(0, newlines > 1);
            indent_ = indent;
        } else if (own_line) {
            const unsigned before = indent_;
            const bool between = inside_statement(lexer) == false;
            begin_line(between && line != nullptr ? line->indent : indent_ + (between ? 0 : kContinuation),
                       newlines > 1 || (after_body_ && between));
            if (!between) indent_ = before;
        } else {
            out_ += to_end_of_line ? "  " : " ";
        }
        after_body_ = after_body_ && !own_line;
        just_opened_ = false;
        out_ += text;
        must_break_ = to_end_of_line || own_line;
        if (!to_end_of_line && !own_line) previous_ = Piece{Token::Comment, text, Kind::Module, false};
        last_comma_ = 0;
        const std::size_t newline = text.rfind('\n');
        if (newline != std::string_view::npos) line_start_ = out_.size() - (text.size() - newline);
    }

    // Whether the next token goes on with the statement begun before the comment.
    bool inside_statement(const Lexer &lexer) {
        if (ahead_ <= lexer.start()) {  // looked for once for a run of comments
            Lexer ahead = lexer;
            ahead.next();
            ahead_ = ahead.kind() == Token::End ? kNone : ahead.start();
        }
        const Break *line = next_break(lexer.start());
        return ahead_ != kNone && (line == nullptr || line->offset > ahead_);
    }

    const Tree &tree_;
    unsigned width_;
    std::vector<Break> breaks_;
    Owners owners_;
    std::string out_;
    std::size_t at_break_ = 0;
    std::uint32_t ahead_ = 0;  // where the token after the last comment begins
    std::size_t line_start_ = 0;
    std::size_t last_comma_ = 0;
    unsigned indent_ = 0;
    bool must_break_ = false;
    bool after_body_ = false;
    bool just_opened_ = false;
    Piece previous_;
};

std::string_view trimmed(const Lexer &lexer) {
    std::string_view text = lexer.text();
    if (lexer.kind() == Token::Comment || lexer.kind() == Token::Preprocessor)
        while (!text.empty() && is(text.back(), kSpace)) text.remove_suffix(1);
    return text;
}

void verify(std::string_view before, const std::string &after) {
    Lexer left(before.data(), before.data() + before.size());
    Lexer right(after.data(), after.data() + after.size());
    do {
        left.next_with_trivia();
        right.next_with_trivia();
        if (left.kind() != right.kind() || trimmed(left) != trimmed(right))
            throw std::logic_error("formatting would change the token '" +
                                   std::string(left.text().substr(0, 60)) + "' at byte " +
                                   std::to_string(left.start()));
    } while (left.kind() != Token::End);
}

}  // namespace

std::string format(const Tree &tree, unsigned width) {
    std::string out = Writer(tree, width).run();
    verify(tree.text(), out);
    return out;
}

}  // namespace ptxkit::syntax
