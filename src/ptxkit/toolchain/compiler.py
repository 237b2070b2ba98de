"""CUDA C++ to PTX, with NVRTC in this process or with nvcc."""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import ArchitectureError, ToolchainError, UsageError
from ptxkit.isa.targets import Target
from ptxkit.syntax import Module, parse
from ptxkit.toolchain import aside, cuda_messages, includes, locate, nvrtc, process
from ptxkit.toolchain import cache as store
from ptxkit.toolchain.messages import CompilerError, CompilerWarning
from ptxkit.toolchain.versions import parse_arch

Compiler = Literal["nvrtc", "nvcc"]
#: How a file of PTX begins, after comments.
_PTX = re.compile(rb"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*\.version\s+\d")
Defines = Mapping[str, object] | Iterable[str]
#: What was kept before this was said is not taken: it may have been made by a compiler that had
#: not forgotten other options (see `aside`).
_EPOCH = "fast math by itself"


def compile_cuda(
    src: str | bytes,
    arch: str = "sm_90",
    *,
    name: str = "kernel.cu",
    options: Iterable[str] = (),
    include_dirs: Iterable[str | Path] = (),
    defines: Defines = (),
    line_info: bool = False,
    debug: bool = False,
    fast_math: bool = False,
    compiler: Compiler | None = None,
    cache: bool = True,
    relocate: Callable[[Diagnostic], Diagnostic] | None = None,
) -> Module:
    """Compile CUDA C++ to PTX.

    Needs no GPU and no driver. The headers of the CUDA wheels or of a system CUDA are on
    the include path. An error in the source is a `ptxkit.toolchain.CompilerError` with
    its diagnostics; a warning is a Python warning, `CompilerWarning`. Where the source was
    made from another one, `relocate` gives each of them its place there.

    >>> import ptxkit
    >>> m = ptxkit.compile_cuda('extern "C" __global__ void k(float *x) { x[0] = 1; }')
    >>> m.target, [f.name for f in m.kernels]
    ('sm_90', ['k'])
    >>> ptxkit.compile_cuda("__global__ void k() { nothing(); }", name="k.cu")
    Traceback (most recent call last):
    ptxkit.toolchain.messages.CompilerError: k.cu:1:23: error[cuda]: identifier "nothing" is ...
    """
    source = _source_bytes(src)
    if _PTX.match(source):
        raise UsageError(
            f"'{name}' is PTX already, not CUDA C++: 'ptxkit assemble FILE' makes machine code of "
            "it, and 'ptxkit decompile FILE' CUDA C++"
        )
    target = parse_arch(arch)
    if compiler is None:
        # In-process where that library is to be had; nvcc does the same as a process.
        compiler = "nvcc" if not locate.find("nvrtc") and locate.find("nvcc") else "nvrtc"
    if compiler not in get_args(Compiler):
        raise UsageError(f"compiler is one of {get_args(Compiler)}, not {compiler!r}")
    if isinstance(options, str):
        raise UsageError(f"options is a list of words, not one text: {options!r}")
    options = tuple(options)
    folders = [Path(folder).absolute() for folder in include_dirs]
    words = _words(target, options, folders, defines, line_info, debug, fast_math)
    entry = _entry(source, name, options, words, folders, compiler) if cache else None
    ptx, log = _kept(entry)
    if ptx is None:
        run = _with_nvrtc if compiler == "nvrtc" else _with_nvcc
        ptx, log = run(source, name, words)
        if ptx is not None and entry is not None:
            store.write(entry, json.dumps(log).encode() + b"\0" + ptx)
    found = cuda_messages.parse(log, source.decode("utf-8", "replace"), name)
    if relocate is not None:
        found = [relocate(diagnostic) for diagnostic in found]
    if ptx is None:
        _refuse_architecture(target, compiler)
        if not any(diagnostic.severity == "error" for diagnostic in found):
            raise ToolchainError(f"{compiler} failed: {log.strip() or 'it does not say why'}")
        raise CompilerError(found, log)
    if not ptx.strip():
        raise ToolchainError(f"{compiler} made no PTX with its options: {' '.join(words)}")
    for diagnostic in found:
        if diagnostic.filename == name:  # what headers say is not the caller's doing
            warnings.warn(diagnostic.render(), CompilerWarning, stacklevel=2)
    return parse(ptx, filename=f"{Path(name).stem}.ptx")


def _entry(
    source: bytes,
    name: str,
    options: tuple[str, ...],
    words: list[str],
    folders: list[Path],
    compiler: Compiler,
) -> str | None:
    """The name in the cache; None where not everything the result depends on is known."""
    if any(map(includes.brings_files, options)):
        return None
    theirs = locate.include_dirs()
    headers = includes.fingerprint(source, [*folders, Path(name).absolute().parent], theirs)
    if headers is None:
        return None
    path = str(locate.require(compiler).path)
    release = nvrtc.load().release if compiler == "nvrtc" else process.release("nvcc")
    # Line information names the file by its full path.
    place = str(Path(name).absolute())
    return store.key("ptx", [_EPOCH, compiler, release, path, place, *words, headers, source])


def _kept(entry: str | None) -> tuple[bytes | None, str]:
    content = store.read(entry) if entry is not None else None
    if content is None:
        return None, ""
    log, _, ptx = content.partition(b"\0")
    return ptx, json.loads(log)


def _refuse_architecture(target: Target, compiler: Compiler) -> None:
    if compiler == "nvrtc" and target.number not in nvrtc.load().architectures():
        numbers = ", ".join(f"sm_{number}" for number in nvrtc.load().architectures())
        release = nvrtc.load().release
        raise ArchitectureError(
            f"NVRTC {release} does not compile for {target}; it does for {numbers}"
        )


def _source_bytes(src: str | bytes) -> bytes:
    if isinstance(src, str):
        data = src.encode("utf-8", "surrogateescape")
    elif isinstance(src, (bytes, bytearray, memoryview)):
        data = bytes(src)
    else:
        raise UsageError(
            f"compile_cuda needs CUDA C++ as text, not {type(src).__name__}; "
            "for a file use Path('k.cu').read_text()"
        )
    if b"\0" in data:
        raise UsageError("the CUDA source has a NUL byte in it; a compiler would stop there")
    return data


def _words(
    target: Target,
    options: tuple[str, ...],
    folders: list[Path],
    defines: Defines,
    line_info: bool,
    debug: bool,
    fast_math: bool,
) -> list[str]:
    """The options that NVRTC and nvcc share."""
    words = [f"--gpu-architecture=compute_{target.number}{target.suffix}"]
    flags = {
        "--generate-line-info": line_info,
        "--device-debug": debug,
        "--use_fast_math": fast_math,
    }
    words += [flag for flag, wanted in flags.items() if wanted]
    if isinstance(defines, Mapping):
        # None and True define a name without a value, which the compiler takes as 1.
        words += [
            f"-D{key}" if value is None or value is True else f"-D{key}={value}"
            for key, value in defines.items()
            if value is not False
        ]
    else:
        words += [f"-D{define}" for define in defines]
    return [*words, *options, *(f"-I{folder}" for folder in folders)]


def _with_nvrtc(source: bytes, name: str, words: list[str]) -> tuple[bytes | None, str]:
    headers = [f"-I{folder}" for folder in locate.include_dirs()]
    library = nvrtc.load()
    sticking = aside.sticking(words)
    most = aside.seconds_for(source)
    if sticking or most is not None:
        result = aside.of(library.path, sticking).compile(source, name, [*words, *headers], most)
    else:
        result = library.compile(source, name, [*words, *headers])
    return result.ptx, result.log


def _with_nvcc(source: bytes, name: str, words: list[str]) -> tuple[bytes | None, str]:
    nvcc = locate.require("nvcc").path
    with tempfile.TemporaryDirectory(prefix="ptxkit-") as folder:
        # The directive makes messages and line information name the source, not this file.
        line = b'#line 1 "%s"\n' % name.replace("\\", "\\\\").replace('"', '\\"').encode()
        file = Path(folder) / "source.cu"
        file.write_bytes(line + source)
        ptx = Path(folder) / "source.ptx"
        done = process.run(nvcc, ["--ptx", *words, "-o", ptx, file])
        log = done.everything.replace(f"{folder}/", "")
        return (None if done.code else ptx.read_bytes()), log
