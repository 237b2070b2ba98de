"""The statements of one function, while its Python body runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.builder import Builder
from ptxkit.dsl.declarations import CONVENTIONS
from ptxkit.dsl.errors import DslError, python_place
from ptxkit.dsl.instructions import message_of
from ptxkit.dsl.operands import Label, Operand, Special
from ptxkit.dsl.pools import Pool, pool_type
from ptxkit.dsl.registers import MOST_AT_ONCE, LongRegisterRange, Register, register_number
from ptxkit.dsl.statements import Statement

if TYPE_CHECKING:
    from ptxkit.dsl.control import If
    from ptxkit.dsl.functions import Function
    from ptxkit.dsl.line_tables import LineTable
    from ptxkit.dsl.module import Module

#: The order of declarations at the head of a body.
_REGISTER_ORDER = tuple(dict.fromkeys(CONVENTIONS))
#: What ends a basic block.
_TERMINATOR = re.compile(r"(?:@\S+\s+)?(?:bra|brx|ret|exit)\b")
_BLOCK_LABEL = re.compile(r"\$L__BB\d+_(\d+)")
_COUNT_DEPTH = {"block": 1, "block_close": -1, "asm_begin": 1, "asm_end": -1}


def _block_of(label: str) -> int | None:
    """The number of the basic block that a label names."""
    found = _BLOCK_LABEL.fullmatch(label)
    return int(found[1]) if found else None


class FunctionBuilder(Builder):
    """The statements of one function, while its Python body runs."""

    is_body = True

    @property
    def is_nested(self) -> bool:
        """Whether a ``{ }`` inside the body is open."""
        return bool(self.scopes)

    def __init__(self, module: Module, function: Function) -> None:
        super().__init__(module)
        self.function = function
        self.good = module.good
        self._fresh: dict[tuple[str, int], int] = {}  # registers nobody named, by type
        self._prefixes: dict[tuple[str, int], str] = {}
        self._declared: set[str] = set()
        self._labels: set[str] = set()
        self._placed: dict[tuple[object, str], tuple[str, int]] = {}  # by block and name
        self.unentered: dict[Any, None] = {}  # constructs that no ``with`` has entered yet
        self._used: dict[str, tuple[str, int]] = {}
        self._next_label = 0
        self.block_number = 0
        """The number of the basic block that is being written."""
        self._counted = 0  # statements that are counted into it
        self.branched = -1  # how many statements there were after the last guarded branch
        self._count_depth = 0  # inside braces and inline assembly nothing counts
        self._ended = False  # whether the last instruction ended its block
        self.last_if: tuple[int, If] | None = None  # where else_ may follow, and its if_
        self.line_table: tuple[int, LineTable] | None = None  # where it was given, and it
        self.pools: dict[str, Pool] = {}  # ranges that new registers are taken from, by type
        self.returns: list[Any] = []  # the parameters that carry results
        self.blocks: list[Any] = []  # open blocks and constructs, innermost last
        self.scopes: list[Any] = []  # those of them that are ``{ }``

    # -- registers ---------------------------------------------------------------------------

    def declare(self, name: str) -> None:
        """Take note of a name that the kernel declares itself."""
        if name in self._prefixes.values():
            raise DslError(
                f"'{name}' is what the registers without a name are called here",
                f"declare '{name}' before the first of those, or take another name",
            )
        self._declared.add(name)

    def fresh(
        self, type: str, width: int = 1, *, to: int | None = None, next: int | None = None
    ) -> Register:
        """A new register that nobody named; ``to`` and ``next`` are for pools."""
        if self.pools and width == 1:
            pool = pool_type(type, self.pools)
            if pool is not None:
                return self.pools[pool].take(to, next)
        if to is not None or next is not None:
            raise DslError(
                f"no range of registers holds those of .{type}", "declare it with ptx.registers"
            )
        if type not in CONVENTIONS:
            raise DslError(f"there is no register type '.{type}'", "write reg.f32(), reg.b64() ...")
        key = (type, width)
        prefix = self._prefixes.get(key)
        if prefix is None:
            prefix = CONVENTIONS[type] if width == 1 else f"{CONVENTIONS[type]}v{width}_"
            while prefix in self._declared or prefix in self._prefixes.values():
                prefix += "_"
            self._prefixes[key] = prefix
        number = self._fresh[key] = self._fresh.get(key, 0) + 1
        return Register(f"{prefix}{number}", type, register_number(type, width), self, width)

    def fresh_several(self, type: str, count: int, width: int = 1) -> Sequence[Register]:
        """So many new registers; of very many, each is made when it is asked for."""
        if count <= MOST_AT_ONCE:
            return super().fresh_several(type, count, width)
        first = self.fresh(type, width)
        prefix = first.text.rstrip("0123456789")
        begin = self._fresh[type, width]
        self._fresh[type, width] += count - 1
        return LongRegisterRange(prefix, count, type, self, width, begin)

    def fresh_declarations(self) -> list[Statement]:
        """The declarations of the registers nobody named."""
        found = []
        for key in sorted(self._fresh, key=lambda key: (_REGISTER_ORDER.index(key[0]), key[1])):
            type, width = key
            words = f".reg .v{width} .{type}" if width > 1 else f".reg .{type}"
            begin = self.style.declaration(words, ".reg", is_asm=False, is_nested=False)
            name = f"{self._prefixes[key]}<{self._fresh[key] + 1}>"
            found.append(Statement("register", f"{begin}{name};"))
        return found

    # -- labels ------------------------------------------------------------------------------

    def use_labels(self, operands: Sequence[Any]) -> None:
        """Take note of the labels that a branch names."""
        for one in operands:
            label = one.text if isinstance(one, Label) else one
            if isinstance(label, str) and label not in self._used:
                self._used[label] = python_place()

    def new_label(self, hint: str = "") -> Label:
        """A label that is not placed yet."""
        self._next_label += 1
        number = self.module.number_of(self.function)
        return Label(f"$L__{hint or 'BB'}{number}_{self._next_label}", python_place())

    def block_label(self, number: int) -> Label:
        """The label of a basic block by its number."""
        return Label(f"$L__BB{self.module.number_of(self.function)}_{number}", python_place())

    def deferred_label(self) -> Label:
        """A label for a construct: in the layout of a compiler it is named where it is placed."""
        if not self.style.numbers_blocks:
            return self.new_label()
        self._next_label += 1
        made = Label(f"$L__?{self._next_label}?", python_place())
        made.waiting = []
        return made

    def _scope(self) -> object:
        """The innermost ``{ }`` that is open: labels belong to it."""
        return self.scopes[-1] if self.scopes else None

    def place_label(self, name: str, again: bool = False) -> Statement:
        """Put a label here."""
        scope = self._scope()
        if not again and (scope, name) in self._placed:
            filename, line = self._placed[scope, name]
            raise DslError(
                f"the label '{name}' is placed twice",
                f"it stands at {filename}:{line} already; take another name, or none",
            )
        self._placed[scope, name] = python_place()
        self._labels.add(name)
        if self.style.numbers_blocks:
            self._blocks_until(self.statements)
            self.block_number = _block_of(name) or self.block_number
        return self.add(self.style.label_kind(name), f"{name}:")

    def place(self, label: Label, again: bool = False) -> Statement:
        """Put the label of a construct here, and name it if it has no name yet."""
        label.is_placed = True
        if label.waiting is None:
            return self.place_label(label.text, again)
        self._blocks_until(self.statements)
        number = self.block_number + 1
        name = self.block_label(number).text
        while name in self._labels:
            number += 1
            name = self.block_label(number).text
        self._used[name] = self._used.pop(label.text, label.place)
        for statement in label.waiting:
            statement.text = statement.text.replace(label.text, name)
        label.text = name
        label.waiting = None
        return self.place_label(name)

    def unplace(self, label: Label) -> int | str | None:
        """Take the label back that was placed last; gives what was said to stand before it."""
        placed = self.statements.pop()
        self._labels.discard(label.text)
        self._placed.pop((self._scope(), label.text), None)
        return placed.before

    def blank(self, lines: int = 1) -> None:
        """Put exactly so many blank lines before the next statement."""
        super().blank(lines)
        self.branched = -1

    @property
    def is_apart(self) -> bool:
        """Whether nothing was said since a branch that a blank line follows."""
        return self.branched == len(self.statements) and self.pending == 1

    def _blocks_until(self, statements: Sequence[Statement]) -> None:
        """Count the basic blocks as compilers do: one begins after a branch, one at a label."""
        for statement in statements[self._counted :]:
            kind = statement.kind
            if kind == "instruction" and not self._count_depth:
                ends = _TERMINATOR.match(statement.text) is not None
                if self._ended and not ends:
                    self.block_number += 1
                self._ended = ends
            elif kind == "block_label":
                self._ended = False
            elif kind in _COUNT_DEPTH:
                self._count_depth += _COUNT_DEPTH[kind]
        self._counted = len(statements)

    # -- checks ------------------------------------------------------------------------------

    def require(self, special: Special) -> None:
        """Check that the module may read a special register."""
        version, target = self.module.parsed_version, self.module.parsed_target
        if version is None or target is None:
            return
        if not special.requirement.met_by(version, target):
            self.refuse(
                f"'{special.text}' needs {special.requirement}; the module says "
                f"{self.module.says()}",
                "raise the module's version or target, or do without it",
            )

    def judge(self, key: tuple[Any, ...], operands: Sequence[Operand]) -> None:
        """Ask the table about an instruction: its opcode and the numbers of its operands."""
        opcode, *numbers = key
        verdict = self.module.judge.verdict(opcode, tuple(numbers))
        if verdict.problems or verdict.unmet or verdict.explanation is not None:
            texts = [one.text for one in operands]
            self.refuse(*message_of(opcode, verdict, texts, self.module.says()))
            return
        specials = [one for one in operands if isinstance(one, Special)]
        for one in specials:
            self.require(one)
        if not specials:
            self.good.add(key)

    def refuse(self, message: str, hint: str) -> None:
        """An instruction the table is against: an error, or a mark where those are collected."""
        if self.module.refused is None:
            raise DslError(message, hint)
        self.module.refused.append(python_place()[1])

    def finish(self) -> None:
        """Check what can only be said at the end of the body."""
        if self.line_table is not None:
            first, table = self.line_table
            self.statements = table.merged(self.statements, first, self.style)
        for block in self.unentered:
            raise DslError(
                f"{block.what} is never entered",
                "it is a block: write 'with' before it, and what belongs to it below",
                place=block.place,
            )
        if self.blocks:
            block = self.blocks[-1]
            raise DslError(f"{block.what} is never closed", block.hint, place=block.place)
        for name, place in self._used.items():
            if name not in self._labels:
                raise DslError(
                    f"no label '{name}' is placed in '{self.function.name}'",
                    f"place it with ptx.label('{name}')",
                    place=place,
                )
