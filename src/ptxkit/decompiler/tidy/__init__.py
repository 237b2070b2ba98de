"""What nobody would write, written as people do, where the compiler makes the same PTX of it."""

from ptxkit.decompiler.tidy.applying import tidied

__all__ = ["tidied"]
