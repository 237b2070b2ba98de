"""Names and forms: only among programs that are the same."""

from __future__ import annotations

import re
from collections import Counter

from ptxkit import cuda
from ptxkit.cuda import nodes as n
from ptxkit.decompiler.neural import style
from ptxkit.decompiler.neural.forms import same_program
from ptxkit.decompiler.neural.raising import parse, raise_function
from ptxkit.decompiler.neural.schedule import words_of

from . import programs

LOOP = """(kernel k (params (param (ptr float) p0) (param (ptr float const) p1) (param int p2))
    (let float v0 0.0f) (let int v1 0)
    (while (< v1 p2) (= v0 (+ v0 ([] p1 v1))) (= v1 (+ v1 1)))
    (= ([] p0 threadIdx.x) v0))"""


def test_a_style_never_changes_the_program() -> None:
    counts = style.learn(kernel for _, kernel, _ in programs.lowered(21, 120))
    changed = 0
    for _, _, program in programs.lowered(22, 60):
        words = words_of(program)
        module = raise_function(parse(words, len(program.parameters)), cached=program.cached)
        styled = style.styled(module, counts)
        assert same_program(module, styled)
        changed += styled != module
    assert changed > 50


def test_loops_and_updates_are_written_as_people_do() -> None:
    module = n.CudaModule((cuda.read(LOOP),))
    text = cuda.print_module(style.styled(module))
    assert "for (int " in text
    assert "+=" in text
    assert "p0" not in text


def test_names_follow_what_things_are_for() -> None:
    kernel = cuda.read(LOOP)
    found = style.roles(kernel)
    assert found["p0"] == "output"
    assert found["p1"] == "input"
    assert found["p2"] == "size"
    assert found["v0"] == "accumulator"


def test_without_counts_nothing_is_chosen() -> None:
    module = n.CudaModule((cuda.read(LOOP),))
    assert style.styled(module, {}) == module


def test_what_was_learned_is_kept() -> None:
    counts = style.learn([cuda.read(LOOP)])
    assert counts["name of output"] == {"p0": 1}
    assert set(style.learned()) >= {"name of input", "name of output", "update"}


TILE = """(kernel k (params (param (ptr float) p0) (param (ptr float const) p1))
    (shared (array float 272) s0) (let int v0 threadIdx.x) (let int v1 threadIdx.y)
    (= ([] s0 (+ (* v1 17) v0)) ([] p1 v0))
    (call __syncthreads)
    (= ([] p0 v0) ([] s0 (+ (* v0 17) v1))))"""


def test_arrays_get_rows_where_people_write_them() -> None:
    module = n.CudaModule((cuda.read(TILE),))
    text = cuda.print_module(style.styled(module))
    assert "[16][17];" in text
    assert re.search(r"\[(\w+)\]\[(\w+)\] = .*\[\2\];", text)


def test_elements_that_are_read_again_get_a_variable_where_that_is_usual() -> None:
    kernel = cuda.read("""(kernel k (params (param (ptr float) p0) (param (ptr float const) p1))
        (= ([] p0 threadIdx.x) (+ (* ([] p1 threadIdx.x) ([] p1 threadIdx.x)) ([] p1 0)))
        (= ([] p0 1) (? (< threadIdx.x 3) (+ ([] p1 1) ([] p1 1)) 2.0f)))""")
    usual = {"element used 2 times": Counter(variable=3, repeated=1)}
    (made,) = style.styled(n.CudaModule((kernel,)), usual).kernels
    assert made.body is not None
    # What is read in one case only is not read in the other.
    assert [type(s).__name__ for s in made.body] == ["Declare", "Assign", "Assign"]
    assert same_program(n.CudaModule((kernel,)), n.CudaModule((made,)))
