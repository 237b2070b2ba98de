"""Reads C++ names as compilers mangle them (the Itanium ABI, which CUDA uses everywhere).

A name becomes a small tree of tuples, ``(kind, ...)``; `demangle` writes it as C++. The tree is
needed because a pack such as ``DpPT_`` is written once for each of its members, with the
template arguments that are known only later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Tree = tuple[Any, ...]

#: How deep types may be nested; compilers stop earlier, and Python's own stack later.
DEEPEST = 80

BUILTINS = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char",
    "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int",
    "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long",
    "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double", "e": "long double",
    "g": "__float128", "z": "...", "Dn": "decltype(nullptr)", "Da": "auto",
    "Dc": "decltype(auto)", "Di": "char32_t", "Ds": "char16_t", "Du": "char8_t", "Dh": "half",
    "Df": "decimal32", "Dd": "decimal64", "De": "decimal128",
}  # fmt: skip

STANDARD = {
    "t": "std", "a": "std::allocator", "b": "std::basic_string", "s": "std::string",
    "i": "std::istream", "o": "std::ostream", "d": "std::iostream",
}  # fmt: skip

#: Operators: how they are written, and their operands (0: with a syntax of their own).
OPERATORS = {
    "nw": ("new", 0), "na": ("new[]", 0), "dl": ("delete", 0), "da": ("delete[]", 0),
    "ps": ("+", 1), "ng": ("-", 1), "ad": ("&", 1), "de": ("*", 1), "co": ("~", 1),
    "pl": ("+", 2), "mi": ("-", 2), "ml": ("*", 2), "dv": ("/", 2), "rm": ("%", 2),
    "an": ("&", 2), "or": ("|", 2), "eo": ("^", 2), "aS": ("=", 2), "pL": ("+=", 2),
    "mI": ("-=", 2), "mL": ("*=", 2), "dV": ("/=", 2), "rM": ("%=", 2), "aN": ("&=", 2),
    "oR": ("|=", 2), "eO": ("^=", 2), "ls": ("<<", 2), "rs": (">>", 2), "lS": ("<<=", 2),
    "rS": (">>=", 2), "eq": ("==", 2), "ne": ("!=", 2), "lt": ("<", 2), "gt": (">", 2),
    "le": ("<=", 2), "ge": (">=", 2), "ss": ("<=>", 2), "nt": ("!", 1), "aa": ("&&", 2),
    "oo": ("||", 2), "pp": ("++", 1), "mm": ("--", 1), "cm": (",", 2), "pm": ("->*", 2),
    "pt": ("->", 2), "dt": (".", 2), "cl": ("()", 0), "ix": ("[]", 2), "qu": ("?", 3),
    "sz": ("sizeof ", 1), "az": ("alignof ", 1), "nx": ("noexcept", 1),
}  # fmt: skip
_CASTS = {"sc": "static_cast", "dc": "dynamic_cast", "cc": "const_cast", "rc": "reinterpret_cast"}
_SPECIAL = {
    "TV": "vtable for ", "TT": "VTT for ", "TI": "typeinfo for ", "TS": "typeinfo name for ",
    "GV": "guard variable for ", "GR": "reference temporary for ",
}  # fmt: skip
_QUALIFIERS = {"r": " restrict", "V": " volatile", "K": " const"}
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class NotMangledError(Exception):
    """The text is not a mangled name, or has a construct nobody uses in kernels."""


class Reader:
    """Reads one mangled name from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.known: list[Tree] = []  # what S_, S0_ ... stand for
        self.depth = 0

    # -- characters ----------------------------------------------------------------------

    def looks(self, *words: str) -> bool:
        return self.text.startswith(words, self.at)

    def take(self, word: str) -> bool:
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def need(self, word: str) -> None:
        if not self.take(word):
            raise NotMangledError(self.text)

    def one(self) -> str:
        if self.at >= len(self.text):
            raise NotMangledError(self.text)
        self.at += 1
        return self.text[self.at - 1]

    def number(self) -> int:
        begin = self.at
        while self.at < len(self.text) and "0" <= self.text[self.at] <= "9":
            self.at += 1
        if begin == self.at or self.at - begin > 8:
            raise NotMangledError(self.text)
        return int(self.text[begin : self.at])

    def ordinal(self, base: int) -> int:
        """``_`` is 0, ``0_`` is 1, and so on."""
        begin = self.at
        while self.at < len(self.text) and self.text[self.at] in _DIGITS[:base]:
            self.at += 1
        digits = self.text[begin : self.at]
        self.need("_")
        return int(digits, base) + 1 if digits else 0

    def remember(self, tree: Tree) -> Tree:
        self.known.append(tree)
        return tree

    # -- names ---------------------------------------------------------------------------

    def whole(self) -> Tree:
        self.need("_Z")
        found = self.encoding()
        if self.at != len(self.text):
            raise NotMangledError(self.text)
        return found

    def encoding(self) -> Tree:
        """``("function", name, result or None, parameters)``, or just a name."""
        for word, said in _SPECIAL.items():
            if self.take(word):
                of = self.name() if word[0] == "G" else self.type()
                return ("special", said, of)
        name = self.name()
        if self.at < len(self.text) and not self.looks("E"):
            result = self.type() if _has_result(name) else None
            name = ("function", name, result, self.types())
        return name

    def types(self) -> tuple[Tree, ...]:
        """The types of parameters, to the end or an E."""
        found: list[Tree] = []
        while self.at < len(self.text) and not self.looks("E", "RE", "OE"):
            found.append(self.type())
        return () if found == [("word", "void")] else tuple(found)

    def name(self) -> Tree:
        if self.take("N"):
            return self.nested()
        if self.take("Z"):
            return self.local()
        if self.looks("S") and not self.looks("St"):
            found = self.substitution()
        else:
            found = self.unqualified(("word", "std") if self.take("St") else None)
            if self.looks("I"):
                self.remember(found)
        return ("template", found, self.template()) if self.looks("I") else found

    def nested(self) -> Tree:
        qualifiers = self.qualifiers()
        reference = " &" if self.take("R") else " &&" if self.take("O") else ""
        found: Tree | None = None
        while not self.take("E"):
            seen = self.looks("S") and not self.looks("St")
            if seen:
                found = self.substitution()
            elif self.looks("St"):
                self.at += 2
                found, seen = ("word", "std"), True
            elif self.looks("I") and found is not None:
                found = ("template", found, self.template())
            elif self.looks("T"):
                found = self.parameter()
            elif self.looks("Dt", "DT"):
                found = self.type()
                seen = True
            elif not self.take("M"):
                found = self.unqualified(found)
            if not seen and not self.looks("E") and found is not None:
                self.remember(found)
        if found is None:
            raise NotMangledError(self.text)
        suffix = "".join(reversed(qualifiers)) + reference
        return ("method", found, suffix) if suffix else found

    def local(self) -> Tree:
        function = self.encoding()
        self.need("E")
        if self.take("s"):
            found: Tree = ("scoped", function, ("word", "string literal"))
        else:
            if self.take("d"):
                self.ordinal(10)
            found = ("scoped", function, self.name())
        if self.take("__"):
            self.number()
            self.need("_")
        elif self.take("_"):
            self.number()
        return found

    def unqualified(self, scope: Tree | None) -> Tree:
        self.take("L")
        if self.looks("CI1", "CI2"):
            self.at += 3
            found: Tree = ("constructor", self.type())
        elif self.looks("C1", "C2", "C3", "D0", "D1", "D2") and scope is not None:
            kind = self.one()
            self.at += 1
            found = ("constructor" if kind == "C" else "destructor", scope)
        elif self.take("Ul"):
            parameters = self.types()
            self.need("E")
            found = ("lambda", parameters, self._unnamed())
        elif self.take("Ut"):
            found = ("word", f"{{unnamed type#{self._unnamed()}}}")
        elif self.at < len(self.text) and self.text[self.at].isdigit():
            found = ("word", self.source())
        else:
            found = self.operator_name()
        while self.take("B"):
            found = ("tagged", found, self.source())
        return found if scope is None else ("scoped", scope, found)

    def _unnamed(self) -> int:
        if self.take("_"):
            return 1
        found = self.number() + 2
        self.need("_")
        return found

    def source(self) -> str:
        length = self.number()
        found = self.text[self.at : self.at + length]
        if not found or len(found) != length:
            raise NotMangledError(self.text)
        self.at += length
        return "(anonymous namespace)" if found.startswith("_GLOBAL__N") else found

    def operator_name(self) -> Tree:
        if self.take("cv"):
            return ("conversion", self.type())
        if self.take("li"):
            return ("word", f'operator"" {self.source()}')
        code = self.text[self.at : self.at + 2]
        if code not in OPERATORS:
            raise NotMangledError(self.text)
        self.at += 2
        symbol = OPERATORS[code][0]
        return ("word", f"operator{' ' if symbol[0].isalpha() else ''}{symbol}")

    def substitution(self) -> Tree:
        self.need("S")
        if self.at < len(self.text) and self.text[self.at] in STANDARD:
            return ("word", STANDARD[self.one()])
        at = self.ordinal(36)
        if at >= len(self.known):
            raise NotMangledError(self.text)
        return self.known[at]

    # -- templates -----------------------------------------------------------------------

    def template(self) -> tuple[Tree, ...]:
        self.need("I")
        found: list[Tree] = []
        while not self.take("E"):
            found.append(self.argument())
        return tuple(found)

    def argument(self) -> Tree:
        if self.take("X"):
            found = self.expression()
            self.need("E")
            return found
        if self.looks("L"):
            return self.literal()
        if self.take("J"):
            members: list[Tree] = []
            while not self.take("E"):
                members.append(self.argument())
            return ("pack", tuple(members))
        return self.type()

    def parameter(self) -> Tree:
        self.need("T")
        return ("parameter", self.ordinal(10))

    def literal(self) -> Tree:
        self.need("L")
        if self.take("_Z") or self.take("Z"):
            found = self.encoding()
            self.need("E")
            return found
        kind = self.type()
        end = self.text.find("E", self.at)
        if end < 0:
            raise NotMangledError(self.text)
        value, self.at = self.text[self.at : end], end + 1
        return ("literal", kind, value)

    # -- types ---------------------------------------------------------------------------

    def qualifiers(self) -> list[str]:
        found = []
        while self.at < len(self.text) and self.text[self.at] in _QUALIFIERS:
            found.append(_QUALIFIERS[self.one()])
        return found

    def type(self) -> Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotMangledError(self.text)
        found = self._type()
        self.depth -= 1
        return found

    def _type(self) -> Tree:
        for length in (2, 1):
            code = self.text[self.at : self.at + length]
            if code in BUILTINS:
                self.at += len(code)
                return ("word", BUILTINS[code])
        if self.looks("r", "V", "K"):
            qualifiers = self.qualifiers()
            inner = self.type()
            return self.remember(("qualified", inner, "".join(reversed(qualifiers))))
        if self.looks("T") and not self.looks("Ts", "Tu", "Te"):
            found = self.remember(self.parameter())
            return self._instance(found)
        if self.looks("S") and not self.looks("St"):
            seen = self.substitution()
            return self._instance(seen)
        for letter, read in _TYPES.items():
            if self.take(letter):
                return read(self)
        return self.remember(self.name())

    def _instance(self, found: Tree) -> Tree:
        if not self.looks("I"):
            return found
        return self.remember(("template", found, self.template()))

    def _wrapped(self, sign: str) -> Tree:
        return self.remember(("pointer", self.type(), sign))

    def _function_type(self) -> Tree:
        self.take("Y")
        result = self.type()
        parameters = self.types()
        reference = " &" if self.take("R") else " &&" if self.take("O") else ""
        self.need("E")
        return self.remember(("callable", result, parameters, reference))

    def _array(self) -> Tree:
        extent: Tree = ("word", "")
        if self.at < len(self.text) and self.text[self.at].isdigit():
            extent = ("word", str(self.number()))
        elif not self.looks("_"):
            extent = self.expression()
        self.need("_")
        return self.remember(("array", self.type(), extent))

    def _member(self) -> Tree:
        owner = self.type()
        return self.remember(("member", self.type(), owner))

    def _expansion(self) -> Tree:
        return self.remember(("expansion", self.type()))

    def _decltype(self) -> Tree:
        found = self.expression()
        self.need("E")
        return self.remember(("decltype", found))

    def _vector(self) -> Tree:
        size = self.number()
        self.need("_")
        return self.remember(("vector", self.type(), size))

    def _float(self) -> Tree:
        width = self.number()
        return ("word", "std::bfloat16_t" if self.take("b") else f"_Float{width}" + self._plain())

    def _plain(self) -> str:
        self.need("_")
        return ""

    def _vendor(self) -> Tree:
        return self.remember(("word", self.source()))

    # -- expressions ---------------------------------------------------------------------

    def expression(self) -> Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotMangledError(self.text)
        found = self._expression()
        self.depth -= 1
        return found

    def _expression(self) -> Tree:
        if self.looks("L"):
            return self.literal()
        if self.looks("T"):
            return self.parameter()
        start: Tree | None = ("word", "") if self.take("gs") else None
        if self.take("sr"):
            return self._unresolved(start)
        if self.take("sp"):
            return ("expansion", self.expression())
        if self.take("sZ"):
            return ("count", self.parameter())
        if self.take("fp"):
            self.qualifiers()
            return ("word", f"{{parm#{self.ordinal(10) + 1}}}")
        if self.take("st"):
            return ("application", "sizeof ", (self.type(),))
        if self.take("cl"):
            return ("call", self.expression(), self.expressions())
        if self.take("cv"):
            to = self.type()
            several = self.expressions() if self.take("_") else (self.expression(),)
            return ("cast", to, several)
        if self.take("tl"):
            return ("braces", self.type(), self.expressions())
        if self.take("il"):
            return ("braces", ("word", ""), self.expressions())
        for code, word in _CASTS.items():
            if self.take(code):
                return ("named cast", word, self.type(), self.expression())
        if self.at < len(self.text) and self.text[self.at].isdigit():
            plain: Tree = ("word", self.source())
            return ("template", plain, self.template()) if self.looks("I") else plain
        if self.take("on"):
            return self.operator_name()
        return self._operation()

    def _unresolved(self, found: Tree | None) -> Tree:
        """A member of a type, or of namespaces that are spelled out."""
        if self.at < len(self.text) and self.text[self.at].isdigit():
            while not self.take("E"):
                found = self.unqualified(found)
                if self.looks("I"):
                    found = ("template", found, self.template())
        else:
            found = self.type()
        found = ("scoped", found, self.unqualified(None))
        return ("template", found, self.template()) if self.looks("I") else found

    def _operation(self) -> Tree:
        symbol, operands = OPERATORS.get(self.text[self.at : self.at + 2], ("", 0))
        if not operands:
            raise NotMangledError(self.text)
        code = self.text[self.at : self.at + 2]
        self.at += 2
        if code in ("pp", "mm"):
            self.take("_")
        if code in ("dt", "pt"):
            owner = self.expression()
            member = self.unqualified(None)
            if self.looks("I"):
                member = ("template", member, self.template())
            return ("access", owner, symbol, member)
        return ("application", symbol, tuple(self.expression() for _ in range(operands)))

    def expressions(self) -> tuple[Tree, ...]:
        found: list[Tree] = []
        while not self.take("E"):
            found.append(self.expression())
        return tuple(found)


def _has_result(name: Tree) -> bool:
    """Whether the type of a function's result is in its name: so it is for templates alone."""
    kind = name[0]
    if kind == "method":
        return _has_result(name[1])
    if kind == "template":
        return not _never_has_result(name[1])
    return kind == "scoped" and name[1][0] == "function" and _has_result(name[2])


def _never_has_result(name: Tree) -> bool:
    while name[0] == "scoped":
        name = name[2]
    return name[0] in ("constructor", "destructor", "conversion")


_TYPES: dict[str, Callable[[Reader], Tree]] = {
    "P": lambda r: r._wrapped("*"),
    "R": lambda r: r._wrapped("&"),
    "O": lambda r: r._wrapped("&&"),
    "F": Reader._function_type,
    "A": Reader._array,
    "M": Reader._member,
    "Dp": Reader._expansion,
    "Dt": Reader._decltype,
    "DT": Reader._decltype,
    "Dv": Reader._vector,
    "DF": Reader._float,
    "u": Reader._vendor,
}
