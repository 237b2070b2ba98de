// Philox 4x64-10, the counter-based generator, as numpy.random.Philox(key=key) counts.
#pragma once

#include <cstdint>
#include <vector>

namespace ptxkit::synth {

std::vector<std::uint64_t> philox(std::uint64_t key, std::size_t count);

}  // namespace ptxkit::synth
