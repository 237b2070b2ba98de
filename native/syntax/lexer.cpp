#include "lexer.hpp"

#include <charconv>
#include <cstring>
#include <system_error>

namespace ptxkit::syntax {

namespace {

constexpr std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> table{};
    for (char c : {' ', '\t', '\n', '\r', '\f', '\v'})
        table[static_cast<unsigned char>(c)] = kSpace;
    for (unsigned c = '0'; c <= '9'; ++c) table[c] = kDigit | kHex | kFollow | kWordDot;
    for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = kLetter | kFollow | kWordDot;
    for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = kLetter | kFollow | kWordDot;
    for (unsigned c = 'a'; c <= 'f'; ++c) table[c] |= kHex;
    for (unsigned c = 'A'; c <= 'F'; ++c) table[c] |= kHex;
    table['_'] = kLetter | kFollow | kWordDot;
    table['$'] = kFollow | kWordDot;  // '$' and '%' begin a name only with more after them
    table['.'] = kWordDot;
    table[':'] = kWordDot;
    return table;
}

}  // namespace

const std::array<std::uint8_t, 256> kClasses = make_classes();

namespace {

char prefix_of(std::string_view number) {
    const bool prefixed = number.size() > 1 && number[0] == '0' && is(number[1], kLetter);
    const char prefix = prefixed ? static_cast<char>(number[1] | 0x20) : '\0';
    return prefix == 'e' ? '\0' : prefix;
}

std::from_chars_result read_integer(std::string_view number, std::uint64_t &value) {
    const char prefix = prefix_of(number);
    const int base = prefix == 'x' ? 16 : prefix == 'b' ? 2 : number[0] == '0' ? 8 : 10;
    if (prefix != '\0') number.remove_prefix(2);
    return std::from_chars(number.data(), number.data() + number.size(), value, base);
}

}  // namespace

std::uint64_t integer_value(std::string_view number) {
    std::uint64_t value = 0;
    read_integer(number, value);
    return value;
}

bool out_of_range(std::string_view number) {
    const char prefix = prefix_of(number);
    if (prefix == 'f' || prefix == 'd') return false;  // these give their bits
    std::from_chars_result result{};
    if (prefix == '\0' && number.find_first_of(".eE") != std::string_view::npos) {
        double value = 0;
        result = std::from_chars(number.data(), number.data() + number.size(), value);
    } else {
        if (number.back() == 'U') number.remove_suffix(1);
        std::uint64_t value = 0;
        result = read_integer(number, value);
    }
    return result.ec == std::errc::result_out_of_range &&
           result.ptr == number.data() + number.size();
}

bool Lexer::at_line_begin(const char *place) const {
    while (place > base_) {
        --place;
        if (*place == '\n') return true;
        if (!is(*place, kSpace))  // a byte order mark may stand before the first '#'
            return place == base_ + 2 && std::memcmp(base_, "\xEF\xBB\xBF", 3) == 0;
    }
    return true;
}

bool Lexer::on_new_line() const {
    const char *from = base_ + previous_end_;
    return std::memchr(from, '\n', static_cast<std::size_t>(start_ - from)) != nullptr;
}

// Tools that take PTX as a C string leave NUL bytes at the very end.
bool Lexer::in_tail() {
    if (tail_ == nullptr) {
        tail_ = end_;
        while (tail_ > base_ && (tail_[-1] == '\0' || is(tail_[-1], kSpace))) --tail_;
    }
    return at_ >= tail_;
}

void Lexer::skip_rare_trivia() {
    for (;;) {
        while (is(*at_, kSpace)) ++at_;
        if (*at_ == '/' && at_[1] == '/') {
            const void *found = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
            at_ = found ? static_cast<const char *>(found) : end_;
        } else if (*at_ == '/' && at_[1] == '*') {
            const char *close = at_ + 2;
            for (;;) {
                const void *star = std::memchr(close, '*', static_cast<std::size_t>(end_ - close));
                if (star == nullptr) return;  // scan() reports the open comment
                close = static_cast<const char *>(star) + 1;
                if (*close == '/') break;
            }
            at_ = close + 1;
        } else if (*at_ == '#' && at_line_begin(at_)) {
            const void *found = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
            at_ = found ? static_cast<const char *>(found) : end_;
        } else if (*at_ == '\0' && at_ < end_) {
            if (!in_tail()) return;
            at_ = end_;
        } else if (at_ == base_ && end_ - at_ >= 3 && std::memcmp(at_, "\xEF\xBB\xBF", 3) == 0) {
            at_ += 3;
        } else {
            return;
        }
    }
}

void Lexer::next_with_trivia() {
    previous_end_ = static_cast<std::uint32_t>(at_ - base_);
    for (;;) {
        while (is(*at_, kSpace)) ++at_;
        if (at_ == base_ && end_ - at_ >= 3 && std::memcmp(at_, "\xEF\xBB\xBF", 3) == 0) {
            at_ += 3;
            continue;
        }
        const bool comment = *at_ == '/' && (at_[1] == '/' || at_[1] == '*');
        const bool directive = *at_ == '#' && at_line_begin(at_);
        if (!comment && !directive) {
            if (*at_ == '\0') skip_rare_trivia();  // NUL bytes at the end
            scan();
            return;
        }
        start_ = at_;
        kind_ = comment ? Token::Comment : Token::Preprocessor;
        if (comment && at_[1] == '*') {
            const std::string_view rest(at_ + 2, static_cast<std::size_t>(end_ - at_ - 2));
            const std::size_t close = rest.find("*/");
            if (close == std::string_view::npos) {
                kind_ = Token::BadComment;
                at_ = end_;
            } else {
                at_ += close + 4;
            }
        } else {
            const void *found = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
            at_ = found ? static_cast<const char *>(found) : end_;
            if (at_ > start_ && at_[-1] == '\r') --at_;
        }
        return;
    }
}

void Lexer::scan() {
    start_ = at_;
    const char c = *at_;
    if (is(c, kLetter) || ((c == '%' || c == '$') && is(at_[1], kFollow))) {
        ++at_;
        while (is(*at_, kFollow)) ++at_;
        kind_ = Token::Identifier;
    } else if (is(c, kDigit)) {
        scan_number();
    } else if (c == '.') {
        scan_dot_word();
    } else if (c == '"') {
        scan_string();
    } else {
        scan_punctuation();
    }
}

void Lexer::scan_dot_word() {
    if (!is(at_[1], kFollow)) {
        kind_ = Token::BadCharacter;
        ++at_;
        return;
    }
    if (is(at_[1], kDigit) && scan_fraction()) return;
    ++at_;
    for (;;) {
        while (is(*at_, kFollow)) ++at_;
        if (*at_ != ':' || at_[1] != ':' || !is(at_[2], kFollow)) break;
        at_ += 2;
    }
    kind_ = Token::DotWord;
}

// ".5" and ".5e-3" are numbers; ".16x64b" is a word.
bool Lexer::scan_fraction() {
    const char *at = at_ + 1;
    while (is(*at, kDigit)) ++at;
    if (*at == 'e' || *at == 'E') {
        ++at;
        if (*at == '+' || *at == '-') ++at;
        if (!is(*at, kDigit)) return false;
        while (is(*at, kDigit)) ++at;
    }
    if (is(*at, kFollow)) return false;
    at_ = at;
    kind_ = out_of_range(text()) ? Token::BadNumber : Token::Float;
    return true;
}

void Lexer::scan_number() {
    kind_ = Token::Integer;
    const char second = at_[1];
    const auto run = [this](std::uint8_t mask) {
        const char *from = at_;
        while (is(*at_, mask)) ++at_;
        return at_ - from;
    };
    bool good = true;
    if (*at_ == '0' && (second == 'x' || second == 'X')) {
        at_ += 2;
        good = run(kHex) > 0;
        if (*at_ == 'U') ++at_;
    } else if (*at_ == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
        at_ += 2;
        good = run(kHex) == (second == 'f' || second == 'F' ? 8 : 16);
        kind_ = Token::Float;
    } else if (*at_ == '0' && (second == 'b' || second == 'B')) {
        at_ += 2;
        const char *from = at_;
        while (*at_ == '0' || *at_ == '1') ++at_;
        good = at_ > from;
        if (*at_ == 'U') ++at_;
    } else {
        const char *from = at_;
        run(kDigit);
        const bool exponent = *at_ == 'e' || *at_ == 'E';
        if (*at_ == '.' || exponent) {
            kind_ = Token::Float;
            if (*at_ == '.') {
                ++at_;
                run(kDigit);
            }
            if (*at_ == 'e' || *at_ == 'E') {
                ++at_;
                if (*at_ == '+' || *at_ == '-') ++at_;
                good = run(kDigit) > 0;
            }
        } else {
            // A leading zero means octal.
            if (*from == '0')
                for (const char *digit = from; digit < at_; ++digit) good = good && *digit < '8';
            if (*at_ == 'U') ++at_;
        }
    }
    if (is(*at_, kFollow)) {
        good = false;
        run(kFollow);
    }
    // No integer of 17 characters or fewer is too large.
    const bool examine = kind_ == Token::Float || at_ - start_ > 17;
    if (!good || (examine && out_of_range(text()))) kind_ = Token::BadNumber;
}

void Lexer::scan_string() {
    const void *close = std::memchr(at_ + 1, '"', static_cast<std::size_t>(end_ - at_ - 1));
    kind_ = close ? Token::String : Token::BadString;
    at_ = close ? static_cast<const char *>(close) + 1 : end_;
}

void Lexer::scan_punctuation() {
    const char c = *at_;
    const char d = c == '\0' ? '\0' : at_[1];
    kind_ = Token::Punctuation;
    if (c == '\0') {
        kind_ = at_ >= end_ ? Token::End : Token::BadCharacter;
        if (at_ < end_) ++at_;
        return;
    }
    if (c == '/' && d == '*') {
        kind_ = Token::BadComment;
        at_ = end_;
        return;
    }
    ++at_;
    const auto two = [this](Token kind) {
        ++at_;
        kind_ = kind;
    };
    switch (c) {
        case '<':
            if (d == '<') two(Token::ShiftLeft);
            else if (d == '=') two(Token::LessEqual);
            return;
        case '>':
            if (d == '>') two(Token::ShiftRight);
            else if (d == '=') two(Token::GreaterEqual);
            return;
        case '=':
            if (d == '=') two(Token::EqualEqual);
            return;
        case '!':
            if (d == '=') two(Token::NotEqual);
            return;
        case '&':
            if (d == '&') two(Token::AndAnd);
            return;
        case '|':
            if (d == '|') two(Token::OrOr);
            return;
        case ',': case ';': case ':': case '{': case '}': case '[': case ']': case '(': case ')':
        case '+': case '-': case '*': case '/': case '%': case '^': case '~': case '?': case '@':
            return;
        default:
            kind_ = Token::BadCharacter;
            // Keep the bytes of one UTF-8 character together for the message.
            while ((static_cast<unsigned char>(*at_) & 0xC0) == 0x80) ++at_;
    }
}

}  // namespace ptxkit::syntax
