"""Look inside: a program as a picture of its tree, PTX and C++ side by side."""

from __future__ import annotations

import html
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.printer import print_expression
from ptxkit.decompiler.links import Links, links
from ptxkit.errors import UsageError, import_extra
from ptxkit.syntax import Module

_PICTURES = ("svg", "png", "pdf")
_EXPRESSIONS = (
    n.Literal, n.Name, n.Unary, n.Binary, n.Conditional, n.Cast, n.Call, n.Index, n.Member
)  # fmt: skip


def dot(node: n.Node) -> str:
    """The tree in Graphviz' DOT language.

    >>> from ptxkit.cuda import read
    >>> print(dot(read("(= x (+ a 1))")), end="")
    digraph {
      node [shape=box, fontname="monospace", fontsize=10];
      n0 [label="Assign ="];
      n1 [label="Name x"];
      n0 -> n1 [label="target"];
      n2 [label="Binary +"];
      n3 [label="Name a"];
      n2 -> n3 [label="left"];
      n4 [label="Literal 1"];
      n2 -> n4 [label="right"];
      n0 -> n2 [label="value"];
    }
    """
    lines = ["digraph {", '  node [shape=box, fontname="monospace", fontsize=10];']
    count = 0

    def visit(one: n.Node) -> int:
        nonlocal count
        mine = count
        count += 1
        lines.append(f'  n{mine} [label="{_escaped(_label(one))}"];')
        for field in fields(one):  # type: ignore[arg-type]
            value = getattr(one, field.name)
            parts = value if isinstance(value, tuple) else (value,)
            for part in parts:
                if isinstance(part, n.Node):
                    child = visit(part)
                    lines.append(f'  n{mine} -> n{child} [label="{field.name}"];')
        return mine

    visit(node)
    return "\n".join([*lines, "}"]) + "\n"


def _label(node: n.Node) -> str:
    words = [type(node).__name__]
    if isinstance(node, n.Literal):
        return f"Literal {print_expression(node)}"
    for field in fields(node):  # type: ignore[arg-type]
        value = getattr(node, field.name)
        spelled = getattr(value, "spelling", value)
        if isinstance(spelled, str) and spelled:
            words.append(spelled)
    return " ".join(words)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def draw(node: n.Node, path: Path) -> None:
    """Write the picture of a tree; the end of the file's name says in which form."""
    form = path.suffix.removeprefix(".").lower()
    if form in ("dot", "gv"):
        path.write_text(dot(node), encoding="utf-8")
        return
    if form not in _PICTURES:
        raise UsageError(f"a tree is drawn as .dot, .{', .'.join(_PICTURES)}, not '{path.name}'")
    graphviz: Any = import_extra("graphviz", extra="graphs")
    if shutil.which("dot") is None:
        raise UsageError(
            "Graphviz' program 'dot' is not installed (Debian: apt install graphviz); "
            "a .dot file needs none"
        )
    path.write_bytes(graphviz.Source(dot(node)).pipe(format=form))


_STYLE = """
body { margin: 0; font: 13px/1.45 ui-monospace, monospace; color: #222; background: #fff; }
header { padding: 8px 14px; border-bottom: 1px solid #ccc; position: sticky; top: 0;
         background: #fff; }
main { display: flex; height: calc(100vh - 42px); }
section { flex: 1; overflow: auto; border-right: 1px solid #ccc; padding: 6px 0; }
div { white-space: pre; padding: 0 10px 0 0; }
div i { display: inline-block; width: 4em; padding-right: 1em; text-align: right; color: #999;
        font-style: normal; user-select: none; }
div.linked { cursor: pointer; }
div.on { background: #ffef9e; }
"""
_SCRIPT = """
const ptx = id => document.getElementById('p' + id), cuda = id => document.getElementById('c' + id);
const back = {};
for (const [c, list] of Object.entries(links)) for (const p of list) (back[p] ||= []).push(c);
function show(marked, first) {
  document.querySelectorAll('.on').forEach(e => e.classList.remove('on'));
  marked.forEach(e => e && e.classList.add('on'));
  if (first) first.scrollIntoView({block: 'center', behavior: 'smooth'});
}
document.addEventListener('click', event => {
  const row = event.target.closest('div.linked');
  if (!row) return;
  const id = row.id.slice(1);
  if (row.id[0] === 'c') show([row, ...(links[id] || []).map(ptx)], ptx((links[id] || [])[0]));
  else show([row, ...(back[id] || []).map(cuda)], cuda((back[id] || [])[0]));
});
"""


def side_by_side(
    module: Module, text: str, arch: str, title: str = "", found: Links | None = None
) -> str:
    """A page with PTX and C++ next to each other; a click on a line shows its partners.

    >>> import ptxkit
    >>> text = "__global__ void k(int *x) {\\n    x[threadIdx.x] = 7;\\n}"
    >>> page = side_by_side(ptxkit.compile_cuda(text), text, "sm_90")
    >>> '<div id="c2" class="linked">' in page
    True
    """
    found = links(module, text, arch) if found is None else found
    reached = {line for lines in found.values() for line in lines}
    left = _rows("p", module.emit(), reached)
    right = _rows("c", text, set(found))
    table = "{" + ", ".join(f'"{k}": {list(v)}' for k, v in found.items()) + "}"
    name = html.escape(module.filename)
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>{name}</title><style>{_STYLE}</style></head><body>"
        f"<header>{name} {html.escape(title)}</header>"
        f"<main><section>{left}</section><section>{right}</section></main>"
        f"<script>const links = {table};{_SCRIPT}</script></body></html>\n"
    )


def _rows(prefix: str, text: str, linked: set[int]) -> str:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        marked = ' class="linked"' if number in linked else ""
        body = f"<i>{number}</i>{html.escape(line)}"
        rows.append(f'<div id="{prefix}{number}"{marked}>{body}</div>')
    return "\n".join(rows)
