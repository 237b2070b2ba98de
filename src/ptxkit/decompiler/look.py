"""Look inside: a program as a picture of its tree, PTX and C++ side by side."""

from __future__ import annotations

import html
import json
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.printer import print_expression
from ptxkit.decompiler.links import Links, links
from ptxkit.errors import UsageError, import_extra, require_extra
from ptxkit.syntax import Module

_PICTURES = ("svg", "png", "pdf")
#: Forms that need nothing to be installed.
TREE_TEXT, ATTENTION_TEXT = ("dot", "gv"), ("json",)
_EXPRESSIONS = (
    n.Literal, n.Name, n.Unary, n.Binary, n.Conditional, n.Cast, n.Call, n.Index, n.Member
)  # fmt: skip

#: Expressions are white, statements and what holds them are not.
_GRAPH = (
    '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Courier", fontsize=10];',
    '  edge [fontname="Courier", fontsize=8, fontcolor=gray40, color=gray60, arrowsize=0.6];',
)


def dot(node: n.Node) -> str:
    """The tree in Graphviz' DOT language.

    >>> from ptxkit.cuda import read
    >>> print(dot(read("(= x (+ a 1))")), end="")
    digraph {
      node [shape=box, style="rounded,filled", fillcolor=white, fontname="Courier", fontsize=10];
      edge [fontname="Courier", fontsize=8, fontcolor=gray40, color=gray60, arrowsize=0.6];
      n0 [label="Assign =", fillcolor="#dcebfa"];
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
    lines = ["digraph {", *_GRAPH]
    count = 0

    def visit(one: n.Node) -> int:
        nonlocal count
        mine = count
        count += 1
        fill = "" if isinstance(one, _EXPRESSIONS) else ', fillcolor="#dcebfa"'
        lines.append(f'  n{mine} [label="{_escaped(_label(one))}"{fill}];')
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


def picture_form(what: str, path: Path, plain: tuple[str, ...]) -> str:
    """What the end of a file's name says to draw; an error for what cannot be drawn.

    >>> picture_form("a tree", Path("t.SVG"), ("dot",))
    'svg'
    """
    form = path.suffix.removeprefix(".").lower()
    if form not in (*plain, *_PICTURES):
        known = ", ".join(f".{one}" for one in (*plain, *_PICTURES))
        raise UsageError(f"{what} is drawn as {known}, not '{path.name}'")
    return form


def check_tree(path: Path) -> None:
    """Raise where a tree cannot be drawn into a file of that name, before any work is done."""
    if picture_form("a tree", path, TREE_TEXT) not in TREE_TEXT:
        _graphviz(path)


def _graphviz(path: Path) -> Any:
    """The package that draws, and the program that it needs."""
    graphviz: Any = import_extra("graphviz", extra="graphs")
    if shutil.which("dot") is None:
        raise UsageError(
            "Graphviz' program 'dot' is not installed (Debian: apt install graphviz); "
            f"its input needs none: --tree {path.stem}.dot"
        )
    return graphviz


def draw(node: n.Node, path: Path) -> None:
    """Write the picture of a tree; the end of the file's name says in which form."""
    form = picture_form("a tree", path, TREE_TEXT)
    if form in TREE_TEXT:
        path.write_text(dot(node), encoding="utf-8")
        return
    graphviz = _graphviz(path)
    path.write_bytes(graphviz.Source(dot(node)).pipe(format=form))


def check_attention(module: Module, path: Path, kernel: str | None = None) -> str:
    """The kernel whose attention is drawn; raises where that cannot be, before any work is done.

    >>> import ptxkit
    >>> m = ptxkit.parse(".version 8.0 .target sm_80 .entry a() { ret; } .entry b() { ret; }")
    >>> check_attention(m, Path("a.json"))
    Traceback (most recent call last):
    ptxkit.errors.UsageError: attention is drawn of one kernel, and there are 2: say which one ...
    """
    form = picture_form("attention", path, ATTENTION_TEXT)
    names = [f.name for f in module.kernels if f.has_body]
    name = names[0] if kernel is None and len(names) == 1 else kernel
    if name is not None:
        name = module[name].name
    if not names or (name is not None and name not in names):
        raise UsageError("the neural engine reads kernels only: there is no attention to draw")
    if name is None:
        raise UsageError(
            f"attention is drawn of one kernel, and there are {len(names)}: say which one with "
            f"--kernel; there are: {', '.join(names)}"
        )
    require_extra("torch", extra="neural")
    require_extra("safetensors", extra="neural")
    if form not in ATTENTION_TEXT:
        require_extra("matplotlib", extra="neural")
    return name


def attention(
    module: Module, path: Path, kernel: str | None = None, weights: Path | None = None
) -> None:
    """Draw what the neural engine looks at: attention to the words of PTX, and p_gen by word.

    Of the kernel of that name, where there are several; a ``.json`` file has the numbers.
    """
    name = check_attention(module, path, kernel)
    form = picture_form("attention", path, ATTENTION_TEXT)
    from ptxkit.decompiler.neural import inspect
    from ptxkit.decompiler.neural.engine import NeuralEngine, words_of_function

    decoder = NeuralEngine(weights).decoder
    words = words_of_function(module, module[name])
    answers = decoder.answers([words], beams=1)[0]
    if not answers:
        raise UsageError(f"the neural engine has nothing to propose for '{name}': no attention")
    seen = inspect.look(decoder, words, answers[0])
    if form in ATTENTION_TEXT:
        path.write_text(json.dumps(seen.as_dict()), encoding="utf-8")
    else:
        inspect.draw(seen, path)


_STYLE = """
:root { --back: #fff; --ink: #222; --faint: #999; --edge: #ccc; --on: #ffef9e; --near: #f1f5f9; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16181d; --ink: #ddd; --faint: #777; --edge: #3a3f4b; --on: #574b12;
          --near: #232833; }
}
body { margin: 0; font: 13px/1.45 ui-monospace, monospace; color: var(--ink);
       background: var(--back); }
header { padding: 8px 14px; border-bottom: 1px solid var(--edge); }
header small { color: var(--faint); padding-left: 2em; }
main { display: flex; height: calc(100vh - 40px); }
section { flex: 1; overflow: auto; border-right: 1px solid var(--edge); padding: 6px 0; }
div { white-space: pre; padding: 0 10px 0 0; border-left: 4px solid transparent; min-width: 100%;
      width: max-content; box-sizing: border-box; }
div i { display: inline-block; width: 4em; padding-right: 1em; text-align: right;
        color: var(--faint); font-style: normal; user-select: none; }
div.linked { cursor: pointer; border-left-color: hsl(var(--hue) 65% 55%); }
div.near { background: var(--near); }
div.on { background: var(--on); }
"""
_SCRIPT = """
const at = id => document.getElementById(id);
const back = {};
for (const [c, list] of Object.entries(links)) for (const p of list) (back[p] ||= []).push(+c);
const partners = id => (id[0] === 'c' ? links[id.slice(1)] || [] : back[id.slice(1)] || [])
  .map(line => (id[0] === 'c' ? 'p' : 'c') + line);
function mark(kind, row) {
  document.querySelectorAll('.' + kind).forEach(e => e.classList.remove(kind));
  if (row) [row.id, ...partners(row.id)].forEach(id => at(id)?.classList.add(kind));
}
function choose(row) {
  mark('on', row);
  row.scrollIntoView({block: 'nearest'});
  at(partners(row.id)[0])?.scrollIntoView({block: 'center'});
}
const rowOf = event => event.target.closest('div.linked');
document.addEventListener('mouseover', event => mark('near', rowOf(event)));
document.addEventListener('click', event => { const row = rowOf(event); if (row) choose(row); });
document.addEventListener('keydown', event => {
  const step = {ArrowDown: 1, j: 1, ArrowUp: -1, k: -1}[event.key];
  if (!step) return;
  const rows = [...document.querySelectorAll('#cuda .linked')];
  const next = rows[rows.findIndex(row => row.classList.contains('on')) + step];
  if (next) { event.preventDefault(); choose(next); }
});
at('p' + Math.min(...Object.keys(back)))?.scrollIntoView({block: 'start'});
"""


def side_by_side(
    module: Module, text: str, arch: str, title: str = "", found: Links | None = None
) -> str:
    """A page with PTX and C++ next to each other; a click on a line shows its partners.

    >>> import ptxkit
    >>> text = "__global__ void k(int *x) {\\n    x[threadIdx.x] = 7;\\n}"
    >>> page = side_by_side(ptxkit.compile_cuda(text), text, "sm_90")
    >>> '<div id="c2" class="linked" ' in page
    True
    """
    found = links(module, text, arch) if found is None else found
    # Neighbours have colours far apart; a line of PTX has that of its first line of C++.
    hues = {line: 137 * place % 360 for place, line in enumerate(sorted(found))}
    reached: dict[int, int] = {}
    for line in sorted(found):
        for other in found[line]:
            reached.setdefault(other, hues[line])
    left = _rows("p", module.emit(), reached)
    right = _rows("c", text, hues)
    table = "{" + ", ".join(f'"{k}": {list(v)}' for k, v in found.items()) + "}"
    name = html.escape(module.filename)
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>{name}</title><style>{_STYLE}</style></head><body>"
        f"<header>{name} {html.escape(title)}"
        "<small>click a line, or go up and down with the arrows</small></header>"
        f"<main><section id='ptx'>{left}</section><section id='cuda'>{right}</section></main>"
        f"<script>const links = {table};{_SCRIPT}</script></body></html>\n"
    )


def _rows(prefix: str, text: str, hues: dict[int, int]) -> str:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        marked = f' class="linked" style="--hue: {hues[number]}"' if number in hues else ""
        body = f"<i>{number}</i>{html.escape(line)}"
        rows.append(f'<div id="{prefix}{number}"{marked}>{body}</div>')
    return "\n".join(rows)
