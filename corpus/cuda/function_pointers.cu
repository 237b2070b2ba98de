// Indirect calls: function pointers, tables of them, virtual methods, device lambdas.

typedef float (*Unary)(float);

__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float inverse(float x) { return 1 / x; }
__device__ Unary operations[3] = {twice, square, inverse};
__constant__ Unary favourite = square;

__global__ void apply(const int* which, float* x)
{
    int i = threadIdx.x;
    x[i] = favourite(operations[which[i]](x[i]));
}

__global__ void given(Unary f, float* x) { x[threadIdx.x] = f(x[threadIdx.x]); }

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual double area() const = 0;
    __device__ virtual void scale(float by) = 0;
    __device__ virtual int sides() const { return 0; }
};
struct Circle : Shape {
    double r;
    __device__ explicit Circle(double r) : r(r) {}
    __device__ double area() const override { return 3.14159 * r * r; }
    __device__ void scale(float by) override { r *= by; }
};
struct Square : Shape {
    float a, b;
    __device__ Square(float a, float b) : a(a), b(b) {}
    __device__ double area() const override { return a * b; }
    __device__ void scale(float by) override { a *= by; b *= by; }
    __device__ int sides() const final { return 4; }
};

__global__ void make(Shape** shapes, int n)
{
    int i = threadIdx.x;
    if (i < n) shapes[i] = i & 1 ? static_cast<Shape*>(new Circle(i)) : new Square(i, i + 1);
}
__global__ void measure(Shape** shapes, double* out)
{
    Shape* s = shapes[threadIdx.x];
    s->scale(0.5f);
    out[threadIdx.x] = s->area() + s->sides();
    delete s;
}

template <typename F> __global__ void transform(float* x, F f) { x[threadIdx.x] = f(x[threadIdx.x]); }
struct Affine { float a, b; __device__ float operator()(float x) const { return a * x + b; } };
template __global__ void transform<Affine>(float*, Affine);

struct Members { int v; __device__ __noinline__ int add(int x) { return v + x; } __device__ __noinline__ int sub(int x) { return v - x; } };
__global__ void member_pointers(int* out, bool which)
{
    Members m{out[1]};
    int (Members::*f)(int) = which ? &Members::add : &Members::sub;
    out[0] = (m.*f)(threadIdx.x);
}
