// The registers of a stub: their names, and which of them are free.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "graph.hpp"

namespace ptxkit::stack {

// Gives registers to values. Names that were made stay for the next program.
class Registers {
  public:
    void start(const Isa &isa, const Interface &interface);

    // Of the inputs, the outputs, and all registers.
    const Label *labels() const { return labels_.data(); }
    std::uint32_t taken(std::size_t kind) const { return classes_[kind].taken; }
    std::size_t kinds() const { return classes_.size(); }

    // A register for a value that has none.
    void take(Node &node) {
        if (node.place != kNone) return;
        const std::uint8_t kind = kind_of_[node.stack];
        Class &one = classes_[kind];
        if (one.unused == kNone) [[unlikely]] add(kind);
        node.place = one.unused;
        one.unused = next_[node.place];
    }
    // At the last use of a value its register is free again.
    void give_back(Node &node, std::uint32_t at) {
        // One comparison for what has no register, and for inputs and outputs.
        if (node.last_use != at || node.place - first_ >= kNone - first_) return;
        Class &one = classes_[kind_of_[node.stack]];
        next_[node.place] = one.unused;
        one.unused = node.place;
        node.last_use = kNone;  // once, though it may be an argument twice
    }

  private:
    struct Class {
        std::uint32_t unused = kNone;  // label of the first one; next_ has the others
        std::uint32_t taken = 0;       // that are declared
    };
    void add(std::uint8_t kind);

    const Interface *interface_ = nullptr;
    std::uint64_t serial_ = 0;                        // of the interface the names are for
    std::uint32_t first_ = 0;                         // label that is no input or output
    std::vector<Class> classes_;
    std::vector<std::uint8_t> kind_of_;               // class of each stack
    std::vector<std::vector<std::uint32_t>> known_;   // labels of each class
    std::vector<Label> labels_;
    std::vector<std::uint32_t> next_;
    std::deque<std::string> long_names_;
};

}  // namespace ptxkit::stack
