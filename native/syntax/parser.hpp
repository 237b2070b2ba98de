// Text to tree. Grammar only: what an instruction means is not known here.
//
// A statement that is not PTX is reported, kept as an Error node, and parsing goes on
// after it, so that one run finds all errors of a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "directives.hpp"
#include "lexer.hpp"
#include "tree.hpp"

namespace ptxkit::syntax {

// Parses, and never throws for what the text holds. Throws std::length_error for a text
// of 4 GiB or more.
std::shared_ptr<const Tree> parse(std::string text, std::string filename);
// The same without a copy: `owner` keeps the text alive, and a NUL byte follows it.
std::shared_ptr<const Tree> parse(std::string_view text, std::shared_ptr<const void> owner,
                                  std::string filename);

class Parser {
  public:
    explicit Parser(Tree &tree);
    void parse_module();

  private:
    using Index = std::uint32_t;

    // Thrown inside a statement and caught at its boundary.
    struct StatementError {};

    // nodes
    Index open(Kind kind, std::uint32_t start);
    void close(Index index) { close_at(index, lexer_.previous_end()); }
    void close_at(Index index, std::uint32_t end);
    // Put a node above the subtree that begins at `index`, the last one written.
    void wrap(Index index, Kind kind);
    void leaf(Kind kind);

    // errors
    [[noreturn]] void fail(std::string code, std::string message, std::string hint = "");
    [[noreturn]] void fail_at(std::uint32_t start, std::uint32_t end, std::string code,
                              std::string message, std::string hint = "");
    void report(std::uint32_t start, std::uint32_t end, std::string code, std::string message,
                std::string hint);
    [[noreturn]] void unexpected(const std::string &expected, std::string hint = "");
    [[noreturn]] void bad_character();
    bool at_bad_token() const;
    std::string found() const;
    void expect(char symbol, const char *after);
    void expect_semicolon(const char *after, bool in_list = false);
    void recover(Index statement, std::uint32_t start);
    unsigned open_braces(std::uint32_t start) const;
    bool at_statement_begin(bool in_body) const;

    // module level (parser_module.cpp)
    void module_statement();
    [[noreturn]] void unknown_directive(const char *known);
    void version();
    void target();
    void address_size();
    void file();
    void section();
    void section_item();
    void section_data();
    void section_number(std::string_view type);
    void dwarf_line();
    void alias();
    void pragma();
    void declaration(bool in_body);
    void variable(Index node);
    void declarator();
    void attribute();
    void initializer();
    void function(Index node);
    void scalar_type();
    void parameter_list(std::uint8_t flags);
    void parameter();
    void pointer();
    void function_directives(bool is_prototype);
    void integer(const char *what);
    void new_name(const char *what);
    void integer_list(const char *what);

    // function bodies (parser_body.cpp)
    void body();
    bool at_function(Word word);
    void body_statement();
    void body_directive();
    void loc();
    void name_list(Kind kind);
    void call_prototype();
    void instruction();
    void opcode();
    void guard();

    // operands (parser_operand.cpp)
    void operand(bool is_call);
    void operand_list(Kind kind, char close, bool may_be_empty, bool is_call);
    void vector_element();
    void address();
    void vector_or_pair_tail(Index first);
    void name();
    void expression();
    void expression_tail(Index first);
    void primary(bool names_allowed);
    bool is_binary_operator() const;
    bool is_mask(Index index) const;

    // Counts nesting of what is parsed by recursion.
    class Depth;

    Tree &tree_;
    std::vector<Node> &nodes_;
    Lexer lexer_;
    Index parent_ = kNone;
    std::uint32_t statement_start_ = 0;
    unsigned depth_ = 0;
    bool after_label_ = false;
    bool in_initializer_ = false;
};

class Parser::Depth {
  public:
    explicit Depth(Parser &parser);
    ~Depth() { --parser_.depth_; }
    Depth(const Depth &) = delete;
    Depth &operator=(const Depth &) = delete;

  private:
    Parser &parser_;
};

}  // namespace ptxkit::syntax
