"""Settings shared by every test."""

import os

from hypothesis import settings

# The suite gives the same answer on every run. To look for new examples instead:
#     HYPOTHESIS_PROFILE=explore pytest
settings.register_profile("deterministic", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "deterministic"))
