"""PTX to Python in :mod:`ptxkit.dsl`, and back, byte for byte."""

from ptxkit.transpiler.transpile import to_python

__all__ = ["to_python"]
