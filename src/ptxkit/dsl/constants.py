"""Numbers that kernels are full of, by name."""

from __future__ import annotations

import math

#: All lanes of a warp, as a mask.
FULL_MASK = -1
LOG2_E = math.log2(math.e)
LN_2 = math.log(2)
PI = math.pi
TWO_PI = 2 * math.pi
INFINITY = math.inf
#: The bits of infinity and its opposite in single precision, as integers.
INFINITY_BITS = 0x7F800000
NEGATIVE_INFINITY_BITS = -0x800000
#: All bits of a word but its sign.
MAGNITUDE_BITS = 0x7FFFFFFF
SIGN_BIT = -0x80000000
