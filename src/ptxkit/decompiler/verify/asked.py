"""The options of the compiler that a source text asks for: for all of it, and for functions of it.

Most functions of a file are proved as a compiler makes them by itself; one may be proved only as a
compiler makes it that rearranges little. What such a text means is one module of PTX, each function
of it compiled as it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from ptxkit.cuda.printer import COMPILE_THIS_WITH, COMPILE_WITH
from ptxkit.decompiler.isolation import named_parts, needed
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.errors import PtxkitError
from ptxkit.syntax import Module
from ptxkit.syntax.demangle import demangle

#: Compilers that take this rearrange little of what they are given.
AS_WRITTEN = "-Ofc=mid"
#: The options that a candidate may ask for: those that change what plain arithmetic is, that for
#: numbers of 128 bits, and how much a compiler rearranges.
OPTIONS = (
    "-ftz=true",
    "-prec-div=false",
    "-fmad=false",
    "-prec-sqrt=false",
    "-use_fast_math",
    "--device-int128",
    AS_WRITTEN,
)
_BOUNDS = re.compile(r"__launch_bounds__\s*\([^)]*\)")
_NAME = re.compile(r"(\w+)\s*\(")

Options = tuple[str, ...]


class NotOneModuleError(PtxkitError):
    """Functions that cannot stand in one module, each compiled as it asks for."""


def asked_options(text: str) -> Options:
    """The options in the first line of a source text that says what to compile it with.

    >>> asked_options("// compile with: -ftz=true -o /etc/passwd")
    ('-ftz=true',)
    """
    first = text.lstrip().partition("\n")[0]
    return _words(first, COMPILE_WITH) if first.startswith(COMPILE_WITH) else ()


def functions_options(text: str) -> dict[str, Options]:
    """What single functions of a source text ask for, by their names in C++.

    >>> functions_options('''__global__ void a() {}
    ... // compile this function with: -Ofc=mid
    ... extern "C" __global__ void __launch_bounds__(64) b() {}''')
    {'b': ('-Ofc=mid',)}
    """
    found: dict[str, Options] = {}
    _, *rest = re.split(f"^{re.escape(COMPILE_THIS_WITH)}", text, flags=re.MULTILINE)
    for part in rest:
        words, _, code = part.partition("\n")
        name = _NAME.search(_BOUNDS.sub("", code))
        if name and (options := _words(words)):
            found[name[1]] = options
    return found


def refused_options(text: str) -> list[tuple[int, str]]:
    """What a source text asks for and is not given: the lines, and the words.

    >>> refused_options("// compile with: -ftz=true -o /etc/passwd")
    [(1, '-o'), (1, '/etc/passwd')]
    """
    return [
        (number, word)
        for number, line in _asking(text)
        for word in line.partition(":")[2].split()
        if word not in OPTIONS
    ]


def _asking(text: str) -> Iterator[tuple[int, str]]:
    """The lines that ask for options, and their numbers."""
    lines = list(enumerate(text.splitlines(), 1))
    first = next((number for number, line in lines if line.strip()), 0)
    for number, line in lines:
        if line.startswith(COMPILE_THIS_WITH) or (
            number == first and line.lstrip().startswith(COMPILE_WITH)
        ):
            yield number, line


def _words(line: str, prefix: str = "") -> Options:
    return tuple(word for word in line.removeprefix(prefix).split() if word in OPTIONS)


def compiled_as_asked(text: str, compile: Callable[[Options], Module]) -> Module:
    """A source text as one module, each function of it compiled with what it asks for.

    ``compile`` compiles the text with options; `NotOneModuleError` where that is not one module.
    """
    options, own = asked_options(text), functions_options(text)
    made = {
        extra: compile((*options, *extra)) for extra in {(): None, **dict.fromkeys(own.values())}
    }
    return put_together(made[()], {one: made[extra] for one, extra in own.items()})


def bare_name(symbol: str) -> str:
    """The name of a function without what mangling adds: scopes, templates, parameters.

    >>> bare_name("_Z3addPfi"), bare_name("add")
    ('add', 'add')
    """
    return re.split(r"[<(]", demangle(symbol))[0].rpartition("::")[2].rpartition(" ")[2]


def put_together(base: Module, others: Mapping[str, Module]) -> Module:
    """A module with functions of other ones in it, and what those use; they have C++ names.

    >>> import ptxkit
    >>> head = ".version 8.0 .target sm_80 "
    >>> one = ptxkit.parse(head + ".entry a() { ret; } .entry b() { ret; }")
    >>> two = ptxkit.parse(head + ".global .u32 x; .entry a() { trap; } .entry b() { exit; }")
    >>> put_together(one, {"b": two}).emit()
    '.version 8.0 .target sm_80 .entry a() { ret; } .entry b() { exit; }'
    """
    edit = base.edit()
    own = named_parts(base)
    added: set[str] = set()
    changed = False
    for name, module in others.items():
        parts = named_parts(module)
        symbols = [s for s in parts if name in (s, bare_name(s)) and _is_defined(module, s)]
        for symbol in symbols:
            if symbol not in own:
                raise NotOneModuleError(f"'{name}' is not there without its options")
            texts = []
            for used in sorted(needed(parts, symbol) - {symbol}):
                if used not in own:
                    texts += [] if used in added else [part.text for part in parts[used]]
                    added.add(used)
                elif not _same(base, module, used, own[used][-1].text == parts[used][-1].text):
                    raise NotOneModuleError(f"'{name}' uses '{used}', which is another one then")
            texts.append(module[symbol].text)
            edit.replace(base[symbol], "\n".join(texts))
            changed = True
    return edit.apply() if changed else base


def _is_defined(module: Module, symbol: str) -> bool:
    return symbol in module and module[symbol].has_body


def _same(base: Module, other: Module, name: str, as_text: bool) -> bool:
    """Whether a name stands for the same in two modules."""
    if as_text or not (_is_defined(base, name) and _is_defined(other, name)):
        return as_text
    return same_ptx(base, other, name)
