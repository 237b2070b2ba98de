"""All passes, in the order in which they build on one another.

None of them knows whether what it does is right: who takes it compiles it, and compares.
"""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.whole_steps import counted_by_steps
from ptxkit.decompiler.tidy.butterflies import rolled_steps
from ptxkit.decompiler.tidy.casts import plain_casts
from ptxkit.decompiler.tidy.computed_again import computed_again
from ptxkit.decompiler.tidy.conditions import plain_conditions
from ptxkit.decompiler.tidy.constants import named_once
from ptxkit.decompiler.tidy.conversions import implicit_conversions
from ptxkit.decompiler.tidy.copies import without_copies
from ptxkit.decompiler.tidy.counted_pointers import pointers_by_counters
from ptxkit.decompiler.tidy.counters import halving_counters
from ptxkit.decompiler.tidy.counting import counting_up
from ptxkit.decompiler.tidy.dead_stores import without_dead_stores
from ptxkit.decompiler.tidy.elements import plain_elements
from ptxkit.decompiler.tidy.ends import counted_to_the_end
from ptxkit.decompiler.tidy.exchanges import rolled_exchanges
from ptxkit.decompiler.tidy.grid_places import grid_places
from ptxkit.decompiler.tidy.indices import indices_by_counters
from ptxkit.decompiler.tidy.joined_loops import joined_loops
from ptxkit.decompiler.tidy.known_values import without_known_values
from ptxkit.decompiler.tidy.late_declarations import late_declarations
from ptxkit.decompiler.tidy.limits import both_limits
from ptxkit.decompiler.tidy.loops import started_loops, unguarded_loops
from ptxkit.decompiler.tidy.never_read import without_never_read
from ptxkit.decompiler.tidy.numbers import plain_numbers
from ptxkit.decompiler.tidy.old_counts import without_old_counts
from ptxkit.decompiler.tidy.remainders import without_remainders
from ptxkit.decompiler.tidy.repeated import named_indices
from ptxkit.decompiler.tidy.scalars import single_variables
from ptxkit.decompiler.tidy.short_numbers import short_numbers
from ptxkit.decompiler.tidy.single_precision import single_precision
from ptxkit.decompiler.tidy.sums import known_sums
from ptxkit.decompiler.tidy.swaps import swapping_loops
from ptxkit.decompiler.tidy.together import changed_together
from ptxkit.decompiler.tidy.turns import last_turns
from ptxkit.decompiler.tidy.two_at_once import two_at_once

#: Whether to take the other form at a place; asked once for each, in the order of the pass.
Take = Callable[[], bool]
Pass = Callable[[n.Function, Take], n.Function]


def _counted_loops(function: n.Function, take: Take) -> n.Function:
    """Loops without guards: one that counted to 0 must not begin below that any more."""
    return counting_up(unguarded_loops(function, take), take)


def _loops_with_setup(function: n.Function, take: Take) -> n.Function:
    """Loops without guards, that compute in each turn what was computed once behind these."""
    return unguarded_loops(function, take, inside=True)


def _whole_loops(function: n.Function, take: Take) -> n.Function:
    """Loops that were unrolled, with pointers by their counters: seldom is one right alone."""
    made = without_remainders(function, take)
    if made == function:
        return function
    return pointers_by_counters(started_loops(unguarded_loops(made, _yes), _yes), _yes)


def _yes() -> bool:
    return True


#: In the order in which they build on one another. What comes last is seen by no other pass.
ALL_PASSES: tuple[Pass, ...] = (
    named_once, rolled_steps, rolled_exchanges, without_known_values, _whole_loops, without_copies,
    short_numbers, both_limits, plain_elements, plain_conditions, counted_by_steps, _counted_loops,
    _loops_with_setup,
    halving_counters, without_old_counts, computed_again, last_turns, indices_by_counters,
    single_precision, swapping_loops, counted_to_the_end, implicit_conversions, started_loops,
    pointers_by_counters, known_sums, plain_numbers, named_indices, without_dead_stores,
    late_declarations, changed_together, without_copies, grid_places, two_at_once, plain_casts,
    without_never_read, joined_loops, single_variables,
)  # fmt: skip
#: Those that a search for the same PTX begins with: the others lead it away from other changes.
PASSES: tuple[Pass, ...] = tuple(
    one for one in ALL_PASSES if one not in (_loops_with_setup, single_variables)
)
