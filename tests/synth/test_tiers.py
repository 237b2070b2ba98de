"""The source ``tiers``: every tier is what its name says, and every row is proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit import cuda
from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import FLOAT, Pointer
from ptxkit.synth.source import Made, Rejected, Settings, find
from ptxkit.synth.tiers.grammar import TIERS, make
from ptxkit.synth.tiers.source import TiersSource
from ptxkit.synth.tiers.tidy import live_names


def nodes_of(tier: int, count: int = 60) -> list[list[n.Node]]:
    """All nodes of some samples of one tier."""
    return [list(make(5, index, (tier,)).module.walk()) for index in range(count)]


def operators(nodes: list[n.Node]) -> int:
    """Operators in what is stored to memory; index arithmetic does not count."""
    stores = [s for s in nodes if isinstance(s, n.Assign) and isinstance(s.target, n.Index)]
    return max(
        sum(isinstance(part, n.Binary | n.Unary | n.Call) for part in store.value.walk())
        for store in stores
    )


def test_simple_binary_is_one_operator() -> None:
    assert {operators(nodes) for nodes in nodes_of(1)} == {1}


def test_nested_arithmetic_nests() -> None:
    counts = [operators(nodes) for nodes in nodes_of(2)]
    assert min(counts) >= 2
    assert max(counts) >= 8


def test_unary_math_calls_functions() -> None:
    for nodes in nodes_of(3):
        # Divisors are kept from zero by an absolute value: that alone is no function of the tier.
        assert {c.function for c in nodes if isinstance(c, n.Call)} - {"fabsf"}


@pytest.mark.parametrize(
    ("tier", "kind"),
    [(4, n.Conditional), (6, n.Declare), (8, n.For | n.While | n.DoWhile)],
)
def test_tiers_hold_what_they_are_named_for(tier: int, kind: type) -> None:
    assert all(any(isinstance(node, kind) for node in nodes) for nodes in nodes_of(tier))


def test_several_statements_are_several() -> None:
    for nodes in nodes_of(6):
        assert sum(isinstance(node, n.Assign | n.Declare) for node in nodes) >= 3


def test_type_diversity_uses_other_types() -> None:
    used = set()
    for nodes in nodes_of(5):
        types = {
            node.type.target for node in nodes
            if isinstance(node, n.Parameter) and isinstance(node.type, Pointer)
        }  # fmt: skip
        used |= types
    assert len(used) >= 9
    assert used > {FLOAT}


def test_shared_memory_is_read_across_threads() -> None:
    for nodes in nodes_of(7):
        tiles = {d.name for d in nodes if isinstance(d, n.Declare) and "shared" in d.space}
        places = {
            one.index for one in nodes
            if isinstance(one, n.Index) and any(n.Name(tile) in one.walk() for tile in tiles)
        }  # fmt: skip
        assert tiles and len(places) > 1
        assert any(isinstance(c, n.Call) and c.function == "__syncthreads" for c in nodes)


def test_what_is_stored_depends_on_what_is_read() -> None:
    for tier in TIERS:
        for index in range(30):
            sample = make(6, index, (tier,))
            for kernel in sample.module.kernels:
                inputs = [p for p in kernel.parameters if isinstance(p.type, Pointer)]
                assert len(inputs) > 1, cuda.print_module(sample.module)


def test_warps_or_atomics() -> None:
    for nodes in nodes_of(9):
        names = [c.function for c in nodes if isinstance(c, n.Call)]
        assert any(name.startswith(("__shfl", "__ballot", "__any", "__all", "__reduce", "atomic")) for name in names)  # noqa: E501  # fmt: skip


def test_several_functions() -> None:
    assert all(sum(isinstance(f, n.Function) for f in nodes) > 1 for nodes in nodes_of(10))


def test_nothing_unused_is_left() -> None:
    for tier in TIERS:
        for index in range(20):
            functions = make(5, index, (tier,)).module.items
            called = {c.function for f in functions for c in f.walk() if isinstance(c, n.Call)}
            for function in functions:
                assert isinstance(function, n.Function)
                assert function.kernel or function.name in called
                live = live_names(function.body or ())
                names = {d.name for d in function.walk() if isinstance(d, n.Declare | n.Parameter)}
                assert names <= live


def test_dead_code_is_found() -> None:
    body = cuda.read("""(kernel k (params (param (ptr float) x))
        (let float a 1.0f) (let float b a) (let float c 2.0f)
        (if (< c 3.0f) (then (= c b))) (= ([] x 0) a))""").body
    assert live_names(body) == {"a", "x"}


def test_a_sample_is_a_function_of_seed_and_index() -> None:
    source, settings = TiersSource(), Settings()
    assert source.sample(1, 7, settings) == source.sample(1, 7, settings)
    assert source.sample(1, 7, settings).text != source.sample(2, 7, settings).text
    assert cuda.read(cuda.write(make(1, 7).module)) == make(1, 7).module


def test_what_leaves_nothing_or_not_always_the_same_is_no_row(tmp_path: Path) -> None:
    source, settings = find("tiers"), Settings()
    # x - (x - 4) is 4, which is never above 14; of the other, loads were joined in two ways.
    samples = [source.sample(9, index, settings) for index in (148, 1066, 1067)]
    nothing, unsure, good = source.make(9, samples, settings, tmp_path)
    assert nothing == Rejected("compile", "the compiler left nothing of it")
    assert unsure == Rejected("compile", "NVRTC joins its loads now in one way, now in another")
    assert isinstance(good, Made)


def test_what_varies_is_refused_in_all_its_forms(tmp_path: Path) -> None:
    source, settings = find("tiers"), Settings(assemble=False)
    # Five neighbours in shared memory: seven times in ten as four and one, without a byte mask.
    samples = [source.sample(5, 436, settings)]
    for _ in range(6):
        (found,) = source.make(5, samples, settings, tmp_path)
        assert found == Rejected("compile", "NVRTC joins its loads now in one way, now in another")


def test_shapes_are_diverse() -> None:
    source, settings = TiersSource(), Settings()
    shapes = {source.sample(3, index, settings).shape for index in range(500)}
    assert len(shapes) >= 450


def test_rows_are_compiled_executed_and_replayed(tmp_path: Path) -> None:
    source = find("tiers")
    settings = Settings(archs=("sm_80",))
    samples = [source.sample(11, index, settings) for index in range(20)]
    rows = source.make(11, samples, settings, tmp_path)
    assert all(isinstance(row, Made) for row in rows), rows
    for sample, row in zip(samples, rows, strict=True):
        assert isinstance(row, Made)
        stored = {
            "verification": {
                "verdict": row.verification.verdict,
                "input_digest": row.verification.input_digest,
                "output_digest": row.verification.output_digest,
            },
            "targets": [{"arch": t.arch, "ptx_forward": t.ptx_forward} for t in row.targets],
        }
        assert source.replay(11, sample, stored) is None
    # A row that holds another kernel's code, or other results, is noticed.
    stored["verification"]["output_digest"] = "0"
    assert source.replay(11, samples[-1], stored) == "the outputs have another digest"
    stored["verification"]["input_digest"] = "0"
    assert source.replay(11, samples[-1], stored) == "the inputs have another digest"
