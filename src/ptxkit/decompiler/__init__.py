"""PTX back into readable CUDA C++, every answer with a certificate."""

from ptxkit.decompiler.choose import Decompiled, DecompileError, decompile
from ptxkit.decompiler.engines import Candidate, Engine
from ptxkit.decompiler.verify import Verdict

__all__ = [
    "Candidate",
    "DecompileError",
    "Decompiled",
    "Engine",
    "Verdict",
    "decompile",
]
