#include "blake2b.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ptxkit::synth {

namespace {

constexpr std::size_t kBlock = 128;
constexpr std::uint64_t kStart[8] = {
    0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
    0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u,
};
constexpr std::uint8_t kOrder[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
};

std::uint64_t word_at(const unsigned char *bytes) {
    std::uint64_t word = 0;
    for (unsigned n = 8; n-- > 0;) word = word << 8 | bytes[n];
    return word;
}

void mix(std::uint64_t *v, unsigned a, unsigned b, unsigned c, unsigned d, std::uint64_t x,
         std::uint64_t y) {
    v[a] += v[b] + x;
    v[d] = std::rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = std::rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 63);
}

void compress(std::uint64_t *state, const unsigned char *block, std::uint64_t count, bool last) {
    std::uint64_t v[16], m[16];
    std::copy_n(state, 8, v);
    std::copy_n(kStart, 8, v + 8);
    v[12] ^= count;  // its upper half is zero for texts that fit memory
    if (last) v[14] = ~v[14];
    for (unsigned n = 0; n < 16; ++n) m[n] = word_at(block + 8 * n);
    for (const auto &s : kOrder) {
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (unsigned n = 0; n < 8; ++n) state[n] ^= v[n] ^ v[n + 8];
}

}  // namespace

std::uint64_t blake2b_64(std::string_view text) {
    std::uint64_t state[8];
    std::copy_n(kStart, 8, state);
    state[0] ^= 0x01010000u ^ sizeof(std::uint64_t);  // no key, one lane, the size of the digest
    std::size_t done = 0;
    unsigned char block[kBlock];
    do {
        const std::size_t size = std::min(kBlock, text.size() - done);
        std::memset(block, 0, kBlock);
        if (size != 0) std::memcpy(block, text.data() + done, size);
        done += size;
        compress(state, block, done, done == text.size());
    } while (done < text.size());
    return state[0];
}

}  // namespace ptxkit::synth
