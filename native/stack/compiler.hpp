// From a stack program to the text of a stub.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "interpreter.hpp"
#include "registers.hpp"

namespace ptxkit::stack {

// Checks every index of the interface and fills what is derived. Throws std::invalid_argument.
void finish(const Isa &isa, Interface &interface);

// Inputs one after another, each of `size` values as 64-bit words.
struct Arrays {
    const std::uint64_t *inputs = nullptr;
    std::size_t size = 0;
};

enum class Evaluation : std::uint8_t {
    Done,
    Unknown,  // it has instructions that only the text of the stub tells the meaning of
    Faulty,   // it can't be compiled
};

// Compiles one program after another; what it needs of memory stays with it.
class Compiler {
  public:
    // Writes the stub into `out` somewhere behind `used`, which moves on to its end.
    Outcome compile(const Isa &isa, const Interface &interface, Items items, Report &report,
                    Buffer &out, std::size_t &used, std::size_t &begin);

    // Computes what the stub would, `arrays.size` values for each output.
    Evaluation evaluate(const Isa &isa, const Interface &interface, Items items,
                        const Arrays &arrays, std::uint64_t *out, Outcome &outcome);

  private:
    struct Move {
        std::uint32_t output;
        std::uint32_t value;
    };
    void start(const Isa &isa, const Interface &interface);
    Outcome gather(Report &report);
    void mark_needed();
    void settle_outputs();
    char *write_body(char *out, Report &report);
    char *write_plain(char *out, std::uint32_t at, Node *nodes, const Shape &shape,
                      const char *head);
    char *write_instruction(char *out, std::uint32_t at);
    char *write_zeros(char *out, const Node &node, std::uint32_t at);
    char *write_outputs(char *out, Report &report);
    char *write_operand(char *out, const Node &node) const;
    char *write_literal(char *out, std::uint16_t stack, std::uint64_t bits) const;
    char *write_load(char *out, const Node &node, std::uint64_t bits) const;
    std::size_t write_declarations(std::size_t body);

    Interpreter interpreter_;
    const Isa *isa_ = nullptr;
    const Interface *interface_ = nullptr;
    Buffer *out_ = nullptr;
    std::vector<std::uint32_t> values_;           // node of each output, kNone: left alone
    std::vector<Move> moves_;
    std::vector<std::uint8_t> input_needed_;
    Registers registers_;
    Buffer head_;
    std::shared_ptr<const FoldProgram> folds_;    // that machine_ runs
    std::unique_ptr<FoldMachine> machine_;
    std::vector<std::uint64_t> lanes_;            // 32 values of each needed node
};

constexpr std::size_t kShare = 32;  // programs a thread takes at a time

// Calls `work(compiler, begin, end)` for all shares of 0 .. count, on several threads, each of
// which has a compiler.
void for_each_share(std::size_t count, unsigned threads,
                    const std::function<void(Compiler &, std::size_t, std::size_t)> &work);

// Stubs in one text: stub `n` of the part lies at `places[n]`.
struct Part {
    Part() = default;
    Part(Part &&) = default;
    Part &operator=(Part &&) = default;
    ~Part() {
        if (pool) pool->give(std::move(text));
    }

    struct Place {
        std::size_t begin, end;
    };
    std::size_t first = 0;           // program
    Buffer text;
    std::vector<Place> places;
    std::shared_ptr<BufferPool> pool;  // that the text goes back to
};

// Many programs on several threads.
void compile_many(const Isa &isa, const Interface &interface, const std::vector<Items> &programs,
                  unsigned threads, std::vector<Part> &parts, std::vector<Report> &reports,
                  std::vector<Outcome> &outcomes);
void evaluate_many(const Isa &isa, const Interface &interface, const std::vector<Items> &programs,
                   const Arrays &arrays, unsigned threads, std::uint64_t *out,
                   std::vector<Evaluation> &evaluations, std::vector<Outcome> &outcomes);

}  // namespace ptxkit::stack
