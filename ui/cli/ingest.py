"""`confer ingest`: list files in, a report out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rag.schema import IngestReport
from rag.settings import Settings
from ui.cli.options import IndexOption, JsonOption, settings_with

SHOWN_REJECTS = 20


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("ingest")(ingest_command)


def ingest_command(
    paths: Annotated[list[Path], typer.Argument(help="list files, or folders of them")],
    index: IndexOption = None,
    prune: Annotated[bool, typer.Option("--prune", help="remove papers that these files no longer hold")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="write nothing when any record is rejected")] = False,
    json: JsonOption = False,
) -> None:
    """Bring list files into the index. Running it again adds and encodes nothing."""
    settings = settings_with(index=index)
    report = ingest_with_progress(paths, settings, prune=prune, strict=strict)
    print(report.model_dump_json(indent=2) if json else "\n".join(report_lines(report, settings.index)))


def ingest_with_progress(
    paths: list[Path], settings: Settings, *, prune: bool = False, strict: bool = False
) -> IngestReport:
    """Run the ingest job with a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    import ingest

    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, description="encoding papers", completed=done, total=total)
            if not console.is_terminal and total:
                print(f"encoded {done} of {total} papers", file=sys.stderr)

        return ingest.run(paths, settings=settings, prune=prune, strict=strict, progress=progress)


def report_lines(report: IngestReport, index: Path) -> list[str]:
    """Say what happened to every record."""
    counts = ("added", "updated", "unchanged", "duplicate", "rejected")
    told = ", ".join(f"{getattr(report, name)} {name}" for name in counts if getattr(report, name)) or "nothing to do"
    records = "1 record" if report.read == 1 else f"{report.read:,} records"
    lines = [f"{records} read: {told}.", f"{report.encoded:,} passages encoded into {index}."]
    if report.removed:
        lines.append(f"{report.removed:,} papers removed: no source holds them any more.")
    for reject in report.rejects[:SHOWN_REJECTS]:
        place = f", line {reject.line}" if reject.line else ""
        lines.append(f"  rejected: {reject.file}{place}: {reject.reason}")
    if len(report.rejects) > SHOWN_REJECTS:
        lines.append(f"  … and {len(report.rejects) - SHOWN_REJECTS} more (--json lists all)")
    if report.skipped:
        lines.append(f"{len(report.skipped)} hidden or temporary files skipped.")
    return lines
