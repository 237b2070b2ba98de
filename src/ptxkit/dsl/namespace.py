"""``ptx``: every instruction, and the statements of a body that are not instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ptxkit.dsl import control, loops, pools, switches, waits
from ptxkit.dsl.builder import current
from ptxkit.dsl.control import body, construct
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.inline_assembly import Assembly
from ptxkit.dsl.instructions import Opcode, opcode
from ptxkit.dsl.line_tables import LineTable
from ptxkit.dsl.operands import Label, Operand, operand
from ptxkit.dsl.statements import Statement


class Ptx:
    """Instructions as attributes, statements of a body as methods."""

    def __getattr__(self, name: str) -> Opcode:
        if name.startswith("__"):
            raise AttributeError(name)
        made = opcode(name)
        self.__dict__[name] = made
        return made

    def unchecked(self, text: str) -> Opcode:
        """An opcode that is not looked up in the table: ``ptx.unchecked("new.op.b32")(...)``."""
        return Opcode(text, is_checked=False)

    asm = Assembly()
    """Inline assembly as compilers mark it: ``ptx.asm.add.s32(...)``, ``with ptx.asm():``."""

    @property
    def returns(self) -> list[Any]:
        """The parameters that carry the function's results."""
        return body().returns

    def registers(self, *ranges: str) -> Any:
        """Declare ranges, ``"%r<28>"``, that new registers are taken from, one after another.

        Another order is said with the range: ``"%r<28> 7 1-3"``, see :mod:`ptxkit.dsl.pools`.
        """
        return pools.declare(body(), ranges)

    # -- labels ------------------------------------------------------------------------------

    def label(self, name: str | int | Label | None = None, *, again: bool = False) -> Label:
        """Place a label here: one of that name or number, one made before, or a new one.

        One that stands in the same block already is a mistake, unless ``again`` says so.
        """
        builder = body()
        found = builder.new_label() if name is None else control.as_label(name)
        builder.place(found, again)
        return found

    def new_label(self) -> Label:
        """A label to branch to before it is placed with ``ptx.label(it)``."""
        return body().new_label()

    # -- control flow ----------------------------------------------------------------------------

    if_ = staticmethod(control.if_)
    else_ = staticmethod(control.else_)
    once = staticmethod(control.once)
    next_block = staticmethod(control.next_block)
    loop = staticmethod(loops.loop)
    repeat = staticmethod(loops.repeat)
    while_ = staticmethod(loops.while_)
    do_while = staticmethod(loops.do_while)
    range = staticmethod(loops.range_)
    break_ = staticmethod(loops.break_)
    continue_ = staticmethod(loops.continue_)
    switch = staticmethod(switches.switch)
    wait = staticmethod(waits.wait)

    # -- blocks and directives -----------------------------------------------------------------

    @construct(control.SCOPE)
    def block(self, note: str | None = None, end: str | None = None) -> Iterator[None]:
        """A scope of its own: ``{ ... }``; comments go behind its braces."""
        self.open_block()
        if note is not None:
            self.note(note)
        yield
        self.close_block()
        if end is not None:
            self.note(end)

    def open_block(self) -> Statement:
        """The ``{`` of a scope, where ``with ptx.block():`` would nest too deep."""
        control.opened(control.Open(control.SCOPE))
        return body().add("block", "{")

    def close_block(self) -> Statement:
        """The ``}`` of a scope."""
        builder = body()
        if not builder.blocks:
            raise DslError("no block is open")
        control.closed(builder.blocks[-1])
        return builder.add("block_close", "}")

    def loc(
        self,
        file: Any,
        line: Any,
        column: Any,
        function_name: Any = None,
        inlined_at: Sequence[Any] | None = None,
    ) -> Statement:
        """``.loc 1 2 3``: the source line that what follows was made from."""
        builder = body()
        text = f".loc{builder.style.directive_gap}{operand(file)} {operand(line)} {operand(column)}"
        if function_name is not None:
            place = " ".join([operand(one).text for one in inlined_at or ()])
            text += f", function_name {operand(function_name)}, inlined_at {place}"
        return builder.add("loc", text)

    def lines(self, table: str, files: Mapping[int, str] | None = None) -> None:
        """The source lines of what follows as a table, see :mod:`ptxkit.dsl.line_tables`.

        ``files`` names the files in a comment behind each line.
        """
        builder = body()
        builder.line_table = (len(builder.statements), LineTable(table, files))

    def pragma(self, *values: str) -> Statement:
        """``.pragma "nounroll";``."""
        from ptxkit.dsl.module import quoted

        return body().add("pragma", f".pragma {', '.join(quoted(values))};")

    def branchtargets(self, *labels: Any) -> Statement:
        """``.branchtargets a, b;`` after its label."""
        names = [operand(one).text for one in labels]
        return body().add("branchtargets", f".branchtargets {', '.join(names)};")

    def calltargets(self, *functions: Any) -> Statement:
        """``.calltargets f, g;`` after its label."""
        names = [operand(one).text for one in functions]
        return body().add("calltargets", f".calltargets {', '.join(names)};")

    def callprototype(
        self,
        returns: Sequence[Any] | None = None,
        parameters: Sequence[Any] | None = (),
        **directives: Any,
    ) -> Statement:
        """``.callprototype (.param .b32 _) _ (.param .b32 _);`` after its label."""
        from ptxkit.dsl.declarations import parameter_text
        from ptxkit.dsl.module import directive_texts
        from ptxkit.dsl.signatures import Named

        def texts(list: Sequence[Any]) -> str:
            named = [one if isinstance(one, Named) else Named(one, "_") for one in list]
            return ", ".join([parameter_text(one.words, one.name)[0] for one in named])

        text = ".callprototype"
        if returns is not None:
            text += f" ({texts(returns)})"
        text += " _"
        if parameters is not None:
            text += f" ({texts(parameters)})"
        text = " ".join([text, *directive_texts(directives)])
        return body().add("callprototype", f"{text};")

    # -- layout --------------------------------------------------------------------------------

    def comment(self, text: str, before: int | str | None = None) -> Statement:
        """A comment in a line of its own."""
        return current().comment(text, before)

    def blank(self, lines: int = 1) -> None:
        """Exactly so many blank lines before the next statement."""
        current().blank(lines)

    def gap(self, text: str) -> None:
        """Exactly this white space before the next statement."""
        current().gap(text)

    def note(self, text: str, before: str | None = None) -> None:
        """A comment behind the last statement, on its line."""
        current().note(text, before)

    def spaced(self, gaps: Mapping[int, str]) -> None:
        """White space inside the last statement, before its numbered tokens."""
        current().spaced(gaps)


ptx = Ptx()

__all__ = ["Operand", "Ptx", "ptx"]
