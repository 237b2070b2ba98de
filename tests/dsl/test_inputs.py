"""What is given to the DSL is checked when it is given: names, heads, white space, constants."""

import math
import re
import struct

import pytest

import ptxkit
from ptxkit.dsl import (
    DslError,
    Module,
    addr,
    bf16,
    f16,
    f32,
    kernel,
    ptx,
    reg,
    swizzled,
    u32,
    wgmma,
)
from ptxkit.transpiler.verify import run_python


def refused(make, match):
    """The error of a call, which says the Python line here."""
    with pytest.raises(DslError) as caught:
        make()
    # Not the whole text: that quotes the line of the test, which has the words that we look for.
    said = f"{caught.value.message}\n{caught.value.hint}"
    assert re.search(match, said), said
    assert caught.value.filename == __file__
    return caught.value


def traced(body):
    """The PTX of a kernel with this body."""
    return kernel(target="sm_90", name="k")(body).ptx()


def refused_body(body, match):
    return refused(lambda: traced(body), match)


@pytest.mark.parametrize("name", ["a b; trap", "", "1a", "a.b", "a\n"])
def test_labels_are_names(name):
    refused_body(lambda: ptx.label(name), "no name for a label")


@pytest.mark.parametrize("version", ["8.0\n.evil", "x", "8", "", 8.0])
def test_versions(version):
    refused(lambda: Module(version=version), "is no PTX version")
    refused(lambda: Module().version_line(version), "is no PTX version")
    if version:
        refused(lambda: kernel(version=version)(lambda: None), "no PTX version|no name")


@pytest.mark.parametrize("target", ["sm_80\n.evil", "sm_1", "", "80", "sm_80, debug", 80])
def test_targets(target):
    def nothing():
        pass

    refused(lambda: Module(target=[target]), "is no target")
    refused(lambda: Module().target_line(target), "is no target")
    refused(lambda: kernel(target=target)(nothing), "is no target")


def test_heads_that_are_good():
    for version, target in (("1.0", "sm_10"), ("9.9", "sm_130a"), (None, None)):
        assert Module(version=version, target=target).ptx()
    assert "sm_80, debug" in Module(target=["sm_80", "debug"]).ptx()
    refused(lambda: Module(address_size="64\n.evil"), "addresses of")
    refused(lambda: Module(newline="; trap;"), "no line break")


def test_odd_words_of_unchecked_modules_are_single_words():
    assert ".version x" in Module(version="x", unchecked=True).ptx()
    refused(lambda: Module(version="x\n.evil", unchecked=True), "is no PTX version")
    refused(lambda: Module(target="sm_1;", unchecked=True), "is no target")


def test_functions_have_names_of_their_own():
    module = Module()

    def a():
        pass

    module.func(declare=True)(a)
    module.kernel(a)
    refused(lambda: module.kernel(a), "a function 'a' already")
    refused(lambda: module.kernel(lambda: None), "'<lambda>' is no name for a function")
    refused(lambda: module.kernel(name="a b")(a), "'a b' is no name for a function")
    refused(lambda: kernel(lambda: None), "'<lambda>' is no name for a function")
    module.kernel(name="b")(lambda: None)
    assert module.ptx().count(".entry") == 2


@pytest.mark.parametrize("gap", ["trap;", "// eats the next", "/* open", "/* a */ b", "\n// a\nb"])
def test_white_space_is_no_code(gap):
    refused_body(lambda: ptx.gap(gap), "is not white space or a comment")
    refused_body(lambda: ptx.ret().spaced({0: gap}), "is not white space or a comment")
    refused_body(lambda: ptx.ret().spaced({1: gap}), "is not white space or a comment")
    refused_body(lambda: ptx.ret().note("x", gap) and None, "is not white space or a comment")
    refused_body(lambda: ptx.comment("x", gap) and None, "is not white space or a comment")


@pytest.mark.parametrize(
    "text", ["/* a */ trap;", "// a\ntrap;", "# a\ntrap;", "\ufefftrap;", "a\nb"]
)
def test_comments_are_no_code(text):
    refused_body(lambda: ptx.comment(text) and None, "white space or a comment|several lines")


def test_white_space_may_hold_comments():
    def body():
        ptx.gap("\n\n  /* a */ // b\n\t")
        ptx.trap()

    assert "\n\n  /* a */ // b\n\ttrap;" in traced(body)


@pytest.mark.parametrize(
    "head",
    [
        ".version 8.0\n.target sm_1\n.address_size 64\n",
        ".version 8.0\n.target sm_80, odd\n.address_size 64\n",
        ".version 99999.0\n.target sm_80\n.address_size 64\n",
        ".version 8.0\n.target sm_80\n.address_size 16\n",
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n",
    ],
)
def test_odd_files_come_back(head):
    text = head + "\n.visible .entry k()\n{\n\tret;\n}\n"
    for sugar in (False, True):
        source = ptxkit.to_python(text, sugar=sugar)
        assert "unchecked=True" in source
        assert run_python(source).ptx() == text


# -- constants -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: reg.f32(init=10**400), "too large for .f32"),
        (lambda: reg.f32(init=1.0) * 10**400, "too large for .f32"),
        (lambda: reg.f64(init=10**400), "too large for .f64"),
        (lambda: reg.f32(init=1e300), r"1e\+300 is too large for .f32"),
        (lambda: reg.f32(init=1.0) + -1e39, "too large for .f32"),
        (lambda: f32(1e39), "too large for .f32"),
        (lambda: reg.u32(init=10**5000), "a number of 16610 bits does not fit into .u32"),
        (lambda: reg.u32() + 10**5000, "a number of 16610 bits does not fit into .u32"),
        (lambda: ptx.mov.b64(reg.b64(), 10**5000), "16610 bits is no constant of PTX"),
        (lambda: u32(2**64), "18446744073709551616 is no constant of PTX"),
        (lambda: addr(reg.b64(), 10**5000), "16610 bits is no constant of PTX"),
        (lambda: reg.b32("%q<4>")[7], "'%q<4>' has no register 7"),
        (lambda: reg.b32("%q<4>")[-5], "'%q<4>' has no register -5"),
        (lambda: reg.s32(init=2**31), r"2147483648 does not fit into .s32"),
        (lambda: reg.s64().set(2**64 - 1), r"does not fit into .s64"),
        (lambda: reg.f16(init=65520.0), "65520.0 is too large for .f16"),
    ],
)
def test_constants_that_do_not_fit(make, match):
    refused_body(make, match)


def test_constants_that_fit():
    def body():
        reg.s32(init=2**31 - 1)
        reg.s32(init=-(2**31))
        reg.u32(init=-1)
        reg.u32(init=2**32 - 1)
        reg.f32(init=math.inf)
        reg.f32(init=3.4028234663852886e38)
        assert len(reg.b32("%q<4>")[1:9]) == 3
        reg.b32("%w<4>")[3].set(1)

    made = traced(body)
    for text in ("2147483647", "-2147483648", "-1", "4294967295", "0f7F800000", "0f7F7FFFFF"):
        assert f", {text};" in made


def test_halves():
    def body():
        h = reg.f16(init=0.1)
        reg.f16x2(init=1)
        h * 2.0
        1 - h
        reg.b16(init=bf16(1.0))
        ptx.ret()

    made = traced(body)
    assert ptxkit.check(ptxkit.parse(made)) == []
    for text in (", 11878;", f", {0x3C003C00};", ", 16384;", ", 15360;", f", {0x3F80};"):
        assert text in made


def test_halves_are_rounded_as_python_rounds_them():
    numbers = [s * m * 2.0**e for s in (1, -1) for m in (0, 1, 1.0004883, 1.3, 1.99951) for e in
               range(-26, 16)]  # fmt: skip
    for number in (*numbers, 65504.0, 65519.9, math.inf, -math.inf):
        expected = int.from_bytes(struct.pack(">e", number), "big")
        assert f16(number).text == str(expected), number
    assert f16(math.nan).text == str(0x7E00)


def test_bfloats_are_rounded_to_the_nearest():
    for number, bits in (
        (1.0, 0x3F80), (1 + 2**-8, 0x3F80), (1 + 2**-8 + 2**-40, 0x3F81), (1 + 3 * 2**-8, 0x3F82),
        (-2.0, 0xC000), (2.0**-133, 0x0001), (2.0**-134, 0x0000), (math.inf, 0x7F80),
    ):  # fmt: skip
        assert bf16(number).text == str(bits), number


# -- swizzles ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("swizzle", "mode"), [(0, 0), (32, 3), (64, 2), (128, 1)])
def test_modes_of_matrix_descriptors(swizzle, mode):
    """The layout type in bits 62 and 63, as the ISA numbers it."""
    made = wgmma.encode(0x2010, leading=0x30, stride=0x400, swizzle=swizzle)
    assert made >> 62 == mode
    assert made & 0x3FFF == 0x201
    assert made >> 16 & 0x3FFF == 0x3
    assert made >> 32 & 0x3FFF == 0x40


#: Where the 16-byte pieces of each 128 bytes go, by the 128 bytes they are in: piece ^ pattern.
_PATTERNS = {
    0: [0, 0, 0, 0, 0, 0, 0, 0],
    32: [0, 1, 0, 1, 0, 1, 0, 1],
    64: [0, 1, 2, 3, 0, 1, 2, 3],
    128: [0, 1, 2, 3, 4, 5, 6, 7],
}


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_places_of_swizzled_pieces(swizzle):
    for line, turn in enumerate(_PATTERNS[swizzle]):
        for piece in range(8):
            for byte in (0, 5, 15):
                place = swizzled(128 * line + 16 * piece + byte, swizzle)
                assert place == 128 * line + 16 * (piece ^ turn) + byte


@pytest.mark.parametrize("swizzle", [1, 16, 48, 256, -32])
def test_there_are_no_other_swizzles(swizzle):
    refused(lambda: swizzled(0, swizzle), "there is no swizzle")


@pytest.mark.parametrize(
    ("swizzle", "name", "number"),
    [(0, "NONE", 0), (32, "32B", 1), (64, "64B", 2), (128, "128B", 3)],
)
def test_swizzles_of_tensor_maps(swizzle, name, number):
    from ptxkit.run import tensor_maps

    assert tensor_maps._SWIZZLES[swizzle] == name
    driver = pytest.importorskip("cuda.bindings.driver")
    kind = getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{name}")
    assert int(kind) == number


def test_mistakes_far_down_in_a_long_function():
    lines = ["def body():", *["    ptx.trap()"] * 3000, "    ptx.label('')", "    ptx.trap()"]
    names = {"ptx": ptx}
    exec(compile("\n".join(lines), "long.py", "exec"), names)
    with pytest.raises(DslError) as caught:
        traced(names["body"])
    assert (caught.value.filename, caught.value.line) == ("long.py", 3002)
