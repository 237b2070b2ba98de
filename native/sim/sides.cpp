#include "sides.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "convert.hpp"
#include "machine.hpp"

namespace ptxkit::sim {

namespace {

constexpr std::int64_t kBoolean = 3, kSaturate = 8;  // bits of setp's immediate, and of a float mode

// Bit n of the result: whether the nth of some conditions held in a lane.
template <class... Conditions>
std::uint8_t seen(std::uint32_t lanes, Conditions... conditions) {
    std::uint8_t found = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        unsigned bit = 0;
        ((found |= static_cast<std::uint8_t>(unsigned{static_cast<bool>(conditions(lane))} << bit++)), ...);
    }
    return found;
}

std::uint8_t truth(std::uint32_t predicate, std::uint32_t lanes) {
    return static_cast<std::uint8_t>(((predicate & lanes) != 0) | ((~predicate & lanes) != 0) << 1);
}

// Keeps what a slot holds while an operation is tried out on it.
class Kept {
  public:
    Kept(Machine &m, std::uint32_t slot, std::size_t bytes) : bytes_(bytes) {
        if (slot == kNoSlot) return;
        place_ = m.destination<std::uint8_t>(slot);
        std::memcpy(held_.data(), place_, bytes_);
    }
    ~Kept() {
        if (place_ != nullptr) std::memcpy(place_, held_.data(), bytes_);
    }
    Kept(const Kept &) = delete;
    Kept &operator=(const Kept &) = delete;

  private:
    std::uint8_t *place_ = nullptr;
    std::size_t bytes_;
    std::array<std::uint8_t, kLanes * 8> held_{};
};

// A comparison held, and it did not; with a further predicate, one decided without the other.
std::uint8_t compared(Machine &m, const Inst &i, std::uint32_t lanes) {
    const Kept p(m, i.slots[0], 4), q(m, i.slots[1], 4);
    const std::uint32_t other = i.immediate & kBoolean ? m.predicate(i.slots[4]) : 0;
    Inst raw = i;
    raw.immediate &= ~kBoolean;
    raw.slots[4] = kNoSlot;
    i.operation(m, raw);
    const bool first = i.slots[0] != kNoSlot;
    if (!first && i.slots[1] == kNoSlot) return 3;
    const std::uint32_t found = m.predicate(first ? i.slots[0] : i.slots[1]);
    if ((i.immediate & kBoolean) == 0) return truth(found, lanes);
    return static_cast<std::uint8_t>(((found & ~other & lanes) != 0) | ((~found & other & lanes) != 0) << 1);
}

// Whether two numbers are the same, or next to each other.
template <class T>
bool beside(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a == b || std::nextafter(a, b) == b;
    else return a == b || (a < b ? T(b - a) : T(a - b)) == T{1};
}

// Whether a little less, or more, is all there is: where numbers without a sign begin again.
template <class T>
bool at_an_end(T a) {
    if constexpr (std::is_unsigned_v<T>) return a == T{0} || a == T(-1);
    else return false;
}

// As above; and it held, and did not, for numbers so near that a little more turns it round; and
// for the first and the last of all, which nobody waits for.
template <class T>
std::uint8_t compared_near(Machine &m, const Inst &i, std::uint32_t lanes) {
    const std::uint8_t found = compared(m, i, lanes);
    const T *a = m.source<T>(i.slots[2]), *b = m.source<T>(i.slots[3]);
    std::uint32_t near = 0, ends = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
        near |= std::uint32_t{beside(a[l], b[l])} << l;
        ends |= std::uint32_t{at_an_end(a[l])} << l;
    }
    if (((near | ends) & lanes) == 0) return found;
    const Kept p(m, i.slots[0], 4), q(m, i.slots[1], 4);
    Inst raw = i;
    raw.immediate &= ~kBoolean;
    raw.slots[4] = kNoSlot;
    i.operation(m, raw);
    const bool first = i.slots[0] != kNoSlot;
    if (!first && i.slots[1] == kNoSlot) return 15;
    const std::uint32_t held = m.predicate(first ? i.slots[0] : i.slots[1]);
    return static_cast<std::uint8_t>(found | truth(held, near & lanes) << 2 | truth(held, ends & lanes) << 4);
}

// Two predicates: either of them alone was true.
std::uint8_t joined(Machine &m, const Inst &i, std::uint32_t lanes) {
    const std::uint32_t a = m.predicate(i.slots[1]), b = m.predicate(i.slots[2]);
    return static_cast<std::uint8_t>(((a & ~b & lanes) != 0) | ((~a & b & lanes) != 0) << 1);
}

std::uint8_t chosen(Machine &m, const Inst &i, std::uint32_t lanes) {
    return truth(m.predicate(i.slots[3]), lanes);
}

template <class T>
std::uint8_t chosen_by_sign(Machine &m, const Inst &i, std::uint32_t lanes) {
    const T *c = m.source<T>(i.slots[3]);
    return seen(lanes, [&](unsigned l) { return c[l] >= 0; }, [&](unsigned l) { return !(c[l] >= 0); });
}

template <class T>
struct Judges {
    static std::uint8_t ordered(Machine &m, const Inst &i, std::uint32_t lanes) {
        const T *a = m.source<T>(i.slots[1]), *b = m.source<T>(i.slots[2]);
        return seen(lanes, [&](unsigned l) { return a[l] < b[l]; }, [&](unsigned l) { return b[l] < a[l]; });
    }
    static std::uint8_t negative(Machine &m, const Inst &i, std::uint32_t lanes) {
        const T *a = m.source<T>(i.slots[1]);
        return seen(lanes, [&](unsigned l) { return a[l] < 0; }, [&](unsigned l) { return a[l] > 0; });
    }
    // Bits of the first were cut off above those that the second begins with; some were left, some
    // not; and some were cut off below, as by a mask that aligns.
    static std::uint8_t masked(Machine &m, const Inst &i, std::uint32_t lanes) {
        const T *a = m.source<T>(i.slots[1]), *b = m.source<T>(i.slots[2]);
        const auto below = [&](unsigned l) { return static_cast<T>((b[l] & (~b[l] + 1u)) - 1u); };
        // A mask that aligns may leave out the sign of what cannot be negative.
        const auto above = [&](unsigned l) {
            const T low = below(l), rest = static_cast<T>(~b[l] & ~low);
            constexpr T sign = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
            return low != 0 && rest == sign ? T{0} : rest;
        };
        return seen(lanes, [&](unsigned l) { return (a[l] & above(l)) != 0 || above(l) == 0; },
                    [&](unsigned l) { return (a[l] & b[l]) != 0; },
                    [&](unsigned l) { return (b[l] & ~a[l]) != 0; },
                    [&](unsigned l) { return (a[l] & below(l)) != 0 || below(l) == 0; });
    }
    // Something was left.
    static std::uint8_t shifted(Machine &m, const Inst &i, std::uint32_t lanes) {
        const T *a = m.source<T>(i.slots[1]);
        const std::uint32_t *by = m.source<std::uint32_t>(i.slots[2]);
        return seen(lanes, [&](unsigned l) { return by[l] < 8 * sizeof(T) && a[l] >> by[l] != 0; });
    }
    // The first was as large as the second, so that division does something.
    static std::uint8_t divided(Machine &m, const Inst &i, std::uint32_t lanes) {
        const T *a = m.source<T>(i.slots[1]), *b = m.source<T>(i.slots[2]);
        return seen(lanes, [&](unsigned l) { return b[l] != 0 && (b[l] == T(-1) || a[l] / b[l] != 0); },
                    [&](unsigned l) { return b[l] != 0 && b[l] != T(-1) && a[l] % b[l] != 0; });
    }
    // There was something above the field; there was something in it.
    static std::uint8_t extracted(Machine &m, const Inst &i, std::uint32_t lanes) {
        using U = std::make_unsigned_t<T>;
        const U *a = m.source<U>(i.slots[1]);
        const std::uint32_t *from = m.source<std::uint32_t>(i.slots[2]);
        const std::uint32_t *length = m.source<std::uint32_t>(i.slots[3]);
        const auto above = [&](unsigned l, std::uint64_t by) -> U {
            return by >= 8 * sizeof(T) ? U{0} : static_cast<U>(a[l] >> by);
        };
        const auto rest = [&](unsigned l) { return above(l, std::uint64_t{from[l]} + length[l]); };
        return seen(lanes, [&](unsigned l) { return rest(l) != 0; },
                    [&](unsigned l) {
                        const U shifted_back = length[l] >= 8 * sizeof(T) ? U{0} : static_cast<U>(rest(l) << length[l]);
                        return above(l, from[l]) != shifted_back;
                    });
    }
};

// Something came of it: not only zeros, or the signs of a product that has no upper half.
template <class T>
std::uint8_t resulted(Machine &m, const Inst &i, std::uint32_t lanes) {
    const Kept kept(m, i.slots[0], kLanes * sizeof(T));
    i.operation(m, i);
    const T *found = m.destination<T>(i.slots[0]);
    return seen(lanes, [&](unsigned l) {
        if constexpr (std::is_signed_v<T>) return found[l] != 0 && found[l] != T(-1);
        else return found[l] != 0;
    });
}

// A product was added, not only zero, or the signs of one that has no upper half.
template <class T>
std::uint8_t added(Machine &m, const Inst &i, std::uint32_t lanes) {
    using U = std::make_unsigned_t<T>;
    std::array<U, kLanes> before{};
    std::copy_n(m.source<U>(i.slots[3]), kLanes, before.begin());
    const Kept kept(m, i.slots[0], kLanes * sizeof(T));
    i.operation(m, i);
    const U *found = m.destination<U>(i.slots[0]);
    return seen(lanes, [&](unsigned l) {
        const U more = static_cast<U>(found[l] - before[l]);
        if constexpr (std::is_signed_v<T>) return more != 0 && more != U(-1);
        else return more != 0;
    });
}

Sides upper_half_sides(const std::string &type, bool adds) {
    if (type == "u16") return {adds ? added<std::uint16_t> : resulted<std::uint16_t>, 1};
    if (type == "u32") return {adds ? added<std::uint32_t> : resulted<std::uint32_t>, 1};
    if (type == "u64") return {adds ? added<std::uint64_t> : resulted<std::uint64_t>, 1};
    if (type == "s16") return {adds ? added<std::int16_t> : resulted<std::int16_t>, 1};
    if (type == "s32") return {adds ? added<std::int32_t> : resulted<std::int32_t>, 1};
    if (type == "s64") return {adds ? added<std::int64_t> : resulted<std::int64_t>, 1};
    return {};
}

// What is beyond the range was taken back to its lower end, and to its upper one.
std::uint8_t saturated(Machine &m, const Inst &i, std::uint32_t lanes) {
    const Kept kept(m, i.slots[0], kLanes * sizeof(float));
    Inst free = i;
    free.immediate &= ~kSaturate;
    i.operation(m, free);
    const float *found = m.destination<float>(i.slots[0]);
    return seen(lanes, [&](unsigned l) { return found[l] < 0; }, [&](unsigned l) { return found[l] > 1; });
}

// Numbers that are equal are as near as can be; what orders them must be seen at its edge.
Sides comparison_sides(const std::string &condition, const std::string &type) {
    const bool orders = condition.starts_with('l') || condition.starts_with('g') || condition.starts_with('h');
    if (!orders) return {compared, 3};
    if (type == "u16") return {compared_near<std::uint16_t>, 15};
    if (type == "u32") return {compared_near<std::uint32_t>, 15};
    if (type == "u64") return {compared_near<std::uint64_t>, 15};
    if (type == "s16") return {compared_near<std::int16_t>, 15};
    if (type == "s32") return {compared_near<std::int32_t>, 15};
    if (type == "s64") return {compared_near<std::int64_t>, 15};
    if (type == "f32") return {compared_near<float>, 15};
    if (type == "f64") return {compared_near<double>, 15};
    return {compared, 3};
}

template <class T>
Sides integer_sides(const std::string &name) {
    if (name == "min" || name == "max") return {Judges<T>::ordered, 3};
    if (name == "and") return {Judges<T>::masked, 15};
    if (name == "shr") return {Judges<T>::shifted, 1};
    if (name == "div" || name == "rem") return {Judges<T>::divided, 3};
    if constexpr (sizeof(T) >= 4)
        if (name == "bfe") return {Judges<T>::extracted, 3};
    if constexpr (std::is_signed_v<T>)
        if (name == "abs") return {Judges<T>::negative, 3};
    return {};
}

template <class T>
Sides float_sides(const std::string &name, const Inst &inst) {
    if (name == "min" || name == "max") return {Judges<T>::ordered, 3};
    if (name == "abs") return {Judges<T>::negative, 3};
    const bool rounds = name == "add" || name == "sub" || name == "mul" || name == "fma";
    if (rounds && inst.immediate & kSaturate && sizeof(T) == sizeof(float)) return {saturated, 3};
    return {};
}

// A float was not only between the two integers next to 0; above those of a saturation.
template <class T>
std::uint8_t made_an_integer(Machine &m, const Inst &i, std::uint32_t lanes) {
    return static_cast<std::uint8_t>(resulted<T>(m, i, lanes) << 2);
}

Sides conversion_sides(const Inst &inst) {
    const std::uint32_t from = inst.target & 255, to = inst.target >> 8 & 255;
    if (to == kF32 && inst.width == sizeof(float) && inst.immediate & kSaturate) return {saturated, 3};
    if (from < kF16 || to >= kF16) return {};
    if (inst.width == 2) return {made_an_integer<std::uint16_t>, 4};
    if (inst.width == 4) return {made_an_integer<std::uint32_t>, 4};
    if (inst.width == 8) return {made_an_integer<std::uint64_t>, 4};
    return {};
}

}  // namespace

Sides find_sides(const std::string &operation, const Inst &inst) {
    const std::size_t first = operation.find('.'), last = operation.rfind('.');
    if (operation == "cvt") return conversion_sides(inst);
    if (operation == "dp4a" || operation == "dp2a") return {added<std::uint32_t>, 1};
    if (first == std::string::npos) return {};
    const std::string name = operation.substr(0, first), type = operation.substr(last + 1);
    if (name == "setp") return comparison_sides(operation.substr(first + 1, last - first - 1), type);
    if (name == "selp") return {chosen, 3};
    if (operation.starts_with("slct.s32.")) return {chosen_by_sign<std::int32_t>, 3};
    if (name == "slct") return {chosen_by_sign<float>, 3};
    if (operation == "and.pred" || operation == "or.pred" || operation == "xor.pred") return {joined, 3};
    if (operation.starts_with("mul.hi.")) return upper_half_sides(type, false);
    if (operation.starts_with("mad.hi.")) return upper_half_sides(type, true);
    for (const char *one : {"prmt.b32", "shf.b32", "lop3.b32"})
        if (operation == one) return {resulted<std::uint32_t>, 1};
    if (first != last) return {};
    if (type == "u16" || type == "b16") return integer_sides<std::uint16_t>(name);
    if (type == "u32" || type == "b32") return integer_sides<std::uint32_t>(name);
    if (type == "u64" || type == "b64") return integer_sides<std::uint64_t>(name);
    if (type == "s16") return integer_sides<std::int16_t>(name);
    if (type == "s32") return integer_sides<std::int32_t>(name);
    if (type == "s64") return integer_sides<std::int64_t>(name);
    if (type == "f32") return float_sides<float>(name, inst);
    if (type == "f64") return float_sides<double>(name, inst);
    return {};
}

}  // namespace ptxkit::sim
