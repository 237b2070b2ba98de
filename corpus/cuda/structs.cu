// Structs by value, nested, aligned, packed, with bit fields and unions; large parameters.

struct Vec3 { float x, y, z; };
struct __align__(16) Box { Vec3 low, high; int tag; };
struct Bits { unsigned a : 3, b : 7, c : 22; };
union Word { float f; unsigned u; unsigned char bytes[4]; };
struct __attribute__((packed)) Packed { char c; int i; double d; short s; };
struct Big { double values[64]; int count; };
struct Empty {};

__device__ Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __noinline__ Box grow(Box box, Vec3 by)
{
    box.high = box.high + by;
    box.tag++;
    return box;
}
__device__ __noinline__ Big scale(Big big, double by)
{
    for (int i = 0; i < big.count; ++i) big.values[i] *= by;
    return big;
}
__device__ __noinline__ int nothing(Empty, int x) { return x * 3; }

__global__ void boxes(Box* out, Box first, Vec3 step, Empty e, bool flag, char c)
{
    Box box = first;
    for (int i = 0; i < c; ++i) box = grow(box, step);
    box.tag = nothing(e, box.tag) + flag;
    out[threadIdx.x] = box;
}

__global__ void bits(Bits* b, Word* w, Packed* p)
{
    int i = threadIdx.x;
    b[i].a += 1;
    b[i].b = b[i].c >> 5;
    w[i].u ^= 0x80000000u;
    w[i].bytes[2] = 7;
    p[i].d = p[i].i + p[i].s * 0.5;
    p[i].c = 'x';
}

__global__ void big(Big* out, const __grid_constant__ Big in, double by)
{
    const Big* where = &in;
    out[blockIdx.x] = scale(*where, by + in.values[threadIdx.x & 63]);
}
