"""The kernels of tests/dsl, on a GPU."""

from __future__ import annotations

import pytest

from dsl import test_kernels
from dsl.test_kernels import *  # noqa: F403

pytest.importorskip("cupy")
test_kernels.DEVICE = "cuda"
