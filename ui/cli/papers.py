"""`confer papers`, `confer remove`, `confer info`: what is in an index."""

from __future__ import annotations

import json as jsonlib
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from rag.errors import UsageError
from rag.schema import Paper
from rag.wording import counted
from ui.cli.ingest import report_lines
from ui.cli.options import IndexOption, JsonOption, WhereOption, settings_with

VENUE_SHOWN = 40  # characters of a venue


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command("papers")(papers_command)
    app.command("remove")(remove_command)
    app.command("info")(info_command)
    app.command("check")(check_command)


def papers_command(index: IndexOption = None, where: WhereOption = None, json: JsonOption = False) -> None:
    """List the indexed papers: id, venue, year and label."""
    from rag.filters import as_filter
    from rag.index import Index, in_order_of_sources

    chosen = as_filter(where)
    store = Index.open(settings_with(index=index).index)
    papers = in_order_of_sources(store.papers(None if chosen is None else store.select(chosen)).values())
    store.close()
    if chosen is not None and not papers:
        print(f"No paper of the index meets the filter {chosen}.", file=sys.stderr)
    if json:
        print(jsonlib.dumps([p.model_dump(mode="json") for p in papers], ensure_ascii=False, indent=2))
        return
    rows = [(paper, _when_and_where(paper)) for paper in papers]
    width = max((len(told) for _, told in rows), default=0)
    for paper, told in rows:
        print(f"{paper.id:17}  {told:{width}}{'  ' if width else ''}{paper.title or paper.label}")


def _when_and_where(paper: Paper) -> str:
    """Venue and year; proceedings often have the year in their names already."""
    venue, year = paper.venue or "", str(paper.year or "")
    told = venue if year in venue else f"{venue} {year}".strip()
    return told if len(told) <= VENUE_SHOWN else f"{told[: VENUE_SHOWN - 1]}…"


def remove_command(
    ids: Annotated[list[str] | None, typer.Argument(help="paper ids, as `confer papers` prints them")] = None,
    index: IndexOption = None,
    where: WhereOption = None,
) -> None:
    """Remove papers from the index. The next ingest of a list that holds them brings them back."""
    from rag.filters import as_filter
    from rag.index import Index
    from rag.writer_lock import writer_lock

    if bool(ids) == (where is not None):
        raise UsageError("say which papers to remove: either their ids, or a filter with --where")
    chosen = as_filter(where)
    folder = settings_with(index=index).index
    Index.open(folder).close()  # a missing index is said before a lock file is made
    with writer_lock(folder), closing(Index.open(folder)) as store:
        ids = store.select(chosen) if chosen is not None else ids or []
        known = store.papers(ids)
        unknown = [i for i in ids if i not in known]
        if unknown:
            raise UsageError(f"no paper {', '.join(unknown)} in {folder}; nothing was removed")
        if known:
            store.remove(list(known))
            store.commit()
    if not known:
        print(f"no paper of the index meets the filter {chosen}; nothing was removed", file=sys.stderr)
    for paper in known.values():
        print(f"removed {paper.id}  {paper.title or paper.label}")


def info_command(index: IndexOption = None, json: JsonOption = False) -> None:
    """Show what the index holds and what it was built with."""
    from rag import ingest_reports
    from rag.index import Index

    folder: Path = settings_with(index=index).index
    store = Index.open(folder)
    passport, size, reports = store.passport, store.size_bytes(), ingest_reports.last(folder)
    store.close()
    if json:
        print(
            jsonlib.dumps(
                {
                    "path": str(folder.resolve()),
                    "bytes": size,
                    **passport.model_dump(mode="json"),
                    "reports": [r.model_dump(mode="json") for r in reports],
                },
                indent=2,
            )
        )
        return
    print(f"index       {folder.resolve()}")
    held = f"{counted(passport.passages, 'passage')} and {counted(passport.sentences, 'sentence')}"
    print(f"papers      {passport.papers:,} in {held}")
    each = f", {size / passport.papers / 1000:.1f} kB a paper" if passport.papers else ""
    print(f"on disk     {size / 1e6:.1f} MB{each}")
    print(
        f"encoder     {passport.encoder} ({passport.revision}), {passport.dimension} dimensions, {passport.similarity}"
    )
    print(f"corpus      {passport.corpus_hash}, generation {passport.generation}")
    for number, report in enumerate(reports):
        told = report_lines(report, folder)[0] + (f" {report.removed:,} removed." if report.removed else "")
        told += f" Not finished: {report.failed}." if report.failed else ""
        told += f" {report.seconds:,.1f} s." if report.seconds else ""
        print(f"{'' if number else 'ingested':11} {report.started.replace('T', ' ').removesuffix('+00:00')}  {told}")


def check_command(
    index: IndexOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="encode anew what is missing or not found")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="look up stored vectors, without encoding the texts")] = False,
    json: JsonOption = False,
) -> None:
    """Check that every paper is found by its own text. Exit code 1 if one is not."""
    from ingest.repair import examine
    from ingest.repair import repair as mend
    from rag.encoder import Encoder
    from rag.health import check
    from rag.index import Index

    settings = settings_with(index=index)
    if repair:
        before, health = mend(settings.index, Encoder(settings.encoder, offline=settings.offline))
        print(f"{counted(len(before.ailing) - len(health.ailing), 'paper')} encoded anew", file=sys.stderr)
    else:
        with closing(Index.open(settings.index)) as store:
            if quick:
                health = check(store)
            else:
                encoder = Encoder(settings.encoder, offline=settings.offline)
                store.check_encoder(encoder)
                health = examine(store, encoder)
    if json:
        print(health.model_dump_json(indent=2))
    else:
        held = f"{counted(health.papers, 'paper')} in {counted(health.passages, 'passage')}"
        print(f"{held}: {len(health.ailing) or 'none'} ailing")
        for ailment in health.ailing:
            print(f"  {ailment.paper_id}: {ailment.reason}")
        if health.ailing and not repair:
            print(f"mend them with: confer check --repair --index {settings.index}", file=sys.stderr)
    if health.ailing:
        raise typer.Exit(1)
