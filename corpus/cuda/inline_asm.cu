// Inline asm as people write it: predicates, scopes, labels, vectors, odd literals, comments.

__global__ void arithmetic(float* f, int* n, unsigned long long* l, double* d)
{
    float a = f[0], b = f[1], r;
    int i = n[0], j = n[1], k;
    asm("fma.rn.ftz.sat.f32 %0, %1, %2, 0f3F800000;" : "=f"(r) : "f"(a), "f"(b));
    asm("{ .reg .f32 t1; .reg .f32 sum<3>;\n\t mul.f32 t1, %0, 0f40490FDB; // pi\n\t add.f32 sum0, t1, t1;\n\t mov.f32 %0, sum0; }" : "+f"(r));
    asm("ex2.approx.ftz.f32 %0, %0;\n\tlg2.approx.f32 %0, %0;\n\trcp.approx.ftz.f32 %0, %0;\n\ttanh.approx.f32 %0, %0;" : "+f"(r));
    asm("{ .reg .pred p, q; testp.subnormal.f32 p, %1; setp.lt.and.f32 q, %1, %2, !p; @!q mov.b32 %0, 0xFFU; @q mov.b32 %0, 017; }" : "=r"(k) : "f"(a), "f"(b));
    asm("lop3.b32 %0, %1, %2, %3, (0xF0 & 0xCC) | 0xAA;" : "=r"(i) : "r"(i), "r"(j), "r"(k));
    asm("bfe.s32 %0, %1, 4, 8;\n\tbfi.b32 %0, %0, %2, 3, 5;\n\tbfind.shiftamt.u32 %0, %0;\n\tbrev.b32 %0, %0;" : "=r"(j) : "r"(i), "r"(j));
    asm("prmt.b32.f4e %0, %1, %2, 1;\n\tshf.r.clamp.b32 %0, %0, %1, 4+3*2;\n\tszext.wrap.s32 %0, %0, 7;\n\tbmsk.clamp.b32 %0, %0, 3;" : "=r"(k) : "r"(i), "r"(j));
    asm("vadd.s32.u32.s32.sat.max %0, %1.b0, %2.h1, %0;\n\tvset.u32.u32.lt %0, %1, %2;\n\tvabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(k) : "r"(i), "r"(j));
    asm("slct.f32.s32 %0, %0, %1, %2;\n\tcopysign.f32 %0, %1, %0;\n\tset.gt.ftz.f32.f32 %0, %0, %1;" : "+f"(r) : "f"(b), "r"(k));
    asm("mul.wide.s32 %0, %1, %2;\n\tmad.wide.u32 %0, %1, 7, %0;\n\tcnot.b64 %0, %0;\n\tsad.s64 %0, %0, -5, %0;" : "+l"(l[0]) : "r"(i), "r"(j));
    asm("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %0; mov.b64 %0, {hi, lo}; }" : "+l"(l[1]));
    asm("fma.rm.f64 %0, %0, 0d400921FB54442D18, %0;\n\tdiv.rp.f64 %0, %0, %0;\n\tcvt.rpi.f64.f64 %0, %0;" : "+d"(d[0]));
    asm("cvt.rzi.sat.u8.f32 %0, %1;" : "=r"(n[5]) : "f"(a));
    asm("{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(f[5]) : "f"(r));
    asm("dp2a.hi.s32.u32 %0, %1, %2, %0;\n\tmul24.lo.s32 %0, %0, %1;\n\tpopc.b32 %0, %0;\n\tclz.b32 %0, %0;" : "+r"(k) : "r"(i), "r"(j));
    n[2] = k;
    f[2] = r;
}

__global__ void memory(const float4* in, float* out, const int* p, const void* generic)
{
    float a, b, c, d;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4+-16];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(in));
    asm volatile("st.global.cs.v2.f32 [%0+8], {%1, %2};\n\tst.volatile.global.f32 [%0], %3;\n\tst.global.wt.f32 [%0+4], %4;" ::"l"(out), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
    int x, y;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%2];\n\tld.acquire.sys.s32 %1, [%2];" : "=r"(x), "=r"(y) : "l"(p) : "memory");
    asm volatile("st.release.cta.global.u32 [%0], %1;\n\tred.relaxed.gpu.global.add.u32 [%0], 1;\n\tatom.acq_rel.sys.global.cas.b32 %2, [%0], %1, 3;" ::"l"(out), "r"(x), "r"(y) : "memory");
    asm volatile("prefetch.global.L2 [%0];\n\tprefetchu.L1 [%0];\n\tprefetch.L1 [%0];" ::"l"(in));
    asm volatile("{ .reg .pred g; isspacep.global g, %1; @g ld.global.ca.u32 %0, [%1]; .reg .u64 t; cvta.to.global.u64 t, %1; }" : "=r"(x) : "l"(generic));
    asm volatile("{ .shared .align 8 .b8 scratch[64]; st.shared.u32 [scratch+4], %0; ld.shared.u32 %0, [scratch+4]; }" : "+r"(x));
    asm volatile("{ .local .align 4 .b32 spill[4]; .reg .u64 a; mov.u64 a, spill; st.local.u32 [a+12], %0; ld.local.u32 %0, [a+12]; }" : "+r"(x));
    out[9] = x + y;
}

__global__ void control(int* n)
{
    asm volatile(
        "{\n\t.reg .pred p;\n\t.reg .u32 i;\n\tmov.u32 i, 0;\n"
        "loop_%=:\n\t/* count up to n */\n\tsetp.ge.u32 p, i, %0;\n\t@p bra done_%=;\n\tadd.u32 i, i, 1;\n\tbra.uni loop_%=;\n"
        "done_%=:\n\tmov.u32 %0, i;\n\t}" : "+r"(n[0]));
    asm volatile("nanosleep.u32 20;\n\tpmevent 1;\n\t.pragma \"nounroll\";");
    asm volatile("{ .reg .pred p, q; setp.ne.s32 q, %0, 2; setp.eq.or.s32 p|q, %0, 1, !q; vote.sync.any.pred q, p, -1; @q trap; }" ::"r"(n[1]));
    asm volatile("{ .reg .b32 v; .reg .pred p; shfl.sync.bfly.b32 v|p, %0, 0x1, 0x1f, 0xffffffff; @p mov.b32 %0, v; activemask.b32 v; }" : "+r"(n[2]));
    asm volatile("{ .param .b32 unused; .reg .b32 %%odd, $dollar, _under; mov.b32 $dollar, %0; mov.b32 _under, $dollar; mov.b32 %0, _under; }" : "+r"(n[3]));
}
