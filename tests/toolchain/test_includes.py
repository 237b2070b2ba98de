"""A compilation is cached only where everything it depends on is known."""

import pytest

from ptxkit.toolchain.includes import fingerprint


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "cuda").mkdir()
    (tmp_path / "own/a.h").write_text('#include "b.h"\n')
    (tmp_path / "own/b.h").write_text("// b\n")
    (tmp_path / "cuda/c.h").write_text("// c\n")
    return tmp_path


def of(source, tree):
    return fingerprint(source, [tree / "own"], [tree / "cuda"])


def test_a_header_of_a_header_counts(tree):
    before = of(b'#include "a.h"', tree)
    (tree / "own/b.h").write_text("// changed\n")
    assert of(b'#include "a.h"', tree) != before


def test_a_header_of_the_toolchain_counts_by_its_release(tree):
    before = of(b"#include <c.h>", tree)
    (tree / "cuda/c.h").write_text("// changed\n")
    assert of(b"#include <c.h>", tree) == before is not None


def test_a_header_that_steps_in_front_is_seen(tree):
    before = of(b"#include <c.h>", tree)
    (tree / "own/c.h").write_text("// mine\n")
    assert of(b"#include <c.h>", tree) != before


@pytest.mark.parametrize(
    "source",
    [
        b"#include NAME",
        b"#include <nowhere.h>",
        b"#include_next <c.h>",
        b'#embed "data"',
        b"#if __has_include(<c.h>)\n#endif",
        b"%:include NAME",
        b"# inc\\\nlude <nowhere.h>",
    ],
)
def test_what_can_not_be_followed_is_not_cached(source, tree):
    assert of(source, tree) is None


def test_headers_that_include_each_other_end(tree):
    (tree / "own/b.h").write_text('#include "a.h"\n')
    assert of(b'#include "a.h"', tree) is not None
