"""The browser page: ask, read the answer, see the words of the abstracts that carry it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import gradio as gr

    from rag.assistant import Assistant
    from rag.settings import Settings

__all__ = ["build", "serve"]


def serve(
    assistant: Assistant,
    *,
    host: str,
    port: int,
    settings: Settings,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the page until Ctrl-C or SIGTERM.

    `on_ready` is called with the page's URL once it can be opened. Raises ConferError when the address cannot be used.
    """
    from ui.web.server import serve as run

    run(assistant, host=host, port=port, settings=settings, on_ready=on_ready)


def build(assistant: Assistant, settings: Settings) -> gr.Blocks:
    """Return the page as Gradio blocks, for mounting elsewhere with `ui.web.server.mount_options()`."""
    from ui.web.page import build as build_page

    return build_page(assistant, settings)
