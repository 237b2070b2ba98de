// Texture and surface objects: every dimension, layered, cube, gather, gradients, mip levels.

__global__ void fetch(cudaTextureObject_t t, float* out, float x, float y, float z)
{
    int i = threadIdx.x;
    float s = tex1Dfetch<float>(t, i) + tex1D<float>(t, x) + tex2D<float>(t, x, y);
    s += tex3D<float>(t, x, y, z) + tex1DLayered<float>(t, x, i) + tex2DLayered<float>(t, x, y, i);
    s += texCubemap<float>(t, x, y, z) + texCubemapLayered<float>(t, x, y, z, i);
    s += tex2DLod<float>(t, x, y, z) + tex3DLod<float>(t, x, y, z, x) + tex1DLod<float>(t, x, y);
    s += tex2DGrad<float>(t, x, y, make_float2(x, y), make_float2(y, x));
    s += tex3DGrad<float>(t, x, y, z, make_float4(x, y, z, 0), make_float4(z, y, x, 0));
    out[i] = s;
}

__global__ void vectors(cudaTextureObject_t t, float4* f, int4* n, uchar4* u, float x, float y)
{
    int i = threadIdx.x;
    float4 g = tex2Dgather<float4>(t, x, y, 2);
    f[i] = tex2D<float4>(t, x, y);
    f[i].x += g.x + g.w;
    n[i] = tex3D<int4>(t, x, y, x);
    u[i] = tex1Dfetch<uchar4>(t, i);
    bool resident;
    f[i].y += tex2D<float4>(t, x, y, &resident).y;
    if (!resident) f[i].z = -1;
}

__global__ void surfaces(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float v;
    surf2Dread(&v, from, x * 4, y);
    float4 q = surf3Dread<float4>(from, x * 16, y, 1, cudaBoundaryModeClamp);
    short2 s = surf1Dread<short2>(from, x * 4, cudaBoundaryModeZero);
    unsigned char c = surf2DLayeredread<unsigned char>(from, x, y, 3);
    surf2Dwrite(v + q.x + s.x + c, to, x * 4, y);
    surf3Dwrite(q, to, x * 16, y, 2, cudaBoundaryModeClamp);
    surf1Dwrite(s, to, x * 4, cudaBoundaryModeZero);
    surf2DLayeredwrite(c, to, x, y, 1);
    surfCubemapwrite(q, to, x * 16, y, 4);
    long long wide = surf1Dread<long long>(from, x * 8);
    surf1Dwrite(wide + 1, to, x * 8);
}
