"""The ingest job: files in, papers in the index, a report that accounts for every record.

Everything is planned before anything is encoded, and encoded before it is written; a batch is in the index wholly or
not at all, so a run that was killed is finished by running it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ingest import chunking, clean
from ingest.files import Gathered, find_files, gather, source_name
from ingest.plan import Plan, make_plan, plan_pruning
from rag.encoder import Encoder
from rag.errors import PassportError, UsageError
from rag.index import Index
from rag.schema import IngestReport, Paper, Passage, Passport
from rag.settings import Settings
from rag.text import search_text

BATCH = 64  # papers in one write

Progress = Callable[[int, int], None]  # (papers done, papers to do)


def run(
    paths: Sequence[Path | str],
    index: Path | str | None = None,
    *,
    settings: Settings | None = None,
    encoder: Encoder | None = None,
    prune: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
    names: Mapping[Path, str] | None = None,
) -> IngestReport:
    """Bring list files (or folders of them) into an index and return the report.

    `prune` also removes what the given files and folders no longer hold; `strict` writes nothing when any record is
    rejected; `names` gives the source name to store for a path (uploads). Raises UsageError for paths that do not exist
    and when nothing at all could be read, IndexLockedError while another writer works.
    """
    settings = settings or Settings()
    folder = Path(index) if index is not None else settings.index
    roots = [Path(p) for p in paths]
    files, report = find_files(roots)
    gathered = gather(files, names or {}, report)
    _fail_early(roots, gathered, report, strict)
    encoder = encoder or Encoder(settings.encoder, offline=settings.offline)
    # Whatever can fail does so before there is a folder.
    passport = None if folder.exists() else passport_of(encoder)
    lock = Index.lock(folder)
    try:
        store = _open(folder, encoder, passport)
        try:
            known = store.papers()
            plan = make_plan(gathered.records, known, report)
            if prune:
                plan_pruning(plan, known, gathered, [(names or {}).get(r) or source_name(r) for r in roots])
            _carry_out(plan, known, store, encoder, progress)
        finally:
            store.close()
    finally:
        lock.release()
    return report


def _fail_early(roots: list[Path], gathered: Gathered, report: IngestReport, strict: bool) -> None:
    """Raise UsageError when there is nothing to ingest or, with `strict`, anything to reject."""
    faults = [f"{r.file}: {r.reason}" for r in report.rejects]
    faults += [f"{file}, line {r.line}: {r.reject}" for file, r in gathered.records if r.reject]
    if not gathered.records and not faults:
        hidden = f" ({len(report.skipped)} hidden or temporary passed over)" if report.skipped else ""
        raise UsageError(f"no list files in {', '.join(map(str, roots))}{hidden}")
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    if all(record.reject for _, record in gathered.records):
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


def _carry_out(plan: Plan, known: dict[str, Paper], index: Index, encoder: Encoder, progress: Progress | None) -> None:
    papers = list(plan.add.values())
    if progress:
        progress(0, len(papers))
    for begin in range(0, len(papers), BATCH):
        batch = papers[begin : begin + BATCH]
        cut = [_cut(paper, encoder) for paper in batch]
        encoded = encoder.encode_passages([text for _, texts in cut for text in texts])
        index.add(batch, [passages for passages, _ in cut], encoded)
        plan.report.encoded += len(encoded)
        if progress:
            progress(begin + len(batch), len(papers))
    index.update(list(plan.update.values()))
    index.remove(plan.remove)
    plan.report.removed = len(plan.remove)
    # A run that died before its commit left papers behind that nothing derived knows of yet.
    if papers or plan.update or plan.remove or not index.is_settled(known):
        index.commit()


def _cut(paper: Paper, encoder: Encoder) -> tuple[list[Passage], list[tuple[str, list[str]]]]:
    """The passages of a paper and what the encoder reads for each: the title, where it has room, and the sentences."""
    title = search_text(paper.title or "")
    room = limit = encoder.max_tokens
    if title:
        room -= encoder.count_tokens(title) + 2
        if room < limit // 2:
            title, room = "", limit
    passages = chunking.passages(paper.id, paper.abstract, encoder.count_tokens, room)
    texts = [(title, [search_text(paper.abstract[s.start : s.end]) for s in p.sentences]) for p in passages]
    return passages, texts
