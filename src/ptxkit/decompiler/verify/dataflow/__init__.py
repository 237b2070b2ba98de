"""E2: two functions have equal dataflow, by a proof.

Both are executed symbolically, region by region between loop headers. Registers that a loop
carries are first taken to be equal wherever their types allow; what does not stay equal from one
cut to the next is told apart, until nothing changes any more. If then every region asks the same
conditions, does the same to memory and goes to the same places, the two do the same, step by
step. Whatever this cannot show is no proof, and never a yes.
"""

from ptxkit.decompiler.verify.dataflow.proof import Proof, same_dataflow

__all__ = ["Proof", "same_dataflow"]
