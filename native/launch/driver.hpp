// The few functions of the CUDA driver that are called for every launch, found at run time.
// Everything else is asked for from Python.
#pragma once

#include <cstdint>

namespace ptxkit::launch {

// How the driver takes a launch with attributes; the layout is that of its C interface.
struct alignas(8) Attribute {
    std::uint32_t id;
    std::uint32_t padding = 0;
    union {
        std::uint32_t words[16];
        char bytes[64];
    } value{};
};

struct Configuration {
    std::uint32_t grid[3];
    std::uint32_t block[3];
    std::uint32_t shared_bytes;
    void *stream;
    Attribute *attributes;
    std::uint32_t attribute_count;
};

constexpr std::uint32_t kCooperative = 2, kClusterDimension = 4;  // of Attribute::id

struct Driver {
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  void *stream, void **parameters, void **extra) = nullptr;
    int (*launch_with)(const Configuration *, void *function, void **parameters,
                       void **extra) = nullptr;
    int (*current_context)(void **context) = nullptr;
    int (*set_context)(void *context) = nullptr;
};

// nullptr where there is no driver, or one without these functions.
const Driver *driver();

}  // namespace ptxkit::launch
