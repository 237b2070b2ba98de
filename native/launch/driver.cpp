#include "driver.hpp"

#include <dlfcn.h>

namespace ptxkit::launch {

LaunchFunction launch_function() {
    static const LaunchFunction found = [] {
        // The library stays loaded for as long as the process lives, as the driver expects.
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
        if (library == nullptr) return LaunchFunction{nullptr};
        return reinterpret_cast<LaunchFunction>(dlsym(library, "cuLaunchKernel"));
    }();
    return found;
}

}  // namespace ptxkit::launch
