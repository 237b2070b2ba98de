"""What is on the page as part of its address: compressed text in the query."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from ptxkit.app.limits import MOST_TEXT, InputRefused

#: The name in the query, and the most characters that travel well in an address.
NAME = "state"
MOST_CHARACTERS = 12_000
_FIELDS = {"tab": str, "text": str, "arch": str, "other": str, "kernel": str, "grid": str,
           "block": str, "arguments": str, "program": str, "inputs": str, "outputs": str,
           "engine": str, "beams": int}  # fmt: skip


def encode(state: dict[str, Any]) -> str:
    """A state as letters that an address may have.

    >>> encode({"text": "ret;", "arch": ""}) == encode({"text": "ret;"})
    True
    """
    kept = {name: value for name, value in state.items() if value not in (None, "")}
    data = json.dumps(kept, separators=(",", ":"), sort_keys=True).encode("utf-8", "replace")
    text = base64.urlsafe_b64encode(zlib.compress(data, 9)).decode().rstrip("=")
    if len(text) > MOST_CHARACTERS:
        raise InputRefused(
            f"this is too long to share as an address ({len(text):,} characters compressed, "
            f"{MOST_CHARACTERS:,} are the most): share the file itself"
        )
    return text


def decode(text: str) -> dict[str, Any]:
    """The state again; what is damaged or not ours is refused.

    >>> decode(encode({"text": "ret;", "beams": 2}))
    {'beams': 2, 'text': 'ret;'}
    >>> decode("!!")
    Traceback (most recent call last):
    ptxkit.app.limits.InputRefused: the address of this page is damaged, ...
    """
    damaged = InputRefused("the address of this page is damaged, so an example is shown instead")
    if len(text) > MOST_CHARACTERS:
        raise damaged
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        opener = zlib.decompressobj()
        # No more than the page would take, however small it was packed.
        plain = opener.decompress(data, 2 * MOST_TEXT)
        state = json.loads(plain.decode()) if opener.eof else None
    except (ValueError, binascii.Error, zlib.error, RecursionError):
        raise damaged from None
    if not isinstance(state, dict):
        raise damaged
    return {
        name: value
        for name, value in state.items()
        if name in _FIELDS and type(value) is _FIELDS[name]
    }
