"""Two inputs, or one input for two architectures, side by side."""

from __future__ import annotations

from difflib import SequenceMatcher

from ptxkit.app.explore import Panes, _assembled
from ptxkit.app.inputs import Given, read
from ptxkit.app.limits import InputRefused
from ptxkit.app.markup import badge, message, table, text
from ptxkit.errors import PtxkitError
from ptxkit.syntax import Module
from ptxkit.syntax import compare as structure
from ptxkit.toolchain import sass

_MOST = 6_000
_CONTEXT = 3


def compare(
    text: str, other: str, arch: str, other_arch: str, kind: str = "auto", renamed: bool = True
) -> Panes:
    """PTX and machine code of two inputs; without a second one, of one for two architectures."""
    if not other.strip() and arch == other_arch:
        raise InputRefused("choose another architecture, or paste a second input to compare with")
    first = read(text, kind, arch)
    second = read(other if other.strip() else text, kind, other_arch)
    for one, what in ((first, "first"), (second, "second")):
        if one.diagnostics:
            raise InputRefused(f"the {what} input: {one.diagnostics[0].render()}")
        if one.module.diagnostics:
            raise InputRefused(f"the {what} input: {one.module.diagnostics[0].render()}")
    yield "ptx_diff", _ptx(first, second, renamed)
    yield "needs_diff", _needs(first.module, second.module, arch, other_arch)
    yield "sass_diff", _machine_code(first.module, second.module, arch, other_arch)


def _ptx(first: Given, second: Given, renamed: bool) -> str:
    found = structure.diff(first.module, second.module, renamed)
    words = "names of registers do not count" if renamed else "names count"
    head = (
        badge("✓ the same PTX", "good", words)
        if found.equal
        else badge("PTX differs", "fair", words)
    )
    if found.equal:
        return f"<div class='pk-head'>{head}</div>"
    return (
        f"<div class='pk-head'>{head}</div>{_coloured(found.render(_CONTEXT).splitlines(), 'PTX')}"
    )


_KINDS = {
    "- ": "pk-removed",
    "+ ": "pk-added",
    "@@": "pk-where",
    "--": "pk-where",
    "++": "pk-where",
}


def _coloured(lines: list[str], label: str) -> str:
    rows = "".join(
        f"<div class='pk-row {_KINDS.get(line[:2], '')}'><code>{text(line) or ' '}</code></div>"
        for line in lines[:_MOST]
    )
    if len(lines) > _MOST:
        rows += f"<div class='pk-more'>{len(lines) - _MOST:,} more lines are not shown</div>"
    return (
        "<div class='pk-pane' tabindex='0' role='region' "
        f"aria-label='differences in {text(label)}'>"
        f"<div class='pk-lines'>{rows}</div></div>"
    )


def _needs(first: Module, second: Module, arch: str, other_arch: str) -> str:
    columns = []
    for module, one in ((first, arch), (second, other_arch)):
        try:
            columns.append(dict(_assembled(module, one).resources))
        except PtxkitError as error:
            return message(f"{one}: {error}", "error")
    rows = []
    for name in dict.fromkeys([*columns[0], *columns[1]]):
        for field in ("registers", "spills", "shared", "stack", "code"):
            values = [
                getattr(column[name], field) if name in column else None for column in columns
            ]
            a, b = (f"{v:,}" if v is not None else "none" for v in values)
            before, after = values
            change = ""
            if isinstance(before, int) and isinstance(after, int) and before != after:
                change = f"{after - before:+,}"
            rows.append([f"<code>{text(name)}</code>", field, a, b, change])
    return table(("kernel", "what", arch, other_arch, "change"), rows, "resources compared")


def _machine_code(first: Module, second: Module, arch: str, other_arch: str) -> str:
    listings = []
    for module, one in ((first, arch), (second, other_arch)):
        try:
            code = sass(_assembled(module, one))
        except PtxkitError as error:
            return message(f"{one}: {error}", "error")
        listings.append([row.text for rows in code.values() for row in rows])
    a, b = (one[:_MOST] for one in listings)
    # Registers are allocated anew for the smallest change: lines are matched by their opcodes.
    matcher = SequenceMatcher(
        None, [r.split(" ")[0] for r in a], [r.split(" ")[0] for r in b], False
    )
    lines = [
        f"-- {arch}: {len(listings[0]):,} instructions",
        f"++ {other_arch}: {len(listings[1]):,}",
    ]
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines.append(f"@@ instruction {group[0][1] + 1} and {group[0][3] + 1}")
        for tag, i, j, k, n in group:
            if tag == "equal":
                lines += [f"  {row}" for row in b[k:n]]
            else:
                lines += [f"- {row}" for row in a[i:j]] + [f"+ {row}" for row in b[k:n]]
    if len(lines) == 2:
        lines.append("  the same opcodes in the same order")
    return _coloured(lines, "SASS")
