// One marker, read word by word.
#pragma once

#include <unordered_map>

#include "scan.hpp"

namespace ptxkit::inject {

class MarkerReader {
  public:
    MarkerReader(std::string_view text, Scan &scan) : text_(text), scan_(scan) {}

    // Reads the marker whose comment begins at `start` and whose words begin at `words`, and
    // notes its occurrence in `function`. Gives the offset after it.
    std::size_t read(std::size_t start, std::size_t words, std::uint32_t function);
    // The same for a marker of mm-ptx.
    std::size_t read_foreign(std::size_t start, std::size_t words, std::uint32_t function);

  private:
    struct Word {
        std::size_t start;
        std::size_t end;
        bool empty() const { return start == end; }
    };
    struct Tail {
        std::uint32_t source_line = 0;
        std::uint8_t flags = 0;
    };

    std::string_view view(Word word) const {
        return text_.substr(word.start, word.end - word.start);
    }
    void begin_line(std::size_t at);
    Word next();
    Word site_name();
    const std::uint32_t *known(std::string_view name) const;
    bool skip_signature(const Site &site);
    Site parse_signature(Word name, std::size_t start);
    Operand operand(Word word, std::size_t number);
    Operand foreign_operand(Word first, std::size_t number);
    void add_operand(Site &site, Operand operand, Word word) const;
    Tail tail();
    void registers(const Site &site);
    void check_register(const Site &site, const Operand &operand, Word word) const;
    void note(std::uint32_t site, std::uint32_t function, std::size_t start, std::size_t end,
              Tail tail, std::size_t first_register);
    std::uint32_t add_site(Site site);
    void expect_same(const Site &one, const Site &other, Word name) const;
    [[noreturn]] void fail(const char *code, const std::string &message, const char *hint,
                           Word word) const;

    std::string_view text_;
    Scan &scan_;
    std::unordered_map<std::string_view, std::uint32_t> sites_;
    std::size_t at_ = 0;
    std::size_t line_end_ = 0;
};

}  // namespace ptxkit::inject
