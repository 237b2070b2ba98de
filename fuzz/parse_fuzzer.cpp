// libFuzzer's entry: any bytes are parsed, and what must hold of every tree is checked.
#include <cstddef>
#include <cstdint>
#include <string>

#include "invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    ptxkit::fuzz::check_all(std::string(reinterpret_cast<const char *>(data), size));
    return 0;
}
