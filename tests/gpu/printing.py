"""What ``printf`` in a kernel prints, as the driver formats it.

``python -m tests.gpu.printing FILE.ptx`` launches the kernel of :data:`SOURCE` on the GPU; its
output is kept in ``tests/run/gpu/printf.txt``.
"""

from __future__ import annotations

import sys
from pathlib import Path

SOURCE = r"""
extern "C" __global__ void print() {
    char c = 'x'; signed char sc = -5; short h = -300; unsigned short uh = 65000;
    int i = -123456; unsigned u = 4000000000u; long long l = -1234567890123LL;
    unsigned long long ul = 18446744073709551615ull; double d = 3.14159265358979;
    printf("plain\n");
    printf("percent %%|%5%|\n");
    printf("d [%d] [%8d] [%-8d] [%+d] [% d] [%08d] [%.9d] [%8.3d]\n", i, i, i, -i, -i, i, i, 7);
    printf("i [%i] u [%u] [%12u] o [%o] [%#o] x [%x] [%X] [%#x] [%#X] [%08x]\n",
           i, u, u, u, u, u, u, u, u, 255);
    printf("hh [%hhd] [%hhu] h [%hd] [%hu]\n", sc, (unsigned char)sc, h, uh);
    printf("ll [%lld] [%llu] [%llx] [%20lld] [%-20lld] l [%ld] [%lu]\n",
           l, ul, ul, l, l, (long)l, (unsigned long)ul);
    printf("z [%zu] t [%td] j [%jd]\n", (size_t)ul, (ptrdiff_t)l, (long long)l);
    printf("f [%f] [%.2f] [%10.3f] [%-10.1f] [%+f] [%010.2f] [%.0f] [%#.0f]\n",
           d, d, d, d, d, -d, d, d);
    printf("e [%e] [%E] [%.3e] [%15.2e] g [%g] [%G] [%.3g] [%g] [%g] [%#g]\n",
           d, d, d, d, d, d * 1e20, d, 1e-7, 100000.0, 1.0);
    printf("a [%a] [%A] [%.2a]\n", d, d, d);
    printf("special [%f] [%e] [%g] [%F] [%f]\n", 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0, 1.0 / 0.0, -0.0);
    printf("c [%c] [%5c] [%-5c]\n", c, c, c);
    printf("s [%s] [%10s] [%-10s] [%.3s] [%10.2s]\n", "text", "text", "text", "text", "text");
    printf("star [%*d] [%-*d] [%.*f] [%*.*f]\n", 7, 42, 7, 42, 3, d, 9, 2, d);
    printf("float %f and int %d and long %lld and char %c\n", 1.5f, 7, 8ll, 'q');
    printf("many %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    int n = printf("count %d %s\n", 1, "two");
    printf("returned %d\n", n);
    printf("no newline at the end");
}
"""


def main() -> None:
    """Launch the kernel."""
    from cuda.bindings import driver

    def check(result):  # type: ignore[no-untyped-def]
        error, *values = result
        if int(error) != 0:
            raise RuntimeError(f"the driver says {error}")
        return values[0] if values else None

    check(driver.cuInit(0))
    context = check(driver.cuDevicePrimaryCtxRetain(check(driver.cuDeviceGet(0))))
    check(driver.cuCtxSetCurrent(context))
    module = check(driver.cuModuleLoadData(Path(sys.argv[1]).read_bytes() + b"\0"))
    function = check(driver.cuModuleGetFunction(module, b"print"))
    check(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))
    check(driver.cuCtxSynchronize())


if __name__ == "__main__":
    main()
