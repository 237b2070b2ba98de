// Module-level statements: directives, variables, function headers.
#include <algorithm>

#include "parser.hpp"

namespace ptxkit::syntax {

void Parser::parse_module() {
    const Index module = open(Kind::Module, 0);
    lexer_.next();
    while (lexer_.kind() != Token::End) {
        const auto statement = static_cast<Index>(nodes_.size());
        const std::uint32_t start = statement_start_ = lexer_.start();
        try {
            module_statement();
        } catch (const StatementError &) {
            depth_ = 0;
            in_initializer_ = false;
            if (nodes_.size() == statement) open(Kind::Error, start);
            recover(statement, start);
            if (lexer_.is_symbol('}')) lexer_.next();
            if (lexer_.start() == start && lexer_.kind() != Token::End) lexer_.next();
            nodes_[statement].end = std::max(nodes_[statement].end, lexer_.previous_end());
        }
    }
    close_at(module, static_cast<std::uint32_t>(tree_.text_.size()));
}

void Parser::module_statement() {
    if (lexer_.is_symbol('@')) return dwarf_line();
    if (lexer_.kind() != Token::DotWord) {
        if (lexer_.is_symbol('}'))
            fail("unbalanced", "this '}' closes nothing", "remove it, or add the missing '{'");
        if (lexer_.is_symbol('{'))
            fail("syntax", "a block stands outside any function",
                 "a function begins with .entry or .func and its name");
        if (lexer_.is_symbol(';'))
            fail("syntax", "a ';' stands alone",
                 "remove it; .version, .target, .address_size and .file have none");
        if (lexer_.kind() == Token::Identifier)
            fail("syntax", found() + " stands outside any function",
                 "instructions and labels belong in the body of an .entry or .func; "
                 "directives begin with '.'");
        unexpected("a directive such as .version, .global or .entry");
    }
    switch (classify(lexer_.text())) {
        case Word::Version: return version();
        case Word::Target: return target();
        case Word::AddressSize: return address_size();
        case Word::File: return file();
        case Word::Section: return section();
        case Word::Alias: return alias();
        case Word::Pragma: return pragma();
        case Word::Loc:
            fail("syntax", "'.loc' stands outside any function", "move it into a function body");
        case Word::BranchTargets:
        case Word::CallTargets:
        case Word::CallPrototype:
            fail("syntax", found() + " stands outside any function",
                 "it belongs in a function body, after a label");
        case Word::Vector:
        case Word::Pointer:
            unexpected("a state space such as .global before the type");
        case Word::Unknown:
            unknown_directive(".version .target .address_size .file .section .pragma .alias "
                              ".extern .visible .weak .common .entry .func .global .const .shared");
        default: return declaration(false);
    }
}

void Parser::unknown_directive(const char *known) {
    const std::string_view word = lexer_.text();
    if (word == ".pred" || (word.size() > 2 && is(word[2], kDigit) &&
                            std::string_view("usbf").find(word[1]) != std::string_view::npos))
        fail("syntax", "the declaration has no state space",
             "write .global, .shared, .reg ... before the type");
    const std::string_view near = nearest(word);
    fail("unknown-directive", found() + " is not a directive that can stand here",
         near.empty() ? "expected one of " + std::string(known)
                      : "did you mean '" + std::string(near) + "'?");
}

void Parser::integer(const char *what) {
    if (lexer_.kind() != Token::Integer) unexpected(what);
    lexer_.next();
}

void Parser::new_name(const char *what) {
    if (lexer_.kind() != Token::Identifier) unexpected(what);
    if (lexer_.text() == "_" || lexer_.text() == "WARP_SZ")
        fail("syntax", found() + " cannot be a name of yours",
             lexer_.symbol() == '_' ? "'_' alone means 'no result'" : "it is a constant of PTX");
    lexer_.next();
}

void Parser::integer_list(const char *what) {
    for (;;) {
        integer(what);
        if (!lexer_.is_symbol(',')) return;
        lexer_.next();
    }
}

void Parser::version() {
    const Index node = open(Kind::Version, lexer_.start());
    lexer_.next();
    if (lexer_.kind() != Token::Float) unexpected("a version such as 9.0 after '.version'");
    lexer_.next();
    if (lexer_.kind() == Token::Float && !lexer_.on_new_line())
        fail("syntax", "a version has two parts", "write 9.0");
    close(node);
}

void Parser::target() {
    const Index node = open(Kind::Target, lexer_.start());
    lexer_.next();
    new_name("a target such as sm_90 after '.target'");
    while (lexer_.is_symbol(',')) {
        lexer_.next();
        new_name("a target or option after ','");
    }
    if (lexer_.kind() == Token::Identifier && !lexer_.on_new_line())
        unexpected("',' between targets and options");
    close(node);
}

void Parser::address_size() {
    const Index node = open(Kind::AddressSize, lexer_.start());
    lexer_.next();
    integer("32 or 64 after '.address_size'");
    close(node);
}

void Parser::file() {
    const Index node = open(Kind::File, lexer_.start());
    lexer_.next();
    integer("a file number after '.file'");
    if (lexer_.kind() != Token::String) unexpected("a file name in quotes after the file number");
    lexer_.next();
    for (int part = 0; part < 2 && lexer_.is_symbol(','); ++part) {
        lexer_.next();
        integer("a number after ','");
    }
    close(node);
}

void Parser::section() {
    const Index node = open(Kind::Section, lexer_.start());
    const std::uint32_t start = lexer_.start();
    lexer_.next();
    if (lexer_.kind() != Token::DotWord)
        unexpected("a section name such as .debug_info after '.section'");
    const std::uint32_t end = lexer_.end();
    lexer_.next();
    expect('{', "after the section's name");
    while (!lexer_.is_symbol('}')) {
        const bool is_word = lexer_.kind() == Token::DotWord;
        if (lexer_.kind() == Token::End || (is_word && classify(lexer_.text()) != Word::Unknown))
            fail_at(start, end, "unbalanced", "the section is never closed", "add the closing '}'");
        section_item();
    }
    lexer_.next();
    close(node);
}

void Parser::section_item() {
    statement_start_ = lexer_.start();
    if (lexer_.kind() == Token::DotWord) return section_data();
    if (lexer_.kind() != Token::Identifier) unexpected("a label or data such as .b8 in the section");
    const Index node = open(Kind::SectionLabel, lexer_.start());
    new_name("a label");
    expect(':', "after a label");
    close(node);
}

// Plain numbers get no nodes of their own: debug sections are mostly numbers.
void Parser::section_data() {
    const Index node = open(Kind::SectionData, lexer_.start());
    const std::string_view type = lexer_.text();
    if (type != ".b8" && type != ".b16" && type != ".b32" && type != ".b64")
        unexpected("data such as .b8, .b16, .b32 or .b64 in the section");
    lexer_.next();
    const bool is_wide = type == ".b32" || type == ".b64";
    for (;;) {
        const bool is_label = lexer_.kind() == Token::Identifier;
        if ((is_label || lexer_.kind() == Token::DotWord) && !is_wide)
            fail("syntax", "an address does not fit into " + std::string(type),
                 "labels and sections stand in .b32 or .b64 data");
        if (is_label) {
            leaf(Kind::Name);
            if (lexer_.is_symbol('-')) {
                lexer_.next();
                if (lexer_.kind() != Token::Identifier) unexpected("a label after '-'");
                leaf(Kind::Name);
            } else if (lexer_.is_symbol('+')) {
                lexer_.next();
                integer("a number after '+'");
            }
        } else if (lexer_.kind() == Token::DotWord) {
            leaf(Kind::SectionName);
            if (lexer_.is_symbol('+')) {
                lexer_.next();
                integer("a number after '+'");
            }
        } else {
            section_number(type);
        }
        if (!lexer_.is_symbol(',')) break;
        lexer_.next();
    }
    close(node);
}

void Parser::section_number(std::string_view type) {
    const std::uint32_t start = lexer_.start();
    const bool is_negative = lexer_.is_symbol('-');
    if (is_negative) lexer_.next();
    if (lexer_.kind() != Token::Integer) unexpected("a number, a label or a section name");
    const std::uint64_t value = integer_value(lexer_.text());
    const std::uint64_t most = type == ".b8" ? 255 : type == ".b16" ? 65535 : UINT64_MAX;
    if (value > (is_negative ? most / 2 + 1 : most))
        fail_at(start, lexer_.end(), "syntax", "the number does not fit into " + std::string(type),
                "use a wider type, or several numbers");
    lexer_.next();
}

// PTX 1.x carried DWARF in lines such as "@@DWARF .4byte 1, 2".
void Parser::dwarf_line() {
    const Index node = open(Kind::DwarfLine, lexer_.start());
    lexer_.next();
    if (!lexer_.is_symbol('@') && !at_bad_token())
        fail_at(nodes_[node].start, nodes_[node].start + 1, "syntax",
                "'@' stands outside any function",
                "guarded instructions belong in the body of an .entry or .func");
    expect('@', "in '@@DWARF'");
    const bool known = lexer_.text() == "DWARF" || lexer_.text() == "dwarf";
    if (lexer_.kind() != Token::Identifier || !known) unexpected("'DWARF' after '@@'");
    lexer_.next();
    while (lexer_.kind() != Token::End && !lexer_.on_new_line()) {
        const Token kind = lexer_.kind();
        if (kind != Token::DotWord && kind != Token::Identifier && kind != Token::Integer &&
            kind != Token::String && !lexer_.is_symbol(',') && !lexer_.is_symbol(':') &&
            !lexer_.is_symbol('-') && !lexer_.is_symbol('+'))
            unexpected("data on the '@@DWARF' line");
        lexer_.next();
    }
    close(node);
}

void Parser::alias() {
    const Index node = open(Kind::Alias, lexer_.start());
    lexer_.next();
    if (lexer_.kind() != Token::Identifier) unexpected("a function name after '.alias'");
    leaf(Kind::Name);
    expect(',', "between the two names of '.alias'");
    if (lexer_.kind() != Token::Identifier) unexpected("the aliased function's name");
    leaf(Kind::Name);
    expect_semicolon("after '.alias'");
    close(node);
}

void Parser::pragma() {
    const Index node = open(Kind::Pragma, lexer_.start());
    do {
        lexer_.next();
        if (lexer_.kind() != Token::String) unexpected("a string in quotes in '.pragma'");
        lexer_.next();
    } while (lexer_.is_symbol(','));
    expect_semicolon("after '.pragma'");
    close(node);
}

void Parser::declaration(bool in_body) {
    const std::uint32_t start = lexer_.start();
    std::string_view linkage;
    if (classify(lexer_.text()) == Word::Linkage) {
        if (in_body)
            fail("syntax", found() + " cannot stand inside a function",
                 "declare the variable at module level");
        linkage = lexer_.text();
        lexer_.next();
    }
    const Word word = lexer_.kind() == Token::DotWord ? classify(lexer_.text()) : Word::Unknown;
    if (word == Word::Linkage && lexer_.on_new_line())
        unexpected("a variable or a function after '" + std::string(linkage) + "'");
    if (word == Word::Linkage) fail("syntax", "a second linkage directive " + found(), "keep one");
    if (word == Word::Entry || word == Word::Func) {
        if (linkage == ".common")
            fail_at(start, start + 7, "syntax", "a function cannot be '.common'",
                    "write .visible, .extern or .weak");
        const Index node = open(Kind::Function, start);
        return function(node);
    }
    variable(open(Kind::Variable, start));
}

void Parser::variable(Index node) {
    bool has_space = false;
    bool has_type = false;
    while (lexer_.kind() == Token::DotWord && !has_type) {
        switch (classify(lexer_.text())) {
            case Word::Space:
                if (has_space) fail("syntax", "a second state space " + found(), "keep one");
                has_space = true;
                lexer_.next();
                if (lexer_.is_symbol('[')) {  // the constant banks of PTX 1.x
                    lexer_.next();
                    integer("a bank number after '['");
                    expect(']', "after the bank number");
                }
                break;
            case Word::Align:
                lexer_.next();
                integer("a number of bytes after '.align'");
                break;
            case Word::Attribute: attribute(); break;
            case Word::Vector:
                lexer_.next();
                if (lexer_.kind() != Token::DotWord) unexpected("a type after the vector size");
                break;
            case Word::Unknown:
                has_type = true;
                scalar_type();
                break;
            default: unexpected("a state space, a type or a name in the declaration");
        }
    }
    if (!has_type) unexpected("a type such as .u32 in the declaration");
    if (!has_space)
        fail("syntax", "the declaration has no state space", "write .global, .shared, .reg ...");
    // ".reg .b32;" declares nothing and is PTX, too.
    for (bool first = true; !first || !lexer_.is_symbol(';'); first = false) {
        declarator();
        if (!lexer_.is_symbol(',')) break;
        lexer_.next();
    }
    expect_semicolon("after the declaration", true);
    close(node);
}

void Parser::scalar_type() {
    const std::string_view text = lexer_.text();
    if (text.size() > 2 && text[1] == 'v' && is(text[2], kDigit))
        fail("syntax", found() + " is not a vector size", "vectors are .v2, .v4 and .v8");
    lexer_.next();
}

void Parser::declarator() {
    if (lexer_.kind() != Token::Identifier) unexpected("a name in the declaration");
    const Index node = open(Kind::Declarator, lexer_.start());
    new_name("a name in the declaration");
    if (lexer_.is_symbol('<')) {
        lexer_.next();
        integer("the number of registers after '<'");
        expect('>', "after the number of registers");
    }
    while (lexer_.is_symbol('[')) {
        lexer_.next();
        if (!lexer_.is_symbol(']')) integer("an array size after '['");
        expect(']', "after the array size");
    }
    if (lexer_.is_symbol('=')) {
        lexer_.next();
        in_initializer_ = true;
        initializer();
        in_initializer_ = false;
    }
    close(node);
}

void Parser::attribute() {
    const Index node = open(Kind::Attribute, lexer_.start());
    lexer_.next();
    expect('(', "after '.attribute'");
    for (;;) {
        if (lexer_.kind() != Token::DotWord) unexpected("an attribute such as .managed");
        lexer_.next();
        if (lexer_.is_symbol('(')) {
            lexer_.next();
            integer_list("a number in the attribute");
            expect(')', "after the attribute's numbers");
        }
        if (!lexer_.is_symbol(',')) break;
        lexer_.next();
    }
    expect(')', "after the attributes");
    close(node);
}

void Parser::initializer() {
    if (!lexer_.is_symbol('{')) {
        if (lexer_.kind() == Token::String)
            fail("syntax", "a string is not an initialiser", "write its bytes: {72, 105, 0}");
        return expression();
    }
    const Depth depth(*this);
    const Index node = open(Kind::InitializerList, lexer_.start());
    lexer_.next();
    while (!lexer_.is_symbol('}')) {
        if (lexer_.kind() == Token::Identifier) {
            const Lexer::Mark mark = lexer_.mark();
            lexer_.next();
            const bool is_field = lexer_.is_symbol('=');
            lexer_.reset(mark);
            if (is_field) {
                const Index field = open(Kind::FieldInitializer, lexer_.start());
                lexer_.next();
                lexer_.next();
                expression();
                close(field);
            } else {
                expression();
            }
        } else {
            initializer();
        }
        if (lexer_.is_symbol('}')) break;
        expect(',', "or '}' in the initialiser");
        if (lexer_.is_symbol('}')) unexpected("a value after ','");
    }
    lexer_.next();
    close(node);
}

void Parser::function(Index node) {
    const bool is_entry = lexer_.text() == ".entry";
    if (is_entry) nodes_[node].flags |= kIsEntry;
    lexer_.next();
    if (lexer_.kind() == Token::DotWord && classify(lexer_.text()) == Word::Attribute && !is_entry)
        attribute();
    if (lexer_.is_symbol('(')) {
        if (is_entry) fail("syntax", "an .entry returns nothing", "remove the list before its name");
        parameter_list(kReturnList);
    }
    const std::uint32_t name_start = lexer_.start();
    const std::uint32_t name_end = lexer_.end();
    new_name(is_entry ? "a kernel's name after '.entry'" : "a function's name after '.func'");
    if (lexer_.is_symbol('(')) parameter_list(0);
    function_directives(false);
    if (lexer_.is_symbol('{')) {
        nodes_[node].flags |= kHasBody;
        body();
        close(node);
        return;
    }
    if (lexer_.is_symbol(';')) {
        lexer_.next();
        close(node);
        return;
    }
    if (lexer_.kind() == Token::End)
        fail_at(name_start, name_end, "syntax", "the function has neither a body nor a ';'",
                "add '{ ... }', or ';' for a declaration");
    unexpected("'{', ';' or a directive such as .maxntid after the function's header");
}

void Parser::parameter_list(std::uint8_t flags) {
    const Index node = open(Kind::ParameterList, lexer_.start());
    nodes_[node].flags = flags;
    lexer_.next();
    if (!lexer_.is_symbol(')')) {
        for (;;) {
            parameter();
            if (!lexer_.is_symbol(',')) break;
            lexer_.next();
        }
    }
    expect(')', "or ',' after a parameter");
    close(node);
}

void Parser::parameter() {
    if (lexer_.kind() != Token::DotWord) unexpected("a parameter such as .param .u64 x");
    const Index node = open(Kind::Parameter, lexer_.start());
    bool has_type = false;
    bool is_pointer = false;
    bool has_space = false;
    while (lexer_.kind() == Token::DotWord && !is_pointer) {
        switch (classify(lexer_.text())) {
            case Word::Space:
                if (has_space) unexpected("a parameter's type or name");
                has_space = true;
                lexer_.next();
                break;
            case Word::Align:
                lexer_.next();
                integer("a number of bytes after '.align'");
                break;
            case Word::Pointer:
                if (!has_type) unexpected("a type before '.ptr'");
                is_pointer = true;
                pointer();
                break;
            case Word::Attribute: attribute(); break;
            case Word::Vector: lexer_.next(); break;
            case Word::Unknown:
                if (has_type) unexpected("a parameter's name");
                has_type = true;
                scalar_type();
                break;
            default: unexpected("a state space, a type or a name in the parameter");
        }
    }
    if (!has_space)
        fail("syntax", "the parameter has no state space", "write .param or .reg before its type");
    if (!has_type) unexpected("a type such as .u64 in the parameter");
    if (lexer_.kind() != Token::Identifier) unexpected("a parameter's name");
    lexer_.next();
    if (lexer_.is_symbol('[')) {
        lexer_.next();
        if (!lexer_.is_symbol(']')) integer("an array size after '['");
        expect(']', "after the array size");
        if (lexer_.is_symbol('['))
            fail("syntax", "a parameter has one array size", "multiply the sizes");
    }
    close(node);
}

// ".ptr .global .align 8", the last two as one likes
void Parser::pointer() {
    lexer_.next();
    const auto word = [this] {
        return lexer_.kind() == Token::DotWord ? classify(lexer_.text()) : Word::Unknown;
    };
    if (word() == Word::Space) {
        const std::string_view space = lexer_.text();
        if (space == ".param" || space == ".reg" || space == ".sreg" || space == ".tex")
            fail("syntax", "a pointer cannot point into " + std::string(space),
                 "after '.ptr' stands .global, .const, .shared, .local or nothing");
        lexer_.next();
    }
    if (word() == Word::Align) {
        lexer_.next();
        integer("a number of bytes after '.align'");
    }
    if (lexer_.kind() == Token::DotWord)
        unexpected("a parameter's name", "the order is '.ptr .global .align 8 name'");
}

void Parser::function_directives(bool is_prototype) {
    while (lexer_.kind() == Token::DotWord) {
        const Word word = classify(lexer_.text());
        if (word == Word::Pragma && !is_prototype) {
            pragma();
            continue;
        }
        if (word == Word::Attribute)
            fail("syntax", "'.attribute' stands after the function's name",
                 "write '.func .attribute(...) name'");
        if (word != Word::Unknown)
            unexpected("'{', ';' or a directive such as .maxntid after the function's header");
        const Index node = open(Kind::FunctionDirective, lexer_.start());
        lexer_.next();
        if (lexer_.kind() == Token::Integer) integer_list("a number after ','");
        close(node);
    }
}

}  // namespace ptxkit::syntax
