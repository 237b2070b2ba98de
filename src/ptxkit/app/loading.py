"""Gradio, loaded without the work that it does for its own developers."""

from __future__ import annotations

import inspect
import os
from typing import Any

from ptxkit.errors import import_extra


def gradio() -> Any:
    """The module, loaded once; it neither reports to anybody nor looks for updates.

    While it is imported, Gradio writes an interface file for the class of every component, which
    takes almost half of the time; it leaves that out for classes without a source file.
    """
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    real = inspect.getfile

    def getfile(object: Any) -> str:
        if isinstance(object, type) and object.__module__.startswith("gradio."):
            raise OSError("not asked for")
        return real(object)

    inspect.getfile = getfile
    try:
        return import_extra("gradio", extra="app")
    finally:
        inspect.getfile = real
