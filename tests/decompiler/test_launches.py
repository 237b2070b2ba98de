"""The launches that E3 tries: what they must reach, and what they must not be misled by."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import Execution, same_execution
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dialect import Dialect
from ptxkit.decompiler.verify.unreached import ground
from ptxkit.decompiler.verify.usage import usage_of
from ptxkit.syntax import Module
from ptxkit.syntax.scopes import Scopes


def compared(source: str, other: str | None = None, name: str = "k") -> Execution:
    original = ptxkit.compile_cuda(source, arch="sm_90")
    candidate = original if other is None else ptxkit.compile_cuda(other, arch="sm_90")
    return same_execution(original, candidate, name)


#: Code behind several conditions at once, which few launches meet by chance.
DEEP = {
    "a flag beside a tile": """
        extern "C" __global__ void k(float *x, unsigned char keep, int tile, int n, int p) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (keep == 0 && tile == 640) x[i] += p; else if (i < n) x[i] = 1.0f;
        }""",
    "a pointer that may be missing": """
        extern "C" __global__ void k(float *x, const float *weights, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) x[i] *= weights ? weights[i] : 0.5f;
        }""",
    "two pointers to the same memory": """
        extern "C" __global__ void k(float *x, const float *y, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) x[i] = x == y ? 1.0f : y[i] + 2.0f;
        }""",
    "equal keys with values that are no numbers": """
        struct Pair { unsigned long long key; float value; };
        extern "C" __global__ void k(const Pair *a, int *out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            Pair p = a[i], q = a[i + 1];
            if (p.key == q.key && p.value != p.value) out[i] = q.value < 3.0f ? 1 : 2;
            else out[i] = p.key < q.key;
        }""",
    "a pointer that is not where vectors may begin": """
        extern "C" __global__ void k(const float *x, float *out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            if ((size_t)x % 16 == 0) {
                float4 v = ((const float4 *)x)[i];
                out[i] = v.x + v.y + v.z + v.w;
            } else out[i] = x[i] * 3.0f;
        }""",
    "a record with a pointer and its strides": """
        struct View { float *data; int dimensions; long long strides[4]; };
        extern "C" __global__ void k(const View *view, long long out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x, rest = i;
            if (i >= n) return;
            long long place = 0;
            for (int d = 0; d < view->dimensions; ++d, rest /= 4)
                place += rest % 4 * view->strides[d];
            ((float *)out)[i] = *(const float *)((const char *)view->data + place);
        }""",
}


@pytest.mark.parametrize("what", DEEP)
def test_launches_reach_what_is_behind_several_conditions(what: str) -> None:
    found = compared(DEEP[what])
    assert found.equal and found.ground == "all", found


def test_launches_fit_vector_accesses_to_rows() -> None:
    """A row begins where a vector may begin only if the rows have such lengths."""
    found = compared("""
        extern "C" __global__ void k(const float *x, float *y, int n, int stride) {
            const float4 v = *(const float4 *)(x + blockIdx.x * stride + 4 * threadIdx.x);
            *(float4 *)(y + blockIdx.x * n + 4 * threadIdx.x) = v;
        }""")
    assert found.equal and len(found.tried) >= 20, found
    # Where numbers end, no row but the first is reached.
    usual = [size for trial in found.tried for size in trial.sizes if abs(size) < 1 << 20]
    assert len(usual) >= 20 and all(size % 4 == 0 for size in usual)


BYTES = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .align 1 .b8 p[8], .param .u64 .ptr y) {{
    .reg .b32 %r<3>;
    .reg .b64 %rd<40>;
    {loads}
    ld.param.u64 %rd30, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd31, %r1, 4;
    add.s64 %rd32, %rd{pointer}, %rd31;
    ld.u32 %r2, [%rd32];
    add.s64 %rd33, %rd30, %rd31;
    st.global.u32 [%rd33], %r2;
    ret;
}}"""


def test_a_pointer_may_be_loaded_byte_by_byte() -> None:
    loads = [f"ld.param.u8 %rd{k + 1}, [p+{k}];" for k in range(8)]
    low = 1
    for k in range(1, 8):
        loads.append(f"bfi.b64 %rd{k + 8}, %rd{k + 1}, %rd{low}, {8 * k}, 8;")
        low = k + 8
    module = ptxkit.parse(BYTES.format(loads="\n    ".join(loads), pointer=low))
    assert [str(one) for one in usage_of(module, module["k"]).pointers] == ["p", "y"]
    assert same_execution(module, module, "k").equal


ASSERTING = """
extern "C" __global__ void k(int *x, const int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    %s
    x[i] = y[i] + 1;
}"""


def test_assertions_are_part_of_what_is_compared() -> None:
    source = ASSERTING % "assert(y[i] != 7);"
    found = compared(source, source)
    assert found.equal and found.coverage == 1.0 and found.skip_reasons["assert"], found
    weaker = compared(source, ASSERTING % "")
    assert weaker.different and "the original alone stops" in weaker.reason
    stricter = compared(ASSERTING % "", source)
    assert stricter.different and "the candidate alone fails" in stricter.reason


#: All threads write to the first number of x, on two ways that a compiler may put in any order.
RACING = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr x, .param .u64 .ptr y) {{
    .reg .pred %p<2>;
    .reg .b32 %r<7>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    add.s32 %r2, %r1, {added};
    st.global.u32 [%rd4], %r2;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 1;
    {ways}
}}"""
WAYS = {
    "odd": "popc.b32 %r4, %r1; st.global.u32 [%rd1], %r4; ret;",
    "even": "not.b32 %r5, %r1; st.global.u32 [%rd1], %r5; ret;",
}


def racing(first: str, added: int = 5) -> Module:
    guard, second = ("@%p1", "odd") if first == "even" else ("@!%p1", "even")
    ways = f"{guard} bra LATER; {WAYS[first]} LATER: {WAYS[second]}"
    return ptxkit.parse(RACING.format(added=added, ways=ways))


def test_what_depends_on_the_order_of_threads_is_no_difference() -> None:
    found = same_execution(racing("odd"), racing("even"), "k")
    assert not found.different and found.skip_reasons["race"], found


def test_a_difference_beside_a_race_is_one() -> None:
    found = same_execution(racing("odd"), racing("even", added=6), "k")
    assert found.different and not found.skip_reasons["race"], found


def test_a_race_that_only_the_candidate_has_is_a_difference() -> None:
    alone = racing("odd").emit().replace("st.global.u32 [%rd1], %r4;", "")
    alone = alone.replace("st.global.u32 [%rd1], %r5", "st.global.u32 [%rd1], 5")
    again = racing("even").emit().replace("st.global.u32 [%rd1], %r5", "st.global.u32 [%rd1], 5")
    found = same_execution(ptxkit.parse(alone), ptxkit.parse(again), "k")
    assert found.different, found


ASSERTED = """.version 8.0
.target sm_80
.address_size 64
.extern .func __assertfail(
    .param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e
);
.global .align 1 .b8 {text}[3] = {{104, 105}};
.visible .entry k(.param .u64 .ptr x) {{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.global.u32 %r1, [%rd1];
    setp.ne.u32 %p1, %r1, 7;
    @%p1 bra DONE;
    mov.u64 %rd2, {text};
    cvta.global.u64 %rd3, %rd2;
    {{
    .param .b64 param0; .param .b64 param1; .param .b32 param2;
    .param .b64 param3; .param .b64 param4;
    {stores}
    call.uni __assertfail, (param0, param1, param2, param3, param4);
    }}
DONE:
    {more}
    st.global.u32 [%rd1], %r1;
    ret;
}}"""
STORES = [
    "st.param.b64 [param0], %rd3;", "st.param.b64 [param1], %rd3;", "st.param.b32 [param2], 12;",
    "st.param.b64 [param3], %rd3;", "st.param.b64 [param4], 1;",
]  # fmt: skip


def unreached(text: str, stores: list[str], says: str = "104, 105") -> Coverage:
    """What is known of the kernel where the assertion has not run."""
    more = "add.u32 %r1, %r1, 3; " * 20  # so that most of it has run
    source = ASSERTED.format(text=text, stores=" ".join(stores), more=more)
    source = source.replace("104, 105", says)
    module = ptxkit.parse(source)
    covered = Coverage.of(module, module["k"])
    for block in covered.blocks:
        if not any(one.name == "call" for one in block.instructions):
            covered.ran.update(one.span[0] for one in block.instructions)
    return covered


def test_arguments_are_known_by_their_places() -> None:
    original = unreached("text", STORES)
    assert ground(original, unreached("text", STORES[::-1])).name == "alike"
    other = [*STORES[:2], "st.param.b32 [param2], 13;", *STORES[3:]]
    assert not ground(original, unreached("text", other)).name
    assert not ground(original, unreached("text", STORES, says="104, 106")).name


LOADING = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr x, .param .u64 .ptr y) {{
    .reg .b32 %r<4>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 8;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    {load}
    st.global.u64 [%rd5], %rd6;
    ret;
}}"""
WHOLE = "ld.global.u64 %rd6, [%rd4];"
IN_HALVES = "ld.global.u32 %r2, [%rd4]; ld.global.u32 %r3, [%rd4+4]; mov.b64 %rd6, {%r2, %r3};"
EARLIER = "ld.global.u32 %r2, [%rd4]; ld.global.u32 %r3, [%rd4+-4]; mov.b64 %rd6, {%r2, %r2};"


def test_a_word_in_halves_is_no_narrower_access() -> None:
    original, halves, earlier = (
        ptxkit.parse(LOADING.format(load=load)) for load in (WHOLE, IN_HALVES, EARLIER)
    )
    assert same_execution(original, halves, "k").equal
    found = same_execution(earlier, halves, "k")
    assert not found.equal
    widths = [Dialect.of(m["k"].instructions, Scopes(m)).widths for m in (halves, earlier)]
    assert widths == [{"global": {64}}, {"global": {32, 64}}]


def test_what_is_a_pointer_in_a_record_shows_where_addresses_are_made() -> None:
    """A record is read through its address, and one of its numbers is an offset in bytes."""
    module = ptxkit.parse(""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .align 8 .b8 record[32]) {
    .reg .b64 %rd<7>;
    mov.b64 %rd1, record;
    add.s64 %rd6, %rd1, 16;
    ld.param.u64 %rd2, [%rd1+8];
    ld.param.u64 %rd3, [%rd6+8];
    cvta.to.global.u64 %rd4, %rd2;
    add.s64 %rd5, %rd4, %rd3;
    st.global.u8 [%rd5], 1;
    ret;
}""")
    usage = usage_of(module, module["k"])
    assert list(map(str, usage.pointers)) == ["record+8"]
    assert list(map(str, usage.sizes)) == ["record+24"]
    assert same_execution(module, module, "k").equal


TEXTS = """.version 8.0
.target sm_80
.address_size 64
.global .align 1 .b8 $a[2] = {65, 0};
.global .align 1 .b8 $b[2] = {66, 0};
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u64 %rd2, $a;
    mov.u64 %rd3, $b;
    ld.global.u8 %r1, [%rd2];
    ld.global.u8 %r2, [%rd3];
    sub.u32 %r3, %r2, %r1;
    st.global.u32 [%rd1], %r3;
    ret;
}"""


def test_a_constant_put_down_as_an_integer_may_be_a_number() -> None:
    zero, other = "mov.b32 %r2, {}; mov.b32 %r3, 0; mov.b64 %rd6, {{%r2, %r3}};", "0f3F800001"
    modules = [
        ptxkit.parse(LOADING.format(load=zero.format(number)))
        for number in ("0x3F800000", "0f3F800000", other)
    ]
    dialects = [Dialect.of(m["k"].instructions, Scopes(m)) for m in modules]
    assert not dialects[0].foreign(dialects[1])
    assert dialects[0].foreign(dialects[2]) == "computes with 0f3F800001"


def test_private_variables_of_one_name_may_be_different_ones() -> None:
    """Strings are numbered through a file: `$str$1` need not be what the other calls so."""
    other = 'extern "C" __global__ void other(int n) { if (n == 1) printf("one %d\\n", n); }'
    kernel = """
        extern "C" __global__ void k(int *x, int n) {
            if (threadIdx.x < n) x[threadIdx.x] = n; else printf("%s %d\\n", "more than", n);
        }"""
    wrong = kernel.replace("more than", "less than")
    assert compared(other + kernel, kernel).equal
    assert not compared(other + kernel, wrong).equal


def test_texts_are_numbered_by_each_compiler() -> None:
    """What nobody finds by its name may have another one; what a host finds may not differ."""
    texts = ptxkit.parse(TEXTS)
    renamed = ptxkit.parse(TEXTS.replace("$a", "$c").replace("$b", "$a").replace("$c", "$b"))
    assert same_execution(texts, renamed, "k").equal
    public = [
        ptxkit.parse(m.emit().replace("\n.global", "\n.visible .global")) for m in (texts, renamed)
    ]
    assert "the variable '$a' differs" in same_execution(*public, "k").reason


GREATEST = """extern "C" __global__ void k(const float *x, float *value, int *place, int n) {
    __shared__ float values[128];
    __shared__ int places[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    values[t] = i < n ? x[i] : -1e30f;
    places[t] = i;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s && values[t + s] > values[t]) {
            values[t] = values[t + s];
            places[t] = places[t + s];
        }
        __syncthreads();
    }
    if (t == 0) { value[blockIdx.x] = values[0]; place[blockIdx.x] = places[0]; }
}"""


@pytest.mark.parametrize("last", [63, 31, 7])
def test_the_last_thread_of_the_largest_block_matters(last: int) -> None:
    """Where larger blocks are out of bounds few others have so many threads, all with work."""
    original = ptxkit.compile_cuda(GREATEST, arch="sm_90")
    text = original.emit()
    asked = f"setp.gt.s32 \t%p{ {63: 2, 31: 4, 7: 8}[last] }, %r2, {last};"
    assert text.count(asked) == 1
    less = ptxkit.parse(text.replace(asked, asked.replace(f" {last};", f" {last - 1};")))
    found = same_execution(original, less, "k")
    assert not found.equal and found.different
    assert same_execution(original, original, "k").equal
