// BLAKE2b (RFC 7693) of short texts to 64 bits, as hashlib.blake2b(text, digest_size=8) gives it.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptxkit::synth {

// The digest read as a little-endian number.
std::uint64_t blake2b_64(std::string_view text);

}  // namespace ptxkit::synth
