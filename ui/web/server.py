"""The web server: one port, one process, nothing fetched from elsewhere."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag.assistant import Assistant
from rag.errors import ConferError
from rag.settings import Settings
from ui.web.shield import Shield

HERE = Path(__file__).parent
SANS = [
    "-apple-system",
    "BlinkMacSystemFont",
    "Segoe UI",
    "Roboto",
    "Noto Sans",
    "Helvetica Neue",
    "Arial",
    "sans-serif",
]
MONO = ["ui-monospace", "SF Mono", "Menlo", "Consolas", "Liberation Mono", "monospace"]
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Crect width='32' height='32' rx='7' fill='%230b6a60'/%3E"
    "%3Cpath d='M21.5 11.5a7 7 0 1 0 0 9' fill='none' stroke='white' stroke-width='3.5' "
    "stroke-linecap='round'/%3E%3C/svg%3E"
)


def serve(
    assistant: Assistant,
    *,
    host: str,
    port: int,
    settings: Settings,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """See `ui.web.serve`."""
    listener = bind(host, port)  # first: a busy port is told before the slow imports
    with listener, tempfile.TemporaryDirectory(prefix="confer-") as folder:
        os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
        os.environ["GRADIO_TEMP_DIR"] = folder  # uploads are nobody else's, and gone when the server stops
        from ui.web.page import build
        from ui.web.running import run

        threading.Thread(target=_warm, args=(assistant,), name="confer-warm", daemon=True).start()
        blocks = build(assistant, settings)
        run(create_app(blocks, settings), blocks, listener, lambda: on_ready and on_ready(url_of(host, listener)))


def _warm(assistant: Assistant) -> None:
    """Load the encoder while the page opens, so that the first question does not wait for it."""
    with contextlib.suppress(Exception):  # a question that meets the same trouble tells it
        assistant.search("papers")


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address. Raises ConferError with what to do about it."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, OverflowError) as error:
        raise ConferError(f"{host}:{port} is no address to serve on; give --host and --port") from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConferError(f"port {port} on {host} cannot be used ({why}); choose another with --port") from error
    return listener


def url_of(host: str, listener: socket.socket) -> str:
    """The address to open in a browser on this machine."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{listener.getsockname()[1]}/"


def create_app(blocks: Any, settings: Settings) -> Any:
    """Return the ASGI app that serves the page at `/`."""
    import fastapi
    import gradio as gr

    app = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app = gr.mount_gradio_app(app, blocks, path="/", **mount_options(settings))
    app.add_middleware(Shield)
    return app


def mount_options(settings: Settings) -> dict[str, Any]:
    """What the page needs of `gradio.mount_gradio_app`."""
    return {
        "theme": theme(),
        "head": head(),
        "footer_links": [],
        "run_history": False,
        "enable_monitoring": False,
        "show_error": False,
        "ssr_mode": False,
        "pwa": False,
        "mcp_server": False,
        "max_file_size": f"{settings.max_upload_mb}mb",
    }


def theme() -> Any:
    """Gradio's plain theme with system fonts and the page's ground colours, so that nothing flashes while it loads."""
    import gradio as gr

    return gr.themes.Base(font=SANS, font_mono=MONO).set(
        body_background_fill="#fbfaf7",
        body_background_fill_dark="#14171a",
        body_text_color="#20242a",
        body_text_color_dark="#e7e5df",
    )


def head() -> str:
    """The page's style and script, and where KaTeX is, for the document's head."""
    script = (HERE / "page.js").read_text("utf-8").replace("__KATEX_JS__", _asset("katex-*.js"))
    style = (HERE / "style.css").read_text("utf-8")
    katex = _asset("katex-*.css")
    link = f'<link rel="stylesheet" href="{katex}">' if katex else ""
    return f'<link rel="icon" href="{ICON}">{link}<style>{style}</style><script type="module">{script}</script>'


def _asset(pattern: str) -> str:
    """Where Gradio serves a file of its own bundle; empty if this version has none (maths then stays as source)."""
    import gradio

    found = sorted((Path(gradio.__file__).parent / "templates" / "frontend" / "assets").glob(pattern))
    return f"assets/{found[0].name}" if found else ""
