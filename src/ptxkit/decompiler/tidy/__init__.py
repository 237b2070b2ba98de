"""What nobody would write, written as people do, where the compiler makes the same PTX of it."""

from ptxkit.decompiler.tidy.applying import tidied
from ptxkit.decompiler.tidy.updates import plain_updates

__all__ = ["plain_updates", "tidied"]
