"""The ingest job: files in, papers in the index, a report that accounts for every record.

Everything is planned before anything is encoded, and encoded before it is written; a batch is in the index wholly or
not at all, so a run that was killed is finished by running it again.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path

from ingest import chunking, clean
from ingest.files import find_files, source_name
from ingest.gather import Gathered, gather
from ingest.known import Known
from ingest.merge import Covered, Merger
from ingest.plan import Plan, assign, make_plan
from ingest.spool import Spool
from ingest.writing import Progress, carry_out
from rag import ingest_reports
from rag.encoder import Encoder
from rag.errors import PassportError, UsageError
from rag.index import Index
from rag.schema import IngestReport, Passport
from rag.settings import Settings
from rag.writer_lock import writer_lock


def run(
    paths: Sequence[Path | str],
    index: Path | str | None = None,
    *,
    settings: Settings | None = None,
    encoder: Encoder | None = None,
    prune: bool = False,
    strict: bool = False,
    dry_run: bool = False,
    fields: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    names: Mapping[Path, str] | None = None,
) -> IngestReport:
    """Bring list files (or folders of them) into an index and return the report.

    `prune` also removes what the given files and folders no longer hold; `strict` writes nothing when any record is
    rejected; `dry_run` writes nothing at all and reports what a run would do; `fields` says what a file calls a field
    (`{"abstract": "summary"}`); `names` gives the source name to store for a path (uploads). Raises UsageError for
    paths that do not exist and when nothing at all could be read, IndexLockedError while another writer works.
    """
    settings = settings or Settings()
    folder = Path(index) if index is not None else settings.index
    roots = [Path(p) for p in paths]
    files, report = find_files(roots)
    report.started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    report.dry_run = dry_run
    with Spool() as spool:
        gathered = gather(files, names or {}, report, spool, fields)
        _fail_early(roots, gathered, report, strict)
        covered = coverage(gathered, [(names or {}).get(r) or source_name(r) for r in roots] if prune else [])
        if dry_run:
            _plan_only(folder, gathered, spool, covered, report, prune=prune)
            return report
        encoder = encoder or Encoder(settings.encoder, offline=settings.offline)
        # Whatever can fail does so before there is a folder.
        passport = None if folder.exists() else passport_of(encoder)
        lock = writer_lock(folder)
        try:
            store = _open(folder, encoder, passport)
            try:
                known, plan = _planned(store, gathered, spool, covered, report, prune=prune)
                carry_out(plan, known, Merger(spool, store.papers, covered), store, encoder, progress)
                ingest_reports.keep(folder, report)
            finally:
                store.close()
        finally:
            lock.release()
    return report


def _planned(
    store: Index, gathered: Gathered, spool: Spool, covered: Covered, report: IngestReport, *, prune: bool
) -> tuple[Known, Plan]:
    known = Known(store.each_paper())
    assign(gathered.items, known, store.each_paper, report)
    return known, make_plan(known, Merger(spool, store.papers, covered), report, prune=prune)


def _plan_only(
    folder: Path, gathered: Gathered, spool: Spool, covered: Covered, report: IngestReport, *, prune: bool
) -> None:
    """Fill in a report as a run would, on the index as it is (or without one)."""
    if not Index.is_complete(folder):
        known = Known()
        assign(gathered.items, known, list, report)
        make_plan(known, Merger(spool, lambda _: {}, covered), report)
        return
    store = Index.open(folder)
    try:
        _, plan = _planned(store, gathered, spool, covered, report, prune=prune)
        report.removed = len(plan.remove)
    finally:
        store.close()


def coverage(gathered: Gathered, roots: Sequence[str]) -> Covered:
    """Return whether a run saw all that a file holds: it read it to its end, or the file is gone from under `roots`.

    What a file holds that could not be read is not known, so its papers stay.
    """

    def below(file: str, parent: str) -> bool:
        return file == parent or file.startswith(parent.rstrip("/") + "/")

    def covered(file: str) -> bool:
        if any(below(file, name) for name in gathered.unread):
            return False
        return file in gathered.read or any(below(file, root) for root in roots)

    return covered


def _fail_early(roots: list[Path], gathered: Gathered, report: IngestReport, strict: bool) -> None:
    """Raise UsageError when there is nothing to ingest or, with `strict`, anything to reject."""
    faults = [f"{r.file}{f', line {r.line}' if r.line else ''}: {r.reason}" for r in report.rejects]
    if not gathered.items and not faults:
        hidden = f" ({len(report.skipped)} hidden or temporary passed over)" if report.skipped else ""
        raise UsageError(f"no list files in {', '.join(map(str, roots))}{hidden}")
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    if not gathered.items:
        raise UsageError(f"nothing to ingest: {faults[0]}{more}")
    if strict and faults:
        raise UsageError(f"--strict: nothing was written, because of {faults[0]}{more}")


def _open(folder: Path, encoder: Encoder, passport: Passport | None) -> Index:
    if not Index.is_complete(folder):
        return Index.create(folder, passport or passport_of(encoder))
    index = Index.open(folder)
    try:
        index.check_encoder(encoder)
    except PassportError:
        index.close()
        raise
    return index


def passport_of(encoder: Encoder) -> Passport:
    """The passport of an empty index that this encoder would build."""
    return Passport(
        encoder=encoder.name,
        revision=encoder.revision,
        dimension=encoder.dimension,
        query_prefix=encoder.query_prefix,
        passage_prefix=encoder.passage_prefix,
        sentence_vectors=encoder.sentence_vectors,
        chunking_version=chunking.CHUNKING_VERSION,
        cleaning_version=clean.CLEANING_VERSION,
    )
