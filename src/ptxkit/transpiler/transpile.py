"""From a parsed module to a Python file that prints it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ptxkit.collection import no_collection
from ptxkit.dsl import DslError
from ptxkit.dsl import Module as DslModule
from ptxkit.dsl.heads import check_targets, check_version
from ptxkit.dsl.layouts import HandStyle
from ptxkit.dsl.styles import Style
from ptxkit.syntax import Function, Instruction, Module, parse
from ptxkit.transpiler.module_sugar import sweeten, take_end
from ptxkit.transpiler.passes import PASSES
from ptxkit.transpiler.plain import Plain
from ptxkit.transpiler.rewriting import rewrite
from ptxkit.transpiler.styles import style_of
from ptxkit.transpiler.tree import File, Line, quoted
from ptxkit.transpiler.verify import (
    TranspileError,
    first_difference,
    run_python_names,
    to_bytes,
)


class UnknownInstructionWarning(UserWarning):
    """Instructions that the table does not know, passed on unchecked."""


def to_python(module: Module | str | bytes, sugar: bool = True) -> str:
    """The source of a Python file in :mod:`ptxkit.dsl` that prints the module's text.

    Running the file prints the PTX; its ``module.ptx()`` returns it, byte for byte: that is
    tried out before the source is given. Plain, it is one Python statement for each PTX
    statement; ``sugar`` lets the passes of :mod:`ptxkit.transpiler.passes` say it as a person
    would: names, expressions, loops.

    >>> import ptxkit
    >>> m = ptxkit.parse(".version 8.7\\n.target sm_120\\n.visible .entry k() { ret; }\\n")
    >>> print(ptxkit.to_python(m, sugar=False))
    from ptxkit.dsl import Module, ptx
    <BLANKLINE>
    module = Module(version="8.7", target="sm_120", address_size=None, style="cuobjdump")
    ...
    """
    return transpiled(module, sugar)[0]


def transpiled(module: Module | str | bytes, sugar: bool) -> tuple[str, File]:
    """The source of the Python file, and the tree it was printed from."""
    if not isinstance(module, Module):
        module = parse(module)
    with no_collection():
        return _transpiled(module, sugar)


def _transpiled(module: Module, sugar: bool) -> tuple[str, File]:
    source = module.source()
    newline = _newline(source)
    plain = source.replace(newline, b"\n") if newline != b"\n" else source
    if newline != b"\n":
        module = parse(plain, filename=module.filename)
    style = style_of(module, plain)
    transpiler = Plain(module, style, plain, demangles=sugar)
    file = transpiler.run()
    file.opening = _opening(module, style, newline.decode())
    if transpiler.unknown:
        names = ", ".join(sorted(transpiler.unknown))
        file.notices.append(f"Not in the instruction table, passed on unchecked: {names}")
        warnings.warn(
            f"{module.filename}: not in the instruction table, passed on unchecked: {names}",
            UnknownInstructionWarning,
            stacklevel=5,
        )
    text, made = _proved(file, source, module.filename)
    if sugar and PASSES:
        rewrite(file, module, PASSES, made)
        sweeten(file)
        if take_end(file):
            file.opening = _opening(module, style, newline.decode(), blank_end=True)
        text, _ = _proved(file, source, module.filename)
    return text, file


def _proved(file: File, source: bytes, filename: str) -> tuple[str, dict[str, Any]]:
    """The text of a file that was run and gave the source back, and the names it made."""
    text = file.text()
    names = run_python_names(text)
    made: DslModule = names["module"]
    made.refused = []
    found = to_bytes(made.ptx())
    if made.refused:
        lines = file.lines()
        for number in set(made.refused):
            uncheck(lines[number])
        text = file.text()
        names = run_python_names(text)
        found = to_bytes(names["module"].ptx())
    if found != source:
        raise TranspileError(
            f"the Python of '{filename}' does not give it back; {first_difference(source, found)}; "
            "this is a bug of ptxkit, please report it with the file"
        )
    return text, names


def uncheck(line: Line) -> None:
    """Let an instruction pass that the table is against."""
    if not line.call.startswith("ptx.unchecked("):
        assert isinstance(line.node, Instruction)
        line.call = f"ptx.unchecked({quoted(line.node.opcode)})"


def _newline(source: bytes) -> bytes:
    """The line break of a file that has only one kind."""
    count = source.count(b"\n")
    if count and source.count(b"\r\n") == count == source.count(b"\r"):
        return b"\r\n"
    return b"\n"


def _is_odd(module: Module) -> bool:
    """Whether a file says what the DSL refuses: no PTX may, but it is what the file says."""
    defined: set[str] = set()
    try:
        if module.address_size not in (32, 64):
            return True
        for node in module.children:
            texts = [text for kind, text, _, _ in node.tokens()] if node.kind in _HEAD else []
            if node.kind == "Version":
                check_version(texts[1])
            elif node.kind == "Target":
                check_targets([one for one in texts[1:] if one != ","])
            elif isinstance(node, Function) and node.has_body:
                if node.name in defined:
                    return True
                defined.add(node.name)
    except DslError:
        return True
    return False


_WIDTH = 100
_HEAD = frozenset(("Version", "Target"))


def _opening(module: Module, style: Style, newline: str, *, blank_end: bool = False) -> list[str]:
    target = [str(module.target), *module.target_options] if module.target else None
    kinds = {child.kind for child in module.children}
    shown = {
        "version": quoted(module.version) if module.version else "None",
        "target": "None" if target is None else quoted(target[0]),
        "address_size": str(module.address_size) if "AddressSize" in kinds else "None",
        "style": quoted("hand" if isinstance(style, HandStyle) else style.name),
    }
    layout = style.options() if isinstance(style, HandStyle) else {}
    if layout:
        shown["layout"] = python_value(layout)
    if target is not None and len(target) > 1:
        shown["target"] = f"[{', '.join(quoted(one) for one in target)}]"
    if newline != "\n":
        shown["newline"] = quoted(newline)
    if blank_end:
        shown["blank_end"] = "True"
    if _is_odd(module):
        shown["unchecked"] = "True"
    rows = [f"{name}={value}" for name, value in shown.items()]
    one = f"module = Module({', '.join(rows)})"
    if len(one) <= _WIDTH:
        return [one]
    if layout and len(shown["layout"]) > _WIDTH - 12:
        items = [f"{quoted(word)}: {python_value(value)}" for word, value in layout.items()]
        inner = [f"    {line}" for line in _filled(items)]
        rows = [row for row in rows if not row.startswith("layout=")]
        return ["module = Module(", *_filled(rows), "    layout={", *inner, "    },", ")"]
    return ["module = Module(", *_filled(rows), ")"]


def _filled(parts: Sequence[str]) -> list[str]:
    """Arguments over several lines."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) + 2 <= _WIDTH:
            lines[-1] += f" {part},"
        else:
            lines.append(f"    {part},")
    return lines


def python_value(value: Any) -> str:
    """A value of a layout as Python, with strings in double quotes.

    >>> python_value({"indent": "\\t", "parameters": ("", " ", "")})
    '{"indent": "\\\\t", "parameters": ("", " ", "")}'
    """
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(python_value, value))})"
    if isinstance(value, dict):
        rows = [f"{python_value(key)}: {python_value(one)}" for key, one in value.items()]
        return f"{{{', '.join(rows)}}}"
    return str(value)
