"""`confer fetch`: a list of papers from OpenReview, arXiv or the ACL Anthology, as a file for ingest."""

from __future__ import annotations

import contextlib
import json as jsonlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.errors import ConferError
from rag.wording import counted
from ui.cli.options import JsonOption

if TYPE_CHECKING:
    from ingest.fetch import Fetched

STEP = 100  # papers between two lines of progress, where there is no terminal


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("fetch")(fetch_command)


def fetch_command(
    source: Annotated[
        str, typer.Argument(help="openreview:ICML.cc/2026/Conference, arxiv:'cat:cs.LG AND …' or acl:2025.acl")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="file to write (default: named after the source)")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="fetch no more papers than this")] = None,
    again: Annotated[bool, typer.Option("--again", help="fetch anew what is there already")] = False,
    json: JsonOption = False,
) -> None:
    """Fetch a list of papers into a file for `confer ingest`. A run that was cut goes on where it ended."""
    from ingest.fetch import default_name, fetch, part_of

    try:
        with _progress() as progress:
            done = fetch(source, out, limit=limit, again=again, progress=progress)
    except KeyboardInterrupt:
        part = part_of(out or Path(default_name(source)))
        raise ConferError(f"stopped; what was fetched is in {part}, and the same command goes on from there") from None
    if json:
        print(jsonlib.dumps({**vars(done), "file": str(done.file)}, ensure_ascii=False))
        return
    for line in _told(done):
        print(line)


def _told(done: Fetched) -> Iterator[str]:
    papers = counted(done.papers, "paper")
    if done.found:
        yield f"{done.file} is complete already: {papers} from {done.source}. --again fetches them anew."
        return
    yield f"{papers} from {done.source} in {done.file}."
    if done.note:
        yield f"{done.note}."
    yield f"Next: confer ingest {done.file}"


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Yield what to call with (papers there, papers in all or 0); counts are shown on stderr."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("asking", total=None)

        def progress(done: int, total: int) -> None:
            told = f"fetched {done:,} of {total:,} papers" if total else f"fetched {done:,} papers"
            bar.update(task, description=told)
            if not console.is_terminal and done % STEP == 0:
                print(told, file=sys.stderr)

        yield progress
