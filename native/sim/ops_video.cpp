// Video instructions: scalars with selected bytes or halves, and their two- and four-lane
// forms. Everything is computed on 64-bit integers, which hold every intermediate exactly.
#include <algorithm>

#include "lanes.hpp"
#include "operations.hpp"
#include "wide_integer.hpp"

namespace ptxkit::sim {

namespace {

using std::int64_t, std::uint32_t, std::uint64_t;

enum Primary : unsigned { kAdd, kSubtract, kAbsoluteDifference, kMinimum, kMaximum, kShiftLeft, kShiftRight, kSet, kAverage };
enum Secondary : unsigned { kNone, kThenAdd, kThenMinimum, kThenMaximum };
enum Comparison : unsigned { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

// Which bytes of a register: all, one of four bytes, one of two halves.
struct Part {
    unsigned shift, width;
};
constexpr Part kParts[] = {{0, 32}, {0, 8}, {8, 8}, {16, 8}, {24, 8}, {0, 16}, {16, 16}};

// Fields of Inst::immediate, from the lowest bit up; see lowering/video.py.
struct VideoMode {
    explicit VideoMode(int64_t immediate) {
        auto bits = static_cast<uint64_t>(immediate);
        const auto take = [&bits](unsigned width) {
            const auto field = static_cast<unsigned>(bits & ((1u << width) - 1));
            bits >>= width;
            return field;
        };
        primary = take(4), comparison = take(3), secondary = take(2);
        signed_d = take(1), signed_a = take(1), signed_b = take(1);
        saturate = take(1), wrap = take(1), merge = take(1);
        part_d = take(3), part_a = take(3), part_b = take(3);
        plus_one = take(1), negative_product = take(1), negative_c = take(1), scale = take(4);
    }
    unsigned primary, comparison, secondary;
    bool signed_d, signed_a, signed_b, saturate, wrap;
    bool merge;  // an unselected part of d comes from c
    unsigned part_d, part_a, part_b;
    bool plus_one, negative_product, negative_c;
    unsigned scale;
};

int64_t extend(uint32_t value, unsigned width, bool is_signed) {
    const unsigned shift = 64 - width;
    const uint64_t top = uint64_t{value} << shift;
    return is_signed ? static_cast<int64_t>(top) >> shift : static_cast<int64_t>(top >> shift);
}

int64_t select(uint32_t value, Part part, bool is_signed) {
    return extend(value >> part.shift, part.width, is_signed);
}

int64_t saturate(int64_t value, unsigned width, bool is_signed) {
    const int64_t top = (int64_t{1} << (is_signed ? width - 1 : width)) - 1;
    return std::clamp(value, is_signed ? -top - 1 : int64_t{0}, top);
}

bool compare(int64_t a, int64_t b, unsigned comparison) {
    const bool answers[] = {a == b, a != b, a < b, a <= b, a > b, a >= b};
    return answers[comparison];
}

int64_t compute(int64_t a, int64_t b, const VideoMode &mode) {
    switch (mode.primary) {
        case kAdd: return a + b;
        case kSubtract: return a - b;
        case kAbsoluteDifference: return a < b ? b - a : a - b;
        case kMinimum: return std::min(a, b);
        case kMaximum: return std::max(a, b);
        case kSet: return compare(a, b, mode.comparison);
        case kAverage: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
        default: break;
    }
    const auto amount = static_cast<unsigned>(mode.wrap ? b & 31 : std::min<int64_t>(b, 32));
    if (mode.primary == kShiftRight) return a >> amount;
    return static_cast<int64_t>(static_cast<uint64_t>(a) << amount);
}

uint32_t combine(int64_t value, uint32_t c, const VideoMode &mode) {
    const int64_t third = extend(c, 32, mode.signed_d);
    const int64_t first = extend(static_cast<uint32_t>(value), 32, mode.signed_d);
    switch (mode.secondary) {
        case kThenAdd: return static_cast<uint32_t>(value) + c;
        case kThenMinimum: return static_cast<uint32_t>(std::min(first, third));
        case kThenMaximum: return static_cast<uint32_t>(std::max(first, third));
        default: break;
    }
    const Part part = kParts[mode.part_d];
    if (!mode.merge || part.width == 32) return static_cast<uint32_t>(value);
    const uint32_t ones = ((1u << part.width) - 1) << part.shift;
    return (c & ~ones) | (static_cast<uint32_t>(value) << part.shift & ones);
}

// vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset. Slots: d, a, b, c.
void video(Machine &m, const Inst &i) {
    const VideoMode mode(i.immediate);
    map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
        const int64_t x = select(a, kParts[mode.part_a], mode.signed_a);
        const int64_t y = select(b, kParts[mode.part_b], mode.signed_b);
        int64_t value = compute(x, y, mode);
        if (mode.saturate) value = saturate(value, kParts[mode.part_d].width, mode.signed_d);
        return combine(value, c, mode);
    });
}

// vmad: a product of parts plus c, shifted right and saturated.
void multiply_add(Machine &m, const Inst &i) {
    const VideoMode mode(i.immediate);
    map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
        const int64_t x = select(a, kParts[mode.part_a], mode.signed_a);
        const int64_t y = select(b, kParts[mode.part_b], mode.signed_b);
        const bool is_signed =
            mode.signed_a || mode.signed_b || mode.negative_product || mode.negative_c;
        const Int128 product = static_cast<Int128>(x) * y;
        const Int128 third = extend(c, 32, is_signed);
        Int128 sum = (mode.negative_product ? -product : product) +
                       (mode.negative_c ? -third : third) + (mode.plus_one ? 1 : 0);
        sum >>= mode.scale;
        if (mode.saturate) {
            const Int128 low = is_signed ? INT32_MIN : 0;
            const Int128 high = is_signed ? INT32_MAX : UINT32_MAX;
            sum = std::clamp(sum, low, high);
        }
        return static_cast<uint32_t>(static_cast<uint64_t>(sum));
    });
}

// The two- and four-lane forms. `count`: lanes. `target`: four bits for each element of a
// (then of b) that a lane takes, b's elements counting on from a's; `width`: the mask.
void video_lanes(Machine &m, const Inst &i) {
    const VideoMode mode(i.immediate);
    const unsigned width = 32u / i.count;
    map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
        const uint64_t both = uint64_t{b} << 32 | a;
        const auto element = [&](unsigned which, bool signed_a, bool signed_b) {
            const auto part = static_cast<uint32_t>(both >> (which * width));
            return extend(part, width, which < i.count ? signed_a : signed_b);
        };
        uint32_t result = mode.secondary == kThenAdd ? c : 0;
        for (unsigned lane = 0; lane < i.count; ++lane) {
            const uint32_t ones = (width == 16 ? 0xFFFFu : 0xFFu) << (lane * width);
            if (!(i.width >> lane & 1)) {
                if (mode.secondary == kNone) result |= c & ones;
                continue;
            }
            const int64_t x = element(i.target >> (4 * lane) & 15, mode.signed_a, mode.signed_b);
            const int64_t y = element(i.target >> (4 * lane + 16) & 15, mode.signed_a, mode.signed_b);
            int64_t value = compute(x, y, mode);
            if (mode.saturate) value = saturate(value, width, mode.signed_d);
            if (mode.secondary == kThenAdd) result += static_cast<uint32_t>(value);
            else result |= static_cast<uint32_t>(value) << (lane * width) & ones;
        }
        return result;
    });
}

}  // namespace

void add_video_operations(OperationList &list) {
    list.push_back({"video", video});
    list.push_back({"vmad", multiply_add});
    list.push_back({"video.lanes", video_lanes});
}

}  // namespace ptxkit::sim
