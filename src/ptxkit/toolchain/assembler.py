"""PTX to cubin, with ptxas or with nvJitLink in this process."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import PtxSyntaxError, ToolchainError, UsageError
from ptxkit.isa.targets import Version
from ptxkit.syntax import Module, parse
from ptxkit.toolchain import (
    cache as store,
)
from ptxkit.toolchain import (
    explain,
    locate,
    nvjitlink,
    process,
    ptxas_messages,
    versions,
)
from ptxkit.toolchain.cubin import Cubin
from ptxkit.toolchain.messages import CompilerError

Engine = Literal["auto", "nvjitlink", "ptxas"]
_VERBOSE = "--verbose"
#: Cubins that were asked for lately. A module is held with its tree.
_recent: store.Memory[Cubin] = store.Memory(entries=512, cost=256 << 20)
_TREE_COST = 8  # bytes of tree for a byte of text, about
_NAMES = {"nvjitlink": "nvJitLink", "ptxas": "ptxas"}


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to assemble: the text, for what, by whom and how."""

    text: bytes
    filename: str
    arch: str
    options: tuple[str, ...]
    engine: str
    """``"nvjitlink"`` or ``"ptxas"``."""
    release: str
    """The CUDA release of the engine."""

    @property
    def program(self) -> str:
        """The engine with its release, for people."""
        return f"{_NAMES[self.engine]} {self.release}"


def assemble(
    source: Module | str | bytes | bytearray,
    arch: str | None = None,
    *,
    opt_level: int = 3,
    max_registers: int | None = None,
    line_info: bool = False,
    debug: bool = False,
    options: Iterable[str] = (),
    engine: Engine = "auto",
    cache: bool = True,
) -> Cubin:
    """Assemble PTX into machine code for one architecture.

    Needs no GPU and no driver. `arch` is the module's own target where none is given, or
    the oldest one that the assembler still has. `options` are those of ptxas.

    The engine is ptxas where it is installed, because that gives the code which nvcc and the
    driver give. nvJitLink works in this process and is faster, but makes relocatable code,
    as ``ptxas --compile-only`` does: registers and instructions can differ. Name an engine
    to decide yourself.

    What the assembler refuses is a `ptxkit.toolchain.CompilerError` with diagnostics at
    the places in the PTX.

    >>> import ptxkit
    >>> text = '''.version 8.0
    ... .target sm_80
    ... .address_size 64
    ... .visible .entry k(.param .u64 p)
    ... {
    ...     .reg .b32 %r<2>;
    ...     mov.u32 %r1, %tid.q;
    ...     ret;
    ... }
    ... '''
    >>> ptxkit.assemble(text.replace("%tid.q", "%tid.x"), "sm_90").resources["k"].stack
    0
    >>> ptxkit.assemble(text, "sm_90")
    Traceback (most recent call last):
    ptxkit.toolchain.messages.CompilerError: <ptx>:7:...
    """
    words = ptxas_options(opt_level, max_registers, line_info, debug, options)
    if isinstance(source, bytearray):
        source = bytes(source)
    if not cache:
        job = plan(source, arch, words, engine)
        return finish(job, *run(job), source)
    # A module is equal to itself alone, and a text remembers its hash: this costs nothing.
    name = (source, arch, words, engine, locate.signature())
    known = _recent.get(name)
    if known is None:
        job = plan(source, arch, words, engine)
        known = _stored(job, source)
        _recent.put(name, known, len(known.data) + _TREE_COST * len(job.text))
    return known


def _stored(job: Job, source: Module | str | bytes) -> Cubin:
    """The cubin from disk, or assembled and put there."""
    name = store.key("cubin", [job.engine, job.release, job.arch, *job.options, job.text])
    content = store.read(name)
    if content is not None:
        header, _, kept = content.partition(b"\0")
        return finish(job, kept, json.loads(header), source)
    data, log = run(job)
    made = finish(job, data, log, source)
    store.write(name, json.dumps(log).encode() + b"\0" + made.data)
    return made


def ptxas_options(
    opt_level: int,
    max_registers: int | None,
    line_info: bool,
    debug: bool,
    options: Iterable[str],
) -> tuple[str, ...]:
    """The options of ptxas for the arguments of `assemble`."""
    if isinstance(options, str):
        raise UsageError(f"options is a list of words, not one text: {options!r}")
    if opt_level not in (0, 1, 2, 3):
        raise UsageError(f"opt_level is 0, 1, 2 or 3, not {opt_level!r}")
    if max_registers is not None and not 16 <= max_registers <= 255:
        raise UsageError(f"max_registers is between 16 and 255, not {max_registers!r}")
    words = [_VERBOSE]
    if debug:
        words.append("--device-debug")  # which takes no optimisation level but 0
    else:
        words.append(f"--opt-level={opt_level}")
    if line_info:
        words.append("--generate-line-info")
    if max_registers is not None:
        words.append(f"--maxrregcount={max_registers}")
    return (*words, *options)


def plan(
    source: Module | str | bytes, arch: str | None, options: tuple[str, ...], engine: Engine
) -> Job:
    """Decide who assembles what, without starting."""
    if engine not in get_args(Engine):
        raise UsageError(f"engine is one of {get_args(Engine)}, not {engine!r}")
    text, filename = source_text(source)
    name, release = _choose(engine)
    supported = versions.architectures(release)
    wanted = str(versions.parse_arch(arch)) if arch is not None else None
    if wanted is None:
        wanted = _own_target(source, filename, supported)
    if wanted not in supported:
        raise ToolchainError(
            explain.unsupported_architecture(wanted, f"{_NAMES[name]} {release}", supported)
        )
    return Job(text, filename, wanted, options, name, release)


def source_text(source: Module | str | bytes) -> tuple[bytes, str]:
    """The bytes to assemble and the name of their source."""
    if isinstance(source, Module):
        data, filename = source.source(), source.filename
    elif isinstance(source, str):
        data, filename = source.encode("utf-8", "surrogateescape"), "<ptx>"
    elif isinstance(source, bytes):
        data, filename = source, "<ptx>"
    else:
        raise UsageError(
            f"assemble needs a Module or PTX text, not {type(source).__name__}; "
            "for a file use Path('k.ptx').read_bytes()"
        )
    data = data.rstrip(b"\0")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise UsageError(f"{filename}:{line}: a NUL byte; the assembler would stop reading there")
    return data, filename


def run(job: Job) -> tuple[bytes | None, str]:
    """Assemble; gives the cubin (None after an error) and the log."""
    if job.engine == "nvjitlink":
        result = nvjitlink.load().assemble(job.text, job.arch, job.options, job.filename)
        return result.cubin, result.log
    ptxas = locate.require("ptxas").path
    with tempfile.TemporaryDirectory(prefix="ptxkit-") as folder:
        file, cubin = Path(folder) / "source.ptx", Path(folder) / "source.cubin"
        file.write_bytes(job.text)
        done = process.run(ptxas, [f"--gpu-name={job.arch}", *job.options, "-o", cubin, file])
        data = cubin.read_bytes() if done.code == 0 and cubin.exists() else None
        return data, done.everything.replace(f"{file}", "ptx")


def finish(job: Job, data: bytes | None, log: str, source: Module | str | bytes) -> Cubin:
    """The cubin as data, or the refusal with its diagnostics."""
    remarks = ptxas_messages.remarks(log)
    found: tuple[Diagnostic, ...] = ()
    if remarks or data is None:
        module = source if isinstance(source, Module) else None
        if module is None:
            module = parse(job.text, filename=job.filename, recover=True)
        found = tuple(explain.explain(remarks, module, job.arch, job.program))
    if data is None:
        refused = explain.refused_options(remarks, job.program)
        if refused is not None:
            raise ToolchainError(refused)
        if not found:
            raise ToolchainError(f"{job.program} failed: {log.strip() or 'it does not say why'}")
        raise CompilerError(found, log)
    return replace(
        Cubin.from_bytes(data, log=log, engine=job.program), arch=job.arch, diagnostics=found
    )


def _choose(engine: Engine) -> tuple[str, str]:
    """The engine to use and its release."""
    if engine == "auto":
        tool, library = locate.find("ptxas"), locate.find("nvjitlink")
        if tool is None and library is None:
            raise ToolchainError(f"no assembler was found; run: {locate.pip_command('ptxas')}")
        if tool is None:
            engine = "nvjitlink"
        elif library is None or tool.path.parents[1] == library.path.parents[1]:
            engine = "ptxas"
        else:  # of two installations the newer one takes more
            newer = Version.parse(_release("nvjitlink")) > Version.parse(_release("ptxas"))
            engine = "nvjitlink" if newer else "ptxas"
    return engine, _release(engine)


def _release(engine: str) -> str:
    return nvjitlink.load().release if engine == "nvjitlink" else process.release("ptxas")


def _own_target(source: Module | str | bytes, filename: str, supported: tuple[str, ...]) -> str:
    module = source if isinstance(source, Module) else parse(source, filename, recover=True)
    if module.target is None and module.diagnostics:
        raise PtxSyntaxError(module.diagnostics)
    if module.target is None:
        raise UsageError(f"{filename} has no .target, so say which: assemble(..., arch='sm_90')")
    target = versions.parse_arch(versions.RENAMED.get(module.target, module.target))
    return versions.nearest(target, supported) or str(target)
