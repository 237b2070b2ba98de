// Filtering as recorded on an H200. A coordinate is rounded to 1/256 of a texel, weights to
// 1/256; texels are cut to four bits below the largest one's last, added exactly, and the sum
// is rounded once to the texels' own precision, ties away from zero.
#include "texture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "half.hpp"

namespace ptxkit::sim {

namespace {

constexpr int kOne = 256;             // of a weight
constexpr double kFar = 0x1p30;       // beyond every texture, and whole 256ths fit 64 bits

bool repeats(AddressMode mode) { return mode == AddressMode::Wrap || mode == AddressMode::Mirror; }

// A coordinate in texels.
double in_texels(const TextureDescriptor &texture, float coordinate, unsigned axis, std::uint32_t size) {
    if (std::isnan(coordinate)) return 0;
    if (!texture.normalized) return std::clamp<double>(coordinate, -kFar, kFar);
    const AddressMode mode = texture.address[axis];
    if (repeats(mode)) {
        if (std::isinf(coordinate)) return 0;
        const double period = mode == AddressMode::Wrap ? 1 : 2;
        const double place = coordinate - std::floor(coordinate / period) * period;
        return std::floor(place * 0x1p21) * 0x1p-21 * size;
    }
    // Normalized coordinates have 21 bits below the point.
    const double place = std::clamp<double>(coordinate, -16, 16);
    return std::clamp(std::floor(place * 0x1p21) * 0x1p-21 * size, -kFar, kFar);
}

// The texel that stands at an index; -1 for the border.
std::int64_t wrap_index(const TextureDescriptor &texture, std::int64_t index, unsigned axis,
                        std::uint32_t extent) {
    const auto size = static_cast<std::int64_t>(extent);
    AddressMode mode = texture.address[axis];
    if (!texture.normalized && repeats(mode)) mode = AddressMode::Clamp;
    switch (mode) {
        case AddressMode::Wrap: return (index % size + size) % size;
        case AddressMode::Mirror: {
            const std::int64_t turn = (index % (2 * size) + 2 * size) % (2 * size);
            return turn >= size ? 2 * size - 1 - turn : turn;
        }
        case AddressMode::Border: return index < 0 || index >= size ? -1 : index;
        default: return std::clamp<std::int64_t>(index, 0, size - 1);
    }
}

// Texels by number: beyond the edges there is nothing, whatever the address mode.
std::int64_t plain_index(std::int64_t index, std::uint32_t extent) {
    return index < 0 || index >= static_cast<std::int64_t>(extent) ? -1 : index;
}

// Two neighbours along an axis, and the weight of the second in 256ths.
struct Axis {
    std::int64_t texels[2] = {0, 0};
    int fraction = 0;
};

struct Footprint {
    Axis axes[3];
    unsigned corners = 1;
};

std::uint32_t extent(const TextureDescriptor &texture, unsigned axis) {
    return axis == 0 ? texture.width : axis == 1 ? texture.height : texture.depth;
}

Footprint nearest(const TextureDescriptor &texture, const TexturePlace &place) {
    Footprint found;
    for (unsigned axis = 0; axis < texture.dimensions; ++axis) {
        const std::uint32_t size = extent(texture, axis);
        if (place.by_index) {
            const std::int64_t index = std::int64_t{place.index[axis]} + place.offset[axis];
            found.axes[axis].texels[0] = plain_index(index, size);
            continue;
        }
        const double texels = std::floor(in_texels(texture, place.at[axis], axis, size));
        const std::int64_t index = static_cast<std::int64_t>(texels) + place.offset[axis];
        found.axes[axis].texels[0] = wrap_index(texture, index, axis, size);
    }
    return found;
}

// `held`: a clamped coordinate stays between the first and the last texel.
Footprint around(const TextureDescriptor &texture, const TexturePlace &place, bool held) {
    Footprint found;
    found.corners = 1u << texture.dimensions;
    for (unsigned axis = 0; axis < texture.dimensions; ++axis) {
        const std::uint32_t size = extent(texture, axis);
        const double texels = in_texels(texture, place.at[axis], axis, size);
        auto at = static_cast<std::int64_t>(std::floor(texels * kOne + 0.5)) - kOne / 2;
        at += std::int64_t{place.offset[axis]} * kOne;
        const AddressMode mode = texture.address[axis];
        if (held && (mode == AddressMode::Clamp || (repeats(mode) && !texture.normalized)))
            at = std::clamp<std::int64_t>(at, 0, std::int64_t{size - 1} * kOne);
        const std::int64_t first = at >> 8;
        found.axes[axis] = {{wrap_index(texture, first, axis, size), wrap_index(texture, first + 1, axis, size)},
                            static_cast<int>(at & 255)};
    }
    return found;
}

// Shares of a weight: the second is rounded half up, or half down.
int share(int weight, int fraction, bool up) { return (weight * fraction + (up ? 128 : 127)) >> 8; }

// Weights are split along z, then x, then y, each rounded; corner bits are x, y, z from the lowest.
void split_weights(const Footprint &footprint, unsigned dimensions, int *weights) {
    const int x = footprint.axes[0].fraction, y = footprint.axes[1].fraction, z = footprint.axes[2].fraction;
    for (unsigned back = 0; back < (dimensions == 3 ? 2u : 1u); ++back) {
        const int slice = dimensions < 3 ? kOne : back ? z : kOne - z;
        const int right = share(slice, x, true);
        for (unsigned side = 0; side < 2; ++side) {
            const int weight = side ? right : slice - right;
            const int below = dimensions < 2 ? 0 : share(weight, y, side == 1);
            weights[side | back << 2] = weight - below;
            weights[side | 2 | back << 2] = below;
        }
    }
}

const std::uint8_t *texel_at(const TextureDescriptor &texture, const Footprint &footprint,
                             unsigned corner, std::uint32_t layer) {
    std::int64_t index[3] = {0, 0, 0};
    for (unsigned axis = 0; axis < texture.dimensions; ++axis) {
        index[axis] = footprint.axes[axis].texels[corner >> axis & 1];
        if (index[axis] < 0) return nullptr;
    }
    const std::uint64_t slice =
        texture.dimensions == 3 ? static_cast<std::uint64_t>(index[2]) : std::min(layer, texture.layers - 1);
    const std::uint64_t place =
        (slice * texture.height + static_cast<std::uint64_t>(index[1])) * texture.width +
        static_cast<std::uint64_t>(index[0]);
    return reinterpret_cast<const std::uint8_t *>(texture.data) +
           place * texture.channels * texel_bytes(texture.type);
}

template <class T>
T read_as(const std::uint8_t *bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

std::int64_t integer_texel(Texel type, const std::uint8_t *bytes) {
    switch (type) {
        case Texel::U8: return read_as<std::uint8_t>(bytes);
        case Texel::S8: return read_as<std::int8_t>(bytes);
        case Texel::U16: return read_as<std::uint16_t>(bytes);
        case Texel::S16: return read_as<std::int16_t>(bytes);
        case Texel::U32: return read_as<std::uint32_t>(bytes);
        default: return read_as<std::int32_t>(bytes);
    }
}

float float_texel(Texel type, const std::uint8_t *bytes) {
    return type == Texel::F16 ? static_cast<float>(half_to_double(read_as<std::uint16_t>(bytes)))
                              : read_as<float>(bytes);
}

bool is_float(Texel type) { return type == Texel::F16 || type == Texel::F32; }

// Integers of eight and sixteen bits as fractions of one, in 16 bits and four below. Signed
// bytes are not quite those of the device: sums differ in their last bit now and then.
std::int64_t wide_fraction(Texel type, const std::uint8_t *bytes) {
    const std::int64_t value = integer_texel(type, bytes);
    switch (type) {
        case Texel::U8: return value * 257 * 16;
        case Texel::S8:
            return static_cast<std::int64_t>(std::floor(static_cast<double>(value) * 32767 * 16 / 127));
        default: return value * 16;
    }
}

float fraction_of_one(Texel type, std::int64_t wide) {
    const bool is_signed = type == Texel::S8 || type == Texel::S16;
    const auto value = static_cast<double>(is_signed ? std::max<std::int64_t>(wide, -32767) : wide);
    return static_cast<float>(value / (is_signed ? 32767.0 : 65535.0));
}

std::uint32_t point_value(const TextureDescriptor &texture, const std::uint8_t *bytes) {
    if (is_float(texture.type)) return std::bit_cast<std::uint32_t>(float_texel(texture.type, bytes));
    if (texture.as_integer || texel_bytes(texture.type) == 4)
        return static_cast<std::uint32_t>(integer_texel(texture.type, bytes));
    const double value = static_cast<double>(integer_texel(texture.type, bytes));
    const bool is_signed = texture.type == Texel::S8 || texture.type == Texel::S16;
    const double largest = (1 << (8 * texel_bytes(texture.type) - (is_signed ? 1 : 0))) - 1;
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::max(value / largest, -1.0)));
}

// The weighted sum of one slice, which is added without loss once its texels are cut.
double slice_sum(const float *values, const int *weights, unsigned count, int fraction) {
    int largest = -10000;
    double odd = 0;
    for (unsigned n = 0; n < count; ++n) {
        if (weights[n] == 0 || values[n] == 0) continue;
        if (!std::isfinite(values[n])) odd += static_cast<double>(values[n]);
        else largest = std::max(largest, std::ilogb(values[n]));
    }
    if (!(odd == 0)) return odd;
    if (largest == -10000) return 0;
    const int unit = largest - fraction - 4;
    std::int64_t sum = 0;
    for (unsigned n = 0; n < count; ++n)
        if (weights[n] != 0)
            sum += weights[n] * static_cast<std::int64_t>(std::ldexp(static_cast<double>(values[n]), -unit));
    return std::ldexp(static_cast<double>(sum), unit - 8);
}

// A sum of floats in their own precision: `fraction` bits, exponents from `least`.
float weighted_sum(const float *values, const int *weights, unsigned count, int fraction, int least) {
    double value = slice_sum(values, weights, std::min(count, 4u), fraction);
    if (count > 4) value += slice_sum(values + 4, weights + 4, count - 4, fraction);
    if (std::isnan(value)) return std::bit_cast<float>(0x7FFFFFFFu);
    if (value == 0 || std::isinf(value)) return static_cast<float>(value);
    const int last = std::max(std::ilogb(value), least) - fraction;
    const double rounded = std::floor(std::ldexp(std::fabs(value), -last) + 0.5);
    return static_cast<float>(std::copysign(std::ldexp(rounded, last), value));
}

}  // namespace

void sample(const TextureDescriptor &texture, const TexturePlace &place, std::uint32_t out[4]) {
    std::fill_n(out, 4, 0u);
    const unsigned bytes = texel_bytes(texture.type);
    const bool filtered = texture.linear && !place.by_index && !texture.as_integer;
    if (!filtered) {
        const std::uint8_t *texel = texel_at(texture, nearest(texture, place), 0, place.layer);
        if (place.by_index && place.layer >= texture.layers) texel = nullptr;
        for (unsigned n = 0; texel != nullptr && n < texture.channels; ++n)
            out[n] = point_value(texture, texel + n * bytes);
        return;
    }
    const Footprint footprint = around(texture, place, true);
    int weights[8] = {};
    split_weights(footprint, texture.dimensions, weights);
    const std::uint8_t *texels[8];
    for (unsigned corner = 0; corner < footprint.corners; ++corner)
        texels[corner] = texel_at(texture, footprint, corner, place.layer);
    for (unsigned n = 0; n < texture.channels; ++n) {
        if (is_float(texture.type)) {
            float values[8];
            for (unsigned corner = 0; corner < footprint.corners; ++corner)
                values[corner] = texels[corner] ? float_texel(texture.type, texels[corner] + n * bytes) : 0.0f;
            const bool half = texture.type == Texel::F16;
            out[n] = std::bit_cast<std::uint32_t>(
                weighted_sum(values, weights, footprint.corners, half ? 10 : 23, half ? -14 : -126));
        } else {
            std::int64_t sum = 0;
            for (unsigned corner = 0; corner < footprint.corners; ++corner)
                if (texels[corner]) sum += weights[corner] * wide_fraction(texture.type, texels[corner] + n * bytes);
            out[n] = std::bit_cast<std::uint32_t>(fraction_of_one(texture.type, (sum + 2048) >> 12));
        }
    }
}

void gather(const TextureDescriptor &texture, const TexturePlace &place, unsigned component,
            std::uint32_t out[4]) {
    static constexpr unsigned kOrder[4] = {2, 3, 1, 0};  // corners, x in the lowest bit
    const Footprint footprint = around(texture, place, false);
    const unsigned bytes = texel_bytes(texture.type);
    for (unsigned n = 0; n < 4; ++n) {
        const std::uint8_t *texel = texel_at(texture, footprint, kOrder[n], place.layer);
        out[n] = texel == nullptr || component >= texture.channels
                     ? 0
                     : point_value(texture, texel + component * bytes);
    }
}

}  // namespace ptxkit::sim
