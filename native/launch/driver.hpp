// The one function of the CUDA driver that is called in a hot loop, found at run time.
#pragma once

#include <cstdint>
#include <string>

namespace ptxkit::launch {

// cuLaunchKernel, or nullptr where there is no driver.
using LaunchFunction = int (*)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z,
                               unsigned shared_bytes, void *stream, void **parameters,
                               void **extra);
LaunchFunction launch_function();

}  // namespace ptxkit::launch
