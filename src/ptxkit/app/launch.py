"""Kernels run from the page: arguments that fit, outputs, a profile by line, faults at theirs."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import ptxkit
from ptxkit.app.explore import Panes
from ptxkit.app.inputs import read
from ptxkit.app.limits import (
    MOST_ARGUMENT,
    MOST_ARRAYS,
    MOST_THREADS,
    SECONDS,
    InputRefused,
    size,
)
from ptxkit.app.markup import badge, message, pane, plain_rows, table, text
from ptxkit.app.ptx_view import PtxView
from ptxkit.decompiler.verify.pointing import Origin
from ptxkit.decompiler.verify.trials import block_shapes
from ptxkit.decompiler.verify.usage import Usage, usage_of
from ptxkit.diagnostics import Diagnostic
from ptxkit.run import ProfileRow, SimulationError
from ptxkit.run.layout import Item
from ptxkit.run.shape import LaunchRules
from ptxkit.run.textual import NUMPY_TYPES, read_argument, readable
from ptxkit.syntax import Function, Module
from ptxkit.syntax.demangle import demangle

_ARRAY = re.compile(r"([a-z]+\d+)\[([\d,]+)\]")
_ELEMENTS = 1024
_SHOWN = 64


def _module(source: str) -> Module:
    given = read(source)
    found = (*given.diagnostics, *given.module.diagnostics)
    if found:
        raise InputRefused(found[0].render())
    if not any(one.has_body for one in given.module.kernels):
        raise InputRefused("there is no kernel here: nothing is a .entry with a body")
    return given.module


def _kernel(module: Module, name: str) -> Function:
    names = [one.name for one in module.kernels if one.has_body]
    return module[name if name in names else names[0]]


def prepare(source: str, kernel: str = "") -> Panes:
    """The kernels of an input, and a launch that fits the chosen one."""
    module = _module(source)
    function = _kernel(module, kernel)
    names = [one.name for one in module.kernels if one.has_body]
    rules, usage = LaunchRules.of(function), usage_of(module, function)
    block = block_shapes(usage, rules)[0]
    wide = "%ctaid.y" in usage.special
    yield "kernels", {"names": names, "chosen": function.name}
    items = ptxkit.load(module, device="cpu", check=False)[function.name].parameters
    axes = max(len(usage.sizes), 2 if wide else 1)
    side = {1: _ELEMENTS, 2: 32}.get(axes, 16)
    grid = (-(-side // block[0]), -(-side // block[1]) if wide else 1)
    lines = [_argument(one, usage, side, side ** min(axes, 3)) for one in items]
    yield (
        "launch",
        {
            "grid": ",".join(map(str, grid)) if wide else str(grid[0]),
            "block": ",".join(map(str, block)) if block[1] * block[2] > 1 else str(block[0]),
            "arguments": "\n".join(lines),
            "shared": 4096 if usage.dynamic_shared else 0,
        },
    )


def _argument(item: Item, usage: Usage, side: int, elements: int) -> str:
    """What an argument could be, as `ptxkit run` writes it."""
    origin = Origin(item.name)
    if origin in usage.pointers:
        element = usage.element(origin)
        kind = element if element in NUMPY_TYPES or element == "bf16" else "b32"
        written = usage.accesses.get(origin)
        fill = "randn" if kind.startswith(("f", "bf")) else "arange"
        if written is not None and written.stored and not written.read and not written.atomic:
            fill = "zeros"
        return f"{kind}[{elements}]={fill}"
    if origin in usage.sizes:
        return str(side)
    if item.type in ("f32", "f64", "f16"):
        return "2.0"
    floats = usage.floats.get(origin)
    return "2.0" if floats and item.type.startswith("f") else "3" if item.size < 8 else "null"


def _numbers(words: str, what: str) -> tuple[int, ...]:
    try:
        found = tuple(int(one) for one in words.lower().replace("x", ",").split(","))
    except ValueError:
        raise InputRefused(
            f"the {what} '{words[:40]}' is not a number, or numbers such as 4,2"
        ) from None
    if not 1 <= len(found) <= 3 or min(found) < 1:
        raise InputRefused(f"the {what} has one to three numbers from 1 on")
    return found


def _values(lines: list[str]) -> list[Any]:
    generator = np.random.default_rng(0)
    made, total = [], 0
    for line in lines:
        if len(line) > MOST_ARGUMENT:
            raise InputRefused(
                f"an argument has {len(line):,} characters; {MOST_ARGUMENT} are the most"
            )
        if line.startswith("@"):
            raise InputRefused("the page reads no files: write an array such as f32[1024]=randn")
        array = _ARRAY.match(line)
        if array:
            count = math.prod(int(one) for one in array[2].split(",") if one)
            total += count * 8
            if total > MOST_ARRAYS:
                raise InputRefused(f"all arrays together may take {size(MOST_ARRAYS)} here")
        made.append(read_argument(line, generator))
    return made


def run(
    source: str, kernel: str, grid: str, block: str, arguments: str, shared: int = 0,
    device: str = "simulator", sanitize: bool = False,
) -> Panes:  # fmt: skip
    """A launch: what it left behind, where its time went, or where it went wrong."""
    module = _module(source)
    function = _kernel(module, kernel)
    blocks, threads = _numbers(grid, "grid"), _numbers(block, "block")
    if device == "simulator" and math.prod(blocks) * math.prod(threads) > MOST_THREADS:
        raise InputRefused(f"the simulator takes {MOST_THREADS:,} threads from this page")
    lines = [line.strip() for line in arguments.splitlines() if line.strip()]
    values = _values(lines)
    view = PtxView(module.emit(), module.filename)
    begin = time.perf_counter()
    on_gpu = device == "GPU"
    loaded: Any = ptxkit.load(module, device="cuda" if on_gpu else "cpu")
    options: dict[str, Any] = {}
    if not on_gpu:
        options = {"profile": True, "time_limit": SECONDS["run"] - 5, "step_limit": 1 << 26,
                   "sanitize": "report" if sanitize else False}  # fmt: skip
    yield "progress", f"running {demangle(function.name)}"
    try:
        report = loaded[function.name][blocks, threads, int(shared)](*values, **options)
    except SimulationError as error:
        found = list(error.diagnostics)
        marked = {one.line: "pk-fault" for one in found}
        place = f"thread {error.thread} of block {error.block}"
        yield "outputs", message(f"{error.kind} in line {error.line}, {place}\n\n{error}", "error")
        yield "profile", view.html(found, link="run", marked=marked, label="PTX with faults")
        yield "status", badge(f"✗ {error.kind} in line {error.line}", "bad")
        return
    seconds = time.perf_counter() - begin
    items = loaded[function.name].parameters
    yield "outputs", _outputs(items, values, lines, getattr(report, "output", ""))
    rows: tuple[ProfileRow, ...] = getattr(report, "profile", ())
    findings = [one.diagnostic for one in getattr(report, "findings", ())]
    yield "profile", _profile(view, rows, findings, reached(module, rows))
    words = [badge("✓ ran", "good"), badge(f"{seconds * 1000:,.0f} ms", "plain", "of this machine")]
    if rows:
        total = sum(row.executions for row in rows)
        words.append(badge(f"{total:,} instructions of threads", "plain"))
    if sanitize and not on_gpu:
        words.append(
            badge(f"{len(findings)} findings", "bad") if findings else badge("✓ sanitized", "good")
        )
    yield "status", f"<span class='pk-badges'>{''.join(words)}</span>"


def _outputs(items: list[Item], values: list[Any], lines: list[str], printed: str) -> str:
    rows = []
    for item, value, line in zip(items, values, lines, strict=False):
        if not isinstance(value, np.ndarray):
            rows.append([f"<code>{text(item.name)}</code>", text(line), text(value), ""])
            continue
        shown = readable(value, line).ravel()
        words = np.array2string(shown[:_SHOWN], precision=5, threshold=_SHOWN, max_line_width=76)
        more = f" … {shown.size - _SHOWN:,} more" if shown.size > _SHOWN else ""
        values_shown = f"<pre class='pk-values'>{text(words)}{more}</pre>"
        rows.append([f"<code>{text(item.name)}</code>", text(line), values_shown, _spark(shown)])
    made = table(("parameter", "argument", "after the run", "picture"), rows, "outputs")
    if printed:
        made += pane(plain_rows(printed), "what the kernel printed")
    return made


def _spark(values: Any) -> str:
    """The values as a small curve."""
    finite = np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)
    if finite.size < 2:
        return ""
    few = finite if finite.size <= 128 else finite[np.linspace(0, finite.size - 1, 128).astype(int)]
    low, high = float(few.min()), float(few.max())
    scale = (high - low) or 1.0
    points = " ".join(
        f"{x * 160 / (few.size - 1):.1f},{34 - 30 * (float(v) - low) / scale:.1f}"
        for x, v in enumerate(few)
    )
    return (
        f"<svg class='pk-spark' width='160' height='38' role='img' aria-label='from {low:.4g} to "
        f"{high:.4g}'><polyline points='{points}'/></svg>"
    )


def reached(module: Module, rows: Sequence[ProfileRow]) -> dict[int, int]:
    """Line -> how often a thread came to it, whether its guard held or not.

    Whatever has no guard ran as often as threads came by, and so did they to its neighbours in
    the block; a line of a block where everything has a guard is not told.
    """
    ran = {row.line: row.executions for row in rows}
    found: dict[int, int] = {}
    for function in module.functions:
        for block in function.cfg().blocks if function.has_body else ():
            lines = [one for one in block.instructions if one.line in ran]
            plain = [ran[one.line] for one in lines if one.guard is None]
            last = plain[0] if plain else None
            for one in lines:
                last = ran[one.line] if one.guard is None else last
                if last is not None:
                    found[one.line] = last
    return found


def _profile(
    view: PtxView, rows: tuple[ProfileRow, ...], found: list[Diagnostic], came: Mapping[int, int]
) -> str:
    counts = {row.line: max(came.get(row.line, 0), row.executions) for row in rows}
    most = max(counts.values(), default=0) or 1
    side = {}
    for row in rows:
        count = counts[row.line]
        share, number = 100 * count / most, f"{count:,}"
        details = [f"{row.executions:,} executions", f"{row.active_lanes:.0%} of the lanes active"]
        if count != row.executions:
            details.insert(0, f"reached {count:,} times; the guard held {row.executions:,} times")
            number = f"{row.executions:,} of {count:,}"
        elif row.warp_executions and not row.executions:
            details.insert(0, f"reached by {row.warp_executions:,} warps; the guard never held")
            number = f"0 of {row.warp_executions:,} warps"
        if row.divergent_branches:
            details.append(f"{row.divergent_branches:,} times divergent")
        if row.requests:
            details.append(f"{row.sectors_per_request:.3g} sectors a request")
        if row.shared_requests:
            details.append(f"{row.bank_conflicts:,} bank conflicts")
        bad = row.divergent_branches or row.bank_conflicts or (
            row.requests and row.sectors > 1.5 * row.ideal_sectors)  # fmt: skip
        side[row.line] = (
            f"<span class='pk-bar{' pk-slow' if bad else ''}' title='{text('; '.join(details))}'>"
            f"<i style='width:{share:.0f}%'></i><b>{number}</b></span>"
        )
    return view.html(found, link="run", side=side, side_head="executions", label="PTX with profile")
