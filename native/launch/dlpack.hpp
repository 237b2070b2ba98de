// The part of DLPack's binary interface that is read here: a tensor's description, the two kinds
// of managed tensors in capsules, and the table of functions that a library offers in C
// (``__dlpack_c_exchange_api__``, DLPack 1.3).
#pragma once

#include <cstdint>

namespace ptxkit::dlpack {

constexpr std::int32_t kCuda = 2, kCudaHost = 3, kCudaManaged = 13;  // kinds of devices
constexpr std::uint8_t kComplex = 5;                                // of Tensor::type_code

struct Tensor {
    void *data;
    std::int32_t device_type;
    std::int32_t device;
    std::int32_t dimensions;
    std::uint8_t type_code;
    std::uint8_t type_bits;
    std::uint16_t type_lanes;
    std::int64_t *shape;
    std::int64_t *strides;  // in elements; nullptr where the tensor is contiguous
    std::uint64_t byte_offset;
};

struct Managed {
    Tensor tensor;
    void *owner;
    void (*deleter)(Managed *);
};

struct ManagedVersioned {
    std::uint32_t major, minor;
    void *owner;
    void (*deleter)(ManagedVersioned *);
    std::uint64_t flags;
    Tensor tensor;
};

struct ExchangeApi {
    std::uint32_t major, minor;
    void *previous;
    void *allocate;
    void *from_object;
    void *to_object;
    int (*describe)(void *object, Tensor *out);  // borrows: the object must stay alive
    int (*current_stream)(std::int32_t device_type, std::int32_t device, void **out);
};

inline bool is_contiguous(const Tensor &tensor) {
    if (tensor.strides == nullptr) return true;
    std::int64_t expected = 1;
    bool contiguous = true;
    for (std::int32_t axis = tensor.dimensions - 1; axis >= 0; --axis) {
        if (tensor.shape[axis] == 0) return true;
        if (tensor.shape[axis] == 1) continue;
        contiguous = contiguous && tensor.strides[axis] == expected;
        expected *= tensor.shape[axis];
    }
    return contiguous;
}

inline std::int64_t byte_count(const Tensor &tensor) {
    std::int64_t bits = std::int64_t{tensor.type_bits} * tensor.type_lanes;
    for (std::int32_t axis = 0; axis < tensor.dimensions; ++axis) bits *= tensor.shape[axis];
    return (bits + 7) / 8;
}

inline std::uint64_t address(const Tensor &tensor) {
    return reinterpret_cast<std::uint64_t>(tensor.data) + tensor.byte_offset;
}

}  // namespace ptxkit::dlpack
