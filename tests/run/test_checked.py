"""What the checker calls an error is not run: it is told with its line before anything runs."""

from __future__ import annotations

import time

import pytest

import ptxkit
from ptxkit.errors import CheckError

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .b32 %r<5>; .reg .f32 %f<5>; .reg .b64 %rd<5>; .reg .pred %p<3>;"

#: What is wrong, at which line, and a word of what is said about it.
WRONG = {
    "types": (f"{HEAD}.entry k() {{ {REGISTERS}\nadd.f32 %f1, %r1, %rd1;\nret; }}", 5, "operand"),
    "vector": (f"{HEAD}.entry k() {{ {REGISTERS}\nld.global.v4.u32 {{%r1, %r2}}, [%rd1];\nret; }}",
               5, "operand"),
    "label": (f"{HEAD}.entry k() {{\nA: bra A;\nA: ret; }}", 6, "duplicate"),
    "kernels": (f"{HEAD}.entry k() {{ ret; }}\n.entry k() {{ ret; }}", 5, "duplicate"),
    "align 3": (f"{HEAD}.entry k() {{\n.shared .align 3 .b8 s[8];\nret; }}", 5, "alignment"),
    "align 0": (f"{HEAD}.global .align 0 .b8 s[8];\n.entry k() {{ ret; }}", 4, "alignment"),
    "version": (".version 99.0\n.target sm_80\n.entry k() { ret; }", 1, "unknown-version"),
    "guard": (f"{HEAD}.entry k() {{ {REGISTERS}\n@%r1 ret;\nret; }}", 5, "guard"),
    "call": (f"{HEAD}.entry e() {{ ret; }}\n.entry k() {{\ncall e;\nret; }}", 6, "call"),
    "callee": (f"{HEAD}.func f() {{\nadd.u32 %x, %x, 1;\nret; }}\n.entry k() {{ call f; ret; }}",
               5, "undeclared"),
    "parameter": (f"{HEAD}.entry k(.param .b8 x[1000000000000]) {{ ret; }}", 4, "type"),
    "empty alignment": (f"{HEAD}.entry k(.param .align 0 .b8 x[4]) {{ ret; }}", 4, "alignment"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_refused(name: str) -> None:
    text, line, code = WRONG[name]
    with pytest.raises(CheckError) as caught:
        ptxkit.load(text, device="cpu")["k"]
    assert caught.value.line == line
    assert code in {one.code for one in caught.value.diagnostics}
    expected = [one for one in ptxkit.check(text) if one.severity == "error"]
    assert set(caught.value.diagnostics) <= set(expected)


def test_the_message() -> None:
    with pytest.raises(CheckError) as caught:
        ptxkit.load(WRONG["guard"][0])["k"]
    assert str(caught.value) == (
        "<ptx>:5:2: error[guard]: the guard '%r1' is a .b32 register, not a predicate\n"
        "    @%r1 ret;\n"
        "     ^^^\n"
        "hint: compare it with setp, which gives a .pred register"
    )


def test_many_errors_are_counted() -> None:
    lines = "\n".join("add.u32 %r1, %r2;" for _ in range(9))
    with pytest.raises(CheckError, match="and 6 more errors; 'ptxkit check' lists them") as caught:
        ptxkit.load(f"{HEAD}.entry k() {{ {REGISTERS}\n{lines}\nret; }}")["k"]
    assert len(caught.value.diagnostics) == 9


def test_warnings_are_no_errors() -> None:
    text = f"{HEAD}.entry k() {{\nret;\nret;\n{REGISTERS}\nmov.u32 %r1, 1; }}"
    assert any(one.severity == "warning" for one in ptxkit.check(text))
    ptxkit.load(text)["k"][1, 1]()


def test_only_what_is_reached_is_checked() -> None:
    text = f"{HEAD}.func f() {{ foo; }}\n.entry bad() {{ call f; ret; }}\n.entry good() {{ ret; }}"
    loaded = ptxkit.load(text)
    loaded["good"][1, 1]()
    with pytest.raises(CheckError, match="foo"):
        loaded["bad"]


def test_leaving_the_check_out() -> None:
    ptxkit.load(WRONG["guard"][0], check=False)["k"][1, 1]()


def test_a_check_that_is_neither() -> None:
    with pytest.raises(ptxkit.UsageError, match="check is True or False, not 'no'"):
        ptxkit.load(WRONG["guard"][0], check="no")  # type: ignore[call-overload]


def test_a_small_kernel_of_a_large_module_loads_fast() -> None:
    bulk = "".join(
        f".entry big{n}() {{ {REGISTERS}\n" + "add.u32 %r1, %r2, %r3;\n" * 400 + "ret; }\n"
        for n in range(100)
    )
    small = ".entry k() { ret; }\n"
    module = ptxkit.parse(HEAD + bulk + small)
    assert len(module.emit_bytes()) > 900_000

    def seconds(what: str) -> float:
        best = 1e9
        for _ in range(3):
            begin = time.process_time()
            ptxkit.load(module)[what]
            best = min(best, time.process_time() - begin)
        return best

    # A large kernel is a hundredth of the module, and checking all would cost a hundred of them.
    assert seconds("k") < 5 * seconds("big7")


def test_predicates_in_registers_are_parameters() -> None:
    text = (
        f"{HEAD}.func (.reg .pred r) f(.reg .pred a) {{ mov.pred r, a; ret; }}\n"
        f".entry k() {{ {REGISTERS}\nsetp.eq.u32 %p0, %r1, 0;\ncall (%p1), f, (%p0);\nret; }}"
    )
    assert [one for one in ptxkit.check(text) if one.severity == "error"] == []
