// What near duplicates are found by: hashes of runs of tokens, and the least of their mixtures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ptxkit::synth {

// The hashes of every run of so many tokens, sorted, without repeats; of all tokens together where
// there are fewer.
std::vector<std::uint64_t> run_hashes(const std::vector<std::string> &tokens, std::size_t length);

// For every factor with its offset, the least mixture of some hashes.
std::vector<std::uint64_t> least_mixtures(const std::vector<std::uint64_t> &hashes,
                                          const std::vector<std::uint64_t> &factors,
                                          const std::vector<std::uint64_t> &offsets);

}  // namespace ptxkit::synth
