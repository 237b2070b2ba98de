// Statements inside functions.
#include "parser.hpp"

namespace ptxkit::syntax {

// Blocks are kept on a list, not on the call stack: nesting has no limit.
void Parser::body() {
    std::vector<Index> blocks;
    blocks.push_back(open(Kind::Block, lexer_.start()));
    lexer_.next();
    after_label_ = false;
    while (!blocks.empty()) {
        if (lexer_.is_symbol('}')) {
            lexer_.next();
            close(blocks.back());
            blocks.pop_back();
            after_label_ = false;
            continue;
        }
        if (lexer_.is_symbol('{')) {
            blocks.push_back(open(Kind::Block, lexer_.start()));
            lexer_.next();
            after_label_ = false;
            continue;
        }
        const Word word = lexer_.kind() == Token::DotWord ? classify(lexer_.text()) : Word::Unknown;
        const bool next_function = at_function(word);
        if (lexer_.kind() == Token::End || next_function) {
            const std::uint32_t at = nodes_[blocks.back()].start;
            // An open string or comment has taken the '}' with it.
            const std::string code =
                tree_.diagnostics_.empty() ? "" : tree_.diagnostics_.back().code;
            if (next_function || (code != "open-string" && code != "open-comment"))
                report(at, at + 1, "unbalanced", "this '{' is never closed",
                       next_function ? "add '}' before the next function" : "add the closing '}'");
            while (!blocks.empty()) {
                close(blocks.back());
                blocks.pop_back();
            }
            return;
        }
        const auto statement = static_cast<Index>(nodes_.size());
        const std::uint32_t start = statement_start_ = lexer_.start();
        const Index block = blocks.back();
        try {
            body_statement();
        } catch (const StatementError &) {
            depth_ = 0;
            in_initializer_ = false;
            after_label_ = false;
            parent_ = block;
            if (nodes_.size() == statement) open(Kind::Error, start);
            recover(statement, start);
        }
    }
}

// Whether a function's header begins at the token, inside a body that was not closed.
bool Parser::at_function(Word word) {
    if (word == Word::Entry || word == Word::Func) return true;
    if (word != Word::Linkage || !lexer_.on_new_line()) return false;
    const Lexer::Mark mark = lexer_.mark();
    lexer_.next();
    const Word next = lexer_.kind() == Token::DotWord ? classify(lexer_.text()) : Word::Unknown;
    lexer_.reset(mark);
    return next == Word::Entry || next == Word::Func;
}

void Parser::body_statement() {
    switch (lexer_.kind()) {
        case Token::Identifier: {
            // A label is a name and a colon; anything else begins an instruction.
            const char *after = lexer_.cursor();
            if (*after == ':' ||
                ((is(*after, kSpace) || *after == '/') && [&] {
                    const Lexer::Mark mark = lexer_.mark();
                    lexer_.next();
                    const bool colon = lexer_.is_symbol(':');
                    lexer_.reset(mark);
                    return colon;
                }())) {
                const Index node = open(Kind::Label, lexer_.start());
                new_name("a label");
                lexer_.next();
                close(node);
                after_label_ = true;
                return;
            }
            after_label_ = false;
            return instruction();
        }
        case Token::DotWord: {
            const bool labelled = after_label_;
            after_label_ = false;
            const Word word = classify(lexer_.text());
            if (!labelled && (word == Word::BranchTargets || word == Word::CallTargets ||
                              word == Word::CallPrototype))
                fail("syntax", found() + " needs a label before it", "write 'name: " +
                     std::string(lexer_.text()) + " ...;'");
            return body_directive();
        }
        default: break;
    }
    after_label_ = false;
    if (lexer_.is_symbol('@')) return instruction();
    if (lexer_.is_symbol(';'))
        fail("syntax", "a ';' stands alone", "remove it; a '.loc' line has none");
    unexpected("an instruction, a label or a directive");
}

void Parser::body_directive() {
    switch (classify(lexer_.text())) {
        case Word::Space:
        case Word::Align:
        case Word::Attribute:
        case Word::Linkage: return declaration(true);
        case Word::Loc: return loc();
        case Word::Pragma: return pragma();
        case Word::BranchTargets: return name_list(Kind::BranchTargets);
        case Word::CallTargets: return name_list(Kind::CallTargets);
        case Word::CallPrototype: return call_prototype();
        case Word::Version:
        case Word::Target:
        case Word::AddressSize:
        case Word::File:
        case Word::Section:
        case Word::Alias:
            fail("syntax", found() + " cannot stand inside a function", "move it to module level");
        default:
            unknown_directive(".reg .local .shared .param .global .const .loc .pragma "
                              ".branchtargets .calltargets .callprototype");
    }
}

void Parser::loc() {
    const Index node = open(Kind::Loc, lexer_.start());
    lexer_.next();
    integer("a file number after '.loc'");
    integer("a line number in '.loc'");
    integer("a column number in '.loc'");
    if (lexer_.is_symbol(',')) {
        const std::string hint =
            "after ',' comes 'function_name LABEL, inlined_at FILE LINE COLUMN'";
        lexer_.next();
        if (lexer_.text() != "function_name") unexpected("'function_name' in '.loc'", hint);
        lexer_.next();
        if (lexer_.kind() != Token::Identifier) unexpected("a label after 'function_name'", hint);
        leaf(Kind::Name);
        if (lexer_.is_symbol('+')) {
            lexer_.next();
            integer("a number after '+'");
        }
        if (!lexer_.is_symbol(',')) unexpected("', inlined_at' in '.loc'", hint);
        lexer_.next();
        if (lexer_.text() != "inlined_at") unexpected("'inlined_at' in '.loc'", hint);
        lexer_.next();
        integer("a file number after 'inlined_at'");
        integer("a line number in 'inlined_at'");
        integer("a column number in 'inlined_at'");
    }
    close(node);
}

void Parser::name_list(Kind kind) {
    const Index node = open(kind, lexer_.start());
    do {
        lexer_.next();
        if (lexer_.kind() != Token::Identifier)
            unexpected(kind == Kind::BranchTargets ? "a label" : "a function name");
        leaf(Kind::Name);
    } while (lexer_.is_symbol(','));
    expect_semicolon("after a name of the list", true);
    close(node);
}

void Parser::call_prototype() {
    const Index node = open(Kind::CallPrototype, lexer_.start());
    lexer_.next();
    if (lexer_.is_symbol('(')) parameter_list(kReturnList);
    if (lexer_.text() != "_")
        unexpected("'_' in '.callprototype'", "a prototype has '_' where a function has its name");
    lexer_.next();
    if (lexer_.is_symbol('(')) parameter_list(0);
    function_directives(true);
    expect_semicolon("after '.callprototype'");
    close(node);
}

void Parser::guard() {
    const Index node = open(Kind::Guard, lexer_.start());
    lexer_.next();
    if (lexer_.is_symbol('!')) {
        nodes_[node].flags |= kNegated;
        lexer_.next();
    }
    const std::uint32_t start = lexer_.start();
    if (lexer_.kind() != Token::Identifier || lexer_.text() == "_")
        unexpected("a predicate after '@'", "a guard is '@p' or '@!p' with a .pred register p");
    const bool is_register = lexer_.symbol() == '%';
    leaf(Kind::Name);
    // "@add.s32 ..." and "@%tid.x ..."
    if (lexer_.kind() == Token::DotWord && lexer_.start() == lexer_.previous_end())
        fail_at(start, lexer_.end(), "syntax",
                is_register ? "a guard's predicate has no selector"
                            : "the guard has no predicate between '@' and the instruction",
                "a guard is '@p' or '@!p' with a .pred register p");
    close(node);
}

void Parser::instruction() {
    const Index node = open(Kind::Instruction, lexer_.start());
    if (lexer_.is_symbol('@')) {
        guard();
        if (lexer_.kind() != Token::Identifier)
            unexpected("an instruction after the guard",
                       "a guard stands before each instruction, not before a block");
    }
    const bool is_call = lexer_.text() == "call";
    opcode();
    if (lexer_.is_symbol(':'))
        fail("syntax", "a guard cannot stand before a label", "write 'LABEL: @p ...'");
    if (lexer_.is_symbol('='))
        fail("syntax", "PTX has no '='", "write 'mov.b32 result, value;'");
    if (!lexer_.is_symbol(';') && !lexer_.is_symbol('}') && lexer_.kind() != Token::End) {
        for (;;) {
            operand(is_call);
            if (!lexer_.is_symbol(',')) break;
            lexer_.next();
        }
    }
    expect_semicolon("after the instruction", true);
    close(node);
}

// An opcode is a word and its modifiers: "ld.global.f32", which may be spaced apart.
void Parser::opcode() {
    const Index node = open(Kind::Opcode, lexer_.start());
    const char *at = lexer_.cursor();
    for (;;) {
        if (*at == '.') {
            if (!is(at[1], kFollow) || is(at[1], kDigit)) break;  // ".5" is a number
            ++at;
            while (is(*at, kFollow)) ++at;
        } else if (at != lexer_.cursor() && *at == ':' && at[1] == ':' && is(at[2], kFollow)) {
            at += 2;
            while (is(*at, kFollow)) ++at;
        } else {
            break;
        }
    }
    lexer_.move_to(at);
    lexer_.next();
    while (lexer_.kind() == Token::DotWord) lexer_.next();
    if (lexer_.kind() == Token::Float && lexer_.start() == lexer_.previous_end())
        unexpected("a modifier such as .f32", "a number as operand needs a space before it");
    close(node);
}

}  // namespace ptxkit::syntax
