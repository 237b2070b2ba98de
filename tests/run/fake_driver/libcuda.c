/* A CUDA driver without a GPU, for tests of what is handed to a real one: memory is the host's,
 * a launch is written to a log, and errors come when asked for (fake_fail). Two devices. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct { unsigned id, padding; unsigned words[16]; } *attributes;
    unsigned attribute_count;
} Configuration;

static char contexts[2];
static _Thread_local void *current;
static int launches, pending_status, refuse_ptx, device_total = 1;
static char last[8192];
/* What a launch copies: the bytes of its parameters, sizes given by fake_sizes. */
static unsigned sizes[64], size_count;

void fake_fail(int status) { pending_status = status; }
void fake_refuse_ptx(int refuse) { refuse_ptx = refuse; }
void fake_devices(int count) { device_total = count; }
int fake_launches(void) { return launches; }
const char *fake_last(void) { return last; }
void fake_sizes(const unsigned *given, unsigned count) {
    size_count = count;
    memcpy(sizes, given, count * sizeof *given);
}

static int status(void) { return pending_status; }

int cuInit(unsigned flags) { (void)flags; return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = device_total; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &contexts[device]; return 0; }
int cuCtxGetCurrent(void **context) { *context = current; return 0; }
int cuCtxSetCurrent(void *context) { current = context; return 0; }
int cuCtxGetDevice(int *device) { *device = (int)((char *)current - contexts); return 0; }
int cuCtxSynchronize(void) { return status(); }
int cuStreamSynchronize(void *stream) { (void)stream; return status(); }
int cuGetErrorString(int error, const char **text) {
    *text = error == 700 ? "an illegal memory access was encountered" : "something failed";
    return 0;
}
int cuGetErrorName(int error, const char **text) { (void)error; *text = "NAME"; return 0; }

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
        case 75: *value = 9; break;       /* compute capability */
        case 76: *value = 0; break;
        case 16: *value = 4; break;       /* multiprocessors */
        case 97: *value = 232448; break;  /* shared memory of a block, at most */
        case 120: *value = 1; break;      /* clusters */
        default: *value = 1;
    }
    return 0;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, const int *options,
                       void **values) {
    (void)options;
    const char *text = image;
    if (refuse_ptx && strncmp(text, "\177ELF", 4) != 0) {
        if (count > 0)
            strcpy(values[0], "ptxas application ptx input, line 1; fatal   : Unsupported .version "
                              "9.4; current version is '9.0'");
        return 222;
    }
    if (strstr(text, "broken_here") != NULL) {
        strcpy(values[0], "ptxas application ptx input, line 4; error   : Unknown symbol "
                          "'broken_here'");
        return 218;
    }
    *module = strdup("module");
    return 0;
}
int cuModuleUnload(void *module) { free(module); return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
    (void)module;
    *function = strdup(name);
    return 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
    (void)function;
    switch (attribute) {
        case 0: *value = 512; break;    /* threads of a block */
        case 1: *value = 1024; break;   /* static shared memory */
        case 8: *value = 47 * 1024; break;
        default: *value = 40;
    }
    return 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
    snprintf(last, sizeof last, "attribute %d of %s = %d", attribute, (char *)function, value);
    return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                size_t shared) {
    (void)function; (void)threads; (void)shared;
    *blocks = 2;
    return 0;
}

int cuMemAlloc_v2(uint64_t *place, size_t size) { *place = (uint64_t)malloc(size); return 0; }
int cuMemFree_v2(uint64_t place) { free((void *)place); return 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) { memcpy((void *)to, from, size); return 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) { memcpy(to, (void *)from, size); return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) {
    (void)stream;
    return cuMemcpyHtoD_v2(to, from, size);
}
int cuPointerGetAttribute(void *value, int attribute, uint64_t place) {
    (void)attribute;
    *(int *)value = (int)(place >> 60 & 1);
    return 0;
}
int cuEventCreate(void **event, unsigned flags) { (void)flags; *event = strdup("event"); return 0; }
int cuEventDestroy_v2(void *event) { free(event); return 0; }
int cuEventRecord(void *event, void *stream) { (void)event; (void)stream; return 0; }
int cuEventSynchronize(void *event) { (void)event; return status(); }
int cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
    (void)begin; (void)end;
    *milliseconds = 0.25f;
    return 0;
}
int cuEventElapsedTime_v2(float *milliseconds, void *begin, void *end) {
    return cuEventElapsedTime(milliseconds, begin, end);
}
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)stream; (void)event; (void)flags;
    return 0;
}

static void describe(const char *how, void *function, const unsigned *grid, const unsigned *block,
                     unsigned shared, void *stream, void **parameters) {
    int at = snprintf(last, sizeof last, "%s %s grid %u,%u,%u block %u,%u,%u shared %u stream %lu device %d",
                      how, (char *)function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                      shared, (unsigned long)stream, (int)((char *)current - contexts));
    for (unsigned n = 0; n < size_count; ++n) {
        at += snprintf(last + at, sizeof last - (size_t)at, " ");
        for (unsigned i = 0; i < sizes[n]; ++i)
            at += snprintf(last + at, sizeof last - (size_t)at, "%02x", ((uint8_t *)parameters[n])[i]);
    }
    /* A kernel called "increment" adds one to each of the first 4 ints of its first argument. */
    if (strcmp(function, "increment") == 0)
        for (int i = 0; i < 4; ++i) (*(int **)parameters[0])[i] += 1;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **parameters, void **extra) {
    (void)extra;
    ++launches;
    if (status() != 0) return status();
    if (size_count == 0) return 0; /* quick, for measurements */
    const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
    describe("plain", function, grid, block, shared, stream, parameters);
    return 0;
}

int cuLaunchKernelEx(const Configuration *how, void *function, void **parameters, void **extra) {
    (void)extra;
    ++launches;
    if (status() != 0) return status();
    char text[256];
    int at = snprintf(text, sizeof text, "with");
    for (unsigned n = 0; n < how->attribute_count; ++n)
        at += snprintf(text + at, sizeof text - (size_t)at, " %u=%u,%u,%u", how->attributes[n].id,
                       how->attributes[n].words[0], how->attributes[n].words[1],
                       how->attributes[n].words[2]);
    describe(text, function, how->grid, how->block, how->shared, how->stream, parameters);
    return 0;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *found) {
    (void)version; (void)flags;
    char name[128];
    snprintf(name, sizeof name, "%s_v2", symbol);
    Dl_info here;
    dladdr((void *)&cuInit, &here);
    void *library = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    *function = dlsym(library, name);
    if (*function == NULL) *function = dlsym(library, symbol);
    if (found != NULL) *found = *function == NULL ? 1 : 0;
    return 0;
}
int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
