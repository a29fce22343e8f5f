"""`confer serve`: the browser page."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ui.cli.options import IndexOption, LLMOption, settings_with


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("serve")(serve_command)


def serve_command(
    index: IndexOption = None,
    llm: LLMOption = None,
    host: Annotated[
        str, typer.Option(help="address to listen on; other than loopback shows the page to the network")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="port to listen on")] = 7860,
) -> None:
    """Serve the browser page. Without an index, the bundled sample of 57 ICML 2026 papers is ingested first."""
    settings = settings_with(index=index, llm=llm)
    from rag.assistant import Assistant
    from rag.index import Index
    from rag.llm import parse_spec
    from ui.cli.ingest import ingest_with_progress
    from ui.sample import SAMPLE
    from ui.web import serve

    parse_spec(settings.llm)  # a wrong spec is said before anything is loaded
    if not Index.is_complete(settings.index):
        print(f"No index at {settings.index.resolve()}: ingesting the bundled sample first.", file=sys.stderr)
        report = ingest_with_progress([SAMPLE], settings)
        print(f"{report.added} sample papers are ready. Your own list: confer ingest FILE", file=sys.stderr)
    print("Starting …", file=sys.stderr)
    with Assistant.open(settings=settings) as assistant:
        serve(
            assistant,
            host=host,
            port=port,
            settings=settings,
            on_ready=lambda url: print(f"Confer is at {url} (Ctrl-C stops it)", file=sys.stderr),
        )
