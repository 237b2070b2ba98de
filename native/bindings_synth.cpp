// What datasets are made with in bulk: random words, hashes of texts. Numbers go as bytes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "bindings.hpp"
#include "synth/minhash.hpp"
#include "synth/philox.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ptxkit {

namespace {

using Words = std::vector<std::uint64_t>;

nb::bytes to_bytes(const Words &words) {
    return nb::bytes(words.data(), words.size() * sizeof(std::uint64_t));
}

Words to_words(const nb::bytes &bytes) {
    Words words(bytes.size() / sizeof(std::uint64_t));
    if (!words.empty()) std::memcpy(words.data(), bytes.c_str(), words.size() * sizeof(std::uint64_t));
    return words;
}

}  // namespace

void bind_synth(nb::module_ &m) {
    m.def("philox", [](std::uint64_t key, std::size_t count) {
        return to_bytes(synth::philox(key, count));
    }, "key"_a, "count"_a);
    m.def("run_hashes", [](const std::vector<std::string> &tokens, std::size_t length) {
        return to_bytes(synth::run_hashes(tokens, length));
    }, "tokens"_a, "length"_a);
    m.def("least_mixtures", [](const nb::bytes &hashes, const nb::bytes &factors,
                               const nb::bytes &offsets) {
        if (factors.size() != offsets.size()) throw nb::value_error("each factor has an offset");
        return to_bytes(synth::least_mixtures(to_words(hashes), to_words(factors), to_words(offsets)));
    }, "hashes"_a, "factors"_a, "offsets"_a);
}

}  // namespace ptxkit
