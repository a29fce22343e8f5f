"""`confer papers`, `confer remove`, `confer info`: what is in an index."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from rag.errors import UsageError
from ui.cli.options import IndexOption, JsonOption, settings_with


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command("papers")(papers_command)
    app.command("remove")(remove_command)
    app.command("info")(info_command)


def papers_command(index: IndexOption = None, json: JsonOption = False) -> None:
    """List the indexed papers: id, venue, year and label."""
    from rag.index import Index

    store = Index.open(settings_with(index=index).index)
    papers = list(store.papers().values())
    store.close()
    if json:
        print(jsonlib.dumps([p.model_dump(mode="json") for p in papers], ensure_ascii=False, indent=2))
        return
    for paper in papers:
        print(
            f"{paper.id}  {' '.join(str(p) for p in (paper.venue, paper.year) if p):10s}  {paper.title or paper.label}"
        )


def remove_command(
    ids: Annotated[list[str], typer.Argument(help="paper ids, as `confer papers` prints them")],
    index: IndexOption = None,
) -> None:
    """Remove papers from the index."""
    from rag.index import Index

    folder = settings_with(index=index).index
    Index.open(folder).close()  # a missing index is said before a lock file is made
    with Index.lock(folder):
        store = Index.open(folder)
        known = store.papers(ids)
        unknown = [i for i in ids if i not in known]
        if unknown:
            store.close()
            raise UsageError(f"no paper {', '.join(unknown)} in {folder}; nothing was removed")
        store.remove(list(known))
        store.commit()
        store.close()
    for paper in known.values():
        print(f"removed {paper.id}  {paper.title or paper.label}")


def info_command(index: IndexOption = None, json: JsonOption = False) -> None:
    """Show what the index holds and what it was built with."""
    from rag.index import Index

    folder: Path = settings_with(index=index).index
    store = Index.open(folder)
    passport, size = store.passport, store.size_bytes()
    store.close()
    if json:
        print(
            jsonlib.dumps({"path": str(folder.resolve()), "bytes": size, **passport.model_dump(mode="json")}, indent=2)
        )
        return
    print(f"index       {folder.resolve()}")
    print(f"papers      {passport.papers:,} in {passport.passages:,} passages and {passport.sentences:,} sentences")
    print(f"on disk     {size / 1e6:.1f} MB")
    print(
        f"encoder     {passport.encoder} ({passport.revision}), {passport.dimension} dimensions, {passport.similarity}"
    )
    print(f"corpus      {passport.corpus_hash}, generation {passport.generation}")
