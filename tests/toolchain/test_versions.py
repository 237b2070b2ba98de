"""The tables agree with the assemblers that are installed."""

import re

import pytest

from ptxkit.errors import UsageError
from ptxkit.toolchain import locate, process, versions

INSTALLED = locate.find_all("ptxas")


@pytest.mark.parametrize("found", INSTALLED, ids=lambda found: found.origin)
def test_architectures_are_those_that_ptxas_lists(found):
    listed = process.run(found.path, ["--help"]).output
    names = set(re.findall(r"'(sm_\d+[af]?)'", listed))
    assert set(versions.architectures(process.release_of(found.path))) == names


@pytest.mark.parametrize("found", INSTALLED, ids=lambda found: found.origin)
def test_the_highest_version_is_the_one_that_ptxas_names(found):
    text = ".version 99.9\n.target sm_90\n.address_size 64\n"
    refused = process.run(found.path, ["--input-as-string", text, "-o", "/dev/null"])
    current = re.search(r"current version is '(.*)'", refused.everything)[1]
    assert versions.highest_ptx(process.release_of(found.path)) == current


@pytest.mark.parametrize("text", ["sm_90a", "compute_90a", "90a", "9.0a"])
def test_an_architecture_is_read_as_people_write_it(text):
    assert str(versions.parse_arch(text)) == "sm_90a"


@pytest.mark.parametrize("text", ["", "sm_", "hopper", "sm_90x", "sm_9000", 90, None])
def test_what_is_no_architecture_is_refused(text):
    with pytest.raises(UsageError):
        versions.parse_arch(text)


def test_a_release_newer_than_the_table_has_the_newest_known():
    assert versions.architectures("99.0") == versions.architectures("13.4")


def test_old_targets_go_to_the_oldest_that_is_left():
    supported = versions.architectures("13.0")
    assert versions.nearest(versions.parse_arch("sm_52"), supported) == "sm_75"
    assert versions.nearest(versions.parse_arch("sm_90a"), supported) == "sm_90a"
    assert versions.nearest(versions.parse_arch("sm_101a"), supported) is None
