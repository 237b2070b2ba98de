// libFuzzer's entries: any bytes are parsed, and what must hold of every tree is checked.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "invariants.hpp"
#include "mutate.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t limit);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    ptxkit::fuzz::check_all(std::string(reinterpret_cast<const char *>(data), size));
    return 0;
}

// Every second change is one of tokens, the others are libFuzzer's own.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size,
                                               std::size_t limit, unsigned seed) {
    if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, limit);
    std::mt19937_64 random(seed);
    std::string text(reinterpret_cast<const char *>(data), size);
    for (unsigned changes = 1 + seed / 2 % 3; changes > 0; --changes)
        ptxkit::fuzz::mutate_tokens(text, random);
    if (text.size() > limit) text.resize(limit);
    std::memcpy(data, text.data(), text.size());
    return text.size();
}
