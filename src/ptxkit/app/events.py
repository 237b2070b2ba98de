"""What happens on the page: every button, every choice, and the opening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxkit.app import examples, sharing
from ptxkit.app.limits import InputRefused
from ptxkit.app.loading import gradio
from ptxkit.app.markup import message
from ptxkit.app.page import Page, Updates, state_of

if TYPE_CHECKING:
    from gradio import Request
else:
    Request = gradio().Request  # by this name Gradio knows what a handler wants

_TOGGLE = "() => { document.body.classList.toggle('dark'); }"
_COPY = """(query) => {
  if (!query) return;
  const url = new URL(window.location.href);
  url.search = query;
  history.replaceState(null, '', url);
  if (navigator.clipboard) navigator.clipboard.writeText(url.href).catch(() => {});
}"""
_HIDDEN: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
#: Any number at a time: the pool has the limit, and newer work of a page ends the older.
_MANY: dict[str, Any] = {**_HIDDEN, "concurrency_limit": None, "trigger_mode": "multiple"}


def connect(page: Page, blocks: Any) -> None:
    """Give every component its handler."""
    page.theme.click(None, js=_TOGGLE, **_HIDDEN)
    opened = _opening(page, blocks)
    explored = _exploring(page)
    opened.then(explored[0], explored[1], explored[2], **_MANY)
    _decompiling(page)
    _running(page)
    _stack(page)
    _injecting(page)
    _samples(page)
    for tab in (page.explore_tab, page.decompile_tab, page.run_tab):
        tab.select(lambda: page.gr.update(visible=True), None, page.left, **_HIDDEN)
    page.generate_tab.select(lambda: page.gr.update(visible=False), None, page.left, **_HIDDEN)


def _stop(page: Page, area: str) -> Any:
    """A handler that ends the work of an area of the page."""

    def handler(request: Request) -> None:
        page.pool.stop(page.owner(request, area))

    return handler


def _opening(page: Page, blocks: Any) -> Any:
    def restore(request: Request) -> dict[Any, Any]:
        state, words = state_of(dict(request.query_params))
        fields = {
            "text": page.text, "arch": page.arch, "other": page.other, "grid": page.grid,
            "block": page.block, "arguments": page.arguments, "program": page.program,
            "inputs": page.inputs, "outputs": page.results, "engine": page.engine,
            "beams": page.beams,
        }  # fmt: skip
        made: dict[Any, Any] = {page.notice: words}
        made |= {fields[name]: value for name, value in state.items() if name in fields}
        if state.get("text"):
            made[page.example] = None
        return made

    def link(*values: Any) -> tuple[str, str]:
        names = ("text", "arch", "other", "grid", "block", "arguments", "program", "inputs",
                 "outputs", "engine", "beams")  # fmt: skip
        try:
            state = dict(zip(names, values, strict=True))
            packed = sharing.encode({**state, "beams": int(state["beams"])})
        except InputRefused as error:
            return "", message(str(error), "warning")
        return f"{sharing.NAME}={packed}", message(
            "The address of this page has it all; it is copied."
        )

    shared = [page.text, page.arch, page.other, page.grid, page.block, page.arguments,
              page.program, page.inputs, page.results, page.engine, page.beams]  # fmt: skip
    page.share.click(link, shared, [page.link, page.notice], **_HIDDEN).then(
        None, page.link, None, js=_COPY, **_HIDDEN
    )
    outputs = [page.notice, page.example, *shared]
    return blocks.load(restore, None, outputs, **_HIDDEN)


def _exploring(page: Page) -> tuple[Any, list[Any], list[Any]]:
    gr = page.gr
    places = {"ptx": page.ptx, "summary": page.summary, "resources": page.needs, **page.views}

    def explore(text: str, kind: str, arch: str, request: Request) -> Updates:
        yield page.mark("explore")
        given = {"text": text, "kind": kind, "arch": arch}
        yield from page.work(request, "explore", [("explore", given)], places, page.status)

    inputs = [page.text, page.kind, page.arch]
    outputs = [*places.values(), page.status, page.stale["explore"]]
    page.go.click(explore, inputs, outputs, **_MANY)
    page.arch.input(explore, inputs, outputs, **_MANY)
    page.kind.input(explore, inputs, outputs, **_MANY)
    page.halt.click(_stop(page, "explore"), queue=False, **_HIDDEN)
    # Another input is explored at once, and only that.
    others = [page.stale["decompile"], page.stale["run"]]

    def marked() -> dict[Any, Any]:
        return page.mark("decompile", shown=True) | page.mark("run", shown=True)

    def choose(name: str) -> dict[Any, Any]:
        return {page.text: examples.EXAMPLES.get(name, "")} | marked()

    chosen = page.example.input(choose, page.example, [page.text, *others], **_HIDDEN)

    def named(text: str, name: str | None) -> Any:
        edited = name is not None and examples.EXAMPLES.get(name) != text
        return gr.update(label="Example (edited)" if edited else "Example")

    latest: dict[str, Any] = {**_HIDDEN, "trigger_mode": "always_last"}
    page.text.change(named, [page.text, page.example], page.example, **latest)
    chosen.then(explore, inputs, outputs, **_MANY)

    def unpack(data: bytes | None, part: str | None, request: Request) -> Updates:
        number = int(part.partition(":")[0]) - 1 if part else 0
        found: dict[str, Any] = {}

        def keep(name: str) -> Any:
            def handler(content: Any) -> dict[Any, Any]:
                found[name] = content
                if name == "text":
                    return {page.text: content, page.example: None} | marked()
                chosen = content[min(number, len(content) - 1)] if content else None
                many = len(content) > 1
                return {page.part: gr.update(choices=content, value=chosen, visible=many)}

            return handler

        if not data:
            return
        yield {page.file: data}
        task = ("unpack", {"data": data, "name": "the upload", "part": number})
        special = {"text": keep("text"), "parts": keep("parts")}
        yield from page.work(request, "explore", [task], {}, page.status, special)

    def upload(data: bytes | None, request: Request) -> Updates:
        yield from unpack(data, None, request)

    unpacked = [page.text, page.example, page.part, page.file, page.status, *others]
    page.upload.upload(upload, page.upload, unpacked, **_MANY).then(
        explore, inputs, outputs, **_MANY
    )
    page.part.input(unpack, [page.file, page.part], unpacked, **_MANY).then(
        explore, inputs, outputs, **_MANY
    )

    def compare(
        text: str, other: str, arch: str, other_arch: str, kind: str, renamed: bool,
        request: Request,
    ) -> Updates:  # fmt: skip
        given = {"text": text, "other": other, "arch": arch, "other_arch": other_arch,
                 "kind": kind, "renamed": renamed}  # fmt: skip
        diffs = {"ptx_diff": page.ptx_diff, "needs_diff": page.needs_diff,
                 "sass_diff": page.sass_diff}  # fmt: skip
        yield dict.fromkeys(diffs.values(), "")
        yield from page.work(request, "explore", [("compare", given)], diffs, page.compare_status)

    page.compare.click(
        compare,
        [page.text, page.other, page.arch, page.other_arch, page.kind, page.renamed],
        [page.ptx_diff, page.needs_diff, page.sass_diff, page.compare_status],
        **_MANY,
    )
    return explore, inputs, outputs


def _decompiling(page: Page) -> None:
    gr = page.gr
    places = {"ptx": page.decompile_ptx, "candidates": page.candidates, **page.decompile_views}

    def kernels(content: Any) -> dict[Any, Any]:
        return {page.decompile_kernel: gr.update(choices=content["names"], value=content["chosen"])}

    def decompile(
        text: str, engine: str, beams: int, kernel: str | None, request: Request
    ) -> Updates:
        yield {page.decompiled_for: text} | page.mark("decompile")
        given = {"text": text, "which": engine, "beams": int(beams), "kernel": kernel or ""}
        yield from page.work(
            request, "decompile", [("decompile", given)], places, page.decompile_status,
            {"kernels": kernels},
        )  # fmt: skip

    def entered(
        text: str, engine: str, beams: int, kernel: str | None, before: str | None,
        request: Request,
    ) -> Updates:  # fmt: skip
        if before != text:
            yield from decompile(text, engine, beams, kernel, request)
        else:  # whatever was edited is as it was
            yield page.mark("decompile")

    inputs = [page.text, page.engine, page.beams, page.decompile_kernel]
    outputs = [*places.values(), page.decompile_status, page.decompile_kernel, page.decompiled_for,
               page.stale["decompile"]]  # fmt: skip
    page.decompile_go.click(decompile, inputs, outputs, **_MANY)
    page.decompile_kernel.input(decompile, inputs, outputs, **_MANY)
    page.decompile_tab.select(entered, [*inputs, page.decompiled_for], outputs, **_MANY)
    page.decompile_halt.click(_stop(page, "decompile"), queue=False, **_HIDDEN)


def _running(page: Page) -> None:
    gr = page.gr

    def kernels(content: Any) -> dict[Any, Any]:
        return {page.kernel: gr.update(choices=content["names"], value=content["chosen"])}

    def launch(content: Any) -> dict[Any, Any]:
        return {page.grid: content["grid"], page.block: content["block"],
                page.arguments: content["arguments"], page.shared: content["shared"]}  # fmt: skip

    def prepare(text: str, kernel: str | None, request: Request) -> Updates:
        yield {page.ran_for: text}
        task = ("prepare", {"source": text, "kernel": kernel or ""})
        special = {"kernels": kernels, "launch": launch}
        yield from page.work(request, "run", [task], {}, page.run_status, special)

    def run(
        text: str, kernel: str | None, grid: str, block: str, arguments: str, shared: float,
        device: str, sanitize: bool, request: Request,
    ) -> Updates:  # fmt: skip
        yield {page.shown_for: text} | page.mark("run")
        given = {"source": text, "kernel": kernel or "", "grid": grid, "block": block,
                 "arguments": arguments, "shared": int(shared or 0), "device": device,
                 "sanitize": sanitize}  # fmt: skip
        places = {"outputs": page.outputs, "profile": page.profile}
        yield from page.work(request, "run", [("run", given)], places, page.run_status)

    def entered(text: str, kernel: str | None, before: str | None, request: Request) -> Updates:
        if before != text:
            yield from prepare(text, kernel, request)

    def first_run(
        text: str, kernel: str | None, grid: str, block: str, arguments: str, shared: float,
        device: str, sanitize: bool, before: str | None, request: Request,
    ) -> Updates:  # fmt: skip
        if before != text:
            yield from run(text, kernel, grid, block, arguments, shared, device, sanitize, request)
        else:
            yield page.mark("run")

    prepared = [page.kernel, page.grid, page.block, page.arguments, page.shared, page.run_status,
                page.ran_for]  # fmt: skip
    given = [page.text, page.kernel, page.grid, page.block, page.arguments, page.shared,
             page.device, page.sanitize]  # fmt: skip
    results = [page.outputs, page.profile, page.run_status, page.shown_for, page.stale["run"]]
    page.suggest.click(prepare, [page.text, page.kernel], prepared, **_MANY)
    page.kernel.input(prepare, [page.text, page.kernel], prepared, **_MANY)
    page.run_go.click(run, given, results, **_MANY)
    page.run_halt.click(_stop(page, "run"), queue=False, **_HIDDEN)
    page.run_tab.select(entered, [page.text, page.kernel, page.ran_for], prepared, **_MANY).then(
        first_run, [*given, page.shown_for], results, **_MANY
    )


def _stack(page: Page) -> None:
    places = {"stub": page.stub, "picture": page.picture}

    def compile_it(program: str, inputs: str, outputs: str, request: Request) -> Updates:
        given = {"program": program, "inputs": inputs, "outputs": outputs}
        yield from page.work(request, "generate", [("stack", given)], places, page.stack_status)

    def vary(fresh: bool) -> Any:
        def handler(
            program: str, inputs: str, length: int, seed: float, request: Request
        ) -> Updates:
            given = {"program": program, "inputs": inputs, "length": int(length),
                     "seed": int(seed or 0), "fresh": fresh}  # fmt: skip
            yield {page.seed: int(seed or 0) + 1}
            yield from page.work(
                request, "generate", [("vary", given)], {"program": page.program},
                page.stack_status,
            )  # fmt: skip

        return handler

    inputs = [page.program, page.inputs, page.results]
    outputs = [page.stub, page.picture, page.stack_status]
    for one in inputs:  # as one types
        one.change(compile_it, inputs, outputs, **{**_MANY, "trigger_mode": "always_last"})
    page.generate_tab.select(compile_it, inputs, outputs, **_MANY)
    given = [page.program, page.inputs, page.length, page.seed]
    varied = [page.program, page.seed, page.stack_status]
    page.random.click(vary(True), given, varied, **_MANY)
    page.mutate.click(vary(False), given, varied, **_MANY)


def _injecting(page: Page) -> None:
    places = {"sites": page.sites, "rendered": page.rendered}

    def inject(source: str, program: str, arch: str, request: Request) -> Updates:
        given = {"source": source, "program": program, "arch": arch}
        yield from page.work(request, "generate", [("inject", given)], places, page.inject_status)

    inputs = [page.template, page.filling, page.arch]
    outputs = [*places.values(), page.inject_status]
    page.inject_go.click(inject, inputs, outputs, **_MANY)
    page.filling.submit(inject, inputs, outputs, **_MANY)
    page.inject_tab.select(inject, inputs, outputs, **_MANY)


def _samples(page: Page) -> None:
    gr = page.gr
    places = {"view": page.view, "ptx": page.sample_ptx, "proof": page.proof}
    known: dict[str, tuple[str, ...]] = {}

    def offered(content: Any) -> dict[Any, Any]:
        known.update(content)
        first = "tiers" if "tiers" in content else next(iter(content), None)
        categories = [] if first is None else ["any", *content[first]]
        return {
            page.source: gr.update(choices=list(content), value=first),
            page.category: gr.update(choices=categories, value="any"),
        }

    def make(
        source: str | None, category: str | None, seed: float, index: float, request: Request
    ) -> Updates:
        if not source:
            yield from page.work(
                request, "generate", [("sources", {})], {}, page.sample_status, {"sources": offered}
            )
            source = "tiers"
        given = {"source": source, "category": category or "", "seed": int(seed or 0),
                 "index": int(index or 0)}  # fmt: skip
        yield from page.work(request, "generate", [("sample", given)], places, page.sample_status)

    def categories(source: str) -> Any:
        return gr.update(choices=["any", *known.get(source, ())], value="any")

    inputs = [page.source, page.category, page.sample_seed, page.index]
    outputs = [*places.values(), page.sample_status, page.source, page.category]
    page.source.input(categories, page.source, page.category, **_HIDDEN)
    page.sample_go.click(make, inputs, outputs, **_MANY)
    page.another.click(lambda index: int(index or 0) + 1, page.index, page.index, **_HIDDEN).then(
        make, inputs, outputs, **_MANY
    )
    page.sample_halt.click(_stop(page, "generate"), queue=False, **_HIDDEN)
    page.sample_tab.select(make, inputs, outputs, **_MANY)
