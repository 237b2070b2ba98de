"""The picture of the README, drawn from what the commands really print.

python -m tests.docs.picture docs/images/terminal.svg
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from helpers.markdown import Command, Terminal

ROOT = Path(__file__).parents[2]
#: Commands, and how their output is coloured.
SHOWN = {
    "ptxkit compile examples/saxpy.cu --arch sm_90 -o saxpy.ptx": "",
    "ptxkit run saxpy.ptx --arg 2.0 --arg 'f32[6]=arange' --arg 'f32[6]=ones' --arg 6": "python",
    "ptxkit run saxpy.ptx --arg 2.0 --arg 'f32[6]=arange' --arg 'f32[6]=ones' --arg 7": "error",
    "sed s/fma.rn.f32/fma.f32/ saxpy.ptx | ptxkit check -": "error",
    "ptxkit decompile saxpy.ptx --engine symbolic": "cuda",
    "ptxkit to-python saxpy.ptx | sed -n '/@module/,/ret/p'": "python",
}
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_FONTS = re.compile(r"@font-face \{\{.*?\}\}\n", re.DOTALL)


def draw() -> str:
    """The picture as SVG."""
    console = Console(width=104, record=True, file=io.StringIO(), color_system="truecolor")
    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(Path(folder), ROOT)
        for command, kind in SHOWN.items():
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            shown = "".join(terminal.output(Command(command, "", 0))[1:]).rstrip()
            if shown:
                console.print(coloured(_ADDRESS.sub("0x7f0000000018", shown), kind))
    # Nothing is fetched from elsewhere: the fonts are the reader's own.
    plain = _FONTS.sub("", CONSOLE_SVG_FORMAT)
    return console.export_svg(title="ptxkit", code_format=plain, unique_id="ptxkit")


def coloured(text: str, kind: str) -> Text | Syntax:
    """Output as terminals show it."""
    if kind == "error":
        shown = Text(text)
        shown.highlight_regex(r"(?m)^.*error\[.*$", "red")
        shown.highlight_regex(r"(?m)^\s*\^+$", "bold red")
        shown.highlight_regex(r"(?m)^hint:.*$", "cyan")
        return shown
    lexer = {"cuda": "c++", "python": "python"}[kind]
    return Syntax(text, lexer, theme="monokai", background_color="default")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw())
