"""A file in the forms that people prefer, as far as the compiler makes the same PTX of it.

What was proved about a file is proved about every file that compiles to the same PTX: only such
ones are chosen from.
"""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import known_types
from ptxkit.decompiler.learned.forms import FORMS, Question, rewritten
from ptxkit.decompiler.learned.linear import Ranker
from ptxkit.decompiler.unchanged import with_functions
from ptxkit.decompiler.verify.certificates import compiled

#: Longer files (instructions) take long to compile, and are left as they are.
_MOST = 4000


def preferred(tree: n.CudaModule, ranker: Ranker, arch: str, *, separate: bool) -> n.CudaModule:
    """The file with each question about its form answered as people probably would.

    First everything is answered at once; a function whose PTX is then another one is asked one
    kind of question at a time. ``separate`` is as for `compiled`.
    """
    functions = {i.name: i for i in tree.items if isinstance(i, n.Function) and i.body is not None}
    known = known_types(tree)
    wanted = {
        name: other
        for name, function in functions.items()
        if (other := rewritten(function, lambda q: ranker.score(q.features) > 0, known)) != function
    }
    if not wanted:
        return tree
    base = compiled(tree, arch, separate=separate).module
    if base is None or sum(len(f.instructions) for f in base.functions if f.has_body) > _MOST:
        return tree
    made, different = with_functions(tree, wanted, base, arch, separate=separate)
    if not different:
        return made
    taken = {name: other for name, other in wanted.items() if name not in different}
    for form in FORMS:
        step: dict[str, n.Function] = {}
        for name in sorted(different & wanted.keys()):
            now = taken.get(name, functions[name])

            def decide(question: Question, form: str = form) -> bool:
                return question.form == form and ranker.score(question.features) > 0

            other = rewritten(now, decide, known)
            if other != now:
                step[name] = other
        if step:
            _, wrong = with_functions(tree, {**taken, **step}, base, arch, separate=separate)
            taken.update({name: new for name, new in step.items() if name not in wrong})
    made, different = with_functions(tree, taken, base, arch, separate=separate)
    return tree if different else made
