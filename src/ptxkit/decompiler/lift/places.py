"""Accesses of memory as array elements, fields and dereferenced pointers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import (
    INT,
    LONG_LONG,
    SCALARS,
    UINT,
    UNSIGNED_LONG_LONG,
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    common,
)
from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.cells import vector_type
from ptxkit.decompiler.lift.context import Access
from ptxkit.decompiler.lift.conversions import C_TYPES, UNSIGNED, Expr, bits_of
from ptxkit.decompiler.lift.emit import Emitter
from ptxkit.decompiler.lift.ranges import fits
from ptxkit.decompiler.lift.records import Holder, Record, holder_of
from ptxkit.decompiler.lift.structs import Layout, alike, plain
from ptxkit.decompiler.lift.sums import Sum, sum_of
from ptxkit.decompiler.lift.values import (
    Value,
    Variable,
    const,
    parts_of,
    raw,
    signed,
    whole_vector,
)

_CHAR = SCALARS["char"]
_LOADS = {"ca": "__ldca", "cg": "__ldcg", "cs": "__ldcs", "lu": "__ldlu", "cv": "__ldcv"}
_STORES = {"wb": "__stwb", "cg": "__stcg", "cs": "__stcs", "wt": "__stwt"}
_TO_SPACE = {"shared": "__cvta_generic_to_shared", "local": "__cvta_generic_to_local",
             "const": "__cvta_generic_to_constant",
             "global": "__cvta_generic_to_global"}  # fmt: skip
_FROM_SPACE = {"shared": "__cvta_shared_to_generic", "local": "__cvta_local_to_generic",
               "const": "__cvta_constant_to_generic"}  # fmt: skip


def size_of(type: Type) -> int:
    """Bytes."""
    if isinstance(type, Pointer):
        return 8
    assert isinstance(type, Scalar | Vector)
    return type.size


@dataclass(slots=True)
class Places:
    """Writes the accesses of one function."""

    emitter: Emitter
    arrays: dict[str, Type]
    """Types of the variables of memory; filled as they are met."""
    layouts: dict[Holder, Layout]
    """Structures: of parameters, results and what is passed, and of arrays by name."""
    restricted: set[Variable] = field(default_factory=set)
    """Pointers that promise that nobody writes what they read."""
    used: set[str] = field(default_factory=set)
    """Variables of memory that the function names."""
    wide: bool = False
    """Whether an index is scaled in 64 bits where PTX does so."""
    steps: dict[n.Index, tuple[n.Expression, ...]] = field(default_factory=dict)
    """Elements whose addresses are computed in several steps, and how many elements each takes."""

    # ---- what is accessed ----------------------------------------------------------------

    def element(self, address: Value, access: Access) -> Type:
        """The C++ type of what an access reads or writes."""
        kinds = self.emitter.kinds
        cell = kinds.accessed(address, access.width, access.count, count_it=False)
        default = C_TYPES[access.type]
        type = default if cell is None else kinds.type_of(cell, access.width)
        if access.count == 1:
            return type
        base = kinds.base(address)
        if kinds.record_of(base) is not None:
            lanes = kinds.lanes(address, access.width, access.count)
            type = kinds.vector_element(lanes, access.width)
        made = vector_type(type, access.count)
        if made is None:
            made = vector_type(UNSIGNED[access.width], access.count)
        assert made is not None
        return made

    def loaded(self, value: Value, type: Type | None = None) -> Expr:
        """A load; of a type, where that is known already."""
        access: Access = value.data
        address = value.args[0]
        if type is None:
            type = self.element(address, access)
            whole = self._whole_part(address, access, type)
            if whole is not None:
                return self.emitter.natural(whole)
        place = self.place(address, access, type)
        if access.constant and (self._is_asked(access) or not self._is_restricted(address)):
            return Expr(n.Call("__ldg", (_address_of(place),)), type)
        if access.hint in _LOADS and not access.volatile:
            return Expr(n.Call(_LOADS[access.hint], (_address_of(place),)), type)
        return Expr(place, type)

    def _whole_part(self, address: Value, access: Access, type: Type) -> Value | None:
        """What is read of a part of a vector by value, as some bits of all of that part."""
        base = self.emitter.kinds.base(address)
        layout = self.layouts.get(base.data) if base is not None and base.op == "slot" else None
        total = sum_of(address).without(base)
        if layout is None or not isinstance(layout.type, Vector) or total.terms:
            return None
        element = layout.type.element
        inside = total.constant % element.size
        if layout.field_at(total.constant, type) or inside + access.size > element.size:
            return None
        start = make("sub", 64, address, const(inside, 64))
        word = next(w for w, one in C_TYPES.items() if w[0] != "b" and alike(one, element))
        read = raw("load", element.bits, (start,), Access("param", word))
        return make("trunc", access.width, make("shr.u", element.bits, read, const(8 * inside, 32)))

    def _is_asked(self, access: Access) -> bool:
        """Whether a function was called to load it so: such loads of halves are assembly."""
        return access.type == "b16" and not self.emitter.lift.in_order

    def _is_restricted(self, address: Value) -> bool:
        base = self.emitter.kinds.base(address)
        return base is not None and base.op == "var" and base.data.variable in self.restricted

    def stored(self, access: Access, address: Value, values: list[Value]) -> list[n.Statement]:
        """A store: one statement, or one for each field of a structure that it fills."""
        if access.count > 1 and self._fills_fields(access, address, values):
            one = replace(access, count=1)
            places = (_moved(address, k * access.width // 8) for k in range(access.count))
            return [self._stored(one, at, [v]) for at, v in zip(places, values, strict=True)]
        return [self._stored(access, address, values)]

    def _fills_fields(self, access: Access, address: Value, values: list[Value]) -> bool:
        """Whether a vector is stored where a structure has fields of several types.

        What one field is set to must not be read from memory after another one was set.
        """
        base = self.emitter.kinds.base(address)
        record = self.emitter.kinds.record_of(base)
        if base is None or record is None or access.volatile or access.hint in _STORES:
            return False
        _, inside = record.place(sum_of(address).without(base))
        fields = self._layout(base).fields
        lanes = [fields.get(inside + k * access.width // 8) for k in range(access.count)]
        if any(lane is None or isinstance(lane[1], Vector) for lane in lanes):
            return False
        total = sum_of(address)
        for place, value in enumerate(values):
            for part in parts_of((value,), set()):
                if part.op == "atomic":
                    return False
                if part.op == "load" and place:
                    read = sum_of(part.args[0])
                    at = read.constant - total.constant
                    size = part.data.width * part.data.count // 8
                    before = place * access.width // 8
                    if read.terms != total.terms or (at < before and at + size > 0):
                        return False
        return True

    def _stored(self, access: Access, address: Value, values: list[Value]) -> n.Statement:
        type = self.element(address, access)
        place = self.place(address, access, type)
        if isinstance(type, Vector) and access.count > 1:
            whole = whole_vector(values)
            if whole is not None and self.emitter.types[whole] == type:
                value: n.Expression = n.Name(whole.name)
            else:
                parts = tuple(self.emitter.assigned(v, type.element) for v in values)
                value = self._parameter_of(parts, type) or n.Call(_maker(type), parts)
        else:
            value = self.emitter.assigned(values[0], type)
        if access.hint in _STORES and not access.volatile:
            if not isinstance(type, Vector):
                value = self.emitter.typed(values[0], type)
            return n.Evaluate(n.Call(_STORES[access.hint], (_address_of(place), value)))
        return n.Assign(place, value)

    def _parameter_of(self, parts: tuple[n.Expression, ...], type: Vector) -> n.Name | None:
        """The vector by value that has just these parts."""
        for holder, layout in self.layouts.items():
            if isinstance(holder, Variable) and layout.type == type:
                whole = n.Name(holder.name)
                names = (name for _, (name, _) in sorted(layout.fields.items()))
                if parts == tuple(n.Member(whole, name) for name in names):
                    return whole
        return None

    def place(self, address: Value, access: Access, type: Type) -> n.Expression:
        """What is accessed, as something that can stand on the left of ``=``."""
        kinds = self.emitter.kinds
        base = kinds.base(address)
        if base is not None:
            total = sum_of(address).without(base)
            if base.op == "slot":
                found = self._field(base.data, total, type)
                if found is not None:
                    return found
            if access.volatile:
                pointer = self._offset(base, total, type)
                return n.Unary("*", n.Cast(Pointer(type, volatile=True), pointer))
            return self._indexed(base, total, type)
        pointer = self.pointer(address, Pointer(type, volatile=access.volatile), access.space)
        return n.Unary("*", pointer)

    def _field(self, variable: Variable, total: Sum, type: Type) -> n.Expression | None:
        """A field of a structure."""
        layout = self.layouts.get(variable)
        if layout is None or total.terms:
            return None
        name = layout.field_at(total.constant, type)
        return None if name is None else n.Member(n.Name(variable.name), name)

    def _indexed(self, base: Value, total: Sum, type: Type) -> n.Expression:
        """An element: ``base[index]``, with a cast where the array holds something else."""
        array = self.base_expression(base)
        record = self.emitter.kinds.record_of(base)
        if record is not None:
            return self._part(record, self._layout(base), array, total, type)
        have = _element_of(array.type)
        index = self.index(total, size_of(type))
        if have is not None and index is None and size_of(have) < size_of(type):
            # &base[i] as what is accessed: alignment is the program's promise.
            small = self.index(total, size_of(have))
            if small is not None:
                pointer: n.Expression = n.Unary("&", n.Index(array.node, small))
                return n.Unary("*", n.Cast(Pointer(type), pointer))
        if index is None:
            return self._in_bytes(array, total, type)
        node = array.node
        if have is None or not alike(have, type):
            node = n.Cast(Pointer(type), node)
        if isinstance(index, n.Literal) and index.value == 0 and not isinstance(array.type, Array):
            return n.Unary("*", node)
        made = n.Index(node, index)
        if isinstance(array.type, Pointer) and isinstance(node, n.Name):
            self._note_steps(made, total, size_of(type))
        return made

    def _in_bytes(self, array: Expr, total: Sum, type: Type) -> n.Expression:
        """An element so many bytes from a start: one of a row, where rows have a pitch in bytes."""
        size = size_of(type)
        row, column = Sum(), Sum(constant=total.constant)
        for term, times in total.terms.items():
            (row if times % size else column).add(Sum({term: times}))
        index = self.index(column, size)
        pitched = all(_is_product(term) for term in row.terms)
        if not pitched or index is None or index == n.integer(0):
            return n.Unary("*", n.Cast(Pointer(type), self._bytes(array, total)))
        return n.Index(n.Cast(Pointer(type), self._bytes(array, row)), index)

    def _layout(self, base: Value) -> Layout:
        holder = holder_of(base)
        assert holder is not None
        return self.layouts[holder]

    def _part(
        self, record: Record, layout: Layout, array: Expr, total: Sum, type: Type
    ) -> n.Expression:
        """A field of a structure in an array: ``base[index].field``."""
        before, inside = record.place(total)
        index = self.index(before, record.size)
        assert index is not None
        whole: n.Expression
        if isinstance(index, n.Literal) and index.value == 0 and not isinstance(array.type, Array):
            whole = n.Unary("*", array.node)
        else:
            whole = n.Index(array.node, index)
            if isinstance(array.node, n.Name) and isinstance(array.type, Pointer):
                self._note_steps(whole, before, record.size)
        if type == layout.type:
            return whole
        name, have = layout.fields[inside]
        field = n.Member(whole, name)
        return (
            field
            if plain(have) == plain(type)
            else n.Unary("*", n.Cast(Pointer(type), n.Unary("&", field)))
        )

    def _note_steps(self, made: n.Index, total: Sum, size: int) -> None:
        """Whether parts of an index were each made as wide as an address: a step for each."""
        total = self._gathered(total, size)
        if len(total.terms) < 2 or any(
            term.op not in ("sext", "zext") or term.args[0].width > 32 or times != size
            for term, times in total.terms.items()
        ):
            return
        # What comes last is added first: that is the order in which it is computed.
        steps = [self._term(term, 1, narrow=True).node for term in reversed(total.terms)]
        number = total.constant // size
        self.steps[made] = (*steps, n.integer(number)) if number else tuple(steps)

    def _bytes(self, array: Expr, total: Sum) -> n.Expression:
        whole = self.index(total, 1)
        assert whole is not None
        start = n.Cast(Pointer(_CHAR), array.node)
        if isinstance(whole, n.Literal) and whole.value == 0:
            return start
        return n.Binary("+", start, whole)

    # ---- pointers ------------------------------------------------------------------------

    def base_expression(self, base: Value) -> Expr:
        """An array or pointer."""
        if base.op == "symbol":
            name = base.data[1]
            self.used.add(name)
            return Expr(n.Name(name), self._array_type(name))
        if base.op == "slot":
            variable = base.data
            type = self.emitter.types[variable]
            return Expr(n.Unary("&", n.Name(variable.name)), Pointer(type))
        made = self.emitter.natural(base)
        if not isinstance(made.type, Pointer):
            want = self.emitter.kinds.pointer_type(base)
            node = self.emitter.converted(made, 64, want)
            return Expr(node, want)
        return made

    def _array_type(self, name: str) -> Type:
        known = self.arrays.get(name)
        if known is None:
            memory = self.emitter.lift.signatures.by_name[name]
            kinds = self.emitter.kinds
            if name in kinds.records:
                layout = self.layouts[name]
                known = self.arrays[name] = Array(layout.type, (memory.size // layout.size,))
                return known
            element = kinds.element_type(kinds.cell(("array", name)))
            if size_of(element) > max(memory.alignment, 1) or memory.size % size_of(element):
                element = SCALARS["uchar"]
            known = self.arrays[name] = Array(element, (memory.size // size_of(element),))
        return known

    def _offset(self, base: Value, total: Sum, type: Type) -> n.Expression:
        """A pointer so far from a base."""
        array = self.base_expression(base)
        have = _element_of(array.type)
        record = self.emitter.kinds.record_of(base)
        if have is not None and (record is not None or not isinstance(have, Struct)):
            index = self.index(total, record.size if record is not None else size_of(have))
            if index is not None:
                if isinstance(index, n.Literal) and index.value == 0:
                    node = array.node
                elif isinstance(array.type, Array):
                    node = n.Unary("&", n.Index(array.node, index))
                else:
                    node = n.Binary("+", array.node, index)
                    if isinstance(array.node, n.Name):
                        size = record.size if record is not None else size_of(have)
                        self._note_steps(n.Index(array.node, index), total, size)
                return node if alike(have, type) else n.Cast(Pointer(type), node)
        return n.Cast(Pointer(type), self._bytes(array, total))

    def offset(self, base: Value, total: Sum) -> n.Expression:
        """A pointer so far from a base, of the type that it has there."""
        element = _element_of(self.base_expression(base).type)
        return self._offset(base, total, element or _CHAR)

    def pointer(
        self, value: Value, want: Pointer, space: str = "generic", *, element: bool = False
    ) -> n.Expression:
        """A value as a pointer."""
        target = want.target
        base = self.emitter.kinds.base(value)
        if base is not None and value.op != "const":
            total = sum_of(value).without(base)
            if base.op == "slot":
                found = self._field(base.data, total, target)
                if found is not None:
                    return n.Unary("&", found)
            if element:
                place = self._indexed(base, total, target)
                return _address_of(place)
            made = self._offset(base, total, target)
            if want.volatile:
                return n.Cast(want, made)
            return made
        if value.op == "const" and value.data == 0:
            return n.Name("nullptr")
        if value.op == "select":
            return n.Conditional(
                self.emitter.condition(value.args[0]),
                self.pointer(value.args[1], want, space),
                self.pointer(value.args[2], want, space),
            )
        if space in _FROM_SPACE:
            number = self.emitter.typed(value, UNSIGNED_LONG_LONG if value.width == 64 else UINT)
            return n.Cast(want, n.Call(_FROM_SPACE[space], (number,)))
        whole = self.emitter.natural(value) if value.op == "var" else self.emitter.number(value)
        if whole.type == want:
            return whole.node
        if isinstance(whole.type, Pointer) or bits_of(whole.type) == 64:
            return n.Cast(want, whole.node)
        return n.Cast(want, self.emitter.converted(whole, value.width, UNSIGNED_LONG_LONG))

    def number(self, value: Value) -> Expr:
        """An address as a number: generic, or inside its space."""
        op = value.op
        if op == "symbol" and value.data[0] == "function":
            signature = self.emitter.lift.signatures.functions[value.data[1]]
            return Expr(n.Cast(UNSIGNED_LONG_LONG, n.Name(signature.name)), UNSIGNED_LONG_LONG)
        if op in ("symbol", "specific"):
            space = value.data[0] if op == "symbol" else value.data
            if op == "symbol":
                node = self.base_expression(value).node
                if space == "global":
                    return Expr(n.Cast(UNSIGNED_LONG_LONG, node), UNSIGNED_LONG_LONG)
            else:
                inner = value.args[0]
                if inner.op == "generic" and inner.data == space:
                    return self.emitter.number(inner.args[0])
                node = self.pointer(inner, Pointer(_CHAR))
            call = n.Call(_TO_SPACE[space], (node,))
            if value.width == 32:
                return Expr(n.Cast(UINT, call), UINT)
            return Expr(call, UNSIGNED_LONG_LONG)
        if op == "slot":
            node = n.Unary("&", n.Name(value.data.name))
            return Expr(n.Cast(UNSIGNED_LONG_LONG, node), UNSIGNED_LONG_LONG)
        # generic: the pointer of an address inside a space.
        inner = value.args[0]
        if self.emitter.kinds.base(inner) is not None and any(
            t.op in ("symbol", "slot") for t in sum_of(inner).terms
        ):
            node = self.pointer(inner, Pointer(_CHAR))
            return Expr(n.Cast(UNSIGNED_LONG_LONG, node), UNSIGNED_LONG_LONG)
        number = self.emitter.typed(inner, UNSIGNED_LONG_LONG)
        call = n.Call(_FROM_SPACE.get(value.data, "__cvta_global_to_generic"), (number,))
        return Expr(n.Cast(UNSIGNED_LONG_LONG, call), UNSIGNED_LONG_LONG)

    # ---- indices -------------------------------------------------------------------------

    def index(self, total: Sum, size: int) -> n.Expression | None:
        """A sum of bytes as a number of elements; None where it is not whole."""
        if total.constant % size or any(times % size for times in total.terms.values()):
            return None
        total = self._gathered(total, size)
        parts = [(term, times // size) for term, times in total.terms.items()]
        parts.sort(key=lambda part: part[1] < 0)
        number = total.constant // size
        if not parts:
            return n.Literal(number, INT if abs(number) < 1 << 31 else LONG_LONG)
        narrow = self._narrow(parts, number)
        result: Expr | None = None
        for term, times in parts:
            made = self._term(term, times, narrow)
            if result is None:
                if times < 0:
                    made = Expr(n.Unary("-", made.node), made.type)
                result = made
                continue
            operator = "+" if times > 0 else "-"
            assert isinstance(result.type, Scalar)
            assert isinstance(made.type, Scalar)
            type = common(result.type, made.type)
            left, type = self._without_sign(result.node, type)
            result = Expr(n.Binary(operator, left, made.node), type)
        assert result is not None
        node: n.Expression = result.node
        if number:
            if not narrow and bits_of(result.type) < 64:
                node = n.Cast(LONG_LONG, node)
            whole = INT if abs(number) < 1 << 31 else LONG_LONG
            node = n.Binary("+" if number > 0 else "-", node, n.Literal(abs(number), whole))
        return node

    def _gathered(self, total: Sum, size: int) -> Sum:
        """A sum with the numbers inside of extended terms taken out: ``(i - 1) + 2``."""
        if self.emitter.careful:
            return total
        made = Sum(constant=total.constant)
        for term, times in total.terms.items():
            inner = term.args[0] if term.op == "sext" else None
            if inner is not None and inner.op == "add" and inner.args[1].op == "const":
                made.constant += times * signed(inner.args[1])
                term = make("sext", 64, inner.args[0])
            elif inner is not None and inner.op in ("shl", "mul") and abs(times) != size:
                factor = inner.args[1]
                if factor.op == "const":
                    times *= signed(factor) if inner.op == "mul" else 1 << factor.data
                    term = make("sext", 64, inner.args[0])
            made.add(Sum({term: times}))
        return made

    def _narrow(self, parts: list[tuple[Value, int]], number: int) -> bool:
        """Whether the sum may be computed in 32 bits: it then has the same value."""
        # Less than nothing is another number in 32 bits than in 64, where there is no sign.
        if not number and [times for _, times in parts] == [1]:
            return True
        if self.wide and any(abs(times) != 1 and term.width == 64 for term, times in parts):
            return False
        inner = []
        for term, times in parts:
            if term.width == 32 or (term.op in ("sext", "zext") and term.args[0].width <= 32):
                source = term.args[0] if term.width == 64 else term
                inner.append((source, times, term.op == "zext" and source.width == 32))
            else:
                return False
        if any(zero for _, _, zero in inner):
            # Unsigned sums wrap around in C++: only where they cannot.
            return fits(inner, number)
        return not self.emitter.careful

    def _term(self, term: Value, times: int, narrow: bool) -> Expr:
        """A term times the size of its factor."""
        if term.op in ("sext", "zext") and term.width == 64 and narrow:
            made = self.emitter.signed(term.args[0], "s" if term.op == "sext" else "u")
        elif term.width == 32:
            made = self.emitter.number(term)
        else:
            made = self.emitter.number(term)
            if made.inner is not None and abs(times) == 1 and narrow:
                made = made.inner
        if abs(times) == 1:
            return made
        assert isinstance(made.type, Scalar)
        factor = n.Literal(abs(times), INT if abs(times) < 1 << 31 else LONG_LONG)
        node, type = self._without_sign(made.node, common(made.type, INT))
        return Expr(n.Binary("*", node, factor), type)

    def _without_sign(self, node: n.Expression, type: Scalar) -> tuple[n.Expression, Scalar]:
        """The first operand of a sum or product of a type, with all care.

        What has a sign never overflows in C++, and compilers conclude from that.
        """
        if not self.emitter.careful or not type.signed:
            return node, type
        want = UNSIGNED[bits_of(type)]
        return n.Cast(want, node), want


def _is_product(term: Value) -> bool:
    """Whether a number of bytes is so many rows of a pitch."""
    inner = term.args[0] if term.op in ("sext", "zext") else term
    return inner.op == "mul" and inner.args[1].op != "const"


def _moved(address: Value, bytes: int) -> Value:
    return make("add", 64, address, const(bytes, 64)) if bytes else address


def _maker(type: Vector) -> str:
    """The function that makes a vector."""
    return {"__half2": "__halves2half2", "__nv_bfloat162": "__halves2bfloat162"}.get(
        type.word, f"make_{type.word}"
    )


def _element_of(type: Type) -> Type | None:
    if isinstance(type, Array):
        return type.element
    return type.target if isinstance(type, Pointer) else None


def _address_of(place: n.Expression) -> n.Expression:
    match place:
        case n.Unary("*", pointer) | n.Index(n.Cast() as pointer, n.Literal(value=0)):
            return pointer
    return n.Unary("&", place)
