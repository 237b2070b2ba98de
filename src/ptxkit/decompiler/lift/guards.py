"""What is left around loops that were rolled up: questions that the loops ask themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import INT, UINT, Scalar, Type
from ptxkit.decompiler.lift.conditions import negate
from ptxkit.decompiler.lift.rewrite import accesses, bottom_up, rebuilt, rebuilt_lists, written

Body = tuple[n.Statement, ...]
#: Of comparisons of integers.
CONTRARY = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_ZERO, _ONE = n.Literal(0, INT), n.Literal(1, INT)


def without_guards(body: Body, types: dict[str, Type], often: Container[str] = frozenset()) -> Body:
    """The body with loops that count up as ``for``, and without questions before them.

    A loop inside of a loop is asked for outside of both: a compiler takes that out. ``types`` of
    indices may change. ``often`` is what was read several times before loops were rolled up.
    """
    counts = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    body = _starts_inside(body, counts)
    sets = Counter(name for s in body for name in written(s))
    once = {name for name, times in sets.items() if times == 1 and counts[name] == 2}
    once -= _converted(body, types) | _signed_strides(body, types, often)

    named = {p.target.name: p.value for s in body for p in s.walk()
             if isinstance(p, n.Assign) and isinstance(p.target, n.Name)
             and sets[p.target.name] == 1 and isinstance(p.value, n.Binary)}  # fmt: skip

    def is_float(part: n.Expression) -> bool:
        type = infer(part, types)
        return not isinstance(type, Scalar) or type.is_float

    def change(node: n.Node) -> n.Node:
        match node:
            case n.If(condition, then, ()):
                parts = _parts(condition, named, is_float)
                asked = [meant for p in parts for meant in _meanings(p, named)]
                then = _inlined(_loops(then, types, asked), once)
                left = [
                    part for part in parts
                    if not any(_asked_inside(meant, then) for meant in _meanings(part, named))
                ]  # fmt: skip
                if len(left) < len(parts):
                    then = tuple(map(_by_quotient, _loads_inside(then, sets, counts)))
                if not left:
                    return n.Block(then)
                # Compilers ask otherwise where one asks for what two others say together.
                whole = len(left) == len(parts)
                return n.If(condition if whole else _joined(left), _flat(then))
            case n.If(condition, then, otherwise):
                return n.If(condition, _flat(then), _flat(otherwise))
            case n.For() | n.While() | n.DoWhile():
                return rebuilt_body(node, _inlined(_loops(_flat(node.body), types), once))
        return node

    made = tuple(bottom_up(s, change) for s in _with_short_values(body, once, sets))
    return _flat(_loops(_flat(made), types))


def _converted(body: Body, types: dict[str, Type]) -> set[str]:
    """Variables that functions are given, and that are of another type than what they are set to.

    Which function of one name it is depends on that.
    """
    given = {a.name for s in body for p in s.walk() if isinstance(p, n.Call)
             for a in p.arguments if isinstance(a, n.Name)}  # fmt: skip
    return {
        p.target.name for s in body for p in s.walk()
        if isinstance(p, n.Assign) and isinstance(p.target, n.Name) and p.target.name in given
        and _is_index(p.value) and infer(p.value, types) != types.get(p.target.name)
    }  # fmt: skip


def _signed_strides(body: Body, types: dict[str, Type], often: Container[str]) -> set[str]:
    """Steps of loops that are numbers with a sign, made of numbers without one.

    Of ``i += gridDim.x * blockDim.x`` a compiler does not know that it stays below the limit: what
    it has unrolled took steps of an ``int``.
    """
    steps = {p.value.name for s in body for p in s.walk() if isinstance(p, n.Assign)
             and p.operator == "+=" and isinstance(p.value, n.Name)}  # fmt: skip
    return {
        p.target.name for s in body for p in s.walk()
        if isinstance(p, n.Assign) and isinstance(p.target, n.Name) and p.target.name in steps
        and p.target.name in often and types.get(p.target.name) == INT
        and _is_index(p.value) and infer(p.value, types) == UINT
    }  # fmt: skip


def _starts_inside(body: Body, counts: Counter[str]) -> Body:
    """The body with what a loop starts to count from right before it, not before an ``if``."""
    made = [rebuilt_lists(s, lambda inner: _starts_inside(inner, counts)) for s in body]
    for place, statement in enumerate(made):
        match statement:
            case n.If(
                condition,
                (*setup, n.DoWhile((*_, n.Assign(n.Name(name=index), _, "+=")), again) as loop),
                (),
            ) if index in again.names() and index not in condition.names():
                pass
            case _:
                continue
        first = next((k for k in range(place) if _is_start(made[k], index)), None)
        inside = sum(p == n.Name(index) for p in statement.walk())
        if first is None or inside + 1 != counts[index]:
            continue
        then = (*setup, made[first], loop)
        made[place] = n.If(condition, then)
        made[first] = n.Block(())
    return _flat(tuple(made))


def _loads_inside(body: Body, sets: Counter[str], counts: Counter[str]) -> Body:
    """Statements with what is loaded before a loop, and used in it alone, loaded in the loop.

    Behind the question whether there is a turn at all, nothing but a compiler has put it before
    the first one; and it does so only where nothing in the loop may change what is loaded.
    """
    place = next((k for k, s in enumerate(body) if isinstance(s, n.For)), None)
    if place is None:
        return body
    loop = body[place]
    assert isinstance(loop, n.For)
    if any(_changes_memory(part) for part in loop.walk()):
        return body
    uses = Counter(p.name for s in loop.body for p in s.walk() if isinstance(p, n.Name))
    changed = {*written(loop)}

    def moves(statement: n.Statement) -> bool:
        match statement:
            case n.Assign(n.Name(name=name), value, "="):
                once = sets[name] == 1 and uses[name] + 1 == counts[name]
                return once and accesses(value) > 0 and not changed & value.names()
        return False

    moved = tuple(s for s in body[:place] if moves(s))
    kept = tuple(s for s in body[:place] if s not in moved)
    return (*kept, replace(loop, body=(*moved, *loop.body)), *body[place + 1 :])


def _changes_memory(node: n.Node) -> bool:
    """Whether something is stored, or waited for."""
    match node:
        case n.Assign(target=target):
            return not isinstance(target, n.Name)
    return isinstance(node, n.Evaluate)


def _is_start(statement: n.Statement, index: str) -> bool:
    match statement:
        case n.Assign(n.Name(name=name), n.Literal(), "="):
            return name == index
    return False


def _with_short_values(body: Body, once: set[str], sets: Counter[str]) -> Body:
    """The body with indices that are used once, and never change, where they are used."""
    values: dict[str, n.Expression] = {}
    for statement in body:
        for part in statement.walk():
            match part:
                case n.Assign(n.Name(name=name), value, "=") if name in once and _is_index(value):
                    if all(not sets[p.name] for p in value.walk() if isinstance(p, n.Name)):
                        values[name] = value
    if not values:
        return body

    def top(node: n.Node) -> n.Node:
        match node:
            case n.Assign(n.Name(name=name), _, "=") if name in values:
                return n.Block(())
            case n.Name(name=name) if name in values:
                return values[name]
        return rebuilt(node, top)

    return tuple(top(s) for s in body)  # type: ignore[misc]


def rebuilt_body(node: n.For | n.While | n.DoWhile, body: Body) -> n.Node:
    """A loop with another body."""
    return rebuilt(node, lambda part: part) if body == node.body else _with_body(node, body)


def _with_body(node: n.For | n.While | n.DoWhile, body: Body) -> n.Node:
    match node:
        case n.For():
            return n.For(node.start, node.condition, node.step, body, node.unroll)
        case n.While():
            return n.While(node.condition, body, node.unroll)
    return n.DoWhile(body, node.condition, node.unroll)


def _flat(body: Body) -> Body:
    made: list[n.Statement] = []
    for statement in body:
        if isinstance(statement, n.Block):
            made += statement.body
        else:
            made.append(statement)
    return tuple(made)


def _loops(body: Body, types: dict[str, Type], holds: Sequence[n.Expression] = ()) -> Body:
    """``i = 0; do { ...; i += 1; } while (i < n);`` as ``for``, on trust that ``n`` is not 0.

    ``holds`` is what is known before.
    """
    made: list[n.Statement] = []
    for statement in _flat(body):
        made.append(_halving(statement))
        match made[-2:]:
            case [
                n.Assign(n.Name(name=index), first, "="),
                n.For(n.Assign(target, value)) as loop,
            ] if value == n.Binary("/", n.Name(index), n.Literal(2, INT)) and not any(
                p == n.Name(index) for s in loop.body for p in s.walk()
            ):
                halved = n.Assign(target, n.Binary("/", first, n.Literal(2, INT)))
                made[-2:] = [replace(loop, start=halved)]
            case [
                n.Assign(n.Name(name=index), first, "="),
                n.DoWhile(
                    (*turn, n.Assign(n.Name(name=own), _, "+=") as step),
                    n.Binary("<", n.Name(name=asked), _) as condition,
                ),
            ] if index == own == asked and not _leaves(turn) and _fixed(first, turn):
                start = made[-2]
                made[-2:] = [n.For(start, condition, step, tuple(turn))]
            case [
                n.Assign(n.Name(name=index), n.Literal(value=0), "="),
                n.DoWhile(
                    (*turn, n.Assign(n.Name(name=own), _, "+=") as step),
                    n.Binary("<=", n.Name(name=asked), _) as condition,
                ),
            ] if index == own == asked and not _leaves(turn) and _is_unsigned(types.get(index)):
                # There is nothing that 0 is more than.
                made[-2:] = [n.For(made[-2], condition, step, tuple(turn))]
            case [
                n.Assign(n.Name(name=index), first, "=") as start,
                n.DoWhile(
                    (*turn, n.Assign(n.Name(name=own), _, "+=") as step),
                    n.Binary("<=", n.Name(name=same), _) as condition,
                ),
            ] if index == own == same and not _leaves(turn) and _fixed(first, turn):
                loop = n.For(start, condition, step, tuple(turn))
                if any(_asks(part, loop) for part in holds):
                    made[-2:] = [loop]
            case [
                n.Assign(n.Name(name=index), n.Literal(value=0), "="),
                n.DoWhile(
                    (*turn, n.Assign(n.Name(name=own), n.Literal(value=1), "+=") as step),
                    n.Binary("!=", n.Name(name=asked), limit),
                ),
            ] if index == own == asked and not _leaves(turn) and _fixed(limit, turn):
                # Newer compilers ask whether the end was reached, whatever was asked for.
                types[index] = INT
                condition = n.Binary("<", n.Name(index), limit)
                made[-2:] = [n.For(n.Assign(n.Name(index), _ZERO), condition, step, tuple(turn))]
    return tuple(made)


def _halving(node: n.Statement) -> n.Statement:
    """``do { h = m / 2; ...; m = h; } while (m > 1)`` as ``for (h = m / 2; h > 0; h /= 2)``."""
    match node:
        case n.DoWhile(
            (*turn, n.Assign(n.Name(name=whole), n.Name(name=half), "=")),
            n.Binary(">", n.Name(name=asked), n.Literal(value=1)),
        ) if asked == whole and not _leaves(turn):
            halved = n.Assign(n.Name(half), n.Binary("/", n.Name(whole), n.Literal(2, INT)))
            rest = tuple(s for s in turn if s != halved)
            used = {p.name for s in rest for p in s.walk() if isinstance(p, n.Name)}
            if len(rest) + 1 == len(turn) and whole not in used:
                step = n.Assign(n.Name(half), n.Literal(2, INT), "/=")
                return n.For(halved, n.Binary(">", n.Name(half), _ZERO), step, rest)
    return node


def _fixed(first: n.Expression, turn: list[n.Statement]) -> bool:
    names = {p.name for p in first.walk() if isinstance(p, n.Name)}
    return not names & {name for s in turn for name in written(s)}


def _is_unsigned(type: Type | None) -> bool:
    return isinstance(type, Scalar) and not type.signed and not type.is_float


def _leaves(turn: list[n.Statement]) -> bool:
    return any(isinstance(p, n.Continue | n.Goto) for s in turn for p in s.walk())


def _inlined(body: Body, once: set[str]) -> Body:
    """Indices that are used in the next statement alone, written there."""
    made: list[n.Statement] = []
    for statement in body:
        previous = made[-1] if made else None
        match previous:
            case n.Assign(n.Name(name=name), value, "=") if name in once and _is_index(value):
                used = sum(isinstance(p, n.Name) and p.name == name for p in statement.walk())
                simple = isinstance(statement, n.Assign | n.Evaluate)
                if used == 1 and simple and name not in set(written(statement)):
                    made[-1] = _put(statement, name, value)
                    continue
        made.append(statement)
    return tuple(made)


def _is_index(value: n.Expression) -> bool:
    kinds = n.Name | n.Literal | n.Binary | n.Member
    return isinstance(value, n.Binary) and all(isinstance(p, kinds) for p in value.walk())


def _put(statement: n.Statement, name: str, value: n.Expression) -> n.Statement:
    def change(part: n.Node) -> n.Node:
        return value if part == n.Name(name) else part

    return bottom_up(statement, change)  # type: ignore[no-any-return]


def _parts(
    condition: n.Expression,
    named: dict[str, n.Binary],
    is_float: Callable[[n.Expression], bool],
) -> list[n.Expression]:
    """What has to hold all together, so that a condition does."""
    match condition:
        case n.Binary("&&", left, right):
            return [*_parts(left, named, is_float), *_parts(right, named, is_float)]
        case n.Unary("!", n.Binary("||", left, right)):
            both = negate(left, is_float), negate(right, is_float)
            return [part for one in both for part in _parts(one, named, is_float)]
        case n.Unary("!", n.Name(name=name)) if name in named and named[name].operator == "||":
            return _parts(n.Unary("!", named[name]), named, is_float)
    return [condition]


def _meant(part: n.Expression, named: dict[str, n.Binary]) -> n.Expression:
    """A comparison that was given a name, or the opposite of one."""
    match part:
        case n.Name(name=name) if name in named:
            return named[name]
        case n.Unary("!", n.Name(name=name)) if name in named:
            found = named[name]
            if found.operator in CONTRARY:
                return n.Binary(CONTRARY[found.operator], found.left, found.right)
    return part


def _meanings(part: n.Expression, named: dict[str, n.Binary]) -> list[n.Expression]:
    """What a comparison says: that a number is not negative, of twice the number, too."""
    found = [_meant(part, named)]
    match part:
        case n.Binary(">=", half, n.Literal(value=0)):
            twice = [name for name, value in named.items()
                     if value == n.Binary("<<", half, _ONE)]  # fmt: skip
            found += [n.Binary(">=", n.Name(name), _ZERO) for name in twice]
    return found


def _joined(parts: list[n.Expression]) -> n.Expression:
    made = parts[0]
    for part in parts[1:]:
        made = n.Binary("&&", made, part)
    return made


def _asked_inside(part: n.Expression, body: Body) -> bool:
    """Whether all that a condition guards is a loop that asks it, maybe inside of another."""
    loops = [s for s in body if isinstance(s, n.For)]
    rest = [s for s in body if not isinstance(s, n.For)]
    if len(loops) != 1 or any(not isinstance(s, n.Assign) or _touches(s) for s in rest):
        return False
    return _asks(part, _spelled(loops[0], rest)) or _asked_within(part, loops[0].body)


def _spelled(loop: n.For, before: Sequence[n.Statement]) -> n.For:
    """A loop with what its limit is one more than twice of, if that was given a name."""
    match loop.condition:
        case n.Binary(operator, index, n.Name() as limit):
            for one in before:
                match one:
                    case n.Assign(target, value, "=") if target == limit and _half(value):
                        return replace(loop, condition=n.Binary(operator, index, value))
    return loop


def _asked_within(part: n.Expression, body: Body) -> bool:
    """Whether a loop in a loop asks it, or one in that, where nothing is done but the innermost."""
    found = [s for s in body if isinstance(s, n.For)]
    if len(found) != 1:
        return False
    if all(isinstance(s, n.For) or (isinstance(s, n.Assign) and not _touches(s)) for s in body):
        return _asks(part, found[0]) or _asked_within(part, found[0].body)
    return len(body) < 4 and _asks(part, found[0])


def _touches(node: n.Assign) -> bool:
    """Whether an assignment does more than to set a variable."""
    return not isinstance(node.target, n.Name)


def _asks(part: n.Expression, loop: n.For) -> bool:
    part, loop = bottom_up(part, _of_int), replace(loop, body=())
    match bottom_up(loop, _of_int):
        case n.For(None, condition):
            return part == condition
        case n.For(n.Assign(_, n.Binary("/", first, n.Literal(value=2))), _, n.Assign(_, by, "/=")):
            # What can be halved is two at least.
            two = n.Literal(2, INT)
            return by == two and part in (n.Binary(">=", first, two), n.Binary(">", first, _ONE))
        case n.For(n.Assign(n.Name(name=index), first), n.Binary("<", n.Name(name=own), limit)):
            if index != own:
                return False
            bare = limit.operand if isinstance(limit, n.Cast) else limit
            forms = [n.Binary("<", first, limit), n.Binary(">", limit, first)]
            if first == _ZERO:
                forms += [n.Binary(">=", limit, _ONE), n.Binary("!=", bare, _ZERO)]
                whole = _rounded_up(limit)
                forms += [] if whole is None else [n.Binary(">=", whole[0], _ONE)]
                half = _half(limit)
                forms += [] if half is None else [n.Binary(">=", half, _ZERO)]
            return part in forms or _ask_pointers(part, first, limit)
        case n.For(n.Assign(n.Name(name=index), first), n.Binary("<=", n.Name(name=own), limit)):
            return index == own and part in (
                n.Binary("<=", first, limit),
                n.Binary(">=", limit, first),
            )
        case n.For(n.Assign(n.Name(name=index), first), n.Binary("!=", n.Name(name=own), limit)):
            return index == own and _ask_pointers(part, first, limit)
    return False


def _of_int(node: n.Node) -> n.Node:
    """A number of any width as one of an ``int``: what a loop counts up to has the width."""
    match node:
        case n.Literal(value=int() as value, type=Scalar() as type) if (
            type.is_integer and not isinstance(value, bool)
        ):
            return n.Literal(value, INT)
    return node


def _rounded_up(limit: n.Expression) -> tuple[n.Expression, int] | None:
    """What is divided, by which number, where a limit is a quotient that is rounded up."""
    match limit:
        case n.Binary(
            ">>",
            n.Binary("+", whole, n.Literal(value=int() as more)),
            n.Literal(value=int() as bits),
        ) if more == (1 << bits) - 1:
            return whole, 1 << bits
    return None


def _half(limit: n.Expression) -> n.Expression | None:
    """The number that a limit is one more than twice of."""
    match limit:
        case n.Binary("+", n.Binary("<<", half, n.Literal(value=1)), n.Literal(value=1)):
            return half
        case n.Binary("+", n.Binary("*", half, n.Literal(value=2)), n.Literal(value=1)):
            return half
    return None


def _by_quotient(node: n.Statement) -> n.Statement:
    """A loop up to a quotient: of what is less than 0, too, where nobody asks for that before."""
    match node:
        case n.For(condition=n.Binary("<", index, limit)) if whole := _rounded_up(limit):
            assert isinstance(limit, n.Binary)
            quotient = n.Binary("/", limit.left, n.integer(whole[1]))
            return replace(node, condition=n.Binary("<", index, quotient))
    return node


def _ask_pointers(part: n.Expression, first: n.Expression, limit: n.Expression) -> bool:
    """Whether a condition is about the indices of where a pointer begins and where it ends."""
    match first, limit, part:
        case (
            n.Binary("+", base, begin),
            n.Binary("+", other, end),
            n.Binary("<" | "!=", left, right),
        ):
            return base == other and (left, right) == (begin, end)
    return False
