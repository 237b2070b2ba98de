"""Elements that are read where they are used, or all of them first, as long as nothing is stored.

Some people write ``x[i]`` again and again; a compiler loads it once. In which order it multiplies
and adds may depend on where it found the loads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Pointer, Type
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists, written
from ptxkit.decompiler.refine.places import NewNames


def loads_in_place(function: n.Function) -> n.Function:
    """The function with elements read in place, and once more before the first store.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param (ptr float) y))
    ...     (let float v ([] x 0))
    ...     (let float w (* v v))
    ...     (= ([] y 0) (+ w v))
    ...     (= ([] y 1) v))''')
    >>> print(print_function(loads_in_place(kernel)), end="")
    __global__ void k(float *x, float *y) {
        float w = x[0] * x[0];
        float v = x[0];
        y[0] = w + v;
        y[1] = v;
    }
    """
    body = function.body or ()
    sets = Counter(name for s in body for name in written(s))
    return replace(function, body=_list(body, sets))


def _list(body: Body, sets: Counter[str]) -> Body:
    made: list[n.Statement] = []
    known: dict[str, n.Declare] = {}
    for place, whole in enumerate(body):
        statement = rebuilt_lists(whole, lambda inner: _list(inner, sets))
        match statement:
            case n.Declare(name=name, value=n.Index() as value, space="") if sets[name] <= 1:
                if not any(sets[other] > 1 for other in value.names()):
                    known[name] = replace(statement, value=_put(value, known))
                    continue
        if known and not isinstance(statement, n.Declare):
            # What is read here or later is read before this may store something.
            read = {name for s in body[place:] for name in s.names()}
            made += [declared for name, declared in known.items() if name in read]
            known = {}
        made.append(_put(statement, known))
    return tuple(made)


def compared_in_place(function: n.Function) -> n.Function:
    """The function with what is compared, and then kept, read for both: ``if (x[i] > most) ...``.

    A compiler that finds a second load behind a question leaves the question a branch.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let float most 0.0f)
    ...     (for (let int i 0) (< i n) (+= i 1)
    ...         (let float v ([] x i))
    ...         (if (> v most) (then (= most v))))
    ...     (= ([] x 0) most))''')
    >>> print(print_function(compared_in_place(kernel)), end="")
    __global__ void k(float *x, int n) {
        float most = 0.0f;
        for (int i = 0; i < n; i++) {
            if (x[i] > most) most = x[i];
        }
        x[0] = most;
    }
    """
    return replace(function, body=_compared(function.body or ()))


def _compared(body: Body) -> Body:
    made = [rebuilt_lists(s, _compared) for s in body]
    for place in range(len(made) - 2, -1, -1):
        match made[place], made[place + 1]:
            case (
                n.Declare(name=name, value=n.Index(), space="") as declared,
                n.If(condition=condition) as asked,
            ) if name in condition.names():
                later = any(name in s.names() for s in made[place + 2 :])
                stores = any(
                    not isinstance(p.target, n.Name) or p.target.name in declared.names() | {name}
                    for p in asked.walk()
                    if isinstance(p, n.Assign)
                )
                if not later and not stores and name in _kept(asked):
                    made[place : place + 2] = [_put(asked, {name: declared})]
    return tuple(made)


def _kept(asked: n.If) -> set[str]:
    """The variables that others are set to behind a question."""
    return {
        s.value.name
        for s in (*asked.then, *asked.otherwise)
        if isinstance(s, n.Assign) and isinstance(s.value, n.Name)
    }


def set_once_in_place(function: n.Function) -> n.Function:
    """The function with what is declared at one place, and set at another, where it is used.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int n))
    ...     (let int i)
    ...     (while true (= i (+ n 1)) (if (> ([] x 0) n) (then (break))))
    ...     (= ([] x i) n))''')
    >>> print(print_function(set_once_in_place(kernel)), end="")
    __global__ void k(int *x, int n) {
        while (true) {
            if (x[0] > n) break;
        }
        x[n + 1] = n;
    }
    """
    body = function.body or ()
    sets = Counter(name for s in body for name in written(s))
    empty = {p.name for s in body for p in s.walk() if isinstance(p, n.Declare) and not p.value
             and not p.space}  # fmt: skip
    values = {
        p.target.name: p.value
        for s in body
        for p in s.walk()
        if isinstance(p, n.Assign)
        and isinstance(p.target, n.Name)
        and p.target.name in empty
        and p.operator == "="
        and sets[p.target.name] == 2
        and all(sets[name] < 2 for name in p.value.names())
        and not any(isinstance(one, n.Index | n.Call) for one in p.value.walk())
    }

    def placed(inner: Body) -> Body:
        made = (rebuilt_lists(s, placed) for s in inner)
        return tuple(s for s in made if not _sets_one_of(s, values))

    def change(part: Any) -> Any:
        return values[part.name] if isinstance(part, n.Name) and part.name in values else part

    return replace(function, body=tuple(bottom_up(s, change) for s in placed(body)))


def _sets_one_of(statement: n.Statement, names: Mapping[str, n.Expression]) -> bool:
    match statement:
        case n.Declare(name=name, value=None) | n.Assign(target=n.Name(name=name)):
            return name in names
    return False


def loads_first(function: n.Function) -> n.Function:
    """The function with elements read into variables, one after the other, before all else.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param (ptr float) y))
    ...     (let float v (- ([] x 0) ([] x 1)))
    ...     (= ([] y 0) (* v ([] x 2))))''')
    >>> print(print_function(loads_first(kernel)), end="")
    __global__ void k(float *x, float *y) {
        float e = x[0];
        float e1 = x[1];
        float e2 = x[2];
        float v = e - e1;
        y[0] = v * e2;
    }
    """
    pointers = {p.name: p.type.target for p in function.parameters if isinstance(p.type, Pointer)}
    return replace(function, body=_First(function, pointers).list(function.body or ()))


def places_first(function: n.Function) -> n.Function:
    """The function with names for the places of elements, all of them before the first is read.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int w) (param int i))
    ...     (= ([] x (+ (* w 2) i)) (- ([] x (+ w i)) ([] x (+ (* w 2) i)))))''')
    >>> print(print_function(places_first(kernel)), end="")
    __global__ void k(float *x, int w, int i) {
        int place = w + i;
        int place1 = w * 2 + i;
        x[place1] = x[place] - x[place1];
    }
    """
    pointers = {p.name: p.type.target for p in function.parameters if isinstance(p.type, Pointer)}
    return replace(function, body=_Places(function, pointers).list(function.body or ()))


def arguments_first(function: n.Function) -> Iterator[n.Function]:
    """The function with what atomics are given in variables: the place and the value, or that.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k
    ...     (params (param (ptr float) x) (param (ptr float) y) (param int i)))''')
    >>> x, y, i = map(n.Name, "xyi")
    >>> cell = n.Unary("&", n.Index(y, n.Binary("*", i, n.integer(3))))
    >>> call = n.Evaluate(n.Call("atomicAdd", (cell, n.Index(x, i))))
    >>> for other in arguments_first(replace(kernel, body=(call,))):
    ...     print(print_function(other), end="")
    __global__ void k(float *x, float *y, int i) {
        int place = i * 3;
        float e = x[i];
        atomicAdd(&y[place], e);
    }
    __global__ void k(float *x, float *y, int i) {
        float e = x[i];
        atomicAdd(&y[i * 3], e);
    }
    """
    pointers = {p.name: p.type.target for p in function.parameters if isinstance(p.type, Pointer)}
    for both in (True, False):
        made = _Arguments(function, pointers, both).list(function.body or ())
        if made != function.body:
            yield replace(function, body=made)


class _First:
    """Names elements."""

    def __init__(self, function: n.Function, pointers: Mapping[str, Type]) -> None:
        self.pointers = pointers
        self.names = NewNames(function)

    def list(self, body: Body) -> Body:
        """Statements with what they load before they store anything in front of them."""
        inner = tuple(rebuilt_lists(s, self.list) for s in body)
        if inner != body:
            return inner
        end = next((k for k, s in enumerate(body) if not isinstance(s, n.Declare)), len(body))
        loaded: dict[n.Index, str] = {}
        for statement in body[: end + 1]:
            for part in _evaluated(statement):
                if isinstance(part, n.Index) and part not in loaded and self._is_plain(part):
                    loaded[part] = self.names.take("e")
        if len(loaded) < 2:
            return body
        names = {name for part in loaded for name in part.names()}
        place = max((k + 1 for k, s in enumerate(body[:end])
                     if isinstance(s, n.Declare) and s.name in names), default=0)  # fmt: skip

        def change(node: Any) -> Any:
            return n.Name(loaded[node]) if isinstance(node, n.Index) and node in loaded else node

        def read(statement: n.Statement) -> n.Statement:
            if isinstance(statement, n.Assign):
                return replace(statement, value=bottom_up(statement.value, change))
            made: n.Statement = bottom_up(statement, change)
            return made

        declared = [
            n.Declare(self.pointers[part.base.name], name, part)
            for part, name in loaded.items()
            if isinstance(part.base, n.Name)
        ]
        after = [read(s) if k <= end else s for k, s in enumerate(body) if k >= place]
        return (*body[:place], *declared, *after)

    def _is_plain(self, part: n.Index) -> bool:
        plain = isinstance(part.base, n.Name) and part.base.name in self.pointers
        return plain and not any(isinstance(p, n.Index | n.Call) for p in part.index.walk())


class _Arguments(_First):
    """Names what atomics are given."""

    def __init__(
        self, function: n.Function, pointers: Mapping[str, Type], places: bool = True
    ) -> None:
        super().__init__(function, pointers)
        self.places = places

    def list(self, body: Body) -> Body:
        made: list[n.Statement] = []
        for whole in body:
            statement = rebuilt_lists(whole, self.list)
            match statement:
                case n.Evaluate(n.Call(name, (n.Unary("&", n.Index(base, index)), value))) if (
                    name.startswith("atomic")
                ):
                    if self.places and isinstance(index, n.Binary | n.Cast):
                        place = self.names.take("place")
                        made.append(n.Declare(INT, place, index))
                        index = n.Name(place)
                    if isinstance(value, n.Index) and self._is_plain(value):
                        assert isinstance(value.base, n.Name)
                        element = self.names.take("e")
                        made.append(n.Declare(self.pointers[value.base.name], element, value))
                        value = n.Name(element)
                    where = n.Unary("&", n.Index(base, index))
                    statement = n.Evaluate(n.Call(name, (where, value)))
            made.append(statement)
        return tuple(made)


class _Places(_First):
    """Names the places of elements."""

    def list(self, body: Body) -> Body:
        inner = tuple(rebuilt_lists(s, self.list) for s in body)
        if inner != body:
            return inner
        sets = Counter(name for s in body for name in written(s))
        found: dict[n.Expression, str] = {}
        for statement in body:
            for part in (*_evaluated(statement), *statement.walk()):
                if isinstance(part, n.Index) and self._is_plain(part) and part.index not in found:
                    fixed = all(sets[name] < 2 for name in part.index.names())
                    if fixed and isinstance(part.index, n.Binary):
                        found[part.index] = self.names.take("place")
        if len(found) < 2:
            return body
        names = {name for index in found for name in index.names()}
        start = max((k + 1 for k, s in enumerate(body) if names & set(written(s))), default=0)
        if any(isinstance(p, n.Index) for s in body[:start] for p in s.walk()):
            return body

        def change(node: Any) -> Any:
            if isinstance(node, n.Index) and node.index in found:
                return n.Index(node.base, n.Name(found[node.index]))
            return node

        declared = [n.Declare(INT, name, index) for index, name in found.items()]
        return (*body[:start], *declared, *(bottom_up(s, change) for s in body[start:]))


def _evaluated(statement: n.Statement) -> Iterator[n.Node]:
    """What a statement reads, as it stands in the text."""
    if isinstance(statement, n.Declare):
        yield from statement.value.walk() if statement.value is not None else ()
    elif isinstance(statement, n.Assign) and statement.operator == "=":
        yield from statement.value.walk()


def _put(node: Any, known: Mapping[str, n.Declare]) -> Any:
    def change(part: Any) -> Any:
        if isinstance(part, n.Name) and part.name in known:
            return known[part.name].value
        return part

    return bottom_up(node, change) if known else node
