"""Numbers as words: the same on the side of PTX and on that of the answer."""

from __future__ import annotations

import numpy as np


def number_word(value: object, type: str) -> str:
    """A number as a word: the same that the PTX side writes for it.

    >>> number_word(2.5, "f32"), number_word(-3, "i32"), number_word(0.1, "f64")
    ('2.5', '-3', '0.1')
    """
    if type[0] == "f":
        number = float(value)  # type: ignore[arg-type]
        return repr(number) if type == "f64" else repr(float(str(np.float32(number))))
    return str(int(value))  # type: ignore[call-overload]
