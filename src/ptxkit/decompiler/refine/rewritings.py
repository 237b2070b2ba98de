"""Whole functions written in another way, each for the search to try as one change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.refine.answers import computed_first
from ptxkit.decompiler.refine.byte_rows import named_rows
from ptxkit.decompiler.refine.centers import centered
from ptxkit.decompiler.refine.columns import columns_beside
from ptxkit.decompiler.refine.contracted import with_plain_products
from ptxkit.decompiler.refine.counters import without_signs
from ptxkit.decompiler.refine.kept_bits import as_bits
from ptxkit.decompiler.refine.loading import (
    arguments_first,
    compared_in_place,
    loads_first,
    loads_in_place,
    places_first,
    set_once_in_place,
)
from ptxkit.decompiler.refine.naming import cached, in_parts, indices_first
from ptxkit.decompiler.refine.negated import negated_where
from ptxkit.decompiler.refine.pointees import as_floats
from ptxkit.decompiler.refine.polynomials import expanded
from ptxkit.decompiler.refine.powers import squares_in_place
from ptxkit.decompiler.refine.remainders import by_quotients
from ptxkit.decompiler.refine.restricted import all_restricted
from ptxkit.decompiler.refine.rotated import asking_first
from ptxkit.decompiler.refine.rows import rows_beside
from ptxkit.decompiler.refine.shapes import shaped
from ptxkit.decompiler.refine.small_values import small_in_place
from ptxkit.decompiler.refine.stored import through_memory
from ptxkit.decompiler.refine.stored_parts import part_by_part
from ptxkit.decompiler.refine.sums_first import computed_once
from ptxkit.decompiler.refine.switching import asked_inside
from ptxkit.decompiler.refine.tree_places import in_a_tree
from ptxkit.decompiler.refine.turn_rows import rows_of_turns
from ptxkit.decompiler.refine.turned import asked_plainly
from ptxkit.decompiler.refine.updated_cells import in_cells
from ptxkit.decompiler.refine.walking import walking
from ptxkit.decompiler.refine.whole_pairs import with_whole_pairs
from ptxkit.decompiler.tidy.passes import PASSES

#: Ways to write a function, by the kind of change that each of them is.
_WAYS: tuple[tuple[str, Callable[[n.Function], Iterator[n.Function]]], ...] = (
    ("expand", columns_beside),
    ("remainder", by_quotients),
    ("fuse", with_plain_products),
    ("members", with_whole_pairs),
    ("turn", asked_plainly),
    ("loop", asked_inside),
    ("expand", in_a_tree),
    ("inline", small_in_place),
    ("sign", without_signs),
    ("loop", asking_first),
    ("power", squares_in_place),
    ("address", rows_of_turns),
    ("address", named_rows),
    ("name", arguments_first),
    ("name", computed_first),
    ("name", computed_once),
    ("name", negated_where),
    ("shape", shaped),
    ("memory", as_bits),
    ("memory", through_memory),
    ("memory", in_cells),
    ("memory", part_by_part),
    ("restrict", all_restricted),
)


def rewritings(function: n.Function, order: Sequence[str] = ()) -> Iterator[tuple[str, n.Function]]:
    """Other ways to write a function, each with the name of its kind; ``order`` as for edits."""
    for kind, other in _all(function, order):
        if other != function:
            yield kind, other


def _all(function: n.Function, order: Sequence[str]) -> Iterator[tuple[str, n.Function]]:
    for kind, body in (*indices_first(function, order), *cached(function), *in_parts(function)):
        yield kind, replace(function, body=body)
    yield from as_floats(function)
    yield from expanded(function)
    yield from rows_beside(function)
    yield from centered(function)
    yield from walking(function)
    for kind, others in _WAYS:
        for other in others(function):
            yield kind, other
    for a_pass in PASSES:
        yield "tidy", a_pass(function, _always)
    yield "tidy", compared_in_place(function)
    yield "tidy", loads_in_place(function)
    yield "tidy", loads_first(function)
    yield "tidy", places_first(function)
    yield "tidy", set_once_in_place(function)


def _always() -> bool:
    return True
