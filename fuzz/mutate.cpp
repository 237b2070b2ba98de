#include "mutate.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "syntax/lexer.hpp"

namespace ptxkit::fuzz {

namespace {

using syntax::Lexer;
using syntax::Token;

struct Span {
    Token kind;
    std::size_t start;
    std::size_t end;
};

constexpr std::string_view kTrivia[] = {
    " ",       "\n",         "\n\n\n",        "\t",           "\r\n",      "// c\n",
    "\n// c\n", "/* c */",   "\n/* c */\n",   "/* c\n  c */", "\n# 1\n",   "/**/",
    "// \n",   "\n\n// c\n", "\n\n/* c */ ",  "/* c *//**/",  "//c\r\n",   "",
};
constexpr std::string_view kTokens[] = {
    ",", ";", ":", "{", "}", "[", "]", "(", ")", "+", "-", "*", "/", "%", "|", "!", "~", "?",
    "@", "=", "<", ">", "<<", ">=", "==", "&&", "||", "_", "x", "%r1", ".b32", ".reg", ".x",
    "::y", "1", "017", "1.5", ".5", "0x1U", "\"s\"", "WARP_SZ", "generic", "call", "L:",
};

std::vector<Span> tokens_of(const std::string &text) {
    std::vector<Span> found;
    Lexer lexer(text.data(), text.data() + text.size());
    for (lexer.next(); lexer.kind() != Token::End; lexer.next())
        found.push_back({lexer.kind(), lexer.start(), lexer.end()});
    return found;
}

}  // namespace

void mutate_tokens(std::string &text, std::mt19937_64 &random) {
    const std::vector<Span> tokens = tokens_of(text);
    const auto below = [&](std::size_t limit) { return limit < 2 ? 0 : random() % limit; };
    const std::string_view trivia = kTrivia[below(std::size(kTrivia))];
    if (tokens.empty()) {
        text += trivia;
        return;
    }
    const std::size_t at = below(tokens.size());
    const Span one = tokens[at];
    const std::size_t gap = at == 0 ? 0 : tokens[at - 1].end;
    switch (below(8)) {
        case 0:
        case 1: text.insert(one.start, trivia); break;
        case 2: text.replace(gap, one.start - gap, trivia); break;
        case 3: text.erase(one.start, one.end - one.start); break;
        case 4: text.insert(one.start, kTokens[below(std::size(kTokens))]); break;
        case 5: text.replace(one.start, one.end - one.start, kTokens[below(std::size(kTokens))]); break;
        case 6: {  // a token of the same kind
            const Span other = tokens[below(tokens.size())];
            if (other.kind == one.kind)
                text.replace(one.start, one.end - one.start,
                             text.substr(other.start, other.end - other.start));
            break;
        }
        default: {  // a few tokens again, somewhere
            const Span last = tokens[std::min(at + below(12), tokens.size() - 1)];
            text.insert(tokens[below(tokens.size())].start,
                        text.substr(one.start, last.end - one.start));
        }
    }
}

}  // namespace ptxkit::fuzz
