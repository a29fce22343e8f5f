"""The ingest job: files in, papers in the index, a report that accounts for every record.

Everything is planned before anything is encoded, and encoded before it is written; a batch is in the index wholly or
not at all, so a run that was killed is finished by running it again.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ingest import chunking, clean, ledger
from ingest.files import find_files, keep_apart, source_name
from ingest.gather import Gathered, gather
from ingest.known import Known
from ingest.merge import Covered, Merger
from ingest.plan import Plan, assign, make_plan
from ingest.spool import Spool
from ingest.writing import Progress, carry_out
from rag import ingest_reports
from rag.encoder import Encoder
from rag.errors import ConferError, NothingWrittenError, UsageError
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
    keep_apart(roots, folder)
    files, report = find_files(roots)
    begun = _begin(report, dry_run=dry_run)
    with ExitStack() as stack:
        spool = stack.enter_context(Spool())
        store: Index | None = None
        if Index.is_complete(folder):
            if not dry_run:
                encoder = _encoder(encoder, settings)
            store = stack.enter_context(_opened(folder, None if dry_run else encoder))
        known = Known(store.each_paper() if store else ())
        sources = known.source_counts()
        gathered = gather(files, names or {}, report, spool, fields, ledger.load(folder), sources)
        _fail_early(roots, gathered, report, strict)
        if store is None and not dry_run:
            encoder = _encoder(encoder, settings)
            store = stack.enter_context(_created(folder, encoder, settings.chroma_url))
            known = Known(store.each_paper())  # another process may have been quicker
        covered = coverage(gathered, [(names or {}).get(r) or source_name(r) for r in roots] if prune else [])
        merger = Merger(spool, store.papers if store else lambda _: {}, covered)
        known.keep(gathered.familiar)
        assign(gathered.items, known, store.each_paper if store else list, report)
        plan = make_plan(known, merger, report, prune=prune)
        if store is not None and encoder is not None and not dry_run:
            _write(plan, known, merger, store, encoder, progress, gathered)
            _end(report, begun, folder)
    return report


def _begin(report: IngestReport, *, dry_run: bool) -> float:
    """Note when a run begins; returns the same as a clock that only runs forward has it."""
    report.started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    report.dry_run = dry_run
    return time.monotonic()


def _end(report: IngestReport, begun: float, index: Path) -> None:
    """Note how long a run took, and keep its report with the index."""
    report.seconds = round(time.monotonic() - begun, 2)
    ingest_reports.keep(index, report)


def _write(
    plan: Plan,
    known: Known,
    merger: Merger,
    store: Index,
    encoder: Encoder,
    progress: Progress | None,
    gathered: Gathered,
) -> None:
    """Carry the plan out; what the ledger says of the files of this run does not hold until it is done."""
    book = ledger.load(store.path).files
    changed = {name for name, entry in gathered.entries.items() if book.get(name) != entry} | gathered.unread
    others = {name: entry for name, entry in book.items() if name not in changed}
    if changed:
        ledger.save(store.path, ledger.Ledger(files=others))
    try:
        carry_out(plan, known, merger, store, encoder, progress)
    except (Exception, KeyboardInterrupt) as error:
        _keep_partial(plan, store.path, error)
        raise
    if changed:
        ledger.save(store.path, ledger.Ledger(files={**others, **gathered.entries}))


def _keep_partial(plan: Plan, index: Path, error: BaseException) -> None:
    """Keep the report of a run that failed while writing; raise what a person can act on if the store is at fault."""
    held = f"{plan.written:,} of {len(plan.encode):,} papers are in it, none of them half"
    plan.report.failed = f"{str(error) or 'stopped'} ({held})"
    with suppress(OSError):  # a full disk, say
        ingest_reports.keep(index, plan.report)
    _raise_for_store(index, error, f"{held}; the same command again goes on from there")


def _raise_for_store(index: Path, error: BaseException, more: str) -> None:
    """Raise ConferError if it is the store that failed."""
    from chromadb.errors import ChromaError

    if isinstance(error, OSError | ChromaError):
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ConferError(f"{index} could not be written to: {reason}; {more}") from error


def _encoder(encoder: Encoder | None, settings: Settings) -> Encoder:
    return encoder or Encoder(settings.encoder, offline=settings.offline)


@contextmanager
def _opened(folder: Path, encoder: Encoder | None) -> Iterator[Index]:
    """The index, locked for the encoder that is to write to it; only to be read from where there is none."""
    with ExitStack() as stack:
        if encoder is not None:
            stack.callback(writer_lock(folder).release)
        try:
            store = Index.open(folder)
        except Exception as error:
            _raise_for_store(folder, error, "the same command again goes on when there is room")
            raise
        stack.callback(store.close)
        if encoder is not None:
            store.check_encoder(encoder)
        yield store


@contextmanager
def _created(folder: Path, encoder: Encoder, server: str) -> Iterator[Index]:
    """A new index, locked; or the one that another process has made meanwhile."""
    # Whatever can fail does so before there is a folder.
    passport = passport_of(encoder)
    with ExitStack() as stack:
        stack.callback(writer_lock(folder).release)
        if Index.is_complete(folder):
            store = Index.open(folder)
            stack.callback(store.close)
            store.check_encoder(encoder)
        else:
            try:
                store = Index.create(folder, passport, server=server)
            except Exception as error:
                _raise_for_store(folder, error, "nothing is in it; the same command again begins anew")
                raise
            stack.callback(store.close)
        yield store


def coverage(gathered: Gathered, roots: Sequence[str]) -> Covered:
    """Return whether a run saw all that a file holds: it read it to its end, or the file is gone from under `roots`.

    What a file holds that could not be read is not known, so its papers stay.
    """

    def below(file: str, parent: str) -> bool:
        return file == parent or file.startswith(parent.rstrip("/") + "/")

    def covered(file: str) -> bool:
        if file in gathered.familiar or any(below(file, name) for name in gathered.unread):
            return False
        return file in gathered.read or any(below(file, root) for root in roots)

    return covered


def _fail_early(roots: list[Path], gathered: Gathered, report: IngestReport, strict: bool) -> None:
    """Raise UsageError when there is nothing to ingest or, with `strict`, anything to reject."""
    faults = [f"{r.file}{f', line {r.line}' if r.line else ''}: {r.reason}" for r in report.rejects]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    if gathered.items or gathered.familiar:
        if strict and faults:
            raise NothingWrittenError(f"--strict: nothing was written, because of {faults[0]}{more}", report)
        return
    if not faults:
        hidden = f" ({len(report.skipped)} hidden, temporary or program files passed over)" if report.skipped else ""
        raise UsageError(f"no list files in {', '.join(map(str, roots))}{hidden}")
    raise NothingWrittenError(f"nothing to ingest: {faults[0]}{more}", report)


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
