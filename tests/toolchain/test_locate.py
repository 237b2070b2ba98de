"""Parts are found in wheels first, then in a system CUDA, unless the environment says so."""

import os
import sys

import pytest

from ptxkit.errors import ToolchainError
from ptxkit.toolchain import compile_cuda, locate


def make(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine without any CUDA."""
    for name in locate._SEARCHED_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(locate, "_SYSTEM_ROOTS", ())
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    system = locate._system_roots
    monkeypatch.setattr(
        locate, "_system_roots", lambda: (r for r in system() if str(r).startswith(str(tmp_path)))
    )
    locate._remembered.clear()
    yield tmp_path
    locate._remembered.clear()


def test_nothing_is_found_on_a_bare_machine(bare):
    assert [locate.find(name) for name in locate.PARTS] == [None] * len(locate.PARTS)


def test_the_shared_wheel_folder_comes_before_all(bare, monkeypatch):
    old = make(bare / "site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
    new = make(bare / "site/nvidia/cu13/lib/libnvrtc.so.13")
    system = make(bare / "cuda/lib64/libnvrtc.so.14")
    monkeypatch.setenv("CUDA_HOME", str(bare / "cuda"))
    found = locate.find_all("nvrtc")
    assert [one.path for one in found] == [new, old, system]
    assert [one.origin for one in found] == ["wheel", "wheel", "system"]


@pytest.mark.parametrize(
    "place",
    [
        "site/nvidia/cu13/bin/ptxas",
        "site/nvidia/cuda_nvcc/bin/ptxas",
        "cuda/bin/ptxas",
    ],
)
def test_layouts_of_tools(bare, monkeypatch, place):
    monkeypatch.setenv("CUDA_PATH", str(bare / "cuda"))
    path = make(bare / place)
    assert locate.find("ptxas").path == path


@pytest.mark.parametrize("folder", ["lib", "lib64", f"targets/{os.uname().machine}-linux/lib"])
def test_layouts_of_libraries(bare, monkeypatch, folder):
    monkeypatch.setenv("CUDA_HOME", str(bare / "cuda"))
    path = make(bare / "cuda" / folder / "libnvJitLink.so.12")
    assert locate.find("nvjitlink").path == path


def test_the_newest_of_several_libraries_is_taken(bare):
    make(bare / "site/nvidia/cu13/lib/libnvrtc.so.9")
    newest = make(bare / "site/nvidia/cu13/lib/libnvrtc.so.13")
    make(bare / "site/nvidia/cu13/lib/libnvrtc-builtins.so.13.4")
    assert locate.find("nvrtc").path == newest


def test_tools_on_the_path_are_the_last_resort(bare, monkeypatch):
    path = make(bare / "bin/nvdisasm")
    monkeypatch.setenv("PATH", str(bare / "bin"))
    assert locate.find("nvdisasm").path == path
    wheel = make(bare / "site/nvidia/cu13/bin/nvdisasm")
    locate._remembered.clear()
    assert locate.find("nvdisasm").path == wheel


def test_a_file_that_can_not_run_is_no_tool(bare):
    make(bare / "site/nvidia/cu13/bin/ptxas").chmod(0o644)
    assert locate.find("ptxas") is None


def test_what_is_installed_later_is_seen(bare):
    assert locate.find("ptxas") is None
    path = make(bare / "site/nvidia/cu13/bin/ptxas")
    assert locate.find("ptxas").path == path


def test_the_environment_replaces_the_search(bare, monkeypatch):
    make(bare / "site/nvidia/cu13/bin/ptxas")
    mine = make(bare / "mine/bin/ptxas")
    monkeypatch.setenv("PTXKIT_TOOLCHAIN", str(bare / "mine"))
    assert (locate.find("ptxas").path, locate.find("ptxas").origin) == (mine, "environment")
    assert locate.find("nvcc") is None
    monkeypatch.setenv("PTXKIT_PTXAS", str(make(bare / "one")))
    assert locate.find("ptxas").path == bare / "one"


def test_a_wrong_override_is_an_error(bare, monkeypatch):
    monkeypatch.setenv("PTXKIT_PTXAS", str(bare / "nowhere"))
    with pytest.raises(ToolchainError, match=r"PTXKIT_PTXAS names '.*nowhere', which is not there"):
        locate.find("ptxas")


def test_headers_give_their_folder(bare):
    make(bare / "site/nvidia/cu13/include/cuda_fp16.h")
    make(bare / "site/nvidia/cu13/include/cccl/cuda/std/type_traits")
    root = bare / "site/nvidia/cu13/include"
    assert locate.include_dirs() == (root, root / "cccl")


def test_what_is_missing_names_its_pip_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PTXKIT_TOOLCHAIN", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"nvrtc was not found .*; run: pip install 'nvidia-c"):
        compile_cuda("", cache=False)


def test_a_library_that_is_none_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("PTXKIT_NVRTC", str(make(tmp_path / "libnvrtc.so.13")))
    with pytest.raises(ToolchainError, match="cannot be used as NVRTC"):
        compile_cuda("", cache=False)
