"""E2: two functions have equal dataflow, by a proof.

Both are executed symbolically, region by region between the loop headers at which they meet. What
registers hold there is first taken to be as much alike as it can be; what does not stay so on all
ways to a meeting is given up, until nothing changes any more. If then every region asks the same
conditions, does the same to memory and goes to the same places, the two do the same, step by
step. Whatever this cannot show is no proof, and never a yes.
"""

from ptxkit.decompiler.verify.dataflow.proof import Proof, same_dataflow

__all__ = ["Proof", "same_dataflow"]
