"""Fetch lists of papers from the services that have them, into a file for ingest: all that ingest does online."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ingest.fetch import acl_source, arxiv_source, listing, openreview_source
from ingest.fetch.listing import part_of
from ingest.fetch.visit import Manners, Visit
from rag.errors import ConferError, UsageError

__all__ = ["BASES", "Fetched", "Manners", "default_name", "fetch", "part_of"]

# A source is a module with `check(spec) -> spec`, `papers(spec, visit) -> Iterator[Row]`, and an EXAMPLE of itself.
SOURCES: dict[str, ModuleType] = {"openreview": openreview_source, "arxiv": arxiv_source, "acl": acl_source}
BASES = {
    "openreview": "https://api2.openreview.net",
    "openreview-v1": "https://api.openreview.net",
    "arxiv": "https://export.arxiv.org/api/query",
    "acl": "https://raw.githubusercontent.com/acl-org/acl-anthology/master/data/xml",
}
LONGEST_NAME = 120  # characters of a file's name


@dataclass(frozen=True)
class Fetched:
    """A whole list file: how many papers it holds, how many of them are from this run, and what to know about them.

    `found` says that the file was there before, so that nothing was fetched.
    """

    source: str
    file: Path
    papers: int
    new: int
    note: str = ""
    found: bool = False


def fetch(
    source: str,
    out: Path | None = None,
    *,
    limit: int | None = None,
    again: bool = False,
    bases: Mapping[str, str] | None = None,
    manners: Manners | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fetched:
    """Write the papers of a source (`openreview:ICML.cc/2026/Conference`) to a JSON Lines file, one paper a line.

    Papers are in FILE.part until all have come; a run that finds one goes on where it ends. A whole file is left as it
    is, unless `again`. `progress` is called with (papers there, papers in all, 0 if unknown); `bases` says where the
    services are, if not in BASES. Raises UsageError for a source that cannot be, or a file of something else, and
    ConferError when a service does not answer as it should.
    """
    service, spec = _parsed(source)
    source = f"{service}:{spec}"
    out = out or Path(default_name(source))
    part = part_of(out)
    try:
        if out.exists():
            there = listing.papers_in(out, source)
            if not again:
                return Fetched(source, out, there, 0, found=True)
        done = listing.taken_up(part, source, limit) if part.exists() else []
        visit = Visit({**BASES, **(bases or {})}, manners or Manners(), done, limit)
        before = len(done)
        if before != limit:
            _collect(part, SOURCES[service], spec, source, visit, progress)
        part.replace(out)
    except OSError as error:
        raise ConferError(f"{error.filename or part} cannot be written: {error.strerror or error}") from error
    return Fetched(source, out, len(done), len(done) - before, visit.note)


def default_name(source: str) -> str:
    """The name of a source's file: `openreview-ICML.cc-2026-Conference.jsonl`."""
    service, spec = _parsed(source)
    plain = re.sub(r"[^\w.]+", "-", spec, flags=re.ASCII)[:LONGEST_NAME].strip("-.")
    return f"{service}-{plain or 'papers'}.jsonl"


def _parsed(source: str) -> tuple[str, str]:
    """Service and spec. Raises UsageError if there are none."""
    name, colon, spec = source.partition(":")
    service = name.strip().lower()
    if not colon or service not in SOURCES:
        examples = ", ".join(module.EXAMPLE for module in SOURCES.values())
        raise UsageError(f"{source!r} names no service to fetch from; write one of these: {examples}")
    return service, SOURCES[service].check(spec.strip())


def _collect(
    part: Path,
    module: ModuleType,
    spec: str,
    source: str,
    visit: Visit,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Add the papers that are still missing. What is there when something fails stays, and is said."""

    def told() -> None:
        if progress:
            progress(len(visit.done), min(visit.total, visit.limit or visit.total))

    try:
        listing.add(part, module.papers(spec, visit), source, visit.done, visit.limit, told)
    except ConferError as error:
        if not visit.done:
            part.unlink(missing_ok=True)
            raise
        kept = f"the {len(visit.done):,} papers fetched so far are in {part}, and the same command goes on from there"
        kind = UsageError if isinstance(error, UsageError) else ConferError
        raise kind(f"{error}; {kept}") from error
