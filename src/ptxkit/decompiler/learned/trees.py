"""Whole functions in numbers, for choosing between candidates that are proved alike."""

from __future__ import annotations

from collections import Counter
from math import log1p

from ptxkit.cuda import nodes as n
from ptxkit.cuda.printer import print_function
from ptxkit.decompiler.learned.forms import questions

_KINDS = (
    n.Declare, n.Assign, n.Evaluate, n.If, n.For, n.While, n.DoWhile, n.Switch, n.Break,
    n.Continue, n.Return, n.Goto, n.Asm, n.Cast, n.Conditional, n.Call, n.Index, n.Binary,
    n.Literal, n.Name, n.Unary, n.Member,
)  # fmt: skip


def tree_words(function: n.Function) -> dict[str, float]:
    """How many of everything a function has; the difference of two candidates is what counts.

    A place that could be written otherwise counts against what would be written there, so that a
    function in the better form has the better score.

    >>> from ptxkit.cuda import read
    >>> words = tree_words(read("(kernel k (params) (let int i 1) (= i (cast int 2.0f)))"))
    >>> round(words["tree Cast"], 2), round(words["tree lines"], 2)
    (0.69, 1.61)
    """
    counts = Counter(type(node) for node in function.walk())
    words = {f"tree {kind.__name__}": log1p(counts[kind]) for kind in _KINDS if counts[kind]}
    text = print_function(function)
    words["tree lines"] = log1p(text.count("\n"))
    words["tree characters"] = log1p(len(text.split()))
    words["tree depth"] = log1p(max(_indent(line) for line in text.splitlines()))
    for question in questions(function):
        for word, value in question.features.items():
            words[word] = words.get(word, 0.0) - value
    return words


def _indent(line: str) -> int:
    return (len(line) - len(line.lstrip())) // 4
