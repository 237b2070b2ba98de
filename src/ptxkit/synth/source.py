"""What a source of kernels is: a small class, found by its name through an entry point.

A source makes a sample out of (seed, index) and nothing else, and turns a batch of samples
into rows: their views, compiled together, and the proof that they do what they say. A row
that fails is a `Rejected` with its reason.

Any class can be named by its place, ``my_module:MySource``. A package offers its source under
a short name by an entry point in the group ``ptxkit.sources``::

    [project.entry-points."ptxkit.sources"]
    mine = "my_package.kernels:MySource"
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

from ptxkit.errors import UnknownNameError, UsageError

#: The sources that come with ptxkit.
BUILT_IN = {
    "warp": "ptxkit.synth.warp.source:WarpSource",
    "tiers": "ptxkit.synth.tiers.source:TiersSource",
    "triton": "ptxkit.synth.pythonic.triton_source:TritonSource",
    "numba": "ptxkit.synth.pythonic.numba_source:NumbaSource",
    "ptx": "ptxkit.synth.stacked.source:StackSource",
}
GROUP = "ptxkit.sources"
_DIGESTS = {
    "input_digest": "inputs", "output_digest": "outputs", "gradient_digest": "gradients",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose about the rows of a dataset."""

    archs: tuple[str, ...] = ("sm_90",)
    categories: tuple[str, ...] = ()
    """All of the source's where none is named."""
    views: str = "all"
    """``"all"``, or ``"source"`` for what needs no compiler; such rows are not executed."""
    backward: bool = True
    """Whether kernels are differentiated, where the source can."""
    sass: bool = False
    assemble: bool = True
    """Whether machine code is made of all PTX; otherwise the assembler reads and checks it."""
    raw: bool = True
    """Whether PTX is kept as the compiler wrote it, beside the canonical one."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Settings:
        """The settings again.

        >>> Settings.from_dict(Settings(archs=("sm_80",)).to_dict()).archs
        ('sm_80',)
        """
        plain: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
        }
        return Settings(**plain)


@dataclass(frozen=True, slots=True)
class Sample:
    """A program at a place of the sequence."""

    index: int
    name: str
    category: str
    text: str
    """Its source."""
    shape: str
    """The source without names and constants: samples of one shape go to one split."""
    program: Any
    """Whatever the source needs to compile and to verify it."""


@dataclass(frozen=True, slots=True)
class Target:
    """The code of a sample for one architecture."""

    arch: str
    ptx_forward: str
    """Canonical, self-contained PTX."""
    ptx_raw: str | None
    """The same as the compiler wrote it."""
    ptx_backward: str | None = None
    assembled: bool = False
    """Whether machine code was made of it; the columns that follow are of the best such code,
    where the source measures it."""
    registers: int | None = None
    shared_bytes: int | None = None
    spill_bytes: int | None = None
    code_bytes: int | None = None
    sass: str | None = None

    @property
    def check(self) -> str:
        """What the assembler said to it, as rows tell it.

        >>> Target("sm_90", ".version 8.0", None).check
        'ptx sm_90 accepted by the assembler'
        """
        return f"ptx {self.arch} {'assembled' if self.assembled else 'accepted by the assembler'}"


@dataclass(frozen=True, slots=True)
class Verification:
    """How a row was proved."""

    verdict: str
    """``"verified"``, or ``"not executed"`` where that was asked for."""
    checks: tuple[str, ...] = ()
    """What agreed with what."""
    relative_tolerance: float | None = None
    absolute_tolerance: float | None = None
    input_digest: str | None = None
    output_digest: str | None = None
    gradient_digest: str | None = None


def compared(targets: Sequence[Target]) -> tuple[str, ...]:
    """The checks of rows whose PTX was assembled, executed, and compared with numpy.

    >>> compared([Target("sm_90", ".version 8.0", None)])
    ('ptx sm_90 accepted by the assembler', 'ptx sm_90 = numpy')
    """
    return tuple(check for one in targets for check in (one.check, f"ptx {one.arch} = numpy"))


def misstated(row: dict[str, Any], proof: Verification) -> str | None:
    """What a row says of its verification, where executing it again says something else."""
    stored = row["verification"]
    for key, what in _DIGESTS.items():
        if stored.get(key) != getattr(proof, key):
            return f"the {what} have another digest"
    for key in ("relative_tolerance", "absolute_tolerance"):
        found, expected = stored.get(key), getattr(proof, key)
        if found != expected:
            return f"the {key.replace('_', ' ')} is {found}, not {expected}"
    return None


@dataclass(frozen=True, slots=True)
class Made:
    """A row as its source makes it; the engine adds identity, split and hashes."""

    views: dict[str, str | None]
    """Texts by the names in the source's `views`."""
    verification: Verification
    targets: tuple[Target, ...] = ()
    launch: tuple[int, ...] = ()
    features: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a sample is not in the dataset."""

    stage: str
    """``"compile"``, ``"assemble"``, ``"execute"``, ``"compare"``, ``"decontaminate"``."""
    reason: str


class Source(ABC):
    """A kind of kernels. Instances are made in every worker, and hold no random state."""

    name: ClassVar[str]
    categories: ClassVar[tuple[str, ...]]
    text_view: ClassVar[str]
    """Which view is the sample's own text."""
    views: ClassVar[tuple[str, ...]]
    """All text columns of this source, in order."""
    origin: ClassVar[str] = "PTX is the output of NVIDIA's compilers."
    """Whose tools wrote what, for the card of the dataset."""
    shard_size: ClassVar[int] = 100
    """Samples that are compiled together, unless the user says otherwise: more would take more
    memory, and fewer would read the compilers' headers more often."""
    launch_shared: ClassVar[bool] = False
    """Whether the shared memory of a row counts what its launch brings, beside what is declared."""
    measures: ClassVar[bool] = True
    """Whether rows tell what their machine code needs. Otherwise it is made unoptimised, which
    takes half the time, unless it is a view itself."""
    life: ClassVar[int] = 1000
    """A worker process ends after so many samples, and with it what compilers keep of them."""

    @abstractmethod
    def sample(self, seed: int, index: int, settings: Settings) -> Sample:
        """The sample at a place: a function of the arguments alone."""

    @abstractmethod
    def make(
        self, seed: int, samples: Sequence[Sample], settings: Settings, workspace: Path
    ) -> list[Made | Rejected]:
        """Compile and verify a batch; one result a sample, in order."""

    @abstractmethod
    def replay(self, seed: int, sample: Sample, row: dict[str, Any]) -> str | None:
        """Execute what a row of the dataset holds again; None, or what is wrong."""

    def foretold(self, sample: Sample, settings: Settings) -> dict[str, Any]:
        """The columns of a row that need no compiler: `validate` compares a row with them."""
        return {self.text_view: sample.text}

    def kernels(self, sample: Sample, settings: Settings) -> dict[str, dict[str, str]]:
        """The kernels in each PTX column of a row: their names there, and those in the raw PTX.

        `validate` makes the columns again from the raw PTX. A source that names none has PTX in a
        form of its own, which is assembled and executed as it is.
        """
        return {}

    def checks(self, targets: Sequence[Target], settings: Settings) -> tuple[str, ...] | None:
        """What the verification of a row lists; None where the source leaves that open."""
        return None

    def measured(self, settings: Settings) -> bool:
        """Whether rows have the numbers of their machine code."""
        return settings.assemble and (self.measures or settings.sass)

    @abstractmethod
    def provenance(self, settings: Settings) -> dict[str, str]:
        """The tools that make the rows, with their versions. Raises where one is missing."""

    def chosen(self, settings: Settings) -> tuple[str, ...]:
        """The categories to make; refuses unknown ones."""
        for category in settings.categories:
            if category not in self.categories:
                raise UnknownNameError("category", category, self.categories)
        return settings.categories or self.categories


def names() -> tuple[str, ...]:
    """The names of all sources."""
    return tuple(dict.fromkeys([*BUILT_IN, *(point.name for point in entry_points(group=GROUP))]))


def find(name: str) -> Source:
    """A source by its name, or by its place as ``module:Class``.

    >>> find("warp").name
    'warp'
    >>> find("wrap")
    Traceback (most recent call last):
    ptxkit.errors.UnknownNameError: no source is called 'wrap'; there are: warp...
    """
    module, _, attribute = BUILT_IN.get(name, name).partition(":")
    if attribute:
        if not any(place in ("", str(Path.cwd())) for place in sys.path):
            sys.path.append(str(Path.cwd()))  # a source of one's own lies in the folder one is in
        try:
            made = getattr(import_module(module), attribute)()
        except (ModuleNotFoundError, AttributeError) as error:
            raise UsageError(f"there is no source '{name}': {error}") from error
    else:
        points = entry_points(group=GROUP)
        if name not in points.names:
            raise UnknownNameError("source", name, names())
        made = points[name].load()()
    if not isinstance(made, Source):
        raise UsageError(f"the source '{name}' is a {type(made).__name__}, not a ptxkit Source")
    return made
