/* Times mm-ptx's C header: PTX-FILE STUB-FILE CALLS REPEAT prints microseconds of a template
 * and of a rendering, the least of the repeats. */
#define PTX_INJECT_IMPLEMENTATION
#include <ptx_inject.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(2);
    const long size = ftell(file);
    char *text = malloc((size_t)size + 1);
    rewind(file);
    if (text == NULL || fread(text, 1, (size_t)size, file) != (size_t)size) exit(2);
    text[size] = '\0';
    fclose(file);
    return text;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    const char *text = read_file(arguments[1]), *stub = read_file(arguments[2]);
    const int calls = atoi(arguments[3]), repeat = atoi(arguments[4]);
    double template_time = 1e30, render_time = 1e30;
    PtxInjectHandle kept;
    size_t size = 0;
    if (ptx_inject_create(&kept, text) != PTX_INJECT_SUCCESS) return 1;
    if (ptx_inject_render_ptx(kept, &stub, 1, NULL, 0, &size) != PTX_INJECT_SUCCESS) return 1;
    char *buffer = malloc(size + 1);
    for (int round = 0; round < repeat; ++round) {
        double begin = now();
        for (int call = 0; call < calls; ++call) {
            PtxInjectHandle handle;
            if (ptx_inject_create(&handle, text) != PTX_INJECT_SUCCESS) return 1;
            ptx_inject_destroy(handle);
        }
        const double made = (now() - begin) / calls;
        begin = now();
        for (int call = 0; call < calls; ++call)
            if (ptx_inject_render_ptx(kept, &stub, 1, buffer, size + 1, &size) !=
                PTX_INJECT_SUCCESS)
                return 1;
        const double rendered = (now() - begin) / calls;
        if (made < template_time) template_time = made;
        if (rendered < render_time) render_time = rendered;
    }
    printf("%.4f %.4f\n", template_time, render_time);
    return 0;
}
