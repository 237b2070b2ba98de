"""The shape of a launch: what a kernel's directives ask, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.run.shape import LaunchError, LaunchRules, LaunchShape, launch_shape, require_cluster


def rules(directives: str) -> LaunchRules:
    return LaunchRules.of(ptxkit.parse(f".entry k() {directives} {{ ret; }}")["k"])


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ("", LaunchRules()),
        (".maxntid 16, 4", LaunchRules(most_threads=64)),
        (".reqntid 16, 4, 2", LaunchRules(required_block=(16, 4, 2))),
        (
            ".reqntid 32 .explicitcluster .reqnctapercluster 2",
            LaunchRules((32, 1, 1), None, (2, 1, 1), None, True),
        ),
        (".maxclusterrank 4", LaunchRules(most_cluster_blocks=4)),
    ],
)
def test_directives_are_read(directives: str, expected: LaunchRules) -> None:
    assert rules(directives) == expected


@pytest.mark.parametrize(
    ("directives", "key", "options", "message"),
    [
        ("", 4, {}, "launch 'k' as"),
        ("", (1, 2, 3, 4, 5), {}, "launch 'k' as"),
        ("", (1, "x"), {}, "block must be one to three whole numbers"),
        ("", (None, 32), {}, "grid must be one to three"),
        ("", (1, 1025), {}, "1024 threads at most, not 1025"),
        ("", (1, (1, 1, 65)), {}, "block's z is 64 at most, not 65"),
        ("", ((1, 65536), 1), {}, "grid's y is 65535 at most"),
        ("", (2**31, 1), {}, "grid's x is 2147483647 at most"),
        ("", (1, 1, -1), {}, "shared bytes of a launch must be a whole number from 0, not -1"),
        ("", (1, 1, 1.5), {}, "shared bytes of a launch must be a whole number from 0, not 1.5"),
        (".reqntid 64", (1, 32), {}, "says .reqntid 64: its block must be 64, not 32"),
        (".reqntid 8, 8", (1, 64), {}, r"must be \(8, 8\), not 64"),
        (".maxntid 64", (1, 65), {}, "has 64 threads at most, not 65"),
        ("", (3, 1), {"cluster": 2}, "not made of whole clusters of 2"),
        ("", (17, 1), {"cluster": 17}, "16 blocks at most, not 17"),
        (".maxclusterrank 2", (4, 1), {"cluster": 4}, "has 2 blocks at most, not 4"),
        (".reqnctapercluster 2", (4, 1), {"cluster": 4}, "its cluster is 2, not 4"),
        (".reqnctapercluster 2", (3, 1), {}, "not made of whole clusters"),
    ],
)
def test_bad_shapes(directives: str, key: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        launch_shape("k", rules(directives), key, **options)


def test_a_launch_is_written_as_it_was_called() -> None:
    shape = launch_shape("k", LaunchRules(), (np.int64(4), [8, 2], 16), cluster=(2, 1, 1))
    assert shape == LaunchShape((4, 1, 1), (8, 2, 1), 16, None, (2, 1, 1))
    assert str(shape) == "[4, (8, 2), 16].with_options(cluster=2)"


def test_a_kernel_that_needs_a_cluster_says_how_to_launch_it() -> None:
    needy = rules(".explicitcluster")
    with pytest.raises(LaunchError, match=r"k\[4, 32\].with_options\(cluster="):
        require_cluster("k", needy, launch_shape("k", needy, (4, 32)))
    require_cluster("k", needy, launch_shape("k", needy, (4, 32), cluster=2))
