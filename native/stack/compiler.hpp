// From a stack program to the text of a stub.
#pragma once

#include <string>
#include <vector>

#include "interpreter.hpp"

namespace ptxkit::stack {

// Bytes at the end of a growing buffer.
class Writer {
  public:
    explicit Writer(std::vector<char> &bytes) : bytes_(bytes) {}
    // Room for `size` more bytes; what follows writes without a check.
    void reserve(std::size_t size) {
        if (bytes_.size() - used_ < size) bytes_.resize((bytes_.size() + size) * 2);
    }
    void text(const char *data, std::size_t size) {
        std::memcpy(bytes_.data() + used_, data, size);
        used_ += size;
    }
    void text(const std::string &value) { text(value.data(), value.size()); }
    void byte(char value) { bytes_[used_++] = value; }
    void number(std::uint64_t value);
    void hex(std::uint64_t value, unsigned digits);
    std::size_t used() const { return used_; }
    void start_at(std::size_t place) { used_ = place; }

  private:
    std::vector<char> &bytes_;
    std::size_t used_ = 0;
};

// Checks every index of the interface. Throws std::invalid_argument.
void finish(const Isa &isa, Interface &interface);

// Compiles one program after another; what it needs of memory stays with it.
class Compiler {
  public:
    // Appends the stub to `out` at `used`, which moves on.
    Outcome compile(const Isa &isa, const Interface &interface, Items items, Report &report,
                    std::vector<char> &out, std::size_t &used);

  private:
    struct Move {
        std::uint32_t output;
        std::uint32_t value;
    };
    Outcome gather(Report &report);
    void mark_needed();
    void settle_outputs();
    void write_body(Writer &writer, Report &report);
    void write_constant(Writer &writer, const Node &node);
    void write_instruction(Writer &writer, std::uint32_t at);
    void write_outputs(Writer &writer, Report &report);
    void write_move(Writer &writer, std::uint32_t output, std::uint32_t value);
    void write_operand(Writer &writer, std::uint32_t node);
    void write_literal(Writer &writer, std::uint16_t stack, std::uint64_t bits);
    void write_place(Writer &writer, const Node &node);
    std::size_t write_declarations(std::vector<char> &out, std::size_t body);
    bool stands_as_literal(const Argument &argument, const Node &node) const;
    void take_register(Node &node);
    void give_back(Node &node, std::uint32_t at);

    Interpreter interpreter_;
    const Isa *isa_ = nullptr;
    const Interface *interface_ = nullptr;
    std::vector<std::uint32_t> values_;           // node of each output, kNone: left alone
    std::vector<Move> moves_;
    std::vector<char> head_;
    std::vector<bool> input_needed_;
    std::vector<std::vector<std::uint32_t>> free_;  // registers by class
    std::vector<std::uint32_t> taken_;              // most registers by class
};

// Many programs on several threads. Stub `n` is text[ends[n - 1] .. ends[n]] of its part.
struct Part {
    std::size_t first = 0;           // program
    std::vector<char> text;
    std::vector<std::size_t> ends;
};
void compile_many(const Isa &isa, const Interface &interface, const std::vector<Items> &programs,
                  unsigned threads, std::vector<Part> &parts, std::vector<Report> &reports,
                  std::vector<Outcome> &outcomes);

}  // namespace ptxkit::stack
