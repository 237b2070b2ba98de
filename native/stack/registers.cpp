#include "registers.hpp"

#include "buffer.hpp"

namespace ptxkit::stack {

Label::Label(const std::string &name) : length(static_cast<std::uint32_t>(name.size() + 2)) {
    std::memcpy(text, ", ", 2);
    if (length > kChunk) more = &name;
    else std::memcpy(text + 2, name.data(), name.size());
}

void Registers::start(const Isa &isa, const Interface &interface) {
    interface_ = &interface;
    if (serial_ != interface.serial) {
        serial_ = interface.serial;
        labels_ = interface.labels;
        next_.assign(labels_.size(), kNone);
        first_ = static_cast<std::uint32_t>(labels_.size());
        kind_of_ = isa.classes;
        known_.assign(isa.class_types.size(), {});
        long_names_.clear();
    }
    classes_.assign(isa.class_types.size(), {});
}

// One more register of a class, which has none free.
void Registers::add(std::uint8_t kind) {
    Class &one = classes_[kind];
    std::vector<std::uint32_t> &known = known_[kind];
    if (one.taken == known.size()) {
        std::string name = interface_->prefixes[kind] + std::to_string(known.size());
        known.push_back(static_cast<std::uint32_t>(labels_.size()));
        if (name.size() + 2 > kChunk) labels_.emplace_back(long_names_.emplace_back(std::move(name)));
        else labels_.emplace_back(name);
        next_.push_back(kNone);
    }
    one.unused = known[one.taken++];
    next_[one.unused] = kNone;
}

}  // namespace ptxkit::stack
