// tex, tld4, txq, and the surface instructions, on handles of textures made from arrays.
#include <atomic>
#include <bit>
#include <cstring>

#include "access.hpp"
#include "half.hpp"
#include "operations.hpp"
#include "texture.hpp"

namespace ptxkit::sim {

namespace {

// The texture of a handle. Kernels cannot write descriptors: they lie in read-only buffers.
const TextureDescriptor &find_texture(Machine &m, std::uint64_t handle, unsigned lane) {
    const Buffer *buffer = m.engine.buffers.find(handle);
    if (buffer != nullptr && buffer->begin == handle && !buffer->writable &&
        buffer->end - buffer->begin == sizeof(TextureDescriptor)) {
        const auto &found = *reinterpret_cast<const TextureDescriptor *>(handle);
        if (found.magic == kTextureMagic) return found;
    }
    m.fault("bad-handle",
            "the handle is no texture or surface of this launch; pass a ptxkit.run.Texture or Surface, or set "
            "the module's .texref or .surfref",
            lane, handle);
}

// Inst::count of these operations: how an instruction names a place.
struct Geometry {
    explicit Geometry(unsigned bits)
        : dimensions(bits & 3), layered(bits >> 2 & 1), by_index(bits >> 3 & 1), offsets(bits >> 4 & 1) {}
    unsigned dimensions;
    bool layered, by_index, offsets;
};

// The operand list: four destinations, the layer, coordinates, offsets.
TexturePlace place_of(const Machine &m, const std::uint32_t *slots, const Geometry &geometry, unsigned lane) {
    TexturePlace place;
    unsigned next = 0;
    if (geometry.layered) place.layer = m.source<std::uint32_t>(slots[next++])[lane];
    place.by_index = geometry.by_index;
    for (unsigned axis = 0; axis < geometry.dimensions; ++axis, ++next) {
        place.index[axis] = m.source<std::int32_t>(slots[next])[lane];
        place.at[axis] = std::bit_cast<float>(place.index[axis]);
    }
    for (unsigned axis = 0; geometry.offsets && axis < geometry.dimensions; ++axis)
        place.offset[axis] = m.source<std::int32_t>(slots[next++])[lane];
    return place;
}

void check_shape(Machine &m, const TextureDescriptor &texture, const Geometry &geometry, unsigned lane) {
    if (texture.dimensions != geometry.dimensions)
        m.fault("bad-handle",
                "a texture of " + std::to_string(texture.dimensions) + " dimensions, used with " +
                    std::to_string(geometry.dimensions),
                lane);
}

// Slots: handle, predicate. `immediate`: 0 sample, 1 to 4 gather that component.
void fetch(Machine &m, const Inst &i) {
    const Geometry geometry(i.count);
    const std::uint64_t *handles = m.source<std::uint64_t>(i.slots[0]);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    std::uint32_t results[kLanes][4] = {};
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        const TextureDescriptor &texture = find_texture(m, handles[l], l);
        check_shape(m, texture, geometry, l);
        // As on a GPU: one dimension by number is for plain memory, and that for nothing else.
        if ((texture.plain != 0) != (geometry.by_index && geometry.dimensions == 1 && !geometry.layered))
            m.fault("bad-handle",
                    texture.plain ? "a texture in plain memory takes one whole number as its coordinate"
                                  : "fetches by number from one dimension need Texture(..., memory=True)",
                    l, handles[l]);
        const TexturePlace place = place_of(m, slots + 4, geometry, l);
        if (i.immediate == 0) sample(texture, place, results[l]);
        else gather(texture, place, static_cast<unsigned>(i.immediate) - 1, results[l]);
    }
    for (unsigned n = 0; n < 4; ++n) {
        if (slots[n] == kNoSlot) continue;
        std::uint32_t *out = m.destination<std::uint32_t>(slots[n]);
        for (unsigned l = 0; l < kLanes; ++l)
            if (m.mask >> l & 1) out[l] = results[l][n];
    }
    put_predicate(m, i.slots[1], kFullMask);
}

// Slots: d, handle. `immediate`: width, height, depth, layers, normalized, one.
void query(Machine &m, const Inst &i) {
    const std::uint64_t *handles = m.source<std::uint64_t>(i.slots[1]);
    std::uint32_t result[kLanes] = {};
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        const TextureDescriptor &t = find_texture(m, handles[l], l);
        const std::uint32_t answers[] = {t.width, t.dimensions > 1 ? t.height : 0, t.dimensions > 2 ? t.depth : 0,
                                         t.layers, t.normalized, 1};
        result[l] = answers[i.immediate];
    }
    put(m, m.destination<std::uint32_t>(i.slots[0]), result);
}

enum Bounds { kTrap, kClamp, kZero };

// The bytes of a surface at a place; nullptr where nothing is. `scaled`: x counts bytes.
std::uint8_t *surface_place(Machine &m, const TextureDescriptor &t, const TexturePlace &place, unsigned bytes,
                            bool scaled, unsigned bounds, unsigned lane) {
    const std::int64_t texel = std::int64_t{t.channels} * texel_bytes(t.type);
    const std::int64_t row = std::int64_t{t.width} * texel;
    const std::uint32_t extents[3] = {t.width, t.height, t.depth};
    std::int64_t at[3] = {0, 0, 0};
    bool outside = place.layer >= t.layers && t.dimensions < 3;
    for (unsigned axis = 0; axis < t.dimensions; ++axis) {
        const std::int64_t last = axis == 0 && scaled ? row - static_cast<std::int64_t>(bytes)
                                                      : std::int64_t{extents[axis]} - 1;
        at[axis] = place.index[axis];
        if (at[axis] < 0 || at[axis] > last) {
            outside = true;
            at[axis] = std::clamp<std::int64_t>(at[axis], 0, std::max<std::int64_t>(last, 0));
        }
    }
    if (outside && bounds == kTrap)
        m.fault("out-of-bounds", "a surface access outside the surface", lane);
    if ((outside && bounds == kZero) || (scaled && row < static_cast<std::int64_t>(bytes))) return nullptr;
    const std::int64_t x = scaled ? at[0] : at[0] * texel;
    if (scaled && x % static_cast<std::int64_t>(bytes) != 0)
        m.fault("misaligned", "a surface access of " + std::to_string(bytes) + " bytes at byte " + std::to_string(x),
                lane);
    const std::int64_t slice =
        t.dimensions == 3 ? at[2] : std::min<std::int64_t>(place.layer, std::int64_t{t.layers} - 1);
    return reinterpret_cast<std::uint8_t *>(t.data) + (slice * t.height + at[1]) * row + x;
}

// Inst::immediate of surface operations.
struct SurfaceMode {
    explicit SurfaceMode(std::int64_t bits)
        : bounds(bits & 3), size(bits >> 2 & 15), elements(bits >> 6 & 7), operation(bits >> 9 & 7),
          is_signed(bits >> 12 & 1) {}
    unsigned bounds, size, elements, operation;
    bool is_signed;
};

// f(lane, place): for every active lane. The list has the elements first.
template <class F>
void for_surface(Machine &m, const Inst &i, const SurfaceMode &mode, bool scaled, bool write, F f) {
    const Geometry geometry(i.count);
    const std::uint64_t *handles = m.source<std::uint64_t>(i.slots[0]);
    const std::uint32_t *slots = m.function->lists.data() + i.list + mode.elements;
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        const TextureDescriptor &surface = find_texture(m, handles[l], l);
        check_shape(m, surface, geometry, l);
        if (write && !surface.writable)
            m.fault("read-only", "a write to a texture or to a surface of a read-only array", l, handles[l]);
        const TexturePlace place = place_of(m, slots, geometry, l);
        f(l, surface, surface_place(m, surface, place, mode.size * mode.elements, scaled, mode.bounds, l));
    }
}

// `width`: bytes of the registers.
void load_surface(Machine &m, const Inst &i) {
    const SurfaceMode mode(i.immediate);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    for_surface(m, i, mode, true, false, [&](unsigned l, const TextureDescriptor &, const std::uint8_t *place) {
        for (unsigned n = 0; n < mode.elements; ++n) {
            if (slots[n] == kNoSlot) continue;
            std::uint8_t *out = m.destination<std::uint8_t>(slots[n]) + std::size_t{i.width} * l;
            std::memset(out, 0, i.width);
            if (place != nullptr) std::memcpy(out, place + n * mode.size, mode.size);
        }
    });
}

void store_surface(Machine &m, const Inst &i) {
    const SurfaceMode mode(i.immediate);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    for_surface(m, i, mode, true, true, [&](unsigned l, const TextureDescriptor &, std::uint8_t *place) {
        for (unsigned n = 0; place != nullptr && n < mode.elements; ++n)
            std::memcpy(place + n * mode.size, m.source<std::uint8_t>(slots[n]) + std::size_t{i.width} * l, mode.size);
    });
}

// sust.p: 32-bit values turned into the surface's format.
void store_texels(Machine &m, const Inst &i) {
    const SurfaceMode mode(i.immediate);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    for_surface(m, i, mode, false, true, [&](unsigned l, const TextureDescriptor &t, std::uint8_t *place) {
        for (unsigned n = 0; place != nullptr && n < std::min<unsigned>(mode.elements, t.channels); ++n) {
            std::uint32_t bits = m.source<std::uint32_t>(slots[n])[l];
            if (t.type == Texel::F16) bits = double_to_half(static_cast<double>(std::bit_cast<float>(bits)), 0);
            std::memcpy(place + n * texel_bytes(t.type), &bits, texel_bytes(t.type));
        }
    });
}

template <class T>
T reduced(T old, T value, unsigned operation) {
    using U = std::make_unsigned_t<T>;
    switch (operation) {
        case 0: return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
        case 1: return std::min(old, value);
        case 2: return std::max(old, value);
        case 3: return static_cast<T>(old & value);
        default: return static_cast<T>(old | value);
    }
}

template <class T>
void reduce_at(std::uint8_t *place, T value, unsigned operation) {
    std::atomic_ref<T> cell(*reinterpret_cast<T *>(place));
    T old = cell.load();
    while (!cell.compare_exchange_weak(old, reduced(old, value, operation))) {
    }
}

void reduce_surface(Machine &m, const Inst &i) {
    const SurfaceMode mode(i.immediate);
    const std::uint32_t slot = m.function->lists[i.list];
    for_surface(m, i, mode, i.target != 0, true, [&](unsigned l, const TextureDescriptor &, std::uint8_t *place) {
        if (place == nullptr) return;
        if (mode.size == 8) {
            const std::uint64_t value = m.source<std::uint64_t>(slot)[l];
            if (mode.is_signed) reduce_at(place, static_cast<std::int64_t>(value), mode.operation);
            else reduce_at(place, value, mode.operation);
        } else {
            const std::uint32_t value = m.source<std::uint32_t>(slot)[l];
            if (mode.is_signed) reduce_at(place, static_cast<std::int32_t>(value), mode.operation);
            else reduce_at(place, value, mode.operation);
        }
    });
}

}  // namespace

void add_texture_operations(OperationList &list) {
    list.push_back({"tex", fetch});
    list.push_back({"txq", query});
    list.push_back({"suld", load_surface});
    list.push_back({"sust", store_surface});
    list.push_back({"sust.p", store_texels});
    list.push_back({"sured", reduce_surface});
}

}  // namespace ptxkit::sim
