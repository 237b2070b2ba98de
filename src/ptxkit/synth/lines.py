"""Rows as JSON lines, one a row and device, with the field names of older collections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_DEVICES = (("cuda", "cuda"), ("cpu", "cpp"))


def json_lines(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row as flat JSON objects: one a device that its source has code for."""
    row = {key: value.hex() if isinstance(value, bytes) else value for key, value in row.items()}
    devices = [(device, word) for device, word in _DEVICES if f"{word}_forward" in row]
    if not devices:
        yield row
        return
    common = {
        key: value
        for key, value in row.items()
        if not key.startswith(("cpp_", "cuda_")) and key not in ("name", "category")
    }
    for device, word in devices:
        targets = {"targets": row["targets"]} if device == "cuda" else {"targets": []}
        yield {
            **common,
            **targets,
            "ir_forward": row[f"{word}_forward"],
            "ir_backward": row[f"{word}_backward"],
            "metadata": {
                "kernel_name": row["name"],
                "category": row["category"],
                "device": device,
                "has_backward": bool(row[f"{word}_backward"]),
                "launch": row["launch"],
                "verdict": row["verification"]["verdict"],
            },
        }


def row_of(lines: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The row that some lines are of; None where no row has these lines.

    >>> row_of(list(json_lines({"id": "ptx-1-2", "minhash": b"ab"})))
    {'id': 'ptx-1-2', 'minhash': b'ab'}
    >>> row_of([{"id": "ptx-1-2", "minhash": "6162"}] * 2) is None
    True
    """
    try:
        first = dict(lines[0])
        if "metadata" in first:
            about = first.pop("metadata")
            first |= {"name": about["kernel_name"], "category": about["category"]}
            for (_, word), line in zip(_DEVICES, lines, strict=True):
                first[f"{word}_forward"] = line["ir_forward"]
                first[f"{word}_backward"] = line["ir_backward"]
            del first["ir_forward"], first["ir_backward"]
        first["minhash"] = bytes.fromhex(first["minhash"])
        same = list(json_lines(first)) == list(lines)
    except (KeyError, TypeError, ValueError):
        return None
    return first if same else None
