"""PTX from Triton, compiled without a GPU."""
# mypy: disable-error-code="import-untyped, import-not-found"

from __future__ import annotations

import inspect
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from corpus import oracle
from corpus.store import Entry, Store, fingerprint
from corpus.tools import MissingToolError, Tool

if TYPE_CHECKING:
    from corpus.triton_recipes import Recipe


def build(store: Store) -> None:
    """Compile what is missing, drop what no recipe makes any more, ask Triton's own ptxas."""
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # 3.10 changes the default
    try:
        import triton
    except ImportError as problem:
        raise MissingToolError(f"{problem}: pip install triton") from problem
    from corpus import triton_kernels
    from corpus.triton_recipes import RECIPES

    kernels = inspect.getsource(triton_kernels)
    jobs = [(recipe, capability) for recipe in RECIPES for capability in recipe.capabilities]
    print(f"triton: {len(jobs)} jobs with triton {triton.__version__}", flush=True)
    store.forget_failures("triton")
    made = set()
    for recipe, capability in jobs:
        path = f"triton/{recipe.name}.sm_{capability}.ptx"
        made.add(path)
        key = fingerprint(kernels, describe(recipe), str(capability), triton.__version__)
        if store.has(path, key):
            continue
        try:
            data = compile_one(recipe, capability)
        except Exception as problem:  # Triton raises many kinds; each means "not this one"
            store.fail(path, f"{type(problem).__name__}: {problem}")
        else:
            entry = Entry(
                path=path,
                origin="triton",
                source=f"corpus/triton_kernels.py:{recipe.kernel.__name__}",
                target=oracle.target_of(data),
                options=describe(recipe),
                tools={"triton": triton.__version__},
                recipe=key,
                sha256="",
                size=0,
            )
            store.put(data, entry)
        store.save()
    store.prune("triton", made)
    oracle.check(store, "triton", bundled_ptxas)


def describe(recipe: Recipe) -> str:
    """The recipe's types, constants and options in one line."""
    named = {**recipe.constants, **recipe.options}
    return " ".join([recipe.types, *(f"{key}={value}" for key, value in named.items())])


def compile_one(recipe: Recipe, capability: int) -> bytes:
    """Compile one kernel for one architecture, with a cache of its own."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = [n for n in recipe.kernel.arg_names if n not in recipe.constants]
    types = dict(zip(names, recipe.types.split(), strict=True))
    signature = {n: types.get(n, "constexpr") for n in recipe.kernel.arg_names}
    aligned = {
        (index,): [["tt.divisibility", 16]]
        for index, kind in enumerate(signature.values())
        if kind.startswith("*") or kind == "i32"
    }
    source = ASTSource(recipe.kernel, signature, recipe.constants, aligned)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        target = GPUTarget("cuda", capability, 32)
        kernel = triton.compile(source, target=target, options=dict(recipe.options))
    ptx: str = kernel.asm["ptx"]
    return ptx.encode()


def bundled_ptxas(entry: Entry) -> Tool:
    """The ptxas that Triton itself uses for this file's architecture; it ships two."""
    from triton.backends.nvidia.compiler import get_ptxas

    capability = int(entry.target.removeprefix("sm_").rstrip("af"))
    path = Path(get_ptxas(capability).path)
    return Tool(f"triton {path.name}", path)
