"""C++ names: read as c++filt reads them, and found by what people write."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from ptxkit.errors import AmbiguousNameError, UnknownNameError
from ptxkit.syntax.demangle import demangle, short_name
from ptxkit.syntax.spelling import find, normal, spellings

LINES = (Path(__file__).parent / "data" / "demangled.txt").read_text().splitlines()
#: Mangled names from compilers, and what c++filt makes of them.
PAIRS = dict(zip(LINES[::2], (line.strip() for line in LINES[1::2]), strict=True))

#: Constructs that the names above have none of.
FURTHER = [
    "_Z1fPFvifE", "_Z1fRA4_i", "_Z1fPA2_A3_Kf", "_Z1fM1AFvvE", "_Z1fM1AKi", "_ZN1AD1Ev",
    "_ZN1AcvbEv", "_Z1fIJifdEEvDpT_", "_Z1fIJifEEvDpRKT_", "_Z1fIiLin5EEvv", "_Z1fILb1ELc65EEvv",
    "_ZZ1fvE1x", "_ZZ1fvE1x_0", "_ZZ1fiENKUlfE0_clEf", "_ZN12_GLOBAL__N_11kEPf", "_ZL1kPf",
    "_ZTV1A", "_ZTI1A", "_ZStlsIiEvT_", "_ZN1AlsEi", "_Z1fOi", "_ZN1A1BIfE1CIiEEvT_",
    "_ZNSt6vectorIfSaIfEE9push_backERKf", "_Z1fRVKi", "_Z1fPrf", "_Z1f6float4", "_Z1fDn",
    "_ZN1aB3abiEv", "_Z1fIXadL_Z1gvEEEvv", "_Z1fILi3EEv1AIXplT_Li1EEE", "_Z1fPK6__halfjbxy",
    "_Z1fIA2_A3_iEvv",
]  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_as_recorded(name: str) -> None:
    assert demangle(name) == PAIRS[name]


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="there is no c++filt")
def test_as_the_tool_of_the_machine() -> None:
    names = [*PAIRS, *FURTHER]
    tool = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True)
    assert dict(zip(names, map(demangle, names), strict=True)) == dict(
        zip(names, tool.stdout.splitlines(), strict=True)
    )


def test_other_names_stay() -> None:
    for name in ("saxpy", "_Z", "_Z5", "_Z5saxp", "_Zq", "%r1", "", "_Z5saxpyPfS_fi_param_0"):
        assert demangle(name) == short_name(name) == name


@settings(max_examples=200, deadline=None)
@given(st.text("_ZNSTIEKPRDpUlLJ01239abciX", max_size=60))
def test_any_text_ends(text: str) -> None:
    assert demangle(f"_Z{text}")
    assert spellings(f"_Z{text}")


def test_what_grows_without_end_is_left_alone() -> None:
    name, known = "_Z1f1AIiiE", ["S0_"] + [f"S{i}_" for i in "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    for one in known:
        name += f"S_I{one}{one}E"
    assert demangle(name) == name
    assert demangle("_Z1f" + "P" * 100_000 + "i").startswith("_Z")
    assert demangle("_ZN" + "1a" * 5000 + "Ev").startswith("_Z")


MODULE = ".version 8.0\n.target sm_80\n" + "".join(
    f".visible .entry {name}() {{ ret; }}\n"
    for name in ("_Z5saxpyPfS_fi", "_ZN2ns3mapIfEEvPKT_", "_ZN2ns3mapIiEEvPKT_", "plain", "saxpi")
)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("saxpy", "_Z5saxpyPfS_fi"),
        ("saxpy(float*, float*, float, int)", "_Z5saxpyPfS_fi"),
        ("saxpy( float *,float *,float,int )", "_Z5saxpyPfS_fi"),
        ("_Z5saxpyPfS_fi", "_Z5saxpyPfS_fi"),
        ("ns::map<int>", "_ZN2ns3mapIiEEvPKT_"),
        ("map<float>", "_ZN2ns3mapIfEEvPKT_"),
        ("ns::map<float>(const float*)", "_ZN2ns3mapIfEEvPKT_"),
        ("void ns::map<float>(float const*)", "_ZN2ns3mapIfEEvPKT_"),
        ("plain", "plain"),
    ],
)
def test_functions_are_found_by_their_cpp_names(written: str, name: str) -> None:
    module = ptxkit.parse(MODULE)
    assert module[written].name == name
    assert written in module
    assert ptxkit.load(module)[written].name == name


def test_a_name_of_several_is_refused() -> None:
    module = ptxkit.parse(MODULE)
    with pytest.raises(AmbiguousNameError) as caught:
        ptxkit.load(module)["map"]
    assert str(caught.value) == (
        "2 kernels are called 'map': _ZN2ns3mapIfEEvPKT_ = void ns::map<float>(float const*), "
        "_ZN2ns3mapIiEEvPKT_ = void ns::map<int>(int const*); write more of the name"
    )
    assert "map" not in module


def test_an_unknown_name_lists_both_spellings() -> None:
    with pytest.raises(UnknownNameError) as caught:
        ptxkit.load(MODULE)["saxp"]
    assert "_Z5saxpyPfS_fi = saxpy(float*, float*, float, int), " in str(caught.value)
    assert caught.value.known[0] == "_Z5saxpyPfS_fi"


def test_long_lists_are_cut() -> None:
    error = UnknownNameError("kernel", "x", [f"k{i}" for i in range(1000)])
    assert str(error).endswith("k29 and 970 more")


def test_spaces_that_count_stay() -> None:
    assert normal("f( unsigned   int )") == "f(unsigned int)"
    assert find("f(unsignedint)", ["_Z1fj"]) == []
