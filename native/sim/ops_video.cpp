// Video instructions: scalars with selected bytes or halves, and their two- and four-lane
// forms. Everything is computed on 64-bit integers, which hold every intermediate exactly.
#include <algorithm>

#include "lanes.hpp"
#include "operations.hpp"

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

// The scalar forms are routines of 64-bit instructions on the device, and these are the
// routines: sums wrap to 32 bits, shifts to 34 before they saturate, and a sum or difference
// that is too large for an unsigned result wraps in spite of .sat.
int64_t narrow(int64_t value, const VideoMode &mode) {
    const bool is_sum = mode.primary == kAdd || mode.primary == kSubtract;
    if (!mode.saturate) return is_sum ? extend(static_cast<uint32_t>(value), 32, true) : value;
    const bool is_shift = mode.primary == kShiftLeft || mode.primary == kShiftRight;
    const unsigned width = is_shift ? 32 : kParts[mode.part_d].width;
    if (is_shift) value = static_cast<int64_t>(static_cast<uint64_t>(value) << 30) >> 30;
    const bool wraps = is_sum || mode.primary == kAbsoluteDifference;
    if (width < 32)  // into a part the device compares without a sign
        value = static_cast<int64_t>(std::min(static_cast<uint64_t>(value),
                                              (uint64_t{1} << (width - mode.signed_d)) - 1));
    else if (wraps && width == 32 && !mode.signed_d)
        value = value < 0 ? 0 : value;
    else
        value = saturate(value, width, mode.signed_d);
    return is_sum || is_shift ? extend(static_cast<uint32_t>(value), 32, true) : value;
}

// The second step: with c, in 64 bits. c is extended as the result's type says, the value as
// `narrow` left it, and an unsigned comparison sees its sign as the top bit.
uint32_t combine(int64_t value, uint32_t c, const VideoMode &mode) {
    const int64_t third = extend(c, 32, mode.signed_d);
    const bool less = mode.signed_d ? value < third
                                    : static_cast<uint64_t>(value) < static_cast<uint64_t>(third);
    switch (mode.secondary) {
        case kThenAdd: return static_cast<uint32_t>(value) + c;
        case kThenMinimum: return less ? static_cast<uint32_t>(value) : c;
        case kThenMaximum: return less ? c : static_cast<uint32_t>(value);
        default: break;
    }
    const Part part = kParts[mode.part_d];
    if (!mode.merge || part.width == 32) return static_cast<uint32_t>(value);
    const uint32_t ones = ((1u << part.width) - 1) << part.shift;
    // The upper half is not moved up on the device: it takes the value's upper half.
    const unsigned shift = part.width == 16 ? 0 : part.shift;
    return (c & ~ones) | (static_cast<uint32_t>(value) << shift & ones);
}

// vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset. Slots: d, a, b, c.
void video(Machine &m, const Inst &i) {
    const VideoMode mode(i.immediate);
    map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
        const int64_t x = select(a, kParts[mode.part_a], mode.signed_a);
        const int64_t y = select(b, kParts[mode.part_b], mode.signed_b);
        return combine(narrow(compute(x, y, mode), mode), c, mode);
    });
}

// vmad: a product of parts plus c, shifted right and saturated. Whole registers multiply as
// signed numbers whatever their type; the type says how to shift and to saturate.
void multiply_add(Machine &m, const Inst &i) {
    const VideoMode mode(i.immediate);
    map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
        const auto x = static_cast<std::int32_t>(select(a, kParts[mode.part_a], mode.signed_a));
        const auto y = static_cast<std::int32_t>(select(b, kParts[mode.part_b], mode.signed_b));
        const bool is_signed =
            mode.signed_a || mode.signed_b || mode.negative_product || mode.negative_c;
        // On unsigned numbers, which may wrap: -2^31 times itself and more leaves 63 bits.
        const auto product = static_cast<uint64_t>(int64_t{x} * y);
        const auto third = static_cast<uint64_t>(extend(c, 32, true));
        const uint64_t sum = (mode.negative_product ? 0 - product : product) +
                             (mode.negative_c ? 0 - third : third) + (mode.plus_one ? 1 : 0);
        const int64_t value = is_signed ? static_cast<int64_t>(sum) >> mode.scale
                                        : static_cast<int64_t>(sum >> mode.scale);
        return static_cast<uint32_t>(mode.saturate ? saturate(value, 32, is_signed) : value);
    });
}

// The two- and four-lane forms. `count`: lanes. `target`: four bits for each element of a
// (then of b) that a lane takes, b's elements counting on from a's; `width`: the mask.
void video_lanes(Machine &m, const Inst &i) {
    const VideoMode mode(i.immediate);
    const unsigned width = 32u / i.count;
    map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
        const uint64_t both = uint64_t{b} << 32 | a;
        const auto element = [&](unsigned which, bool is_signed) {
            return extend(static_cast<uint32_t>(both >> (which * width)), width, is_signed);
        };
        uint32_t result = mode.secondary == kThenAdd ? c : 0;
        for (unsigned lane = 0; lane < i.count; ++lane) {
            const uint32_t ones = (width == 16 ? 0xFFFFu : 0xFFu) << (lane * width);
            if (!(i.width >> lane & 1)) {
                if (mode.secondary == kNone) result |= c & ones;
                continue;
            }
            const int64_t x = element(i.target >> (4 * lane) & 15, mode.signed_a);
            const int64_t y = element(i.target >> (4 * lane + 16) & 15, mode.signed_b);
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
