//! since: sm_80
// The wmma interface: every fragment type the header has.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <typename In, typename Acc, int M, int N, int K, typename LayoutA, typename LayoutB>
__device__ void tile(const In* a, const In* b, Acc* c)
{
    wmma::fragment<wmma::matrix_a, M, N, K, In, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, In, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Acc> acc;
    wmma::fill_fragment(acc, Acc(0));
    for (int k = 0; k < 4; ++k) {
        wmma::load_matrix_sync(fa, a + k * K, 64);
        wmma::load_matrix_sync(fb, b + k * K * 64, 64);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    for (int i = 0; i < acc.num_elements; ++i) acc.x[i] = acc.x[i] * Acc(2);
    wmma::store_matrix_sync(c, acc, 64, wmma::mem_row_major);
}

using Row = wmma::row_major;
using Col = wmma::col_major;
__global__ void h16(const __half* a, const __half* b, float* c) { tile<__half, float, 16, 16, 16, Row, Col>(a, b, c); }
__global__ void h32(const __half* a, const __half* b, __half* c) { tile<__half, __half, 32, 8, 16, Col, Row>(a, b, c); }
__global__ void h8(const __half* a, const __half* b, float* c) { tile<__half, float, 8, 32, 16, Row, Row>(a, b, c); }
__global__ void bf(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) { tile<__nv_bfloat16, float, 16, 16, 16, Row, Col>(a, b, c); }
__global__ void s8(const signed char* a, const signed char* b, int* c) { tile<signed char, int, 16, 16, 16, Row, Col>(a, b, c); }
__global__ void u8(const unsigned char* a, const unsigned char* b, int* c) { tile<unsigned char, int, 32, 8, 16, Row, Col>(a, b, c); }
__global__ void dd(const double* a, const double* b, double* c) { tile<double, double, 8, 8, 4, Row, Col>(a, b, c); }

__global__ void tf(const float* a, const float* b, float* c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, Row> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, Col> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc;
    wmma::load_matrix_sync(acc, c, 16, wmma::mem_col_major);
    wmma::load_matrix_sync(fa, a, 8);
    wmma::load_matrix_sync(fb, b, 8);
    for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(c, acc, 16, wmma::mem_col_major);
}
