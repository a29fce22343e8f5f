"""`confer ingest`: list files in, a report out."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.errors import ConferError, NothingWrittenError, UsageError
from rag.schema import Finding, IngestReport
from rag.settings import Settings
from rag.wording import counted
from ui.cli.options import IndexOption, JsonOption, settings_with

if TYPE_CHECKING:
    from rag.encoder import Encoder

SHOWN = 20  # findings of a kind


class Engine(StrEnum):
    """What encodes."""

    LOCAL = "local"
    RAY = "ray"


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("ingest")(ingest_command)


def ingest_command(
    paths: Annotated[list[Path], typer.Argument(help="list files, archives of them, or folders")],
    index: IndexOption = None,
    prune: Annotated[bool, typer.Option("--prune", help="remove papers that these files no longer hold")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="write nothing when any record is rejected")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would happen, and write nothing")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="stay, follow the files as they change, and prune")] = False,
    fields: Annotated[
        list[str] | None,
        typer.Option("--map", help="what these files call a field: abstract=summary", metavar="F=NAME"),
    ] = None,
    engine: Annotated[
        Engine, typer.Option("--engine", help="what encodes: this process, or Ray on many cores or machines")
    ] = Engine.LOCAL,
    json: JsonOption = False,
) -> None:
    """Bring list files into the index. Running it again adds and encodes nothing."""
    settings = settings_with(index=index)
    names = _field_map(fields or [])
    if watch:
        if prune or strict or dry_run:
            raise UsageError("--watch always prunes, and goes with neither --strict nor --dry-run")
        _watch(paths, settings, names, json=json)
        return
    try:
        report = ingest_with_progress(
            paths,
            settings,
            prune=prune,
            strict=strict,
            dry_run=dry_run,
            fields=names,
            encoder=_encoder(engine, settings),
        )
    except NothingWrittenError as error:
        if json:
            print(error.report.model_dump_json(indent=2))  # what was read and rejected; nothing was added
        elif len(error.report.rejects) > 1:
            print("\n".join(_findings("rejected", error.report.rejects)), file=sys.stderr)
        raise
    except KeyboardInterrupt:
        told = "confer: stopped; the papers that were written stay, and the same command again goes on from there"
        print(told, file=sys.stderr)
        raise typer.Exit(130) from None
    print(report.model_dump_json(indent=2) if json else "\n".join(report_lines(report, settings.index)))


def _encoder(engine: Engine, settings: Settings) -> Encoder | None:
    """What encodes, where it is not the default."""
    if engine is Engine.LOCAL:
        return None
    from ingest.ray_engine import RayEncoder

    return RayEncoder(settings.encoder, offline=settings.offline)


def _field_map(pairs: list[str]) -> dict[str, str]:
    """`["abstract=summary"]` as a mapping. Raises UsageError for anything else."""
    from ingest.readers.by_names import NAMES

    fields = {}
    for pair in pairs:
        name, sign, called = pair.partition("=")
        if not sign or not called.strip() or name.strip() not in NAMES:
            raise UsageError(f"--map {pair!r}: write FIELD=NAME, where FIELD is one of {', '.join(NAMES)}")
        fields[name.strip()] = called.strip()
    return fields


def _watch(paths: list[Path], settings: Settings, fields: dict[str, str], *, json: bool) -> None:
    import ingest

    told = f"following {', '.join(map(str, paths))}; Ctrl-C ends it"
    with contextlib.suppress(KeyboardInterrupt), progress_bar() as progress:
        for result in ingest.watch(paths, settings.index, settings=settings, fields=fields, progress=progress):
            if isinstance(result, ConferError):
                print(f"error: {result}", file=sys.stderr)
            else:
                lines = report_lines(result, settings.index)
                print(result.model_dump_json() if json else "\n".join(lines), flush=True)
            if told:
                print(told, file=sys.stderr)
                told = ""


def ingest_with_progress(
    paths: list[Path],
    settings: Settings,
    *,
    prune: bool = False,
    strict: bool = False,
    dry_run: bool = False,
    fields: dict[str, str] | None = None,
    encoder: Encoder | None = None,
) -> IngestReport:
    """Run the ingest job with a progress bar on stderr."""
    import ingest

    with progress_bar() as progress:
        return ingest.run(
            paths,
            settings=settings,
            encoder=encoder,
            prune=prune,
            strict=strict,
            dry_run=dry_run,
            fields=fields,
            progress=progress,
        )


@contextlib.contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None]]:
    """Yield what to call with (papers done, papers to do); counts and time left are shown on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

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
        told = [0]

        def progress(done: int, total: int) -> None:
            bar.update(task, description="encoding papers", completed=done, total=total)
            if not console.is_terminal and total and (done == total or done - told[0] >= max(total / 20, 50)):
                told[0] = done
                print(f"encoded {done:,} of {total:,} papers", file=sys.stderr)

        yield progress


def report_lines(report: IngestReport, index: Path) -> list[str]:
    """Say what happened to every record."""
    counts = ("added", "updated", "unchanged", "duplicate", "rejected")
    told = ", ".join(f"{getattr(report, n):,} {n}" for n in counts if getattr(report, n)) or "nothing to do"
    lines = [f"{counted(report.read, 'record')} read: {told}."]
    if report.failed:
        lines.append(f"Not finished: {report.failed}.")
    if report.dry_run:
        lines.append("A dry run: nothing was written.")
    else:
        lines.append(f"{counted(report.encoded, 'passage')} encoded into {index}.")
    if report.removed:
        gone = "would be removed: in no list" if report.dry_run else "removed: in no list any more"
        lines.append(f"{counted(report.removed, 'paper')} {gone}.")
    if set(report.languages) - {"en"}:
        told = ", ".join(f"{count:,} {code}" for code, count in report.languages.items())
        lines.append(f"Languages: {told}.")
    lines += _findings("rejected", report.rejects)
    lines += _findings("conflict", report.conflicts)
    lines += _findings("to look at", report.suspicious)
    if report.skipped:
        lines.append(f"{len(report.skipped)} hidden, temporary or program files skipped.")
    return lines


def _findings(kind: str, findings: Sequence[Finding]) -> list[str]:
    lines = [f"  {kind}: {finding.file}{_place(finding)}: {finding.reason}" for finding in findings[:SHOWN]]
    if len(findings) > SHOWN:
        lines.append(f"  … and {len(findings) - SHOWN:,} more (--json lists all)")
    return lines


def _place(finding: Finding) -> str:
    if finding.line:
        return f", line {finding.line}"
    return "" if finding.position is None else f", record {finding.position + 1}"
