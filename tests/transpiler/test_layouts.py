"""Hand-written files in all kinds of layouts: their Python says the layout once."""

import re
from pathlib import Path

import pytest

import ptxkit
from ptxkit.dsl import DslError, Module
from ptxkit.transpiler.measure import measure
from ptxkit.transpiler.verify import run_python, to_bytes

FILES = sorted((Path(__file__).parent / "layouts").glob("*.ptx"))
#: Lines of Python in functions for each instruction; comments and blocks are lines, too.
MOST_LINES = {
    "braces_behind": 1.3, "comments": 1.1, "named": 1.3, "scopes": 1.3, "labels_inline": 1.1,
}  # fmt: skip
#: Where a line still says its white space: comments among parameters, labels not in line.
SAYS_GAPS = {"comments": 1, "labels_inline": 1}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_layout_is_said_once(path):
    data = path.read_bytes()
    module = ptxkit.parse(data)
    python = ptxkit.to_python(module)
    assert to_bytes(run_python(python).ptx()) == data
    said = re.findall(r"spaced|\.gap\(|\.tight\(|before=", python)
    assert len(said) == SAYS_GAPS.get(path.stem, 0)
    found = measure(python)
    assert found.raised == found.functions
    limit = MOST_LINES.get(path.stem, 0.8)
    assert found.body_lines <= limit * len(module.instructions), python


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_our_own_layout_needs_no_words(path):
    text = ptxkit.format(ptxkit.parse(path.read_bytes()))
    python = ptxkit.to_python(text)
    assert run_python(python).ptx() == text
    assert 'style="ptxkit")' in python


def test_a_layout_in_python(snapshot):
    text = (Path(__file__).parent / "layouts" / "columns.ptx").read_text()
    assert ptxkit.to_python(text) == snapshot


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"indentation": "  "}, "a layout has no 'indentation'"),
        ({"indent": "x"}, "'x' is not white space or a comment"),
        ({"operand_column": "8"}, "'operand_column' is a number, not '8'"),
        ({"parameters": (" ",)}, "'parameters' are three gaps, not 1"),
    ],
)
def test_what_is_no_layout(layout, message):
    with pytest.raises(DslError, match=re.escape(message)):
        Module(style="hand", layout=layout)


def test_only_hand_written_styles_have_a_layout():
    with pytest.raises(DslError, match="the style 'nvcc' has its own layout"):
        Module(style="nvcc", layout={"indent": "  "})
