# ruff: noqa: E501
"""Texts that are no program get a sentence with a place; random trees come back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit import cuda
from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import SCALARS

WRONG = {
    "": "1:1: the text holds nothing; one expression is needed",
    "( A ) ( B )": "1:1: the text holds 2 expressions one after another; one expression is needed",
    "(+ a": "1:1: this '(' is never closed; add a ')'",
    "(+ a b))": "1:8: this ')' closes nothing; remove it",
    "(+ a)": "1:1: '+' takes 2 operands, not 1",
    '(comment "x)': "1:10: a string that is never closed; add a '\"'",
    "(frob a b)": "1:1: 'frob' is no expression",
    "(= x\n  (+ 1 (frob)))": "2:8: 'frob' is no expression",
    "()": "1:1: '()' is no expression",
    "(let flaot x)": "1:1: 'flaot' is no type; types are void, bool, char, schar, uchar, short, "
    "ushort, int, uint, long, ulong, longlong, ulonglong, half, bfloat16, float, double, vectors "
    "such as float4, (ptr T), (array T n), (struct name)",
    "(if (< i n) (= x 1))": "1:1: (then ...) is needed here",
    "(for a b)": "1:1: 'for' needs a start, a condition and a step; '_' stands for none",
    "(kernel k)": "1:1: 'kernel' needs its name and (params ...)",
    "(+ 12abc 1)": "1:1: '12abc' is neither a number nor a name",
    "(let int x 1 :volatile)": "1:1: 'let' has no option ':volatile'",
    "(+ 1 " * 500: "1:2001: nested deeper than 400 lists",
    "99999999999999999999999999999999999999999999": "1:1: this number has too many digits for any type",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda t: t[:20] or "empty")
def test_wrong_texts(text: str) -> None:
    with pytest.raises(cuda.SExpressionError) as caught:
        cuda.read(text)
    assert str(caught.value) == WRONG[text]


names = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True).filter(
    lambda w: w not in ("true", "false")
)
literals = st.one_of(
    st.builds(n.Literal, st.integers(-(2**31), 2**31 - 1), st.sampled_from([SCALARS[w] for w in ("int", "longlong", "short")])),
    st.builds(n.Literal, st.integers(0, 2**32 - 1), st.sampled_from([SCALARS[w] for w in ("uint", "ulonglong")])),
    st.builds(n.Literal, st.floats(width=32, allow_nan=False, allow_infinity=False), st.just(SCALARS["float"])),
    st.builds(n.Literal, st.floats(allow_nan=False, allow_infinity=False), st.just(SCALARS["double"])),
    st.builds(n.Literal, st.booleans(), st.just(SCALARS["bool"])),
)  # fmt: skip
expressions = st.recursive(
    literals | st.builds(n.Name, names),
    lambda inner: st.one_of(
        st.builds(n.Unary, st.sampled_from("-~!*&"), inner),
        st.builds(n.Binary, st.sampled_from(["+", "-", "*", "/", "<<", "&&", "==", ",", "&"]), inner, inner),
        st.builds(n.Conditional, inner, inner, inner),
        st.builds(n.Cast, st.sampled_from(list(SCALARS.values())), inner),
        st.builds(n.Call, names, st.lists(inner, max_size=3).map(tuple)),
        st.builds(n.Index, inner, inner),
        st.builds(n.Member, inner, names),
    ),
    max_leaves=20,
)  # fmt: skip


@given(expressions)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_expression_comes_back(tree: n.Expression) -> None:
    again = cuda.read(cuda.write(n.Assign(n.Name("x"), tree)))
    assert again == n.Assign(n.Name("x"), tree)
