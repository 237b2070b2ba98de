// Tokens of PTX text. The buffer must end in a NUL byte that is not part of the text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ptxkit::syntax {

enum class Token : std::uint8_t {
    End,
    Identifier,
    DotWord,  // .global, .shared::cluster, .16x64b
    Integer,
    Float,
    String,
    Punctuation,  // one character; see Lexer::symbol
    ShiftLeft,
    ShiftRight,
    LessEqual,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    AndAnd,
    OrOr,
    Comment,  // only from Lexer::next_with_trivia
    Preprocessor,
    BadNumber,
    BadString,
    BadComment,
    BadCharacter,
};

enum CharClass : std::uint8_t {
    kSpace = 1,
    kDigit = 2,
    kLetter = 4,  // what may begin an identifier, but for '%'
    kHex = 8,
    kFollow = 16,  // what may go on in an identifier
    kWordDot = 32, // kFollow, '.' or ':'
};

extern const std::array<std::uint8_t, 256> kClasses;

inline bool is(char c, std::uint8_t mask) {
    return (kClasses[static_cast<unsigned char>(c)] & mask) != 0;
}

// The value of a well-formed integer that fits in 64 bits.
std::uint64_t integer_value(std::string_view number);
// Whether a well-formed number does not fit in 64 bits.
bool out_of_range(std::string_view number);

class Lexer {
  public:
    Lexer(const char *begin, const char *end) : base_(begin), at_(begin), end_(end) {}

    // Move to the next token. Trivia (white space, comments, # lines) is passed over.
    void next() {
        skip_trivia();
        scan();
    }

    // Like next(), but comments and # lines are tokens.
    void next_with_trivia();

    Token kind() const { return kind_; }
    char symbol() const { return *start_; }
    bool is_symbol(char c) const { return kind_ == Token::Punctuation && *start_ == c; }
    std::string_view text() const {
        return {start_, static_cast<std::size_t>(at_ - start_)};
    }
    std::uint32_t start() const { return static_cast<std::uint32_t>(start_ - base_); }
    std::uint32_t end() const { return static_cast<std::uint32_t>(at_ - base_); }
    std::uint32_t previous_end() const { return previous_end_; }
    // True when a line break stands between the previous token and this one.
    bool on_new_line() const;

    const char *cursor() const { return at_; }
    const char *limit() const { return end_; }
    const char *token_start() const { return start_; }
    const char *base() const { return base_; }
    // Go on lexing from a place, as if the token ended there.
    void move_to(const char *place) { at_ = place; }
    // Remember and take up a place again.
    struct Mark {
        const char *start, *at;
        std::uint32_t previous_end;
        Token kind;
    };
    Mark mark() const { return {start_, at_, previous_end_, kind_}; }
    void reset(const Mark &m) {
        start_ = m.start;
        at_ = m.at;
        previous_end_ = m.previous_end;
        kind_ = m.kind;
    }

  private:
    void skip_trivia() {
        previous_end_ = static_cast<std::uint32_t>(at_ - base_);
        while (is(*at_, kSpace)) ++at_;
        if (*at_ == '/' || *at_ == '#' || *at_ == '\0' || static_cast<unsigned char>(*at_) == 0xEF)
            skip_rare_trivia();
    }
    void skip_rare_trivia();
    bool in_tail();
    bool at_line_begin(const char *place) const;
    void scan();
    void scan_number();
    bool scan_fraction();
    void scan_string();
    void scan_punctuation();
    void scan_dot_word();

    const char *base_;
    const char *at_;
    const char *end_;
    const char *start_ = nullptr;
    const char *tail_ = nullptr;  // where the NUL bytes and spaces at the very end begin
    std::uint32_t previous_end_ = 0;
    Token kind_ = Token::End;
};

}  // namespace ptxkit::syntax
