#include "driver.hpp"

#include <dlfcn.h>

namespace ptxkit::launch {

namespace {

template <typename Function>
void find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
}

Driver load() {
    Driver found;
    // The library stays loaded for as long as the process lives, as the driver expects.
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) return found;
    find(library, "cuLaunchKernel", found.launch);
    find(library, "cuLaunchKernelEx", found.launch_with);  // since CUDA 11.8
    find(library, "cuCtxGetCurrent", found.current_context);
    find(library, "cuCtxSetCurrent", found.set_context);
    return found;
}

}  // namespace

const Driver *driver() {
    static const Driver found = load();
    const bool whole = found.launch != nullptr && found.current_context != nullptr &&
                       found.set_context != nullptr;
    return whole ? &found : nullptr;
}

}  // namespace ptxkit::launch
