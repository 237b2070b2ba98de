from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar, overload

from typing_extensions import Self

def build_info() -> dict[str, str]: ...

node_kinds: dict[str, str]
kind_classes: dict[str, type]

class Node:
    """A view of one node of a parsed module."""

    @property
    def kind(self) -> str:
        """The name of the node's kind, such as "Instruction"."""
    @property
    def text(self) -> str:
        """The node's text as it stands in the file."""
    @property
    def span(self) -> tuple[int, int]:
        """Byte offsets (start, end)."""
    @property
    def index(self) -> int:
        """The node's place in the tree, in pre-order."""
    @property
    def flags(self) -> int: ...
    @property
    def selector_length(self) -> int: ...
    @property
    def identifier(self) -> str: ...
    @property
    def line(self) -> int:
        """Line of the first character, from 1."""
    @property
    def column(self) -> int:
        """Column of the first character, from 1."""
    @property
    def filename(self) -> str: ...
    @property
    def root(self) -> Any: ...
    @property
    def parent(self) -> Any:
        """The node this one is part of; None for the module."""
    @property
    def children(self) -> tuple[Any, ...]:
        """The nodes directly under this one, in source order."""
    @property
    def ancestors(self) -> tuple[Any, ...]:
        """Parent, its parent, and so on up to the module."""
    @property
    def next_sibling(self) -> Any: ...
    @property
    def previous_sibling(self) -> Any: ...
    @property
    def diagnostics_raw(self) -> list[tuple[str, str, str, int, int]]: ...
    @property
    def memory(self) -> int: ...
    @property
    def node_count(self) -> int: ...
    @property
    def line_count(self) -> int: ...
    def tokens(self, *, own: bool = False, trivia: bool = False) -> list[tuple[str, str, int, int]]:
        """The node's tokens as (kind, text, start, end)."""
    def own_texts(self) -> list[str]:
        """The texts of the tokens that belong to the node itself, not to its children."""
    def find(self, *kinds: str, direct: bool = False) -> NodeList[Any]:
        """All nodes of some kinds under this one; `direct` ones are its children."""
    @property
    def home(self) -> Any:
        """The nearest block or function that the node is or stands in; None outside of all."""
    @property
    def home_index(self) -> int:
        """The index of that node; no node's outside of all."""
    def walk(self) -> NodeList[Any]:
        """All nodes under this one, in source order."""
    def node_at(self, offset: int) -> Any: ...
    def position(self, offset: int) -> tuple[int, int]: ...
    def line_text(self, line: int) -> str: ...
    def line_start(self, line: int) -> int: ...
    def source(self) -> bytes: ...
    def emit_tree(self) -> bytes: ...
    def format_text(self, width: int) -> bytes: ...
    def same_tree(self, other: Node) -> bool: ...

class InstructionNode(Node):
    """Native accessors of instructions."""

    def pattern(self) -> tuple[str, tuple[str, ...]]:
        """The text with a mark for every name, and the names as they first appear."""

    @property
    def opcode(self) -> str:
        """The opcode with its modifiers, such as "ld.global.f32"."""
    @property
    def name(self) -> str:
        """The first word of the opcode."""
    @property
    def modifiers(self) -> tuple[str, ...]:
        """The modifiers with their dots."""
    @property
    def guard(self) -> Any: ...
    @property
    def operands(self) -> tuple[Any, ...]:
        """The operands in source order."""
    @property
    def opcode_node(self) -> Any: ...

_T = TypeVar("_T", covariant=True)

class NodeList(Generic[_T]):
    """A sequence of nodes; views are made when asked for."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[_T]: ...
    @overload
    def __getitem__(self, at: int) -> _T: ...
    @overload
    def __getitem__(self, at: slice) -> Self: ...

def parse(text: bytes, filename: bytes) -> Any: ...
def register_kinds(classes: dict[str, type]) -> None: ...

NO_SLOT: int
WINDOWS: tuple[int, int, int]

def operation_names() -> list[str]: ...
def philox(key: int, count: int) -> bytes:
    """64-bit words as `numpy.random.Philox(key=key)` draws them."""

def run_hashes(tokens: list[str], length: int) -> bytes:
    """64-bit hashes of every run of so many tokens, sorted, without repeats."""

def least_mixtures(hashes: bytes, factors: bytes, offsets: bytes) -> bytes:
    """For every 64-bit factor with its offset, the least mixture of some hashes."""

class Heap:
    """The memory that malloc in kernels gives out."""

    def __init__(self, size: int) -> None: ...
    def allocations(self) -> list[tuple[int, int, int]]: ...

class Pattern:
    """The code of an instruction, for any registers."""

class Program:
    """A kernel as the simulator runs it."""

    def pattern(self, function: int, start: int, slots: list[int], fresh: int) -> Pattern | None:
        """The code from an instruction on; None where it has slots of nobody."""
    def repeat(
        self, function: int, pattern: Pattern, slots: list[int], fresh: int, node: int, shift: int
    ) -> None:
        """Add the code of a pattern, for other slots."""

    def __init__(self) -> None: ...
    def add_function(self, name: str) -> int: ...
    def emit(
        self,
        function: int,
        operation: str,
        slots: list[int],
        *,
        immediate: int = 0,
        guard: int = ...,
        negated: bool = False,
        width: int = 4,
        count: int = 1,
        list: int = 0,
        list_size: int = 0,
        target: int = 0,
        node: int = 0,
    ) -> int: ...
    def add_list(self, function: int, values: list[int]) -> int: ...
    def set_list(self, function: int, at: int, value: int) -> None: ...
    def set_target(self, function: int, at: int, target: int) -> None: ...
    def set_leader(self, function: int, at: int) -> None: ...
    def size(self, function: int) -> int: ...
    def set_frame(
        self,
        function: int,
        register_bytes: int,
        local_bytes: int,
        parameters: list[tuple[int, int]],
        results: list[tuple[int, int]],
    ) -> None: ...
    def add_constant(self, value: int, width: int) -> int: ...
    def set_entry(self, entry: int, shared: int, parameters: int) -> None: ...
    def set_address(self, address: int, number: int) -> None: ...
    uses_alloca: bool
    prints: bool
    def run(
        self,
        parameters: bytes,
        buffers: list[tuple[int, int, bool, str, bool]],
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        cluster: tuple[int, int, int],
        dynamic_shared: int,
        threads: int,
        step_limit: int,
        count: bool,
        explicit_cluster: bool,
        workspace: int,
        heap: Heap,
        show: Callable[[bytes], None],
        time_limit: float = 0.0,
        observation: Observation | None = None,
        stack: int = 16384,
        descending: bool = False,
    ) -> dict[str, Any]: ...
    def nodes(self, function: int) -> list[int]: ...

class GpuKernel:
    """A kernel whose `k[grid, block]` remembers the launchers it made.

    A parameter is its offset, its size, its kind ("integer", "float", "bits" or "struct") and
    a label. A derived class has `_launcher(key)`, which makes one.
    """

    def __init__(
        self, name: str, parameters: list[tuple[int, int, str, str]], size: int
    ) -> None: ...
    def __getitem__(self, key: Any) -> Any: ...

class GpuLauncher:
    """A kernel with the shape of its launch: packs arguments and launches.

    A derived class has `_general(arguments)` for what is not packed here, and two methods that
    raise: `_failed((status, device, arguments))` and `_refuse(keywords)`.
    """

    def __init__(
        self,
        kernel: GpuKernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        cluster: tuple[int, int, int],
        cooperative: bool,
        stream: int | None,
        device: int,
    ) -> None: ...
    def __call__(self, *arguments: Any) -> None: ...
    def run_packed(self, device: int, stream: int, parameters: bytes) -> int: ...
    def make_ready(self, device: int, context: int, function: int) -> None: ...
    def is_ready(self, device: int) -> bool: ...

_Triple = tuple[int, int, int]

def pending_launches(
    context: int,
) -> list[tuple[str, _Triple, _Triple, int, list[tuple[str, bytes]]]]: ...
def finished_launches(context: int, stream: int | None) -> None: ...
def dlpack_memory(capsule: object) -> tuple[int, int, int, int, bool]: ...
def set_argument_types(classify: Callable[[type], tuple[int, Any, Any]]) -> None: ...
def set_default_stream(function: Callable[[int], int]) -> None: ...

class InjectTemplate:
    """PTX with holes for stubs."""

    def render(self, stubs: dict[Any, Any], check: bool) -> str | None: ...
    def render_many(self, sets: list[Any], check: bool, threads: int) -> list[str | None]: ...
    def fill(self, slots: list[int], texts: list[str | bytes]) -> str | bytes: ...
    def approve(self, site: int, stub: str) -> None: ...
    def is_approved(self, site: int, stub: str) -> bool: ...
    @property
    def text(self) -> bytes: ...
    @property
    def sites(self) -> list[tuple[str, list[tuple[str, str, str, str, str]]]]: ...
    @property
    def occurrences(self) -> list[tuple[int, str, int, int, int, int, list[str]]]: ...
    @property
    def functions(self) -> list[str]: ...
    @property
    def fixed_size(self) -> int: ...
    @property
    def is_crlf(self) -> bool: ...

def inject_template(
    text: str | bytes,
) -> InjectTemplate | tuple[str, bytes, str, int, int] | None: ...

STACK_SLOTS: int

class StackTable:
    """The stacks, instructions and routines of an instruction set."""

    def __init__(self) -> None: ...
    def add_stack(self, name: str, type: str, move: str, literal: int, width: int) -> None: ...
    def add_row(
        self,
        *,
        name: str,
        pieces: list[tuple[str, int]],
        arguments: list[tuple[int, bool, int]],
        results: list[int],
        effect: int,
        guardable: bool,
        commutes: bool,
        separate: bool,
        lowest: int,
        span: int,
    ) -> None: ...
    def add_routine(
        self,
        name: str,
        items: bytes,
        closed: bool,
        arguments: list[int],
        gives_all: bool,
        results: list[int],
    ) -> None: ...
    def set_select(self, stack: int, row: int) -> None: ...
    def set_logic(
        self, predicates: int, conjunction: int, disjunction: int, negation: int
    ) -> None: ...
    def set_folds(self, program: Program) -> None: ...
    def set_fold(
        self,
        row: int,
        begin: int,
        end: int,
        sources: list[tuple[int, int]],
        destinations: list[tuple[int, int]],
        exact: bool,
        divides: bool,
    ) -> None: ...
    def finish(self) -> list[str]: ...
    def apply(self, row: int, arguments: bytes, lanes: int) -> bytes: ...

class StackInterface:
    """The inputs and outputs that programs are compiled for."""

    def __init__(
        self,
        table: StackTable,
        inputs: list[tuple[int, str]],
        outputs: list[tuple[int, int, str]],
        prefixes: list[str],
        missing: int,
        strict: bool,
        steps: int,
        nesting: int,
    ) -> None: ...
    @overload
    def compile(self, program: Any) -> str | tuple[int, int, int | None, int]: ...
    @overload
    def compile(
        self, program: Any, reported: bool
    ) -> tuple[str | tuple[int, int, int | None, int], tuple[int, ...]]: ...
    def compile_packed(self, programs: Any, offsets: Any, threads: int) -> StackStubs: ...
    def evaluate_packed(
        self, programs: Any, offsets: Any, inputs: Any, size: int, threads: int
    ) -> tuple[bytes, list[Any]]: ...

class StackStubs:
    """The stubs of many programs."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: int) -> str | tuple[int, int, int | None, int]: ...
    def reports(self) -> bytes: ...
    def failures(self) -> list[int]: ...

def encode_stack(sequence: Any, table: dict[str, bytes], other: Any) -> bytes: ...

class Observation:
    """What is watched while a kernel runs."""

    findings_left_out: int
    events_left_out: int

    def __init__(self) -> None: ...
    def add_function(
        self,
        rows: list[tuple[int, int, int, list[tuple[int, int]], list[tuple[int, int]]]],
    ) -> None: ...
    def sanitize(self, limit: int, red_zones: list[tuple[int, int]]) -> None: ...
    def profile(self) -> None: ...
    def trace(
        self,
        thread: tuple[int, int, int],
        block: tuple[int, int, int],
        limit: int,
        keep_last: bool,
    ) -> None: ...
    def look_at(
        self,
        rows: list[tuple[int, int, bool, list[tuple[int, int]], bool]],
        running: list[int] = ...,
    ) -> None: ...
    def watch_conflicts(self) -> None: ...
    def conflicts(self) -> list[tuple[int, int]] | None: ...
    def digests(self) -> list[tuple[int, list[tuple[int, int]], list[int], bool]]: ...
    def findings(self) -> list[dict[str, Any]]: ...
    def counts(self) -> list[list[tuple[int, ...]]]: ...
    def events(
        self,
    ) -> list[tuple[int, int, bool, bytes, bytes, list[tuple[str, int, int, bool]]]]: ...

def count_sectors(addresses: list[int], bytes: int) -> tuple[int, int]: ...
def count_wavefronts(addresses: list[int], bytes: int) -> tuple[int, int]: ...

FACTS: dict[str, int]
