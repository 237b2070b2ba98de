"""PTX as a clean target: one kernel alone, without boilerplate, with numbers from one.

Compilers put many kernels and much else into a module. `extract` takes one kernel out as it
was written, with the variables it uses. `canonical` then renumbers registers and labels in
the order in which they appear, names parameters and variables by their place, removes
comments, and lays the text out anew: equal code has equal text, wherever it was compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ptxkit.errors import UnknownNameError
from ptxkit.syntax import Function, Module, Variable, format, parse

_HEADER = ("Version", "Target", "AddressSize")
_HEADER_LINES = len(_HEADER)
# Not a modifier: a variable may be called "shared" without meaning ".shared".
_WORD = re.compile(r"(?<![.\w$])[%A-Za-z_$][\w$]*", re.ASCII)
_WORDS = re.compile(f"({_WORD.pattern})", re.ASCII)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_REGISTERS = re.compile(r"^[ \t]*\.reg[ \t]+(\.\w+)[ \t]+(%\w+?)<\d+>;[ \t]*\n", re.MULTILINE)
_LABEL = re.compile(r"^[ \t]*([\w$]+):", re.MULTILINE)
_PARAMETER = re.compile(r"\.param\b[^,)]*?([\w$]+)(?:\[\d+\])?\s*[,)]")
_SHARED = re.compile(r"^[ \t]*\.shared\b[^;\n]*?([\w$]+)(?:\[\d*\])?;[ \t]*\n", re.MULTILINE)
_LOCAL = re.compile(r"^[ \t]*\.(?:local|shared|param)\b[^;\n]*?([\w$]+)(?:\[\d*\])?;", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of a module: its text as it was, and that of what it uses."""

    header: str
    variables: tuple[tuple[str, str, str], ...]
    """Name, state space and text of each variable, in the order of the module."""
    functions: tuple[tuple[str, str], ...]
    """Name and text of the functions it calls, and of the kernel itself as the last."""

    @property
    def raw(self) -> str:
        """A module with this kernel alone, byte for byte as the compiler wrote the parts."""
        variables = (text for _, _, text in self.variables)
        return "\n".join([self.header, *variables, *(text for _, text in self.functions)]) + "\n"


class Library:
    """A module to take kernels out of."""

    def __init__(self, module: Module | str) -> None:
        if not isinstance(module, Module):
            module = parse(module.rstrip("\0"))
        source = module.source()
        self._header = "\n".join(node.text for node in module.children if node.kind in _HEADER)
        self._variables: dict[str, tuple[str, str]] = {}
        self._functions: dict[str, str] = {}
        for node in module.children:
            text = source[node.span[0] : node.span[1]].decode()
            if isinstance(node, Variable):
                for declarator in node.declarators:
                    self._variables[declarator.name] = (node.space, text)
            elif isinstance(node, Function):
                # A prototype comes before the definition, and both are needed.
                known = self._functions.get(node.name)
                self._functions[node.name] = text if known is None else f"{known}\n{text}"
        self._kernels = {function.name for function in module.kernels}
        self._places = {
            name: place for place, name in enumerate((*self._variables, *self._functions))
        }

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels, sorted."""
        return tuple(sorted(self._kernels))

    def extract(self, name: str) -> Kernel:
        """One kernel with the variables and functions it uses."""
        if name not in self._kernels:
            raise UnknownNameError("kernel", name, self.kernels)
        found = {name}
        pending = [name]
        while pending:
            word = pending.pop()
            text = self._functions.get(word) or self._variables[word][1]
            new = (self._places.keys() & _WORD.findall(text)) - found
            found |= new
            pending += new
        wanted = sorted(found - {name}, key=self._places.__getitem__)
        variables = [(n, *self._variables[n]) for n in wanted if n in self._variables]
        functions = [(n, self._functions[n]) for n in wanted if n in self._functions]
        functions.append((name, self._functions[name]))
        return Kernel(self._header, tuple(variables), tuple(functions))


def canonical(kernel: Kernel, name: str) -> str:
    """The kernel under a name, in its one form.

    >>> library = Library('''.version 8.0
    ... .target sm_80
    ... .address_size 64
    ... .global .align 4 .b32 unused;
    ... .visible .entry k_17(.param .u64 k_17_param_0) {
    ... .reg .b64 %rd<9>;
    ...     // copy it
    ...     ld.param.u64 %rd7, [k_17_param_0];
    ... $L__BB4_2: st.global.u64 [%rd7], %rd7;
    ...     ret;
    ... }''')
    >>> print(canonical(library.extract("k_17"), "k"))
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry k(.param .u64 k_0)
    {
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [k_0];
    $L1:
        st.global.u64 [%rd1], %rd1;
        ret;
    }
    <BLANKLINE>
    """
    functions = [(own, _COMMENT.sub("", text)) for own, text in kernel.functions]
    variables = {variable: (space, text) for variable, space, text in kernel.variables}
    for number, (own, text) in enumerate(functions):
        # Compilers put shared memory of a lone kernel inside of it, of several before them.
        head, brace, body = text.partition("{")
        for declaration in _SHARED.finditer(body):
            variables[declaration[1]] = ("shared", declaration[0].strip())
        functions[number] = own, head + brace + _SHARED.sub("", body)
    used = _in_order(variables, [text for _, text in functions]) if variables else []
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    for variable in used:
        space = variables[variable][0]
        names[variable] = f"{name}_{space}_{counts.setdefault(space, 0)}"
        counts[space] += 1
    for number, (own, _) in enumerate(functions[:-1]):
        names[own] = f"{name}_func_{number}"
    names[functions[-1][0]] = name
    declared = [
        _WORD.sub(lambda match: names.get(match[0], match[0]), variables[variable][1])
        for variable in used
    ]
    bodies = [_function(text, dict(names), names[own]) for own, text in functions]
    text = format("\n".join([kernel.header, *declared, *bodies]))
    return "\n".join([line for line in text.splitlines() if line.strip()]) + "\n"


def joined(texts: Sequence[str]) -> str:
    """Modules as one: the header is said once."""
    first, *others = texts
    return first + "".join(text.split("\n", _HEADER_LINES)[-1] for text in others)


def _in_order(variables: dict[str, tuple[str, str]], texts: list[str]) -> list[str]:
    """The variables as code names them; what an initialiser names comes before it."""
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in variables and name not in found:
            for word in _WORD.findall(variables[name][1]):
                if word != name:
                    visit(word)
            found[name] = None

    for text in texts:
        for word in _WORD.findall(text):
            visit(word)
    return list(found)


def _function(text: str, names: dict[str, str], own: str) -> str:
    """One function with its own names renumbered."""
    opening = text.find("{") + 1
    if not opening:  # a prototype
        opening = len(text)
    for number, parameter in enumerate(_PARAMETER.findall(text[:opening])):
        names[parameter] = f"{own}_{number}"
    for number, label in enumerate(_LABEL.findall(text), 1):
        names[label] = f"$L{number}"
    locals_ = [word for word in _LOCAL.findall(text, opening) if word not in names]
    for number, word in enumerate(locals_):
        names[word] = f"{own}_local_{number}"
    classes = {prefix: type for type, prefix in _REGISTERS.findall(text)}
    prefix_of = _prefix_of(classes)
    numbers = dict.fromkeys(classes, 0)

    def renamed(text: str) -> str:
        pieces = _WORDS.split(text)
        for at in range(1, len(pieces), 2):
            word = pieces[at]
            new = names.get(word)
            if new is None:
                prefix = prefix_of(word) if word[0] == "%" else None
                if prefix is None:
                    new = word
                else:
                    numbers[prefix] += 1
                    new = f"{prefix}{numbers[prefix]}"
                names[word] = new
            pieces[at] = new
        return "".join(pieces)

    head = renamed(text[:opening])
    body = renamed(_REGISTERS.sub("", text[opening:]))
    declared = "".join(
        f"\n.reg {classes[prefix]} {prefix}<{count + 1}>;"
        for prefix, count in numbers.items()
        if count
    )
    return f"{head}{declared}{body}"


def _prefix_of(classes: dict[str, str]) -> Callable[[str], str | None]:
    """What tells the range of registers that a word is one of."""
    if not any(prefix[-1].isdecimal() for prefix in classes):
        # The number begins where the digits do.
        def plain(word: str) -> str | None:
            prefix = word.rstrip("0123456789")
            return prefix if prefix in classes and prefix != word else None

        return plain
    prefixes = "|".join(map(re.escape, sorted(classes, key=len, reverse=True)))
    is_register = re.compile(rf"({prefixes})[0-9]+").fullmatch

    def longest(word: str) -> str | None:
        found = is_register(word)
        return found[1] if found else None

    return longest
