"""Certificates: what was proved about a decompiled kernel.

Each level is a function of its own: :func:`compiled` (E0), :func:`same_ptx` (E1),
:func:`same_dataflow` (E2), :func:`same_execution` (E3); :func:`verify` tries them all.
"""

from ptxkit.decompiler.verify.certificates import Compiled, architecture, certify, compiled, verify
from ptxkit.decompiler.verify.dataflow import Proof, same_dataflow
from ptxkit.decompiler.verify.execution import Execution, same_execution
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.decompiler.verify.verdict import LEVELS, Verdict

__all__ = [
    "LEVELS",
    "Compiled",
    "Execution",
    "Proof",
    "Verdict",
    "architecture",
    "certify",
    "compiled",
    "same_dataflow",
    "same_execution",
    "same_ptx",
    "verify",
]
