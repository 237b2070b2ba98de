"""The server behind ``ptxkit app``."""

from __future__ import annotations

import contextlib
from typing import Any

from ptxkit.app.jobs import Pool
from ptxkit.app.limits import MOST_FILE
from ptxkit.app.loading import gradio as load_gradio

LOOPBACK = "127.0.0.1"
_SANS = ["ui-sans-serif", "system-ui", "sans-serif"]
_MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
#: Where Gradio's own colours are too pale to read.
_COLOURS = {
    "button_primary_background_fill": "#0b6e4f",
    "button_primary_background_fill_hover": "#095a41",
    "button_primary_background_fill_dark": "#0b6e4f",
    "button_primary_background_fill_hover_dark": "#0d8460",
    "button_primary_text_color": "#ffffff",
    "color_accent": "#0b6e4f",
    "slider_color": "#0b6e4f",
    "slider_color_dark": "#58d3a4",
    "block_label_text_color": "#3d4856",
    "block_label_text_color_dark": "#c3ccd6",
    "block_title_text_color": "#3d4856",
    "block_title_text_color_dark": "#c3ccd6",
    "block_info_text_color": "#4d5866",
    "block_info_text_color_dark": "#b4bec9",
    "body_text_color_subdued": "#4d5866",
    "body_text_color_subdued_dark": "#b4bec9",
    "input_placeholder_color": "#5a6572",
    "input_placeholder_color_dark": "#a7b2bf",
}


class Server:
    """A page that is being served; a context manager that ends it."""

    def __init__(self, page: Any, pool: Pool, url: str) -> None:
        self.page = page
        self.pool = pool
        self.url = url

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server and its workers."""
        self.page.blocks.close(verbose=False)
        self.pool.close()

    def wait(self) -> None:
        """Serve until somebody presses Ctrl-C."""
        with contextlib.suppress(KeyboardInterrupt):
            self.page.blocks.block_thread()


def serve(host: str = LOOPBACK, port: int | None = None, browser: bool = False) -> Server:
    """Start the page; it is served until `Server.close`."""
    pool = Pool(at_once=1)  # it loads the rooms while this process loads Gradio
    gr = load_gradio()
    from ptxkit.app.page import Page, head, style

    page = Page(pool, has_gpu=_has_gpu())
    theme = gr.themes.Base(font=_SANS, font_mono=_MONO, primary_hue="emerald", neutral_hue="slate")
    theme = theme.set(**_COLOURS)
    _, url, _ = page.blocks.launch(
        server_name=host, server_port=port, inbrowser=browser, prevent_thread_lock=True, quiet=True,
        share=False, ssr_mode=False, pwa=False, mcp_server=False, enable_monitoring=False,
        footer_links=[], max_file_size=MOST_FILE, theme=theme, css=style(), head=head(),
        show_error=True,
    )  # fmt: skip
    pool.fill()
    return Server(page, pool, url)


def _has_gpu() -> bool:
    from ptxkit.run import cuda

    return bool(cuda.is_available())
