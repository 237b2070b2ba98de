"""What proposes CUDA C++ for a function of PTX: engines behind one protocol.

An engine never says that it is right. It proposes trees; the verifier decides.

>>> import ptxkit
>>> m = ptxkit.parse('''.version 8.0
... .target sm_80
... .address_size 64
... .visible .entry clear(.param .u64 x) {
...     .reg .b64 %rd<2>;
...     ld.param.u64 %rd1, [x];
...     st.global.u32 [%rd1], 0;
...     ret;
... }''')
>>> [candidate.engine for candidate in engine("symbolic").propose(m, m["clear"])]
['symbolic']
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from ptxkit.cuda import CudaModule
from ptxkit.cuda.nodes import Function as Definition
from ptxkit.decompiler.isolation import isolated
from ptxkit.decompiler.lift.flags import Flags
from ptxkit.decompiler.lift.lifter import Options, lift_module
from ptxkit.decompiler.tidy.joined_loops import joined_loops
from ptxkit.decompiler.verify.asked import AS_WRITTEN
from ptxkit.decompiler.verify.dataflow.fusing import open_products
from ptxkit.errors import PtxkitError, UnknownNameError
from ptxkit.syntax import Function, Module


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program that may be the source of a function."""

    tree: CudaModule
    """A whole file: the function under its name in PTX, and everything it needs."""
    engine: str
    score: float = 0.0
    """How much the engine believes in it; the higher the better, among candidates of one engine."""
    careful: bool = False
    """Hard to read, and worth a proof where nothing else could be proved."""
    unrolled: bool = False
    """Whether it leaves loops as a compiler made them, and asks that to be kept."""


class Engine(Protocol):
    """Something that proposes programs."""

    name: str

    def propose(self, module: Module, function: Function, *, beams: int = 1) -> Sequence[Candidate]:
        """Programs for one function of a module, the best first; none where it has no idea.

        ``beams`` is how many it may propose.
        """


#: How the lifter writes a function. Loops are rolled up, and
#: functions of the math library called, on trust: the verifier decides. Those
#: that keep an order are for the same PTX; the careful ones leave a compiler nothing to
#: understand otherwise.
FORMS = (
    Options(roll=True),
    Options(),
    Options(roll=True, arrays=True),
    Options(roll=True, keep_loops=True),
    Options(roll=True, order="line"),
    Options(roll=True, order="block"),
    Options(order="line"),
    Options(keep_loops=True),
    Options(careful=True, math=False),
    Options(careful=True, keep_loops=True, math=False),
)
_CAREFUL = 7
#: Where none of them is proved. They are harder to read still, and their PTX is another.
EXACT_FORMS = (
    Options(careful=True, exact=True, math=False),
    Options(careful=True, exact=True, keep_loops=True, math=False),
)
#: The same where PTX leaves it to an assembler what is rounded once: so they do.
OPEN_EXACT_FORMS = tuple(replace(options, open_sums=True) for options in EXACT_FORMS)


#: What is proved step by step, and whether as a compiler that rearranges little leaves it. One
#: that rearranges as much as the one of the original did may come to the same instructions.
PROVABLE_FORMS = (
    (Options(keep_loops=True, open_sums=True), True),
    (Options(careful=True, keep_loops=True, math=False, open_sums=True), False),
    (Options(careful=True, exact=True, keep_loops=True, math=False, open_sums=True), True),
)


class SymbolicEngine:
    """The lifter: any function, written out, with its loops rolled up, or with all care."""

    name = "symbolic"

    def propose(self, module: Module, function: Function, *, beams: int = 1) -> Sequence[Candidate]:
        """The lifted forms of a function, the most readable first."""
        return tuple(islice(self.forms(module, function), max(beams, 1)))

    def forms(
        self, module: Module, function: Function, flags: Flags | None = None
    ) -> Iterator[Candidate]:
        """The same, one at a time: many are lifted only where the ones before do not do.

        ``flags`` is what they are compiled with; None for what the module shows.
        """
        alone = isolated(module, function)
        trees: list[CudaModule] = []
        for options in FORMS:
            lifted = _lifted(alone, function, replace(options, flags=flags), last=FORMS[-1])
            for tree in (lifted, lifted and options.roll and _joined(lifted)):
                if tree and tree not in trees:
                    trees.append(tree)
                    careful, kept = options in FORMS[_CAREFUL:], options.keep_loops
                    yield Candidate(tree, self.name, -float(len(trees)), careful, kept)

    def exact_forms(
        self, module: Module, function: Function, flags: Flags | None = None
    ) -> Iterator[Candidate]:
        """What to prove where none of the forms could be: every bit as PTX has it."""
        alone = isolated(module, function)
        for place, options in enumerate(
            OPEN_EXACT_FORMS if open_products(function) else EXACT_FORMS
        ):
            score = -float(len(FORMS) + place + 1)
            tree = _lifted(alone, function, replace(options, flags=flags))
            if tree is not None:
                yield Candidate(tree, self.name, score, careful=True)

    def provable_forms(
        self, module: Module, function: Function, flags: Flags | None = None
    ) -> Iterator[Candidate]:
        """What can be proved without running it: the compiler is asked to leave it as it is."""
        alone = isolated(module, function)
        for place, (options, as_written) in enumerate(PROVABLE_FORMS):
            score = -float(len(FORMS) + len(EXACT_FORMS) + place + 1)
            tree = _lifted(alone, function, replace(options, flags=flags))
            if tree is not None:
                asked = (AS_WRITTEN,) if as_written else ()
                tree = replace(tree, options=(*tree.options, *asked))
                yield Candidate(tree, self.name, score, careful=True)


def _lifted(
    alone: Module, function: Function, options: Options, last: Options | None = None
) -> CudaModule | None:
    """One form; None where the lifter itself fails at it, and other forms are left."""
    try:
        return lift_module(alone, options)
    except PtxkitError:
        raise
    except Exception as error:
        if last is not None and replace(options, flags=None) == last:
            raise
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        warnings.warn(
            f"the lifter failed at one way to write '{function.name}' ({what}); other ways are "
            "tried. Please report it with the file",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


def _joined(tree: CudaModule) -> CudaModule:
    """A form whose loops that count alike are one, where there are such.

    What was unrolled is found for each variable by itself, though one loop may have set several.
    """
    items = (joined_loops(i, lambda: True) if isinstance(i, Definition) else i for i in tree.items)
    return replace(tree, items=tuple(items))


#: Engines by name: the module and the class. A new engine is one row.
ENGINES = {
    "symbolic": ("ptxkit.decompiler.engines", "SymbolicEngine"),
    "neural": ("ptxkit.decompiler.neural.engine", "NeuralEngine"),
}

#: Those that have weights: others than those of the package can be given.
TRAINED = ("neural",)

#: What may be asked for: all of them, or one.
CHOICES = ("auto", *ENGINES)


def engine(name: str, weights: str | Path | None = None) -> Engine:
    """An engine by its name; with the ``weights`` in a folder, where it has any.

    >>> engine("psychic")
    Traceback (most recent call last):
    ptxkit.errors.UnknownNameError: no engine is called 'psychic'; there are: auto, symbolic...
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, CHOICES)
    place, member = ENGINES[name]
    made: Engine = getattr(importlib.import_module(place), member)(
        **({"weights": weights} if name in TRAINED and weights is not None else {})
    )
    return made
