#include "invariants.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include "syntax/format.hpp"
#include "syntax/lexer.hpp"
#include "syntax/parser.hpp"

namespace ptxkit::fuzz {

namespace {

using syntax::Kind;
using syntax::kNone;
using syntax::Lexer;
using syntax::Node;
using syntax::Token;
using syntax::Tree;
using TreePointer = std::shared_ptr<const Tree>;

[[noreturn]] void breach(const char *what, std::size_t at) {
    std::fprintf(stderr, "invariant broken: %s (at %zu)\n", what, at);
    std::abort();
}

void require(bool holds, const char *what, std::size_t at) {
    if (!holds) breach(what, at);
}

TreePointer parse(const std::string &text) { return syntax::parse(text, "fuzz.ptx"); }

// Spans nest, siblings are ordered and disjoint, `next` and `parent` agree.
void check_shape(const Tree &tree) {
    const auto &nodes = tree.nodes();
    require(!nodes.empty(), "there is a root", 0);
    const Node &root = nodes[0];
    require(root.kind == Kind::Module && root.parent == kNone, "the root is a module", 0);
    require(root.start == 0 && root.end == tree.text().size(), "the root spans the text", 0);
    require(root.next == nodes.size(), "the root holds every node", 0);
    for (std::uint32_t index = 0; index < nodes.size(); ++index) {
        const Node &node = nodes[index];
        require(static_cast<unsigned>(node.kind) < syntax::kKindCount, "the kind is known", index);
        require(node.start <= node.end, "a span does not run backwards", index);
        require(node.next > index && node.next <= nodes.size(), "next lies ahead", index);
        std::uint32_t covered = node.start;
        std::uint32_t child = index + 1;
        while (child < node.next) {
            const Node &inner = nodes[child];
            require(inner.kind != Kind::Module, "one module only", child);
            require(inner.parent == index, "a child knows its parent", child);
            require(inner.start >= covered, "siblings are ordered and disjoint", child);
            require(inner.end <= node.end, "a child lies inside its parent", child);
            require(inner.next > child && inner.next <= node.next, "subtrees nest", child);
            covered = inner.end;
            child = inner.next;
        }
        require(child == node.next, "children end where the subtree ends", index);
    }
}

// A node begins where a token begins and ends where one ends, so what stands between
// children is whole tokens and trivia.
void check_tokens(const Tree &tree) {
    const std::string_view text = tree.text();
    enum : unsigned char { kStart = 1, kEnd = 2 };
    std::vector<unsigned char> edge(text.size() + 1, 0);
    Lexer lexer(text.data(), text.data() + text.size());
    std::uint32_t before = 0;
    do {
        lexer.next();
        require(lexer.start() >= before && lexer.end() <= text.size(), "tokens go on", before);
        require(lexer.kind() == Token::End || lexer.end() > lexer.start(), "tokens are not empty",
                lexer.start());
        if (lexer.kind() == Token::End) break;
        edge[lexer.start()] |= kStart;
        edge[lexer.end()] |= kEnd;
        before = lexer.end();
    } while (true);
    for (std::uint32_t index = 1; index < tree.nodes().size(); ++index) {
        const Node &node = tree.node(index);
        require(node.end > node.start, "a node holds a token", index);
        require((edge[node.start] & kStart) != 0, "a node begins with a token", index);
        require((edge[node.end] & kEnd) != 0, "a node ends with a token", index);
    }
}

// Both ways of lexing see the same tokens and miss no comment.
void check_trivia(const std::string &text) {
    Lexer plain(text.data(), text.data() + text.size());
    Lexer full(text.data(), text.data() + text.size());
    do {
        plain.next();
        do {
            const std::uint32_t before = full.end();
            full.next_with_trivia();
            require(full.previous_end() == before, "trivia is given in order", before);
        } while (full.kind() == Token::Comment || full.kind() == Token::Preprocessor);
        require(plain.kind() == full.kind(), "the lexers agree on kinds", plain.start());
        require(plain.start() == full.start() && plain.end() == full.end(),
                "the lexers agree on spans", plain.start());
    } while (plain.kind() != Token::End);
}

void check_diagnostics(const Tree &tree) {
    for (const syntax::Diagnostic &one : tree.diagnostics()) {
        require(one.start <= one.end && one.end <= tree.text().size(),
                "a diagnostic lies in the text", one.start);
        require(!one.code.empty() && !one.message.empty(), "a diagnostic says something",
                one.start);
        const syntax::Position place = tree.position(one.start);
        require(place.line >= 1 && place.line <= tree.line_count() && place.column >= 1,
                "a diagnostic has a line", one.start);
        require(tree.line_text(place.line).size() <= tree.text().size(), "its line exists",
                one.start);
    }
}

void check_same_kinds(const Tree &left, const Tree &right) {
    require(left.nodes().size() == right.nodes().size(), "formatting keeps the number of nodes",
            left.nodes().size());
    for (std::uint32_t index = 0; index < left.nodes().size(); ++index) {
        const Node &a = left.node(index);
        const Node &b = right.node(index);
        require(a.kind == b.kind && a.flags == b.flags && a.parent == b.parent && a.next == b.next,
                "formatting keeps every node", index);
    }
}

std::string formatted(const Tree &tree, unsigned width) {
    try {
        return syntax::format(tree, width);
    } catch (const std::exception &error) {
        breach(error.what(), width);
    }
}

void check_format(const Tree &tree, unsigned width) {
    const std::string once = formatted(tree, width);
    const TreePointer again = parse(once);
    if (!again->diagnostics().empty()) {
        const auto &first = again->diagnostics().front();
        std::fprintf(stderr, "%s\n", first.message.c_str());
        breach("formatted text parses", first.start);
    }
    check_same_kinds(tree, *again);
    const std::string twice = formatted(*again, width);
    std::size_t at = 0;
    while (at < once.size() && at < twice.size() && once[at] == twice[at]) ++at;
    require(once == twice, "formatting twice changes nothing", at);
}

}  // namespace

void check_all(const std::string &text) {
    const TreePointer tree = parse(text);
    check_shape(*tree);
    require(tree->emit() == text, "emit gives the text back", 0);
    check_tokens(*tree);
    check_trivia(text);
    check_diagnostics(*tree);
    bool has_error = false;
    for (const Node &node : tree->nodes()) has_error |= node.kind == Kind::Error;
    if (!tree->diagnostics().empty()) return;
    require(!has_error, "an Error node comes with a diagnostic", 0);
    check_format(*tree, 100);
    check_format(*tree, 20);
}

}  // namespace ptxkit::fuzz
