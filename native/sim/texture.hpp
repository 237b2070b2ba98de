// Textures and surfaces: arrays of texels that kernels reach through a handle.
#pragma once

#include <cstdint>

namespace ptxkit::sim {

constexpr std::uint64_t kTextureMagic = 0x7465787475726531ull;

enum class Texel : std::uint8_t { U8, S8, U16, S16, U32, S32, F16, F32 };
enum class AddressMode : std::uint8_t { Wrap, Clamp, Mirror, Border };

// What a handle points to; run/textures.py writes it. An array goes by layers (or depth), rows,
// columns and channels.
struct TextureDescriptor {
    std::uint64_t magic;
    std::uint64_t data;
    std::uint64_t bytes;
    std::uint32_t width, height, depth, layers;
    Texel type;
    std::uint8_t channels;
    std::uint8_t dimensions;   // 1 to 3, without layers
    std::uint8_t linear;       // filter; else the nearest texel
    std::uint8_t normalized;   // coordinates go from 0 to 1
    std::uint8_t as_integer;   // texels of integers are read as they are
    std::uint8_t writable;     // a surface
    AddressMode address[3];
    std::uint8_t plain;        // in plain memory: texels by number only
    std::uint8_t padding[5];
};
static_assert(sizeof(TextureDescriptor) == 56);

constexpr unsigned texel_bytes(Texel type) {
    switch (type) {
        case Texel::U8:
        case Texel::S8: return 1;
        case Texel::U16:
        case Texel::S16:
        case Texel::F16: return 2;
        default: return 4;
    }
}

// A place in a texture: coordinates along x, y, z; texels to add to them; a layer.
struct TexturePlace {
    float at[3] = {0, 0, 0};
    std::int32_t index[3] = {0, 0, 0};
    std::int32_t offset[3] = {0, 0, 0};
    bool by_index = false;  // `index` counts texels
    std::uint32_t layer = 0;
};

// The four components at a place, as 32-bit registers. Those that a texture lacks are zero.
void sample(const TextureDescriptor &texture, const TexturePlace &place, std::uint32_t out[4]);

// One component of the four texels around a place, in tld4's order.
void gather(const TextureDescriptor &texture, const TexturePlace &place, unsigned component,
            std::uint32_t out[4]);

}  // namespace ptxkit::sim
