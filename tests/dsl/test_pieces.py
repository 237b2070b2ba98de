"""The higher pieces of the DSL: views, tiles, barriers, copies, fragments, reductions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.dsl import (
    DslError,
    Ring,
    SharedTile,
    addr,
    b32,
    bf16,
    cp_async,
    e4m3,
    f16,
    f32,
    f64,
    kernel,
    mma,
    ptr,
    ptx,
    reg,
    s32,
    s64,
    smem,
    sreg,
    swizzled,
    tma,
    types,
    u8,
    u32,
    view,
    warp,
    wgmma,
)
from ptxkit.dsl.registers import Register

#: tests/gpu runs these tests on a GPU.
DEVICE = "cpu"
RANDOM = np.random.default_rng(5)


def launch(one, shape, *arguments, **constants):
    """Run a kernel; arrays of numpy get the results, on a GPU too."""
    one.load(DEVICE, **constants)[shape](*arguments)


def thread():
    return reg.u32(init=sreg.tid.x)


# -- views -----------------------------------------------------------------------------------


@kernel(target="sm_80")
def transposed(x: ptr[f32], y: ptr[f32], n: u32, m: s32):
    source, target = view(x, f32, strides=(n, 1)), view(y, f32, strides=(m, 1))
    i, j = thread(), reg.s64(init=0)
    for k in range(3):
        target.store(j + k, i, value=source.load(i, k))
    target.store(3, i, value=source.moved(i, 1).load(0, 2))
    ptx.ret()


def test_views():
    x = RANDOM.standard_normal((32, 4)).astype(np.float32)
    y = np.zeros((4, 32), np.float32)
    launch(transposed, (1, 32), x, y, 4, 32)
    np.testing.assert_array_equal(y, x.T)
    assert transposed.check() == []


@pytest.mark.parametrize(
    ("type", "count"),
    [(f32, 1), (f32, 2), (f32, 4), (f64, 2), (f16, 1), (f16, 2), (f16, 4), (f16, 8), (u8, 16),
     (u8, 2), (bf16, 1), (s64, 2), (u8, 1), (e4m3, 4)],
    ids=str,
)  # fmt: skip
def test_vector_access(type, count):
    @kernel(target="sm_80")
    def move(x: ptr, y: ptr):
        i = thread()
        loaded = view(x, type, strides=(count, 1)).load(i, 0, count=count)
        view(y, type, strides=(count, 1)).store(i, 0, value=loaded)
        ptx.ret()

    x = RANDOM.integers(0, 256, 32 * count * type.width // 8).astype(np.uint8)
    y = np.zeros_like(x)
    launch(move, (1, 32), x, y)
    np.testing.assert_array_equal(x, y)
    assert move.check() == []
    assert move.resources().registers > 0
    moved = max(1, min(4, count * type.width // 32))
    assert f".v{moved}." in move.ptx() or moved == 1 or type.width == 64


def test_what_cannot_be_moved_at_once():
    @kernel
    def wrong(x: ptr):
        view(x, f32).load(0, count=3)

    with pytest.raises(DslError, match=r"3 elements of \.f32 cannot be moved at once"):
        wrong.ptx()


# -- tiles -----------------------------------------------------------------------------------


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_tile_keeps_what_is_written(swizzle):
    @kernel(target="sm_80")
    def keep(x: ptr[f16], y: ptr[f16], raw: ptr[f16]):
        tile = smem.tile(f16, 32, 128, swizzle=swizzle)
        i = thread()
        source, target = view(x, f16, strides=(128, 1)), view(y, f16, strides=(128, 1))
        for k in range(0, 128, 8):
            tile.store(i, k, value=source.load(i, k, count=8))
        ptx.bar.sync(0)
        for k in range(0, 128, 8):
            column = (i * 8 + k) & 127  # a register: the other way to the address
            target.store(i, column, value=tile.load(i, column, count=8))
        for k in range(0, 128, 8):
            plain = view(tile.base, f16, strides=(128, 1), space="shared")
            view(raw, f16, strides=(128, 1)).store(i, k, value=plain.load(i, k, count=8))
        ptx.ret()

    x = RANDOM.standard_normal((32, 128)).astype(np.float16)
    y, raw = np.zeros_like(x), np.zeros_like(x)
    launch(keep, (1, 32), x, y, raw)
    np.testing.assert_array_equal(x, y)
    width = (swizzle or 256) // 2
    flat = raw.reshape(-1)
    for row, column in ((0, 0), (3, 17), (31, 127), (12, 64)):
        panel, inner = divmod(column, width)
        inside = swizzled(2 * (row * width + inner), swizzle)
        assert flat[panel * 32 * width + inside // 2] == x[row, column]
    assert keep.check() == []


@given(
    st.sampled_from([0, 32, 64, 128]),
    st.integers(1, 5),
    st.integers(1, 3),
    st.sampled_from([u8, f16, f32, f64]),
)
def test_every_element_has_its_place(swizzle, groups, panels, type):
    """The places of a tile's elements are the tile's bytes, each once."""
    columns = panels * (swizzle or 64) * 8 // type.width
    base = Register("%r1", "u32", 0, None)
    tile = SharedTile(base, type, 8 * groups, columns, swizzle)
    places = [tile.offset_of(i, j) for i in range(tile.rows) for j in range(columns)]
    assert sorted(places) == list(range(0, tile.bytes, tile.size))
    assert all(swizzled(swizzled(one, swizzle), swizzle) == one for one in places)


@kernel(target="sm_80")
def staged(x: ptr[f32], y: ptr[f32], n: u32):
    tiles = smem.tile(f32, 8, 16, stages=3)
    i = thread()
    source, target = view(x, f32, strides=(128, 1)), view(y, f32, strides=(128, 1))
    ring = Ring(3)
    for k in ptx.range(n):
        tiles.stage(ring.stage).store(i >> 4, i & 15, value=source.load(k, i))
        ptx.bar.sync(0)
        j = 127 - i
        target.store(k, i, value=tiles.stage(ring.stage).load(j >> 4, j & 15))
        ring.advance()
    ptx.ret()


def test_stages_of_a_ring():
    x = RANDOM.standard_normal((7, 128)).astype(np.float32)
    y = np.zeros_like(x)
    launch(staged, (1, 128), x, y, 7)
    np.testing.assert_array_equal(y, x[:, ::-1])
    assert staged.check() == []


@kernel(target="sm_80")
def pooled(x: ptr[f32]):
    pool = smem.dynamic()
    first, second = pool.tile(f32, 4, 8), pool.tile(f32, 4, 8, swizzle=32)
    i = thread()
    values = view(x, f32)
    first.store(i >> 3, i & 7, value=values.load(i))
    ptx.bar.sync(0)
    second.store(i >> 3, i & 7, value=first.load(i >> 3, 7 - (i & 7)) * 2.0)
    ptx.bar.sync(0)
    values.store(i, value=second.load(i >> 3, i & 7))
    ptx.ret()


def test_shared_memory_of_the_launch():
    x = np.arange(32, dtype=np.float32)
    assert pooled.shared_bytes() == 384  # the swizzle begins at 256
    launch(pooled, (1, 32, pooled.shared_bytes()), x)
    expected = 2 * np.arange(32, dtype=np.float32).reshape(4, 8)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(x, expected)
    assert pooled.check() == []


# -- barriers and copies ---------------------------------------------------------------------


@kernel(target="sm_90")
def handed_over(x: ptr[f32], y: ptr[f32], n: u32):
    """Warp 0 fills a stage, warp 1 empties it."""
    tiles = smem.tile(f32, 1, 32, stages=2)
    full, empty = smem.barriers(2), smem.barriers(2)
    tid, lane = thread(), warp.lane()
    with ptx.if_(tid == 0):
        full.init(32)
        empty.init(32)
    ptx.bar.sync(0)
    source, target = view(x, f32, strides=(32, 1)), view(y, f32, strides=(32, 1))
    with ptx.if_(tid < 32):
        ring = Ring(2, phase=1)
        for k in ptx.range(n):
            empty.at(ring.stage).wait(ring.phase)
            tiles.stage(ring.stage).store(0, lane, value=source.load(k, lane))
            full.at(ring.stage).arrive()
            ring.advance()
    with ptx.else_():
        ring = Ring(2)
        for k in ptx.range(n):
            full.at(ring.stage).wait(ring.phase)
            target.store(k, lane, value=tiles.stage(ring.stage).load(0, lane ^ 1))
            empty.at(ring.stage).arrive()
            ring.advance()
    ptx.ret()


def test_pipeline_of_two_warps():
    x = RANDOM.standard_normal((9, 32)).astype(np.float32)
    y = np.zeros_like(x)
    launch(handed_over, (1, 64), x, y, 9)
    np.testing.assert_array_equal(y, x[:, np.arange(32) ^ 1])
    assert handed_over.check() == []
    assert "test_wait" in _with_target(handed_over, "sm_80").ptx()


def _with_target(one, target):
    return kernel(target=target)(one.body)


@pytest.mark.parametrize(("threads", "piece"), [(32, 16), (64, 16), (128, 8), (64, 4), (96, 16)])
def test_cp_async_of_a_tile(threads, piece):
    @kernel(target="sm_80")
    def fetch(x: ptr[f32], y: ptr[f32]):
        tile = smem.tile(f32, 24, 32, swizzle=128)
        tid = thread()
        cp_async.tile(tile, view(x, f32, strides=(40, 1)).moved(2, 4), tid, threads, piece=piece)
        cp_async.commit()
        cp_async.wait()
        ptx.bar.sync(0)
        with ptx.if_(tid < 24):
            for k in range(32):
                view(y, f32, strides=(32, 1)).store(tid, k, value=tile.load(tid, k))
        ptx.ret()

    x = RANDOM.standard_normal((32, 40)).astype(np.float32)
    y = np.zeros((24, 32), np.float32)
    launch(fetch, (1, threads), x, y)
    np.testing.assert_array_equal(y, x[2:26, 4:36])
    assert fetch.check() == []


@kernel(target="sm_80")
def cut(x: ptr[f32], y: ptr[f32]):
    tile = smem.tile(f32, 1, 4)
    cp_async.copy(tile.at(0, 0), addr(x), 16, valid=reg.u32(init=8))
    cp_async.commit()
    cp_async.wait()
    view(y, f32).store(0, value=tile.load(0, 0, count=4))
    ptx.ret()


def test_cp_async_of_fewer_bytes():
    x, y = np.ones(4, np.float32), np.ones(4, np.float32)
    launch(cut, (1, 1), x, y)
    assert y.tolist() == [1, 1, 0, 0]


@kernel(target="sm_90")
def bulk(x: ptr[f32], y: ptr[f32]):
    tile = smem.tile(f32, 8, 64)
    done = smem.barriers(1).at(0)
    tid = thread()
    with ptx.if_(tid == 0):
        done.init(1)
        done.expect(tile.bytes)
        tma.copy_in(tile, x, tile.bytes, done)
    ptx.bar.sync(0)
    done.wait(0)
    tile.store(3, tid, value=tile.load(3, tid) + 1.0)
    ptx.fence.proxy.async_.shared__cta()
    ptx.bar.sync(0)
    with ptx.if_(tid == 0):
        tma.copy_out(y, tile, tile.bytes)
        tma.commit()
        tma.wait(0)
    ptx.ret()


def test_bulk_copies():
    x = RANDOM.standard_normal((8, 64)).astype(np.float32)
    y = np.zeros_like(x)
    launch(bulk, (1, 64), x, y)
    x[3] += 1
    np.testing.assert_array_equal(y, x)
    assert bulk.check() == []


# -- fragments -------------------------------------------------------------------------------

PRODUCTS = [
    ("m16n8k8", "f32", "f16"), ("m16n8k16", "f32", "f16"), ("m16n8k16", "f16", "f16"),
    ("m16n8k8", "f32", "bf16"), ("m16n8k16", "f32", "bf16"),
    ("m16n8k4", "f32", "tf32"), ("m16n8k8", "f32", "tf32"),
    ("m8n8k4", "f64", "f64"), ("m16n8k4", "f64", "f64"), ("m16n8k8", "f64", "f64"),
    ("m16n8k16", "f64", "f64"), ("m16n8k32", "f32", "e4m3"),
    ("m8n8k16", "s32", "s8"), ("m16n8k16", "s32", "u8"), ("m16n8k32", "s32", "s8"),
    ("m8n8k32", "s32", "s4"), ("m16n8k32", "s32", "u4"), ("m16n8k64", "s32", "s4"),
    ("m8n8k128", "s32", "b1"), ("m16n8k128", "s32", "b1"), ("m16n8k256", "s32", "b1"),
]  # fmt: skip

#: The bits of small whole numbers in formats that numpy does not have.
E4M3 = {-2: 0xC0, -1: 0xB8, 0: 0, 1: 0x38, 2: 0x40}


def words_of(matrix, fragment):
    """What the lanes' registers hold, as the fragment says, one row a lane."""
    name, size = fragment.type.name, 64 if fragment.type.width == 64 else 32
    out = np.zeros((32, fragment.count), np.uint64)
    for lane in range(32):
        for register in range(fragment.count):
            for element in range(fragment.packed):
                value = matrix[fragment.place(lane, register, element)]
                out[lane, register] |= np.uint64(
                    bits_of(value, name) << (element * fragment.type.width)
                )
    return out.astype(f"u{size // 8}")


def bits_of(value, name):
    if name == "e4m3":
        return E4M3[int(value)]
    if name in ("f16", "f32", "f64"):
        size = int(name[1:]) // 8
        return int(np.array(value, f"f{size}").view(f"u{size}"))
    if name in ("tf32", "bf16"):
        bits = int(np.array(value, "f4").view("u4"))
        return bits >> 16 if name == "bf16" else bits
    return int(value) & ((1 << int(name[1:])) - 1)


@pytest.mark.parametrize(("shape", "sums", "type"), PRODUCTS)
def test_fragments(shape, sums, type):
    """Registers filled as the fragments say give the product of the matrices."""
    kind, total = (getattr(types, type, None) or types.Type(type)), getattr(types, sums)
    product = mma.Mma(shape, total, kind)

    @kernel(target="sm_90", version="8.4" if type == "e4m3" else None)
    def multiply(a: ptr, b: ptr, c: ptr, d: ptr):
        lane = warp.lane()

        def registers(base, fragment):
            store = f64 if fragment.register == "f64" else b32
            each = view(base, store, strides=(fragment.count, 1))
            found = [each.load(lane, k) for k in range(fragment.count)]
            return [one.to(fragment.register) for one in found], each

        left, _ = registers(a, product.a)
        right, _ = registers(b, product.b)
        sums, _ = registers(c, product.c)
        out = product.c.new()
        product(out, left, right, sums)
        _, each = registers(d, product.c)
        for k, one in enumerate(out):
            each.store(lane, k, value=one)
        ptx.ret()

    low, high = {"b1": (0, 2), "u": (0, 4)}.get(type if type == "b1" else type[0], (-2, 3))
    a = RANDOM.integers(low, high, (product.m, product.k))
    b = RANDOM.integers(low, high, (product.k, 8))
    c = RANDOM.integers(-3, 4, (product.m, 8))
    expected = a @ b + c
    if type == "b1":
        expected = (a[:, :, None] ^ b[None]).sum(1) + c
    given = [
        words_of(one, fragment)
        for one, fragment in ((a, product.a), (b, product.b), (c, product.c))
    ]
    result = np.zeros_like(given[2])
    launch(multiply, (1, 32), *given, result)
    np.testing.assert_array_equal(result, words_of(expected, product.c))
    assert multiply.check() == []


@pytest.mark.parametrize("shape", ["m16n8k8", "m16n8k16"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("swizzle", [0, 32])
def test_fragments_from_tiles(shape, turned, swizzle):
    """``ldmatrix`` gives what loads of single registers give, from tiles either way round."""
    product = mma.Mma(shape, f32, f16)
    k = product.k

    @kernel(target="sm_80")
    def multiply(a: ptr[f16], b: ptr[f16], d: ptr[f32], same: ptr[u32]):
        shapes = ((k, 16), (k, 16)) if turned else ((16, k), (16, k))
        tiles = [
            smem.tile(f16, *shape, swizzle=swizzle if shape[1] == 16 else 0) for shape in shapes
        ]
        tid = thread()
        for tile, base in zip(tiles, (a, b), strict=True):
            cp_async.tile(tile, view(base, f16, strides=(tile.columns, 1)), tid, 32)
        cp_async.commit()
        cp_async.wait()
        ptx.bar.sync(0)
        left = product.a.load_matrix(tiles[0], trans=turned)
        right = product.b.load_matrix(tiles[1], *((0, 8) if turned else (8, 0)), trans=turned)
        out = product.c.new(0.0)
        product(out, left, right)
        product.c.store(view(d, f32, strides=(8, 1)), out)
        if not turned:
            others = product.a.load(tiles[0]) + product.b.load(tiles[1], row=8)
            ok = reg.u32(init=1)
            for one, other in zip(left + right, others, strict=True):
                equal = one == other
                ptx.selp.u32(ok, ok, 0, equal)
            view(same, u32).store(tid, value=ok)
        ptx.ret()

    a = RANDOM.integers(-4, 5, (16, k)).astype(np.float16)
    b = RANDOM.integers(-4, 5, (k, 16)).astype(np.float16)
    d, same = np.zeros((16, 8), np.float32), np.ones(32, np.uint32)
    given = (a.T.copy(), b) if turned else (a, b.T.copy())
    launch(multiply, (1, 32), *given, d, same)
    np.testing.assert_array_equal(d, a.astype("f4") @ b.astype("f4")[:, 8:])
    assert same.all()
    assert multiply.check() == []


def test_fragments_cover_a_matrix_once():
    for fragment in [mma.Mma(*_types(one)).a for one in PRODUCTS] + [
        fragment for n in (8, 64, 256)
        for fragment in (wgmma.Wgmma(n, f32, f16).c, wgmma.Wgmma(n, f16, f16).c,
                         wgmma.Wgmma(n, f32, e4m3).a)
    ]:  # fmt: skip
        places = [
            fragment.place(lane, register, element)
            for lane in range(32 * fragment.warps)
            for register in range(fragment.count)
            for element in range(fragment.packed)
        ]
        assert sorted(places) == [
            (row, column) for row in range(fragment.rows) for column in range(fragment.columns)
        ]


def _types(one):
    shape, sums, type = one
    return shape, types.Type(sums), types.Type(type)


# -- warps -----------------------------------------------------------------------------------

REDUCTIONS = [
    ("add", "f32"), ("max", "f32"), ("min", "f64"), ("add", "f64"), ("add", "u32"), ("max", "s32"),
    ("min", "u32"), ("and", "u32"), ("xor", "s32"), ("or", "u64"), ("mul", "f32"), ("mul", "s32"),
    ("add", "s64"), ("max", "u64"),
]  # fmt: skip
NUMPY = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum,
         "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}  # fmt: skip


@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
@pytest.mark.parametrize(("operation", "type"), REDUCTIONS)
def test_reductions(operation, type, target):
    kind = getattr(types, type)

    @kernel(target=target)
    def reduce(x: ptr, whole: ptr, eights: ptr):
        i = thread()
        value = view(x, kind).load(i)
        view(whole, kind).store(i, value=warp.reduce(operation, value))
        view(eights, kind).store(i, value=warp.reduce(operation, value, width=8))
        ptx.ret()

    dtype = np.dtype(f"{ {'f': 'f', 's': 'i', 'u': 'u'}[type[0]] }{int(type[1:]) // 8}")
    x = RANDOM.integers(1, 3 if operation == "mul" else 100, 32).astype(dtype)
    whole, eights = np.zeros_like(x), np.zeros_like(x)
    launch(reduce, (1, 32), x, whole, eights)
    with np.errstate(over="ignore"):
        assert (whole == NUMPY[operation].reduce(x)).all()
        expected = NUMPY[operation].reduce(x.reshape(4, 8), axis=1).repeat(8)
    np.testing.assert_array_equal(eights, expected)
    assert reduce.check() == []
    assert ("redux" in reduce.ptx()) == (
        target == "sm_80" and type in ("u32", "s32") and operation != "mul"
    )


@kernel(target="sm_80")
def scans(x: ptr[s32], sums: ptr[s32], last: ptr[s32]):
    i = thread()
    value = view(x, s32).load(i)
    view(sums, s32).store(i, value=warp.scan("add", value))
    view(last, s32).store(i, value=warp.broadcast(value, 31))
    ptx.ret()


def test_scan_and_broadcast():
    x = RANDOM.integers(-50, 50, 32).astype(np.int32)
    sums, last = np.zeros_like(x), np.zeros_like(x)
    launch(scans, (1, 32), x, sums, last)
    np.testing.assert_array_equal(sums, np.cumsum(x))
    assert (last == x[31]).all()
    assert scans.check() == []
