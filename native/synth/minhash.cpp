#include "minhash.hpp"

#include <algorithm>

#include "blake2b.hpp"

namespace ptxkit::synth {

std::vector<std::uint64_t> run_hashes(const std::vector<std::string> &tokens, std::size_t length) {
    const std::size_t runs = tokens.size() > length ? tokens.size() - length + 1 : 1;
    std::vector<std::uint64_t> hashes;
    hashes.reserve(runs);
    std::string run;
    for (std::size_t from = 0; from < runs; ++from) {
        run.clear();
        const std::size_t end = std::min(tokens.size(), from + length);
        for (std::size_t at = from; at < end; ++at) {
            if (at != from) run += ' ';
            run += tokens[at];
        }
        hashes.push_back(blake2b_64(run));
    }
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    return hashes;
}

std::vector<std::uint64_t> least_mixtures(const std::vector<std::uint64_t> &hashes,
                                          const std::vector<std::uint64_t> &factors,
                                          const std::vector<std::uint64_t> &offsets) {
    std::vector<std::uint64_t> least(factors.size(), UINT64_MAX);
    for (std::size_t n = 0; n < factors.size(); ++n)
        for (std::uint64_t hash : hashes) {
            const std::uint64_t mixed = hash * factors[n] + offsets[n];
            least[n] = std::min(least[n], mixed ^ mixed >> 29);
        }
    return least;
}

}  // namespace ptxkit::synth
