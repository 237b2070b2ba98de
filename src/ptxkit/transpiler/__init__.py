"""PTX to Python in :mod:`ptxkit.dsl`, and back, byte for byte."""

from ptxkit.transpiler.linked import to_linked_python
from ptxkit.transpiler.transpile import to_python

__all__ = ["to_linked_python", "to_python"]
