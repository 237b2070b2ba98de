"""What the panes show: the text itself, places that make sense, markup of ours alone."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from app.hostile import CLOSED, IMAGE, KERNEL
from app.markup_check import foreign_markup
from ptxkit.app import examples, graph_view, launch, verdicts
from ptxkit.app.decompile import heat_map
from ptxkit.app.explore import decompiled, explore, machine, python, refusal, resources
from ptxkit.app.generate import _marked, inject_stub, stack_program, vary
from ptxkit.app.layered import layout
from ptxkit.app.markup import markdown, message, table
from ptxkit.app.ptx_view import PtxView
from ptxkit.app.tree_view import tree
from ptxkit.decompiler import Verdict
from ptxkit.diagnostics import Diagnostic

_ROW = re.compile(r"<code>(.*?)</code></div>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
CUDA = [text for text in examples.EXAMPLES.values() if "__global__" in text]


def shown_lines(pane: str) -> list[str]:
    """The lines of a pane as a reader sees them."""
    return [html.unescape(_TAG.sub("", row)) for row in _ROW.findall(pane.partition("pk-texts")[0])]


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_a_pane_shows_every_line_as_it_is(name: str) -> None:
    text = examples.EXAMPLES[name]
    source = text if ".version" in text else ptxkit.compile_cuda(text).emit()
    pane = PtxView(source).html(ptxkit.check(source))
    assert foreign_markup(pane) == []
    assert [line.rstrip() for line in shown_lines(pane)] == [
        line.rstrip() for line in source.split("\n")
    ]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="<>&'\"/*{};%.$ abc01\n\té", max_size=120))
def test_any_text_is_shown_and_never_markup(text: str) -> None:
    source = KERNEL + text
    pane = PtxView(source).html()
    assert foreign_markup(pane) == []
    assert [line.rstrip() for line in shown_lines(pane)] == [
        line.rstrip() for line in source.split("\n")
    ]


def test_every_instruction_has_help_for_its_own_form() -> None:
    view = PtxView(ptxkit.compile_cuda(examples.SAXPY).emit())
    view.html()
    known = {word.decode() for word in view.help}
    opcodes = {one.opcode for one in view.document.module["saxpy"].instructions}
    assert opcodes <= known
    assert {"%tid.x", "%ntid.x", "%ctaid.x"} <= known


def graphs(count: int) -> st.SearchStrategy[tuple[int, list[tuple[int, int]]]]:
    """Graphs with so many nodes."""
    node = st.integers(0, count - 1)
    return st.tuples(st.just(count), st.lists(st.tuples(node, node), max_size=24))


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 12).flatmap(graphs))
def test_layouts_do_not_overlap_and_edges_go_down(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = graph
    drawn = layout([(40.0 + 7 * n, 20.0) for n in range(count)], edges)
    for a, b in edges:
        if a != b and (a, b) not in drawn.back:
            assert drawn.boxes[a].layer < drawn.boxes[b].layer
        assert len(drawn.paths[a, b]) >= 2
    for k, one in enumerate(drawn.boxes):
        assert one.x >= -1e-6 and one.x + one.width <= drawn.width + 1e-6
        for other in drawn.boxes[k + 1 :]:
            apart = one.x + one.width <= other.x + 1e-6 or other.x + other.width <= one.x + 1e-6
            assert one.layer != other.layer or apart


@pytest.mark.parametrize("text", CUDA)
def test_pictures_and_tables_are_markup_of_ours(text: str) -> None:
    module = ptxkit.compile_cuda(text)
    made = ptxkit.decompile(module, "symbolic", verify=False)
    for pane in (graph_view.control_flow(module), python(module), tree(made.ast)):
        assert foreign_markup(pane) == []
    assert foreign_markup(verdicts.badges(made.verdict, IMAGE)) == []


def test_control_flow_has_every_block_and_marks_loops() -> None:
    picture = graph_view.control_flow(ptxkit.compile_cuda(examples.BLOCK_SUM))
    graph = ptxkit.compile_cuda(examples.BLOCK_SUM)["block_sum"].cfg()
    assert picture.count("<g class='pk-box") == len(graph.blocks)
    assert picture.count("pk-header") == len({loop.header for loop in graph.loops()})
    assert picture.count("pk-back'") == sum(len(loop.latches) for loop in graph.loops())


def test_what_others_wrote_is_escaped_everywhere() -> None:
    weights = np.full((1, 2), 0.5)
    for made in (
        heat_map([CLOSED, IMAGE], [IMAGE], weights, np.array([0.5])),
        graph_view.picture([graph_view.Vertex(IMAGE, [CLOSED])], [(0, 0)], CLOSED),
        markdown(f"**{IMAGE}** `{CLOSED}`\n- *{IMAGE}*\n```\n{CLOSED}"),
        message(CLOSED, "error"),
        table((IMAGE,), [], CLOSED),
        verdicts.badges(Verdict(reasons=(IMAGE,)), CLOSED),
    ):
        assert foreign_markup(made) == [], made


@pytest.mark.parametrize("text", CUDA)
def test_suggested_launches_run(text: str) -> None:
    found = dict(launch.prepare(text))["launch"]
    panes = dict(launch.run(text, "", sanitize=True, **found))
    assert foreign_markup(panes["outputs"]) == []
    assert foreign_markup(panes["profile"]) == []
    if text == examples.OUT_OF_BOUNDS:
        assert "out-of-bounds" in panes["status"]
        assert panes["profile"].count("pk-row pk-fault") == 1
    else:
        assert "✓ ran" in panes["status"] and "✓ sanitized" in panes["status"]


def test_outputs_are_those_of_the_kernel() -> None:
    given = {"grid": "4", "block": "32", "arguments": "f32[128]=ones\nf32[128]=ones\n2.0\n128"}
    panes = dict(launch.run(examples.SAXPY, "saxpy", **given))
    assert "[3. 3. 3." in panes["outputs"]
    assert "<b>128</b>" in panes["profile"]  # each line once a thread


def test_resources_are_told_for_every_architecture() -> None:
    panes = dict(machine(KERNEL, "sm_90"))
    assert panes["resources"].count("<meter") == 6  # sm_75 cannot run what is made for sm_80
    assert "EXIT" in panes["sass"]
    ptx = ptxkit.compile_cuda(examples.SAXPY, "sm_90").emit()
    panes = dict(machine(ptx, "sm_90", examples.SAXPY))
    assert panes["resources"].count("<meter") == 7


def test_architectures_that_cannot_run_it_share_a_line() -> None:
    made = resources(ptxkit.compile_cuda(examples.SAXPY, "sm_90"))
    assert made.count("cannot run there") == 1
    assert "sm_75, sm_80, sm_86, sm_89: code for sm_90 cannot run there" in made
    assert "sm_75" not in made.partition("</table>")[0]
    assert made.count("<meter") == 3


def test_a_source_with_errors_says_where_they_are_in_place_of_the_ptx() -> None:
    panes = dict(explore('extern "C" __global__ void k(float *x) {\n  x[0] = y;\n}\n', "auto"))
    assert "input.cu:2:10: error[cuda]: identifier &quot;y&quot; is undefined" in panes["ptx"]
    assert "is undefined" in panes["source"]
    assert "pk-bad'" in panes["status"] and "done" not in panes["status"]
    assert foreign_markup(panes["ptx"]) == []
    many = tuple(Diagnostic("error", "cuda", f"{IMAGE} {n}", n, 1) for n in range(1, 31))
    assert "and 10 more messages" in refusal(many)
    assert foreign_markup(refusal(many)) == []


def test_a_guarded_line_is_told_as_reached_and_as_executed() -> None:
    given = {"grid": "4", "block": "32", "arguments": "f32[128]=ones\n2.0\n100"}
    panes = dict(launch.run(examples.PTX_SCALE, "scale", **given))
    assert "<b>28 of 128</b>" in panes["profile"]  # the branch of those from n on
    assert "reached 128 times; the guard held 28 times" in panes["profile"]
    panes = dict(launch.run(examples.PTX_SCALE, "scale", "4", "32", "f32[128]=ones\n2.0\n128"))
    assert "<b>0 of 128</b>" in panes["profile"]
    assert "<b>0</b>" not in panes["profile"]


def test_only_guarded_lines_of_a_block_are_told_by_warps() -> None:
    source = examples.PTX_SCALE.replace("@%p1 bra $done;", "@%p1 bra $done;\n@%p1 bra $done;")
    panes = dict(launch.run(source, "scale", "4", "32", "f32[128]=ones\n2.0\n128"))
    assert "<b>0 of 4 warps</b>" in panes["profile"]


def test_other_ptx_is_no_warning_beside_equivalent() -> None:
    made = verdicts.badges(Verdict(compiles=True, same_dataflow=True))
    assert "pk-fair'" not in made and "pk-bad'" not in made
    assert re.search(r"pk-plain' title='[^']+'>other PTX<", made)


def test_long_lines_of_cuda_are_wrapped() -> None:
    assert "pk-wrap" in dict(decompiled(KERNEL, "sm_90"))["cuda"]
    assert "pk-wrap" not in PtxView(KERNEL).html()


def test_a_stub_is_drawn_with_its_inputs_and_outputs() -> None:
    panes = dict(stack_program(examples.PROGRAM, examples.INPUTS, examples.OUTPUTS))
    for word in ("in x", "in y", "out z", "sqrt.rn.f32"):
        assert word in panes["picture"]
    assert panes["picture"].count("pk-edge") == 6
    assert foreign_markup(panes["stub"] + panes["picture"] + panes["status"]) == []


@pytest.mark.parametrize("fresh", [True, False])
def test_other_programs_compile(fresh: bool) -> None:
    for seed in range(8):
        made = dict(vary(examples.PROGRAM, examples.INPUTS, 20, seed, fresh))["program"]
        panes = dict(stack_program(made, examples.INPUTS, examples.OUTPUTS))
        assert "executed" in panes["status"]


def test_lines_of_a_stub_are_marked_in_the_kernel() -> None:
    panes = dict(inject_stub(examples.INJECT, "x y max.f32"))
    marked = [row for row in panes["rendered"].split("<div class='pk-row")
              if row.startswith(" pk-injected")]  # fmt: skip
    assert any("max" in row for row in marked)
    assert not any("ld.param" in row or "ret" in row for row in marked)
    assert _marked("a;\n{ // f\n{ x }\ny;\n}\nb;") == dict.fromkeys((2, 3, 4, 5), "pk-injected")
