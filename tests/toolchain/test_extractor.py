"""PTX out of every kind of file, compared with cuobjdump; damaged files are refused."""

import contextlib
import random
import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from ptxkit.errors import PtxkitError, ToolchainError, UsageError
from ptxkit.toolchain import (
    BinaryFormatError,
    assemble,
    compile_cuda,
    compression,
    extract,
    extract_cubins,
    extractor,
    fatbin,
    locate,
    process,
)
from toolchain.sources import SAXPY

SOURCE = """
__global__ void alpha(float *x, int n) { for (int i = 0; i < n; i++) x[i] = x[i] * 2 + sinf(x[i]); }
template <class T> __global__ void beta(T *x, int n) { x[threadIdx.x] = n; }
extern "C" void go(float *x)
{
    alpha<<<1, 32>>>(x, 4);
    beta<int><<<1, 1>>>((int *)x, 3);
    beta<double><<<1, 1>>>((double *)x, 3);
}
int main() { go(nullptr); }
"""
MODES = ["none", "speed", "balance", "size"]


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("extract")


@pytest.fixture(scope="module")
def built(work):
    """What people have: an object file, a library, an archive and a program."""
    nvcc = locate.require("nvcc").path
    source = work / "two.cu"
    source.write_text(SOURCE)

    def run(*words):
        subprocess.run([str(word) for word in words], cwd=work, check=True, capture_output=True)

    run(nvcc, "-c", "-Xcompiler", "-fPIC", "-gencode", "arch=compute_80,code=[sm_80,compute_80]",
        "-gencode", "arch=compute_90a,code=compute_90a", source, "-o", "two.o")  # fmt: skip
    run(nvcc, "-c", "-rdc=true", "-arch=compute_80", "--compress-mode=speed", source, "-o", "rdc.o")
    libraries = [f"-L{nvcc.parents[1] / 'lib'}", "-lcudart_static", "-ldl", "-lrt", "-lpthread"]
    run("g++", "-shared", "two.o", "-o", "libtwo.so", *libraries)
    run("g++", "two.o", "-o", "two", *libraries)
    run("strip", "libtwo.so", "-o", "libstripped.so")
    (work / "a_member_with_a_long_name.o").write_bytes((work / "two.o").read_bytes())
    run("ar", "rc", "libtwo.a", "two.o", "a_member_with_a_long_name.o", "rdc.o")
    return work


def make_fatbin(work, name, *options, archs=("sm_80", "sm_90a", "sm_100f")):
    images = []
    for arch in archs:
        file = work / f"{arch}.ptx"
        if not file.exists():
            file.write_bytes(compile_cuda(SAXPY, arch).emit_bytes())
        images.append(f"--image3=kind=ptx,sm={arch.removeprefix('sm_')},file={file}")
    tool = locate.require("nvcc").path.parent / "fatbinary"
    target = work / name
    done = process.run(tool, ["-64", f"--create={target}", *options, *images])
    assert done.code == 0, done.everything
    return target


def dumped(path, folder):
    """What cuobjdump extracts, in its order."""
    folder.mkdir()
    tool = locate.require("cuobjdump").path
    process.run(tool, ["--extract-ptx", "all", path], cwd=folder)
    return [
        (extractor._DUMPED.search(file.name)[1], file.read_bytes())
        for file in sorted(folder.glob("*.ptx"), key=extractor._dump_number)
    ]


def ours(path):
    return [(one.arch, one.text.encode("utf-8", "surrogateescape")) for one in extract(path)]


@pytest.mark.parametrize("mode", MODES)
def test_compression_modes(mode, work, tmp_path):
    path = make_fatbin(work, f"{mode}.fatbin", f"--compress-mode={mode}")
    found = ours(path)
    assert [arch for arch, _ in found] == ["sm_80", "sm_90a", "sm_100f"]
    assert found == dumped(path, tmp_path / "theirs")
    for one in extract(path):
        assert one.parse().target == one.arch


def test_entries_packed_together(work, tmp_path):
    path = make_fatbin(work, "concat.fatbin", "--concat")
    assert ours(path) == dumped(path, tmp_path / "theirs")


def test_options_and_names_come_along(work):
    path = make_fatbin(
        work, "named.fatbin", "--ident=where/it/was.cu", "--cmdline=-O1 --maxrregcount=32 ", "-g"
    )
    one = extract(path)[0]
    assert one.identifier == "where/it/was.cu"
    assert "--maxrregcount=32" in one.options


@pytest.mark.parametrize("name", ["two.o", "rdc.o", "libtwo.so", "libstripped.so", "two"])
def test_files_of_the_host(name, built, tmp_path):
    found = ours(built / name)
    assert found == dumped(built / name, tmp_path / "theirs") != []
    assert all(b".entry _Z5alphaPfi" in text for _, text in found)


def test_an_archive_has_members(built, tmp_path):
    found = extract(built / "libtwo.a")
    assert [one.member for one in found] == [
        "two.o", "two.o", "a_member_with_a_long_name.o", "a_member_with_a_long_name.o", "rdc.o",
    ]  # fmt: skip
    assert len({one.name for one in found}) == 5
    theirs = dumped(built / "libtwo.a", tmp_path / "theirs")
    assert sorted(ours(built / "libtwo.a")) == sorted(theirs)


def test_machine_code_on_request(built, tmp_path):
    (one,) = extract_cubins(built / "libtwo.so")
    assert one.arch == "sm_80"
    resources = ptxkit.toolchain.Cubin.from_bytes(one.data).resources
    assert "_Z5alphaPfi" in resources
    (tmp_path / "k.cubin").write_bytes(one.data)
    assert extract_cubins(tmp_path / "k.cubin")[0].data == one.data
    assert extract(tmp_path / "k.cubin") == []


def test_a_debuggable_cubin_holds_its_ptx(tmp_path):
    module = compile_cuda(SAXPY, debug=True)
    path = tmp_path / "k.cubin"
    path.write_bytes(assemble(module, debug=True).data)
    (one,) = extract(path)
    assert one.arch == "sm_90"
    assert [k.name for k in one.parse().kernels] == ["saxpy"]


def test_without_zstd_cuobjdump_helps(work, monkeypatch, tmp_path):
    path = make_fatbin(work, "size.fatbin", "--compress-mode=size")
    expected = ours(path)
    monkeypatch.setattr(compression, "_zstd_decompressor", lambda: None)
    assert ours(path) == expected
    monkeypatch.setenv("PTXKIT_TOOLCHAIN", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"pip install zstandard \(or: pip install 'nvidia-"):
        extract(path)


def test_every_zstd_reader_reads(work):
    path = make_fatbin(work, "size.fatbin", "--compress-mode=size")
    expected = ours(make_fatbin(work, "none.fatbin", "--compress-mode=none"))
    readers = 0
    for reader in (compression._standard_library, compression._zstandard,
                   compression._system_library, compression._pyarrow):  # fmt: skip
        try:
            decompress = reader()
        except (ImportError, OSError, AttributeError):
            continue
        readers += 1
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compression, "_zstd_decompressor", lambda d=decompress: d)
            assert ours(path) == expected
            data = bytearray(path.read_bytes())
            data[96:100] = bytes(4)  # where the first frame begins
            with pytest.raises(BinaryFormatError):
                list(fatbin.images(bytes(data)))
    assert readers


def test_a_file_without_ptx_gives_none(tmp_path):
    (tmp_path / "empty.cpp").write_text("int f() { return 1; }\n")
    subprocess.run(["g++", "-c", "empty.cpp"], cwd=tmp_path, check=True)
    assert extract(tmp_path / "empty.o") == []


@pytest.mark.parametrize(
    "data", [b"", b"text", b"\x7fELF", b"!<arch>\nnonsense", b"!<thin>\n", bytes(100)]
)
def test_what_is_nothing_of_that_is_refused(data, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(BinaryFormatError, match="file"):
        extract(path)


def test_what_can_not_be_read_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not there"):
        extract(tmp_path / "none")
    with pytest.raises(UsageError, match="folder"):
        extract(tmp_path)


@pytest.mark.parametrize("kind", [*MODES, "concat", "elf", "archive"])
def test_damaged_files_end_in_an_error_or_a_result(kind, built, tmp_path):
    """Flipped and missing bytes anywhere: never a crash, never a hang."""
    if kind == "elf":
        path = built / "rdc.o"
    elif kind == "archive":
        path = built / "libtwo.a"
    else:
        option = "--concat" if kind == "concat" else f"--compress-mode={kind}"
        path = make_fatbin(built, f"{kind}.fatbin", option)
    data = path.read_bytes()
    chance = random.Random(kind)
    victim = tmp_path / "victim"
    refused = 0
    start = time.monotonic()
    for _ in range(150):
        broken = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(min(len(broken), 400) if chance.random() < 0.6 else len(broken))
            broken[at] = chance.choice([0, 255, chance.randrange(256)])
        if chance.random() < 0.3:
            del broken[chance.randrange(len(broken)) :]
        victim.write_bytes(broken)
        for read in (extract, extract_cubins):
            try:
                read(victim)
            except PtxkitError:
                refused += 1
    assert refused > 0
    assert time.monotonic() - start < 20


@settings(max_examples=300)
@given(st.binary(max_size=200), st.integers(0, 400))
def test_lz4_takes_any_bytes(data, size):
    """The reader in Python never fails in another way, and reads what the library reads."""
    with contextlib.suppress(BinaryFormatError, IndexError):
        found = bytes(compression._lz4(data, size))
        library = compression._lz4_library()
        if library is not None:
            assert library(data, size) == found


@pytest.mark.parametrize(
    ("packed", "text"),
    [
        (b"\x00", b""),
        (b"\x50hello", b"hello"),
        # One byte, repeated; then a long match that overlaps itself. The last bytes of a
        # block are always literals.
        (b"\x1aa\x01\x00\xc0literals end", b"a" * 15 + b"literals end"),
        (b"\x2fab\x02\x00\x03\xc0literals end", b"ab" * 12 + b"literals end"),
        (b"\xf0\x05" + b"x" * 20, b"x" * 20),  # long literals
    ],
)
def test_lz4_blocks(packed, text):
    assert compression.lz4(packed, len(text)) == text
    assert compression._lz4(packed, len(text)) == text


def test_the_lz4_reader_in_python_reads_what_nvcc_packs(work, monkeypatch):
    path = make_fatbin(work, "speed.fatbin", "--compress-mode=speed")
    expected = ours(path)
    monkeypatch.setattr(compression, "_lz4_library", lambda: None)
    assert ours(path) == expected == ours(make_fatbin(work, "none.fatbin", "--compress-mode=none"))


def test_a_size_that_can_not_be_is_refused_before_it_is_allocated():
    with pytest.raises(BinaryFormatError):
        compression.lz4(b"\x00" * 10, 1 << 40)
    with pytest.raises(BinaryFormatError):
        compression.zstd(b"\x00" * 10, 1 << 40)
