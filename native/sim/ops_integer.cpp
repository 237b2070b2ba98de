// Integer arithmetic, logic, shifts and bit fields.
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "lanes.hpp"
#include "operations.hpp"
#include "wide_integer.hpp"

namespace ptxkit::sim {

namespace {

using std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t;

// Arithmetic that wraps: done on the unsigned type, which never overflows in C++. Narrow
// types are widened first, since C++ would promote them to a signed int.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <class T>
T wrap_add(T a, T b) { return static_cast<T>(Wide<T>(a) + Wide<T>(b)); }
template <class T>
T wrap_sub(T a, T b) { return static_cast<T>(Wide<T>(a) - Wide<T>(b)); }
template <class T>
T wrap_mul(T a, T b) { return static_cast<T>(Wide<T>(a) * Wide<T>(b)); }

template <class T>
T high_product(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        if constexpr (std::is_signed_v<T>)
            return static_cast<T>(static_cast<Int128>(a) * b >> 64);
        else
            return static_cast<T>(static_cast<Uint128>(a) * b >> 64);
    } else {
        using Big = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
        return static_cast<T>(static_cast<Big>(a) * static_cast<Big>(b) >> (8 * sizeof(T)));
    }
}

template <class T>
T divide(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});  // what the hardware's routine gives
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return wrap_sub<T>(0, a);
    return static_cast<T>(a / b);
}

template <class T>
T remainder(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});  // as for divide
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
    return static_cast<T>(a % b);
}

template <class T>
T magnitude(T a) { return a < 0 ? wrap_sub<T>(0, a) : a; }

template <class T>
T shift_left(T a, uint32_t n) { return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << n); }

template <class T>
T shift_right(T a, uint32_t n) {
    constexpr uint32_t bits = 8 * sizeof(T);
    if (n >= bits) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> n);
}

// The hardware takes the low byte of a 32-bit field's position and length; 64-bit fields are
// made of shifts by the whole amounts.
template <class T>
uint32_t field_amount(uint32_t value) { return sizeof(T) == 4 ? value & 255 : value; }

// `count` low ones; more than the width are all of them.
template <class U>
U low_ones(uint64_t count) {
    return count >= 8 * sizeof(U) ? ~U{0} : static_cast<U>((U{1} << count) - 1);
}

template <class T>
T extract_field(T a, uint32_t position, uint32_t length) {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t bits = 8 * sizeof(T);
    position = field_amount<T>(position);
    length = field_amount<T>(length);
    if (length == 0) return 0;
    const U ones = low_ones<U>(length);
    const U field = position >= bits ? U{0} : static_cast<U>(static_cast<U>(a) >> position) & ones;
    if constexpr (std::is_signed_v<T>) {
        const auto at = std::min<uint64_t>(uint64_t{position} + length - 1, bits - 1);
        if (static_cast<U>(a) >> at & 1) {
            const uint32_t kept = position >= bits ? 0 : std::min(length, bits - position);
            return static_cast<T>(field | ~low_ones<U>(kept));
        }
    }
    return static_cast<T>(field);
}

template <class T>
T insert_field(T a, T b, uint32_t position, uint32_t length) {
    position = field_amount<T>(position);
    length = field_amount<T>(length);
    if (position >= 8 * sizeof(T)) return b;
    const T ones = static_cast<T>(low_ones<T>(length) << position);
    return static_cast<T>((b & ~ones) | (static_cast<T>(a << position) & ones));
}

template <class T>
uint32_t find_leading(T a, bool amount) {
    using U = std::make_unsigned_t<T>;
    U value = static_cast<U>(a);
    if constexpr (std::is_signed_v<T>)
        if (a < 0) value = ~value;
    if (value == 0) return 0xFFFFFFFFu;
    const uint32_t bits = 8 * sizeof(T);
    const uint32_t position = bits - 1 - static_cast<uint32_t>(std::countl_zero(value));
    return amount ? bits - 1 - position : position;
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t bytes = a | uint64_t{b} << 32;
    uint32_t result = 0;
    for (unsigned n = 0; n < 4; ++n) {
        const uint32_t choice = c >> (4 * n) & 15;
        auto byte = static_cast<uint32_t>(bytes >> (8 * (choice & 7)) & 255);
        if (choice & 8) byte = byte & 0x80 ? 0xFF : 0;
        result |= byte << (8 * n);
    }
    return result;
}

// prmt's modes choose the selector from the low bits of c.
uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c, int64_t mode) {
    static constexpr uint32_t forward[] = {0x3210, 0x4321, 0x5432, 0x6543};
    static constexpr uint32_t backward[] = {0x5670, 0x6701, 0x7012, 0x0123};
    static constexpr uint32_t replicate[] = {0x0000, 0x1111, 0x2222, 0x3333};
    static constexpr uint32_t left[] = {0x3210, 0x3211, 0x3222, 0x3333};
    static constexpr uint32_t right[] = {0x0000, 0x1110, 0x2210, 0x3210};
    static constexpr uint32_t halves[] = {0x1010, 0x3232, 0x1010, 0x3232};
    const uint32_t *tables[] = {forward, backward, replicate, left, right, halves};
    return permute(a, b, tables[mode - 1][c & 3]);
}

uint32_t lookup3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t result = 0;
    for (unsigned n = 0; n < 8; ++n)
        if (table >> n & 1)
            result |= (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
    return result;
}

uint32_t reverse_bits(uint32_t v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0F0F0F0Fu) | (v & 0x0F0F0F0Fu) << 4;
    return std::rotr(((v >> 8 & 0x00FF00FFu) | (v & 0x00FF00FFu) << 8), 16);
}

// ---- tables -----------------------------------------------------------------------------

template <class T>
void add_type(OperationList &list, const std::string &type) {
    const auto add = [&](const char *name, Operation op) { list.push_back({name + type, op}); };
    add("add.", [](Machine &m, const Inst &i) { map2<T, T, T>(m, i, wrap_add<T>); });
    add("sub.", [](Machine &m, const Inst &i) { map2<T, T, T>(m, i, wrap_sub<T>); });
    add("mul.lo.", [](Machine &m, const Inst &i) { map2<T, T, T>(m, i, wrap_mul<T>); });
    add("mul.hi.", [](Machine &m, const Inst &i) { map2<T, T, T>(m, i, high_product<T>); });
    add("mad.lo.", [](Machine &m, const Inst &i) {
        map3<T, T, T, T>(m, i, [](T a, T b, T c) { return wrap_add(wrap_mul(a, b), c); });
    });
    add("mad.hi.", [](Machine &m, const Inst &i) {
        map3<T, T, T, T>(m, i, [](T a, T b, T c) { return wrap_add(high_product(a, b), c); });
    });
    add("div.", [](Machine &m, const Inst &i) { map2<T, T, T>(m, i, divide<T>); });
    add("rem.", [](Machine &m, const Inst &i) { map2<T, T, T>(m, i, remainder<T>); });
    add("min.", [](Machine &m, const Inst &i) {
        map2<T, T, T>(m, i, [](T a, T b) { return std::min(a, b); });
    });
    add("max.", [](Machine &m, const Inst &i) {
        map2<T, T, T>(m, i, [](T a, T b) { return std::max(a, b); });
    });
    if constexpr (std::is_signed_v<T>) {
        add("min.relu.", [](Machine &m, const Inst &i) {
            map2<T, T, T>(m, i, [](T a, T b) { return std::max<T>(std::min(a, b), 0); });
        });
        add("max.relu.", [](Machine &m, const Inst &i) {
            map2<T, T, T>(m, i, [](T a, T b) { return std::max<T>(std::max(a, b), 0); });
        });
    }
    add("sad.", [](Machine &m, const Inst &i) {
        map3<T, T, T, T>(m, i, [](T a, T b, T c) {
            return wrap_add(c, a < b ? wrap_sub(b, a) : wrap_sub(a, b));
        });
    });
    add("shr.", [](Machine &m, const Inst &i) { map2<T, T, uint32_t>(m, i, shift_right<T>); });
    if constexpr (std::is_signed_v<T>) {
        add("abs.", [](Machine &m, const Inst &i) { map1<T, T>(m, i, magnitude<T>); });
        add("neg.", [](Machine &m, const Inst &i) {
            map1<T, T>(m, i, [](T a) { return wrap_sub<T>(0, a); });
        });
    }
    if constexpr (sizeof(T) < 8) {
        using D = std::conditional_t<
            sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
            std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
        add("mul.wide.", [](Machine &m, const Inst &i) {
            map2<D, T, T>(m, i, [](T a, T b) { return static_cast<D>(D(a) * D(b)); });
        });
        add("mad.wide.", [](Machine &m, const Inst &i) {
            map3<D, T, T, D>(m, i, [](T a, T b, D c) { return wrap_add<D>(D(a) * D(b), c); });
        });
    }
    if constexpr (sizeof(T) >= 4) {
        add("bfe.", [](Machine &m, const Inst &i) {
            map3<T, T, uint32_t, uint32_t>(m, i, extract_field<T>);
        });
        add("bfind.", [](Machine &m, const Inst &i) {
            map1<uint32_t, T>(m, i, [](T a) { return find_leading(a, false); });
        });
        add("bfind.shiftamt.", [](Machine &m, const Inst &i) {
            map1<uint32_t, T>(m, i, [](T a) { return find_leading(a, true); });
        });
    }
}

template <class T>
void add_bits(OperationList &list, const std::string &type) {
    const auto add = [&](const char *name, Operation op) { list.push_back({name + type, op}); };
    add("and.", [](Machine &m, const Inst &i) {
        map2<T, T, T>(m, i, [](T a, T b) { return static_cast<T>(a & b); });
    });
    add("or.", [](Machine &m, const Inst &i) {
        map2<T, T, T>(m, i, [](T a, T b) { return static_cast<T>(a | b); });
    });
    add("xor.", [](Machine &m, const Inst &i) {
        map2<T, T, T>(m, i, [](T a, T b) { return static_cast<T>(a ^ b); });
    });
    add("not.", [](Machine &m, const Inst &i) {
        map1<T, T>(m, i, [](T a) { return static_cast<T>(~a); });
    });
    add("cnot.", [](Machine &m, const Inst &i) {
        map1<T, T>(m, i, [](T a) { return static_cast<T>(a == 0); });
    });
    add("shl.", [](Machine &m, const Inst &i) { map2<T, T, uint32_t>(m, i, shift_left<T>); });
    add("mov.", [](Machine &m, const Inst &i) { map1<T, T>(m, i, [](T a) { return a; }); });
    add("selp.", [](Machine &m, const Inst &i) {
        const T *a = m.source<T>(i.slots[1]);
        const T *b = m.source<T>(i.slots[2]);
        const std::uint32_t p = m.predicate(i.slots[3]);
        T result[kLanes];
        for (unsigned l = 0; l < kLanes; ++l) result[l] = p >> l & 1 ? a[l] : b[l];
        put(m, m.destination<T>(i.slots[0]), result);
    });
    add("slct.s32.", [](Machine &m, const Inst &i) {
        map3<T, T, T, int32_t>(m, i, [](T a, T b, int32_t c) { return c >= 0 ? a : b; });
    });
    if constexpr (sizeof(T) >= 4) {
        add("popc.", [](Machine &m, const Inst &i) {
            map1<uint32_t, T>(m, i, [](T a) { return static_cast<uint32_t>(std::popcount(a)); });
        });
        add("clz.", [](Machine &m, const Inst &i) {
            map1<uint32_t, T>(m, i, [](T a) { return static_cast<uint32_t>(std::countl_zero(a)); });
        });
        add("brev.", [](Machine &m, const Inst &i) {
            map1<T, T>(m, i, [](T a) {
                if constexpr (sizeof(T) == 4) return reverse_bits(a);
                else return uint64_t{reverse_bits(static_cast<uint32_t>(a))} << 32 |
                            reverse_bits(static_cast<uint32_t>(a >> 32));
            });
        });
        add("bfi.", [](Machine &m, const Inst &i) {
            const T *a = m.source<T>(i.slots[1]);
            const T *b = m.source<T>(i.slots[2]);
            const uint32_t *c = m.source<uint32_t>(i.slots[3]);
            const uint32_t *d = m.source<uint32_t>(i.slots[4]);
            T result[kLanes];
            for (unsigned l = 0; l < kLanes; ++l) result[l] = insert_field(a[l], b[l], c[l], d[l]);
            put(m, m.destination<T>(i.slots[0]), result);
        });
    }
}

// add.cc and its kin: the carry is a predicate of the frame in slot 4. `immediate` has bit 0
// when the carry comes in, bit 1 when it goes out, bit 2 for subtraction.
template <class T>
void with_carry(Machine &m, const Inst &i) {
    const T *a = m.source<T>(i.slots[1]);
    const T *b = m.source<T>(i.slots[2]);
    std::uint32_t *flags = m.destination<std::uint32_t>(i.slots[4]);
    const bool in = i.immediate & 1, out = i.immediate & 2, subtract = i.immediate & 4;
    std::uint32_t carries = *flags;
    T result[kLanes];
    using Big = std::conditional_t<sizeof(T) == 4, uint64_t, Uint128>;
    for (unsigned l = 0; l < kLanes; ++l) {
        const Big carry = in ? (*flags >> l & 1) : (subtract ? 1 : 0);
        const T right = subtract ? static_cast<T>(~b[l]) : b[l];
        const Big sum = Big(a[l]) + Big(right) + carry;
        result[l] = static_cast<T>(sum);
        const bool carried = (sum >> (8 * sizeof(T))) != 0;
        carries = (carries & ~(1u << l)) | static_cast<std::uint32_t>(carried) << l;
    }
    put(m, m.destination<T>(i.slots[0]), result);
    if (out) *flags = (*flags & ~m.mask) | (carries & m.mask);
}

// mad.cc: bit 3 of `immediate` for the high half, bit 4 for signed factors; c is slot 3.
template <class T>
void product_with_carry(Machine &m, const Inst &i) {
    const T *a = m.source<T>(i.slots[1]);
    const T *b = m.source<T>(i.slots[2]);
    const T *c = m.source<T>(i.slots[3]);
    std::uint32_t *flags = m.destination<std::uint32_t>(i.slots[4]);
    const bool in = i.immediate & 1, out = i.immediate & 2, high = i.immediate & 8;
    const bool is_signed = i.immediate & 16;
    std::uint32_t carries = *flags;
    T result[kLanes];
    using S = std::make_signed_t<T>;
    using Big = std::conditional_t<sizeof(T) == 4, uint64_t, Uint128>;
    for (unsigned l = 0; l < kLanes; ++l) {
        T product = a[l] * b[l];
        if (high)
            product = is_signed ? static_cast<T>(high_product(static_cast<S>(a[l]), static_cast<S>(b[l])))
                                : high_product(a[l], b[l]);
        const Big sum = Big(product) + Big(c[l]) + (in ? (*flags >> l & 1) : 0);
        result[l] = static_cast<T>(sum);
        const bool carried = (sum >> (8 * sizeof(T))) != 0;
        carries = (carries & ~(1u << l)) | static_cast<std::uint32_t>(carried) << l;
    }
    put(m, m.destination<T>(i.slots[0]), result);
    if (out) *flags = (*flags & ~m.mask) | (carries & m.mask);
}

void funnel(Machine &m, const Inst &i) {
    const bool left = i.immediate & 1, wrap = i.immediate & 2;
    map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t n = wrap ? c & 31 : std::min(c, 32u);
        const uint64_t both = uint64_t{b} << 32 | a;
        return static_cast<uint32_t>(left ? both << n >> 32 : both >> n);
    });
}

void dot4(Machine &m, const Inst &i) {
    const bool sa = i.immediate & 1, sb = i.immediate & 2;
    map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
        for (unsigned n = 0; n < 4; ++n) {
            const auto x = static_cast<uint32_t>(a >> (8 * n)), y = static_cast<uint32_t>(b >> (8 * n));
            const int32_t left = sa ? static_cast<std::int8_t>(x) : static_cast<std::uint8_t>(x);
            const int32_t right = sb ? static_cast<std::int8_t>(y) : static_cast<std::uint8_t>(y);
            c += static_cast<uint32_t>(left * right);
        }
        return c;
    });
}

void dot2(Machine &m, const Inst &i) {
    const bool sa = i.immediate & 1, sb = i.immediate & 2, high = i.immediate & 4;
    map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
        for (unsigned n = 0; n < 2; ++n) {
            const auto x = static_cast<uint32_t>(a >> (16 * n));
            const auto y = static_cast<uint32_t>(b >> (8 * (n + (high ? 2 : 0))));
            const int32_t left = sa ? static_cast<int16_t>(x) : static_cast<uint16_t>(x);
            const int32_t right = sb ? static_cast<std::int8_t>(y) : static_cast<std::uint8_t>(y);
            c += static_cast<uint32_t>(left * right);
        }
        return c;
    });
}

}  // namespace

void add_integer_operations(OperationList &list) {
    add_type<uint16_t>(list, "u16");
    add_type<int16_t>(list, "s16");
    add_type<uint32_t>(list, "u32");
    add_type<int32_t>(list, "s32");
    add_type<uint64_t>(list, "u64");
    add_type<int64_t>(list, "s64");
    add_bits<uint16_t>(list, "b16");
    add_bits<uint32_t>(list, "b32");
    add_bits<uint64_t>(list, "b64");
    list.push_back({"add.sat.s32", [](Machine &m, const Inst &i) {
        map2<int32_t, int32_t, int32_t>(m, i, [](int32_t a, int32_t b) {
            return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX));
        });
    }});
    list.push_back({"sub.sat.s32", [](Machine &m, const Inst &i) {
        map2<int32_t, int32_t, int32_t>(m, i, [](int32_t a, int32_t b) {
            return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} - b, INT32_MIN, INT32_MAX));
        });
    }});
    list.push_back({"mad.hi.sat.s32", [](Machine &m, const Inst &i) {
        map3<int32_t, int32_t, int32_t, int32_t>(m, i, [](int32_t a, int32_t b, int32_t c) {
            const int64_t sum = int64_t{high_product(a, b)} + c;
            return static_cast<int32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
        });
    }});
    list.push_back({"carry.b32", with_carry<uint32_t>});
    list.push_back({"carry.b64", with_carry<uint64_t>});
    list.push_back({"madcarry.b32", product_with_carry<uint32_t>});
    list.push_back({"madcarry.b64", product_with_carry<uint64_t>});
    list.push_back({"shf.b32", funnel});
    list.push_back({"dp4a", dot4});
    list.push_back({"dp2a", dot2});
    list.push_back({"prmt.b32", [](Machine &m, const Inst &i) {
        if (i.immediate == 0)
            map3<uint32_t, uint32_t, uint32_t, uint32_t>(m, i, permute);
        else
            map3<uint32_t, uint32_t, uint32_t, uint32_t>(
                m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
                    return permute_mode(a, b, c, i.immediate);
                });
    }});
    list.push_back({"lop3.b32", [](Machine &m, const Inst &i) {
        map3<uint32_t, uint32_t, uint32_t, uint32_t>(
            m, i, [&](uint32_t a, uint32_t b, uint32_t c) {
                return lookup3(a, b, c, static_cast<uint32_t>(i.immediate));
            });
    }});
}

}  // namespace ptxkit::sim
