"""Bugs in PTX: the same mistakes as a compiler would show them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import ptxkit
from ptxkit.syntax import Instruction, Module

_SWAPS = {
    "add": "sub", "sub": "add", "mul": "add", "min": "max", "max": "min", "and": "or",
    "or": "xor", "xor": "and", "shl": "shr", "shr": "shl", "sin": "cos", "cos": "sin",
    "div": "mul", "rem": "div",
}  # fmt: skip
_CONDITIONS = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq",
               "neu": "equ", "leu": "ltu", "gtu": "geu", "geu": "gtu", "ltu": "leu"}  # fmt: skip
_ATOMS = {".add": ".max", ".max": ".min", ".min": ".max", ".or": ".xor", ".xor": ".and",
          ".and": ".or", ".exch": ".add", ".inc": ".dec"}  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.%$])-?\d+(?![\w.])")
_FLOAT = re.compile(r"0f[0-9A-Fa-f]{8}|0d[0-9A-Fa-f]{16}")
_REGISTER = re.compile(r"%(r|rd|f|fd|rs)(\d+)\b")

Change = Callable[[Instruction, random.Random], "str | None"]


def _opcode(node: Instruction, _: random.Random) -> str | None:
    if node.name not in _SWAPS or ".cc" in node.modifiers:
        return None
    new = _SWAPS[node.name]
    if new == "add" and node.name == "mul" and any(m in node.modifiers for m in (".wide", ".hi")):
        return None
    words = [w for w in node.opcode.split(".")[1:] if w not in ("lo", "approx", "full")]
    if new == "mul" and words[-1][0] in "us":
        words.insert(0, "lo")
    if new == "shr" and words[-1].startswith("b"):
        words[-1] = "u" + words[-1][1:]
    if new == "shl":
        words[-1] = "b" + words[-1][1:]
    if new in ("or", "and", "xor"):
        pass
    if node.name in ("sin", "cos"):
        words.insert(0, "approx")
    return node.text.replace(node.opcode, ".".join([new, *words]), 1)


def _condition(node: Instruction, _: random.Random) -> str | None:
    words = node.opcode.split(".")
    if node.name not in ("setp", "set") or words[1] not in _CONDITIONS:
        return None
    return node.text.replace(node.opcode, ".".join([words[0], _CONDITIONS[words[1]], *words[2:]]))


def _constant(node: Instruction, draw: random.Random) -> str | None:
    if node.name in ("bar", "barrier", "bra", "call", "shfl", "vote", "tex", "prmt", "lop3"):
        return None
    found = list(_NUMBER.finditer(node.text, node.text.find(" ")))
    if not found:
        return None
    one = draw.choice(found)
    new = str(int(one[0]) + draw.choice((1, -1, 4)))
    return node.text[: one.start()] + new + node.text[one.end() :]


def _float(node: Instruction, draw: random.Random) -> str | None:
    found = list(_FLOAT.finditer(node.text))
    if not found:
        return None
    one = draw.choice(found)
    digits = len(one[0]) - 2
    bits = int(one[0][2:], 16) ^ (1 << draw.choice((0, 20, digits * 4 - 1, digits * 4 - 10)))
    return node.text[: one.start()] + f"{one[0][:2]}{bits:0{digits}X}" + node.text[one.end() :]


def _guard(node: Instruction, _: random.Random) -> str | None:
    if node.guard is None:
        return None
    return re.sub(r"^@(!?)", lambda m: "@" if m[1] else "@!", node.text)


def _dropped(node: Instruction, _: random.Random) -> str | None:
    return "" if node.name in ("st", "bar", "barrier", "red", "membar", "fence") else None


def _register(node: Instruction, draw: random.Random) -> str | None:
    """One source register becomes another of its class, which the instruction before it wrote."""
    if node.name in ("st", "ld", "bra", "call", "ret"):
        return None
    start = node.text.find(",")
    found = list(_REGISTER.finditer(node.text, start)) if start > 0 else []
    if not found:
        return None
    one = draw.choice(found)
    other = max(1, int(one[2]) + draw.choice((-1, -2, -3)))
    if other == int(one[2]):
        return None
    return node.text[: one.start()] + f"%{one[1]}{other}" + node.text[one.end() :]


def _swapped(node: Instruction, _: random.Random) -> str | None:
    if node.name not in ("sub", "div", "setp", "selp", "rem") or len(node.operands) < 3:
        return None
    a, b = node.operands[1], node.operands[2]
    head = node.text[: a.span[0] - node.span[0]]
    tail = node.text[b.span[1] - node.span[0] :]
    return f"{head}{b.text}, {a.text}{tail}"


def _atom(node: Instruction, _: random.Random) -> str | None:
    if node.name not in ("atom", "red"):
        return None
    word = next((m for m in node.modifiers if m in _ATOMS), None)
    if word is None or node.modifiers[-1][1] == "f":
        return None
    return node.text.replace(word, _ATOMS[word], 1)


def _sign(node: Instruction, _: random.Random) -> str | None:
    """Signed for unsigned, where that matters."""
    matters = node.name in ("setp", "shr", "div", "rem", "min", "max", "cvt") or any(
        m in (".wide", ".hi") for m in node.modifiers
    )
    last = node.modifiers[-1] if node.modifiers else ""
    if not matters or last[1:2] not in ("s", "u") or "eq" in node.opcode or "ne" in node.opcode:
        return None
    flipped = ("u" if last[1] == "s" else "s") + last[2:]
    return node.text.replace(node.opcode, node.opcode[: -len(last)] + "." + flipped, 1)


def _shuffle(node: Instruction, draw: random.Random) -> str | None:
    """Another direction, or another width of a shuffle."""
    if node.name != "shfl":
        return None
    if draw.random() < 0.5:
        modes = {".down": ".up", ".up": ".down", ".bfly": ".down", ".idx": ".bfly"}
        mode = next(m for m in node.modifiers if m in modes)
        return node.text.replace(mode, modes[mode], 1)
    clamp = node.operands[-2] if ".sync" in node.modifiers else node.operands[-1]
    if not clamp.text.isdigit():
        return None
    start = clamp.span[0] - node.span[0]
    return node.text[:start] + str(int(clamp.text) ^ 0x10) + node.text[start + len(clamp.text) :]


def _mask(node: Instruction, _: random.Random) -> str | None:
    """A lane less in what votes, shuffles and matches."""
    if node.name not in ("shfl", "vote", "match", "redux") or not node.text.rstrip(";").endswith(
        "-1"
    ):
        return None
    return re.sub(r"-1\s*;$", "2147483647;", node.text)


def _denormals(node: Instruction, _: random.Random) -> str | None:
    """Denormals flushed, or not any more."""
    if ".ftz" in node.modifiers:
        return node.text.replace(".ftz", "", 1)
    if node.name not in ("add", "sub", "mul", "fma", "setp", "min", "max") or (
        ".f32" not in node.modifiers
    ):
        return None
    return node.text.replace(".f32", ".ftz.f32", 1)


def _rounding(node: Instruction, _: random.Random) -> str | None:
    modes = {".rn": ".rz", ".rz": ".rn", ".rzi": ".rni", ".rni": ".rzi", ".rmi": ".rpi",
             ".rpi": ".rmi"}  # fmt: skip
    mode = next((m for m in node.modifiers if m in modes), None)
    if mode is None and node.name in ("add", "mul", "sub") and node.modifiers[-1] in (
        ".f32", ".f64"
    ):  # fmt: skip
        return node.text.replace(node.modifiers[-1], ".rz" + node.modifiers[-1], 1)
    return None if mode is None else node.text.replace(mode, modes[mode], 1)


def _width(node: Instruction, _: random.Random) -> str | None:
    """Half of the bits: of a load, a store, or what is converted."""
    last = node.modifiers[-1] if node.modifiers else ""
    halves = {"64": "32", "32": "16", "16": "8"}
    if node.name not in ("ld", "st", "cvt") or last[1:2] not in ("s", "u", "b"):
        return None
    if last[2:] not in halves or (node.name != "cvt" and last[2:] == "64"):
        return None
    if ".param" in node.modifiers or any(m in node.modifiers for m in (".v2", ".v4")):
        return None
    new = node.opcode[: -len(last)] + last[:2] + halves[last[2:]]
    return node.text.replace(node.opcode, new, 1)


def _extension(node: Instruction, _: random.Random) -> str | None:
    """A narrow load extended by zeros for the sign, or the other way round."""
    last = node.modifiers[-1] if node.modifiers else ""
    if node.name != "ld" or last not in (".s8", ".u8", ".s16", ".u16"):
        return None
    new = node.opcode[: -len(last)] + (".u" if last[1] == "s" else ".s") + last[2:]
    return node.text.replace(node.opcode, new, 1)


def _lane(node: Instruction, draw: random.Random) -> str | None:
    """Two elements of a vector swapped."""
    vector = next((o for o in node.operands if o.kind == "Vector"), None)
    if vector is None or len(vector.children) < 2:
        return None
    parts = [child.text for child in vector.children]
    a, b = draw.sample(range(len(parts)), 2)
    parts[a], parts[b] = parts[b], parts[a]
    start = vector.span[0] - node.span[0]
    end = vector.span[1] - node.span[0]
    return node.text[:start] + "{" + ", ".join(parts) + "}" + node.text[end:]


def _outside(node: Instruction, draw: random.Random) -> str | None:
    """A store that is done once more, at a place beside what the kernel owns."""
    if node.name != "st" or ".global" not in node.modifiers or node.guard is not None:
        return None
    place = next(o for o in node.operands if o.kind == "Address").text
    inside = place.strip("[]").split("+")[0]
    far = draw.choice((-4096, -16, 16, 20480))
    return f"{node.text} {node.text.replace(place, f'[{inside}+{far}]', 1)}"


def _last_bit(node: Instruction, draw: random.Random) -> str | None:
    found = list(_FLOAT.finditer(node.text))
    if not found:
        return None
    one = draw.choice(found)
    digits = len(one[0]) - 2
    bits = int(one[0][2:], 16) ^ 1
    return node.text[: one.start()] + f"{one[0][:2]}{bits:0{digits}X}" + node.text[one.end() :]


def _bound(node: Instruction, draw: random.Random) -> str | None:
    """A step or the bound of a loop that is one off."""
    if node.name not in ("setp", "add", "sub") or node.modifiers[-1] not in (".s32", ".u32"):
        return None
    number = node.operands[-1].text
    if not number.lstrip("-").isdigit():
        return None
    start = node.operands[-1].span[0] - node.span[0]
    new = str(int(number) + draw.choice((-1, 1)))
    return node.text[:start] + new + node.text[start + len(number) :]


def _lost(node: Instruction, _: random.Random) -> str | None:
    """A sum that is taken from what another thread may have changed since."""
    if node.name not in ("atom", "red") or ".add" not in node.modifiers or node.guard is not None:
        return None
    if node.modifiers[-1] not in (".u32", ".s32"):
        return None
    space = next((m for m in node.modifiers if m in (".global", ".shared")), "")
    place, value = (operand.text for operand in node.operands[-2:])
    old = node.operands[0].text if node.name == "atom" else "%old"
    return (
        f"{{ .reg .b32 %old, %new; ld.volatile{space}.u32 %new, {place}; "
        f"add.u32 %new, %new, {value}; atom{space}.exch.b32 {old}, {place}, %new; }}"
    )


BUGS: tuple[tuple[str, Change], ...] = (
    ("operator", _opcode), ("comparison", _condition), ("constant", _constant), ("float", _float),
    ("guard flipped", _guard), ("dropped", _dropped), ("wrong register", _register),
    ("operands swapped", _swapped), ("atomic", _atom), ("sign", _sign), ("shuffle", _shuffle),
    ("mask", _mask), ("denormals", _denormals), ("rounding", _rounding), ("width", _width),
    ("extension", _extension), ("vector lane", _lane), ("store outside", _outside),
    ("last bit", _last_bit), ("loop bound", _bound), ("lost update", _lost),
)  # fmt: skip


def mutant(
    module: Module,
    kernel: str,
    draw: random.Random,
    kinds: Sequence[tuple[str, Change]] = BUGS,
) -> tuple[str, Module] | None:
    """A module with one bug in a kernel, and what it is; None where that is not PTX any more.

    The kind is drawn first, so that rare ones have their share.
    """
    instructions = list(module[kernel].instructions)
    for name, change in draw.sample(kinds, len(kinds)):
        for node in draw.sample(instructions, len(instructions)):
            text = change(node, draw)
            if text is None or text == node.text:
                continue
            edit = module.edit()
            if text:
                edit.replace(node, text)
            else:
                edit.delete(node)
            made = edit.apply()
            if any(d.severity == "error" for d in ptxkit.check(made)):
                continue
            return f"{name} at line {node.line}: {node.text} -> {text or 'nothing'}", made
    return None
