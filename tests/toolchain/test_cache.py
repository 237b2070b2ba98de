"""The cache: whole entries or none, whoever writes, reads or is killed; and it is fast."""

import os
import signal
import subprocess
import sys
import time

import pytest

import ptxkit
from ptxkit.errors import UsageError
from ptxkit.toolchain import assembler, cache
from toolchain.sources import PTX, SAXPY

NAME = cache.key("test", ["entry"])

# Writes entries of a size that takes several writes, and says when it has begun.
WRITER = """
import sys
from ptxkit.toolchain import cache
print("on", flush=True)
for round in range(int(sys.argv[1])):
    for number in range(8):
        name = cache.key("test", [str(number)])
        cache.write(name, bytes([number]) * 1_000_000)
        found = cache.read(name)
        assert found is None or found == bytes([number]) * 1_000_000, "torn"
"""


def entries(folder):
    return sorted(path for path in folder.glob("*/*") if path.suffix != ".new")


def test_what_was_written_is_read(own_cache):
    assert cache.read(NAME) is None
    cache.write(NAME, b"content")
    assert cache.read(NAME) == b"content"
    assert len(entries(own_cache)) == 1


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "header", "other"])
def test_a_damaged_entry_is_a_miss(own_cache, damage):
    cache.write(NAME, b"content" * 100)
    (path,) = entries(own_cache)
    data = path.read_bytes()
    changed = {
        "flip": data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
        "cut": data[:-1],
        "empty": b"",
        "header": b"x" + data[1:],
    }
    if damage == "other":  # a whole entry, under the wrong name
        other = cache.key("test", ["other"])
        cache.write(other, b"of another")
        changed["other"] = next(p for p in entries(own_cache) if p != path).read_bytes()
    path.write_bytes(changed[damage])
    assert cache.read(NAME) is None
    assert not path.exists()
    cache.write(NAME, b"again")
    assert cache.read(NAME) == b"again"


def test_a_damaged_cubin_is_assembled_again(own_cache):
    first = ptxkit.assemble(PTX)
    for path in entries(own_cache):
        path.write_bytes(path.read_bytes()[:-9])
    assembler._recent.clear()
    assert ptxkit.assemble(PTX).data == first.data


def test_processes_write_and_read_side_by_side(own_cache):
    workers = [
        subprocess.Popen([sys.executable, "-c", WRITER, "3"], stdout=subprocess.DEVNULL)
        for _ in range(4)
    ]
    assert [worker.wait(60) for worker in workers] == [0] * 4
    assert len(entries(own_cache)) == 8
    assert not list(own_cache.glob("*/*.new"))


def test_a_killed_process_leaves_whole_entries_or_none(own_cache):
    for delay in (0.0, 0.01, 0.03, 0.07, 0.15):
        worker = subprocess.Popen(
            [sys.executable, "-c", WRITER, "1000"], stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout.readline() == "on\n"
        time.sleep(delay)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
        for number in range(8):
            found = cache.read(cache.key("test", [str(number)]))
            assert found is None or found == bytes([number]) * 1_000_000
    # What the killed left behind goes away once it is old.
    left = list(own_cache.glob("*/*.new"))
    for path in left:
        os.utime(path, (0, 0))
    cache.sweep(own_cache, 1 << 30)
    assert not list(own_cache.glob("*/*.new"))


def test_what_was_used_least_lately_goes_first(own_cache):
    names = [cache.key("test", [str(number)]) for number in range(10)]
    for age, name in enumerate(names):
        cache.write(name, bytes(1000))
        path = own_cache / name[:2] / name[2:]
        os.utime(path, (time.time() - 100_000 + age,) * 2)
    assert cache.read(names[0]) is not None  # which renews it
    cache.sweep(own_cache, 5_000)
    left = {name for name in names if cache.read(name) is not None}
    assert names[0] in left
    assert names[1] not in left
    assert names[9] in left
    assert cache.size(own_cache) <= 5_000


def test_writing_keeps_to_the_limit(own_cache, monkeypatch):
    monkeypatch.setenv("PTXKIT_CACHE_SIZE", "50K")
    monkeypatch.setattr(cache, "_SWEEP_EVERY", 2)
    for number in range(40):
        cache.write(cache.key("test", [str(number)]), bytes(4000))
    assert 0 < cache.size(own_cache) <= 60 << 10


def test_size_zero_turns_it_off(own_cache, monkeypatch):
    monkeypatch.setenv("PTXKIT_CACHE_SIZE", "0")
    cache.write(NAME, b"content")
    assert cache.read(NAME) is None
    assert cache.folder() is None
    assert ptxkit.assemble(PTX).resources
    assert not own_cache.exists()


@pytest.mark.parametrize(
    ("text", "bytes_"), [("7", 7), ("2K", 2048), ("1 MiB", 1 << 20), ("3gb", 3 << 30)]
)
def test_sizes(text, bytes_, monkeypatch):
    monkeypatch.setenv("PTXKIT_CACHE_SIZE", text)
    assert cache.limit() == bytes_


def test_a_size_that_is_none(monkeypatch):
    monkeypatch.setenv("PTXKIT_CACHE_SIZE", "much")
    with pytest.raises(UsageError, match="PTXKIT_CACHE_SIZE is a size such as 500M, not 'much'"):
        cache.limit()


def test_a_folder_that_can_not_be_made_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PTXKIT_CACHE_DIR", str(tmp_path / "file" / "cache"))
    cache.write(NAME, b"content")
    assert cache.read(NAME) is None
    assert ptxkit.assemble(PTX).resources


def test_the_folder_is_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("PTXKIT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "ptxkit"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / ".cache" / "ptxkit"


def best(call, rounds=5, calls=200):
    """Seconds a call, the best of several rounds: others use this machine too."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


@pytest.mark.parametrize("kind", ["module", "text"])
def test_an_unchanged_module_takes_under_100_microseconds(kind):
    module = ptxkit.compile_cuda(SAXPY)
    source = module if kind == "module" else module.emit()
    first = ptxkit.assemble(source, "sm_90")
    assert ptxkit.assemble(source, "sm_90") is first
    assert best(lambda: ptxkit.assemble(source, "sm_90")) < 100e-6


def test_another_process_finds_it_on_disk():
    ptxkit.assemble(PTX)
    code = (
        "import sys, ptxkit\n"
        "from ptxkit.toolchain import assembler\n"
        "assembler.run = None\n"  # nothing may be assembled
        "print(len(ptxkit.assemble(sys.stdin.read()).data))\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], input=PTX, capture_output=True, text=True, check=True
    )
    assert int(other.stdout) == len(ptxkit.assemble(PTX).data)


def test_all_that_matters_is_in_the_name():
    """Another option, target, text or release is another entry."""
    seen = {ptxkit.assemble(PTX).data}
    seen.add(ptxkit.assemble(PTX, opt_level=0).data)
    seen.add(ptxkit.assemble(PTX, "sm_90").data)
    seen.add(ptxkit.assemble(PTX, line_info=True).data)
    seen.add(ptxkit.assemble(PTX.replace("bar.sync 0", "bar.sync 1")).data)
    assert len(seen) == 5


def test_memory_gives_up_what_costs_too_much():
    memory = cache.Memory(entries=10, cost=100)
    memory.put("large", 1, 60)
    assert memory.get("large") is None
    for name in "abc":
        memory.put(name, name, 40)
    assert [memory.get(name) for name in "abc"] == [None, "b", "c"]
