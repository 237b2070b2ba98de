"""The neural decompiler as an engine of `ptxkit.decompile`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxkit.cuda import CudaModule
from ptxkit.decompiler.engines import Candidate
from ptxkit.decompiler.neural.ptxwords import PtxWords, read_function
from ptxkit.decompiler.neural.raising import parse, raise_function
from ptxkit.decompiler.neural.rewriting import with_rolled_loops
from ptxkit.decompiler.neural.style import styled
from ptxkit.decompiler.neural.tokens import can_be_read
from ptxkit.errors import import_extra, require_extra
from ptxkit.syntax import Function, Module, Variable

if TYPE_CHECKING:
    from ptxkit.decompiler.neural.decoding import Decoder

TRAINED = Path(__file__).parent / "trained"
"""The weights that come with the package."""


class NeuralEngine:
    """Proposes what the model finds most probable; it needs the extra ``neural``."""

    name = "neural"

    def __init__(self, weights: str | Path | None = None, device: str | None = None) -> None:
        for package in ("torch", "safetensors"):
            require_extra(package, extra="neural")
        self.weights = TRAINED if weights is None else Path(weights)
        self.device = device
        if weights is not None:
            _ = self.decoder  # a folder without weights is an error now, not later

    @cached_property
    def decoder(self) -> Decoder:
        """The network, once something is to be read: to load torch alone takes seconds."""
        torch: Any = import_extra("torch", extra="neural")
        import_extra("safetensors", extra="neural")
        device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        return _decoder(self.weights, device)

    def propose(self, module: Module, function: Function, *, beams: int = 1) -> Sequence[Candidate]:
        """The most probable programs for a kernel; none for what the grammar can't say."""
        if not function.is_entry or function.body is None:
            return ()
        words = words_of_function(module, function)
        if not can_be_read(words):
            return ()
        found = self.decoder.answers([words], beams=beams)[0]
        return tuple(
            Candidate(tree_of(candidate.words, words), self.name, candidate.score)
            for candidate in found
        )


@lru_cache(maxsize=4)
def _decoder(weights: Path, device: str) -> Decoder:
    from ptxkit.decompiler.neural.decoding import Decoder

    return Decoder.load(weights, device)


def words_of_function(module: Module, function: Function) -> PtxWords:
    """The words of a kernel, with the shared memory that the module declares for it.

    >>> import ptxkit
    >>> m = ptxkit.compile_cuda('extern "C" __global__ void k(int *x) { x[threadIdx.x] = 7; }')
    >>> " ".join(words_of_function(m, m["k"]).texts)
    'st.global.u32 add.s64 p0 mul.wide.u32 threadIdx.x 4 7 ret'
    """
    text = function.text
    shared = [
        node.text
        for node in module.children
        if isinstance(node, Variable) and node.space == "shared"
        and any(declarator.name in text for declarator in node.declarators)
    ]  # fmt: skip
    return read_function("\n".join([*shared, text]))


def tree_of(words: Sequence[str], source: PtxWords) -> CudaModule:
    """The tree of an answer as it would be written, under the name that the kernel has in PTX."""
    answer = parse(words, len(source.parameters))
    tree = styled(raise_function(answer, source.name, source.cached, source.unsigned))
    return with_rolled_loops(tree) if source.rolled else tree
