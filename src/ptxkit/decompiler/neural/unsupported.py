"""The error of everything that the model's grammar does not have."""

from ptxkit.errors import PtxkitError


class UnsupportedError(PtxkitError):
    """A construct that the model's grammar does not have; the message names it."""
