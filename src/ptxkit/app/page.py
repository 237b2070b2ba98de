"""The page: what stands where, and what happens when."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ptxkit.app import examples, sharing
from ptxkit.app.jobs import Pool, Stopped
from ptxkit.app.limits import ARCHITECTURES, KINDS, MOST_FILE, SECONDS, InputRefused, size
from ptxkit.app.loading import gradio as load_gradio
from ptxkit.app.markup import badge, message, text

Updates = Iterator[dict[Any, Any]]
Task = tuple[str, dict[str, Any]]
STATIC = Path(__file__).parent / "static"
_WAITING = "<div class='pk-waiting'>…</div>"
_NOTHING = "<div class='pk-waiting'>nothing to show</div>"


def busy(words: str, seconds: float) -> str:
    """The line that says what is going on.

    >>> "&lt;b&gt;" in busy("<b>", 0)
    True
    """
    shown = f" <span class='pk-aside'>{seconds:.0f} s</span>" if seconds >= 1 else ""
    return f"<div role='status' class='pk-busy'><progress></progress> {text(words)}{shown}</div>"


def outdated(area: str, run: int = 0, shown: bool = False) -> str:
    """The mark of results that belong to an earlier input; the script shows it as one types.

    The number of the run makes every mark another, so that a result brings a hidden one.

    >>> "Explore again" in outdated("explore")
    True
    """
    words = f"the input has changed: {area.capitalize()} again"
    mark = badge(words, "fair", "what is shown belongs to an earlier input")
    hidden = "" if shown else " hidden"
    return f"<div class='pk-stale' role='status' data-run='{run}'{hidden}>{mark}</div>"


class Page:
    """The components of the page, and the pool that works for them."""

    def __init__(self, pool: Pool, has_gpu: bool = False) -> None:
        self.gr: Any = load_gradio()
        self.pool = pool
        self.runs = itertools.count(1)
        self.has_gpu = has_gpu
        self.blocks = self._build()

    # -- what the buttons do -------------------------------------------------------------------

    def work(
        self, request: Any, area: str, tasks: list[Task], places: dict[str, Any], status: Any,
        special: Mapping[str, Callable[[Any], dict[Any, Any]]] | None = None,
    ) -> Updates:  # fmt: skip
        """Run tasks, and show what they give: pane names are keys of ``places``."""
        special = special or {}
        begin, words, shown = time.monotonic(), "working", -1
        seconds = SECONDS[area]
        last: str | None = None
        empty = dict.fromkeys(places.values(), _NOTHING)
        yield {status: busy(words, 0)}
        try:
            for pane, content in self.pool.stream(self.owner(request, area), tasks, seconds):
                if pane in special:
                    yield special[pane](content)
                elif pane == "error":
                    # What is still shown would belong to another input.
                    last = message(content, "error")
                    yield {status: last, **empty}
                elif pane == "status":
                    last = content
                elif pane == "progress":
                    words = content
                elif pane in places:
                    empty.pop(places[pane], None)
                    yield {places[pane]: content}
                passed = int(time.monotonic() - begin)
                if last is None and (passed != shown or pane == "progress"):
                    shown = passed
                    yield {status: busy(words, passed)}
        except Stopped as end:
            if end.newer:  # which has the page now
                return
            last = badge("stopped", "fair")
        if last is None:
            last = badge(f"✓ done in {time.monotonic() - begin:.1f} s", "good")
        # The number tells one end from another, where both say the same.
        yield {status: f"<div class='pk-end' data-run='{next(self.runs)}'>{last}</div>"}

    def mark(self, area: str, shown: bool = False) -> dict[Any, Any]:
        """The update that marks the results of an area as of an earlier input, or does not."""
        return {self.stale[area]: outdated(area, next(self.runs), shown)}

    @staticmethod
    def owner(request: Any, area: str) -> str:
        return f"{getattr(request, 'session_hash', '') or 'nobody'}:{area}"

    # -- the parts -----------------------------------------------------------------------------

    def _build(self) -> Any:
        gr = self.gr
        with gr.Blocks(title="ptxkit", analytics_enabled=False, fill_width=True) as blocks:
            with gr.Row(elem_id="pk-top"):
                gr.HTML(
                    "<h1>ptxkit</h1><p>NVIDIA PTX: explored, decompiled, run, generated. "
                    "Everything happens on this machine.</p>"
                )
                self.theme = gr.Button("Dark / light", size="sm", min_width=110, scale=0)
                self.share = gr.Button("Share", size="sm", min_width=90, scale=0)
            self.link = gr.Textbox(visible="hidden", elem_id="pk-link", label="Link to this page")
            self.notice = gr.HTML("", elem_id="pk-notice")
            with gr.Row(elem_id="pk-main"):
                with gr.Column(scale=3, min_width=300, elem_id="pk-input") as self.left:
                    self._input()
                with (
                    gr.Column(scale=9, min_width=320),
                    gr.Tabs(elem_id="pk-tabs", overflow_behavior="wrap"),
                ):
                    with gr.Tab("Explore", id="explore") as self.explore_tab:
                        self._explore()
                    with gr.Tab("Decompile", id="decompile") as self.decompile_tab:
                        self._decompile()
                    with gr.Tab("Run", id="run") as self.run_tab:
                        self._run()
                    with gr.Tab("Generate", id="generate") as self.generate_tab:
                        self._generate()
            self._connect(blocks)
        return blocks

    def _input(self) -> None:
        gr = self.gr
        first = next(iter(examples.EXAMPLES))
        self.example = gr.Dropdown(list(examples.EXAMPLES), value=first, label="Example")
        self.text = gr.Textbox(
            examples.EXAMPLES[first], label="PTX or CUDA C++", lines=18, max_lines=18,
            elem_id="pk-text", placeholder="Paste PTX or CUDA C++ here",
        )  # fmt: skip
        with gr.Row():
            self.kind = gr.Dropdown(list(KINDS), value="auto", label="It is", min_width=110)
            self.arch = gr.Dropdown(
                list(ARCHITECTURES), value="sm_90", label="Architecture", min_width=110,
                allow_custom_value=False,
            )  # fmt: skip
        self.upload = gr.UploadButton(
            f"Upload .ptx, .cu, or a binary with PTX (to {size(MOST_FILE)})", size="sm",
            type="binary",
        )  # fmt: skip
        self.file = gr.State(None)
        self.part = gr.Dropdown([], label="PTX in the binary", visible=False)
        with gr.Row():
            self.go = gr.Button("Explore", variant="primary", size="md", min_width=110)
            self.halt = gr.Button("Stop", size="md", min_width=80)

    def _explore(self) -> None:
        gr = self.gr
        with gr.Row(elem_classes="pk-line"):
            self.summary = gr.HTML("")
            self.stale = {"explore": gr.HTML(outdated("explore"))}
            self.status = gr.HTML(busy("starting", 0))
        with gr.Row(equal_height=False):
            with gr.Column(min_width=320):
                gr.HTML("<h2 class='pk-h'>PTX</h2>")
                self.ptx = gr.HTML(_WAITING, elem_classes="pk-result")
            with gr.Column(min_width=320), gr.Tabs(overflow_behavior="wrap"):
                self.views = {}
                for name, title in (
                    ("cuda", "Decompiled"), ("graph", "Control flow"), ("python", "Python"),
                    ("sass", "SASS"), ("source", "Source"),
                ):  # fmt: skip
                    with gr.Tab(title, id=name):
                        self.views[name] = gr.HTML(_WAITING, elem_classes="pk-result")
        gr.HTML("<h2 class='pk-h'>Registers, spills and occupancy</h2>")
        self.needs = gr.HTML(_WAITING)
        with gr.Accordion("Compare with another input or architecture", open=False):
            with gr.Row():
                self.other = gr.Textbox(
                    label="Second input (empty: the same one)", lines=8, max_lines=8, scale=3
                )
                with gr.Column(scale=1, min_width=160):
                    self.other_arch = gr.Dropdown(
                        list(ARCHITECTURES), value="sm_120", label="Its architecture"
                    )
                    self.renamed = gr.Checkbox(True, label="Registers may have other names")
                    self.compare = gr.Button("Compare", size="md")
            self.compare_status = gr.HTML("")
            self.ptx_diff, self.needs_diff, self.sass_diff = gr.HTML(), gr.HTML(), gr.HTML()

    def _decompile(self) -> None:
        gr = self.gr
        with gr.Row():
            self.engine = gr.Dropdown(
                ["symbolic", "neural", "auto"], value="symbolic", label="Engine", min_width=130
            )
            self.beams = gr.Slider(1, 8, value=4, step=1, label="Beams", min_width=160)
            self.decompile_kernel = gr.Dropdown([], label="Function", min_width=160)
            self.decompile_go = gr.Button("Decompile", variant="primary", size="md", min_width=120)
            self.decompile_halt = gr.Button("Stop", size="md", min_width=80)
        self.stale["decompile"] = gr.HTML(outdated("decompile"))
        self.decompile_status = gr.HTML("")
        with gr.Row(equal_height=False):
            with gr.Column(min_width=320):
                gr.HTML("<h2 class='pk-h'>PTX</h2>")
                self.decompile_ptx = gr.HTML(_WAITING, elem_classes="pk-result")
            with gr.Column(min_width=320), gr.Tabs(overflow_behavior="wrap"):
                self.decompile_views = {}
                for name, title in (("cuda", "CUDA C++"), ("tree", "Tree"),
                                    ("attention", "Attention")):  # fmt: skip
                    with gr.Tab(title, id=name):
                        empty = message("The neural engine shows here what it looked at.")
                        self.decompile_views[name] = gr.HTML(
                            empty if name == "attention" else _WAITING, elem_classes="pk-result"
                        )
        gr.HTML("<h2 class='pk-h'>Candidates and their verdicts</h2>")
        self.candidates = gr.HTML(_WAITING)
        self.decompiled_for = gr.State(None)

    def _run(self) -> None:
        gr = self.gr
        with gr.Row(equal_height=False):
            with gr.Column(scale=2, min_width=280):
                self.kernel = gr.Dropdown([], label="Kernel")
                with gr.Row():
                    self.grid = gr.Textbox("16", label="Grid", min_width=80)
                    self.block = gr.Textbox("64", label="Block", min_width=80)
                    self.shared = gr.Number(0, label="Shared bytes", min_width=100, precision=0)
                self.arguments = gr.Textbox(
                    label="Arguments, one a line", lines=5, max_lines=10, elem_id="pk-arguments",
                    info="7, 2.5, f32[1024]=randn, s32[8,8]=arange, u8[16]=zeros, null",
                )  # fmt: skip
                with gr.Row():
                    devices = ["simulator", "GPU"] if self.has_gpu else ["simulator"]
                    self.device = gr.Dropdown(devices, value="simulator", label="Device")
                    self.sanitize = gr.Checkbox(False, label="Look for races")
                with gr.Row():
                    self.suggest = gr.Button("Suggest arguments", size="md", min_width=140)
                    self.run_go = gr.Button("Run", variant="primary", size="md", min_width=90)
                    self.run_halt = gr.Button("Stop", size="md", min_width=80)
                self.stale["run"] = gr.HTML(outdated("run"))
                self.run_status = gr.HTML("")
            with gr.Column(scale=5, min_width=320):
                gr.HTML("<h2 class='pk-h'>Profile by line</h2>")
                self.profile = gr.HTML(_WAITING, elem_classes="pk-result")
        gr.HTML("<h2 class='pk-h'>Outputs</h2>")
        self.outputs = gr.HTML(_WAITING)
        self.ran_for, self.shown_for = gr.State(None), gr.State(None)

    def _generate(self) -> None:
        gr = self.gr
        with gr.Tabs(overflow_behavior="wrap"):
            with gr.Tab("Stack programs", id="stack"):
                with gr.Row():
                    self.program = gr.Textbox(
                        examples.PROGRAM, label="Program", lines=3, max_lines=6, scale=4,
                        elem_id="pk-program",
                    )  # fmt: skip
                    with gr.Column(scale=2, min_width=220), gr.Row():
                        self.inputs = gr.Textbox(examples.INPUTS, label="Inputs", min_width=100)
                        self.results = gr.Textbox(examples.OUTPUTS, label="Outputs", min_width=80)
                with gr.Row():
                    self.length = gr.Slider(1, 60, value=16, step=1, label="Length", min_width=140)
                    self.seed = gr.Number(1, label="Seed", precision=0, min_width=90)
                    self.random = gr.Button("Random program", size="md", min_width=130)
                    self.mutate = gr.Button("Mutate", size="md", min_width=90)
                self.stack_status = gr.HTML("")
                with gr.Row(equal_height=False):
                    with gr.Column(min_width=300):
                        gr.HTML("<h2 class='pk-h'>Stub</h2>")
                        self.stub = gr.HTML(_WAITING, elem_classes="pk-result")
                    with gr.Column(min_width=300):
                        gr.HTML("<h2 class='pk-h'>Its values</h2>")
                        self.picture = gr.HTML(_WAITING, elem_classes="pk-result")
            with gr.Tab("Injection", id="inject") as self.inject_tab:  # noqa: SIM117
                with gr.Row(equal_height=False):
                    with gr.Column(scale=2, min_width=300):
                        self.template = gr.Textbox(
                            examples.INJECT, label="Annotated CUDA C++", lines=14, max_lines=18,
                            elem_id="pk-template",
                        )  # fmt: skip
                        self.filling = gr.Textbox(
                            "x y max.f32 x y min.f32 sub.rn.f32", label="Stack program for its site"
                        )
                        self.inject_go = gr.Button("Inject", variant="primary", size="md")
                        self.inject_status = gr.HTML("")
                        self.sites = gr.HTML("")
                    with gr.Column(scale=3, min_width=300):
                        gr.HTML("<h2 class='pk-h'>PTX with the stub in place</h2>")
                        self.rendered = gr.HTML(_WAITING, elem_classes="pk-result")
            with gr.Tab("Dataset samples", id="samples") as self.sample_tab:
                with gr.Row():
                    self.source = gr.Dropdown([], label="Source", min_width=110)
                    self.category = gr.Dropdown([], label="Category", min_width=150)
                    self.sample_seed = gr.Number(7, label="Seed", precision=0, min_width=80)
                    self.index = gr.Number(0, label="Index", precision=0, min_width=80)
                    self.sample_go = gr.Button(
                        "Make it", variant="primary", size="md", min_width=90
                    )
                    self.another = gr.Button("Next", size="md", min_width=70)
                    self.sample_halt = gr.Button("Stop", size="md", min_width=70)
                self.sample_status = gr.HTML("")
                with gr.Row(equal_height=False):
                    with gr.Column(min_width=300):
                        gr.HTML("<h2 class='pk-h'>Sample</h2>")
                        self.view = gr.HTML(_WAITING, elem_classes="pk-result")
                    with gr.Column(min_width=300):
                        gr.HTML("<h2 class='pk-h'>PTX</h2>")
                        self.sample_ptx = gr.HTML(_WAITING, elem_classes="pk-result")
                self.proof = gr.HTML("")

    # -- events --------------------------------------------------------------------------------

    def _connect(self, blocks: Any) -> None:
        from ptxkit.app.events import connect

        connect(self, blocks)


def style() -> str:
    """The style sheet."""
    return (STATIC / "style.css").read_text(encoding="utf-8")


def head() -> str:
    """What goes into the head of the page: the script that links lines."""
    script = (STATIC / "script.js").read_text(encoding="utf-8")
    return f"<script>{script}</script><meta name='color-scheme' content='light dark'>"


def state_of(query: dict[str, str]) -> tuple[dict[str, Any], str]:
    """The state in an address, and a message where it has none that can be read."""
    packed = query.get(sharing.NAME, "")
    if not packed:
        return {}, ""
    try:
        return sharing.decode(packed), ""
    except InputRefused as error:
        return {}, message(str(error), "warning")
