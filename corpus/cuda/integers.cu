// Integer code of every width: 64- and 128-bit division, bit tricks, SIMD-in-a-word, carries.

__global__ void division(long long* a, unsigned long long* b, int* c, unsigned* d, short* s, signed char* k)
{
    int i = threadIdx.x;
    a[i] = a[i] / a[i + 1] + a[i] % a[i + 2] + a[i] / 10;
    b[i] = b[i] / b[i + 1] + b[i] % b[i + 2] + b[i] / 1000000007ull;
    c[i] = c[i] / c[i + 1] + c[i] % c[i + 2] + c[i] / 7 + c[i] % 8;
    d[i] = d[i] / d[i + 1] + d[i] % 1000u;
    s[i] = s[i] / s[i + 1];
    k[i] = k[i] % k[i + 1] - (k[i] << 2);
}
__global__ void wide(unsigned __int128* x, __int128* y)
{
    x[0] = x[1] * x[2] + (x[3] >> 17) - (x[4] << 65);
    y[0] = y[1] / y[2] + y[3] % 12345;
    if (y[0] < y[1]) y[0] = -y[0];
}
__global__ void bits(unsigned* u, unsigned long long* l, int* n)
{
    int i = threadIdx.x;
    unsigned x = u[i], y = u[i + 1];
    u[i] = __brev(x) + __byte_perm(x, y, 0x3021) + __funnelshift_l(x, y, 7) + __funnelshift_rc(x, y, i) + (x << i | x >> (32 - i));
    l[i] = __brevll(l[i]) + __popcll(l[i]) + __clzll(l[i]) + __ffsll(l[i]) + __umul64hi(l[i], l[i + 1]);
    n[i] = __mulhi(n[i], n[i + 1]) + __mul24(n[i], 7) + __umulhi(x, y) + __sad(n[i], n[i + 1], x) + __hadd(n[i], 3) + __rhadd(n[i], 5);
    n[i + 32] = abs(n[i]) + min(n[i], 9) + max(x, y) + llabs(l[i]) + (n[i] >> 5) + (x >> 3) + (~x & y | x ^ 0xff00ff);
}
__global__ void simd(unsigned* u, int* n)
{
    unsigned x = u[0], y = u[1];
    u[2] = __vadd4(x, y) + __vsub2(x, y) + __vavgu4(x, y) + __vmaxs2(x, y) + __vcmpeq4(x, y) + __vabsdiffu4(x, y);
    u[3] = __vsads4(x, y) + __viaddmax_s32(x, y, 4) + __vimin3_u32(x, y, 9) + __viaddmax_s16x2_relu(x, y, x) + __vsetgtu2(x, y);
#ifndef __CUDACC_DEBUG__  // nvcc 13.4 -G: "unsupported operation"
    n[0] = __dp4a(int(x), int(y), n[1]) + __dp2a_lo(int(x), int(y), n[2]) + __dp4a(x, y, u[4]);
#endif
}
__global__ void carries(unsigned* a, const unsigned* b)
{
    asm volatile("add.cc.u32 %0, %0, %4;\n\taddc.cc.u32 %1, %1, %5;\n\taddc.cc.u32 %2, %2, %6;\n\taddc.u32 %3, %3, 0;"
                 : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]) : "r"(b[0]), "r"(b[1]), "r"(b[2]));
    asm volatile("sub.cc.u32 %0, %0, %2;\n\tsubc.u32 %1, %1, %3;" : "+r"(a[4]), "+r"(a[5]) : "r"(b[3]), "r"(b[4]));
    asm volatile("mad.lo.cc.u32 %0, %2, %3, %0;\n\tmadc.hi.u32 %1, %2, %3, %1;" : "+r"(a[6]), "+r"(a[7]) : "r"(b[5]), "r"(b[6]));
}
