"""The ingest job: files in, papers in the index, a report that accounts for every record.

Everything is planned before anything is encoded, and encoded before it is written; a batch is in the index wholly or
not at all, so a run that was killed is finished by running it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingest import chunking, clean
from ingest.identity import content_id
from ingest.labels import label
from ingest.readers import RawRecord, ReadError, read_file
from rag.encoder import Encoder
from rag.errors import PassportError, UsageError
from rag.index import Index
from rag.schema import IngestReport, Paper, Passport, Reject, Source
from rag.settings import Settings
from rag.text import search_text

BATCH = 64  # papers in one write

Progress = Callable[[int, int], None]  # (papers done, papers to do)


@dataclass
class Plan:
    """What a run will do, before any encoding."""

    report: IngestReport
    add: dict[str, Paper] = field(default_factory=dict)
    update: dict[str, Paper] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)


def run(
    paths: Sequence[Path | str],
    index: Path | str | None = None,
    *,
    settings: Settings | None = None,
    encoder: Encoder | None = None,
    prune: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
    names: dict[Path, str] | None = None,
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
    records = list(_read(files, names or {}, report))
    _fail_early(roots, records, report, strict)
    lock = Index.lock(folder)
    try:
        encoder = encoder or Encoder(settings.encoder, offline=settings.offline)
        store = _open(folder, encoder)
        try:
            known = store.papers()
            plan = make_plan(records, known, report)
            if prune:
                _plan_pruning(plan, known, roots, names or {})
            _carry_out(plan, store, encoder, progress)
        finally:
            store.close()
    finally:
        lock.release()
    return report


def find_files(roots: Sequence[Path]) -> tuple[list[Path], IngestReport]:
    """Return the list files under `roots` in name order; hidden and temporary ones go to the report's `skipped`."""
    report = IngestReport()
    files: list[Path] = []
    for root in roots:
        if root.is_dir():
            for path in sorted(p for p in root.rglob("*") if p.is_file()):
                parts = path.relative_to(root).parts
                hidden = any(part.startswith((".", "~")) for part in parts) or path.name.endswith(("~", ".tmp", ".swp"))
                (report.skipped.append(str(path)) if hidden else files.append(path))
        elif root.exists():
            files.append(root)
        else:
            raise UsageError(f"no such file or folder: {root}")
    return list(dict.fromkeys(files)), report


def _read(files: list[Path], names: dict[Path, str], report: IngestReport) -> Iterator[tuple[str, RawRecord]]:
    for path in files:
        name = names.get(path, path.resolve().as_posix())
        count = 0
        try:
            for record in read_file(path):
                count += 1
                yield name, record
        except (ReadError, OSError) as error:
            reason = f"cannot be read: {error.strerror}" if isinstance(error, OSError) else str(error)
            _reject(report, name, reason)
            continue
        if count == 0:
            _reject(report, name, "no abstracts in it (a header line alone is not a paper)")


def _reject(report: IngestReport, file: str, reason: str, record: RawRecord | None = None) -> None:
    report.read += 1
    report.rejected += 1
    position, line = (record.position, record.line) if record else (None, None)
    report.rejects.append(Reject(file=file, position=position, line=line, reason=reason))


def _fail_early(
    roots: list[Path], records: list[tuple[str, RawRecord]], report: IngestReport, strict: bool
) -> None:
    if not records and not report.rejects:
        raise UsageError(f"no list files in {', '.join(map(str, roots))}")
    usable = any(r.reject is None for _, r in records)
    first = report.rejects[0] if report.rejects else None
    if not usable and first is not None:
        more = f" (and {len(report.rejects) - 1} more)" if len(report.rejects) > 1 else ""
        raise UsageError(f"nothing to ingest: {first.file}: {first.reason}{more}")
    broken = next(((f, r.line, r.reject) for f, r in records if r.reject), None)
    if not usable and broken:
        raise UsageError(f"nothing to ingest: {broken[0]}, line {broken[1]}: {broken[2]}")
    if strict and (first or broken):
        place = f"{first.file}: {first.reason}" if first else "{}, line {}: {}".format(*(broken or ()))
        raise UsageError(f"--strict: nothing was written, because of {place}")


def _open(folder: Path, encoder: Encoder) -> Index:
    if not Index.is_complete(folder):
        return Index.create(folder, passport_of(encoder))
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


def make_plan(records: list[tuple[str, RawRecord]], known: dict[str, Paper], report: IngestReport) -> Plan:
    """Decide for every record whether it is new, known, changed or no paper; the counts go to `report`."""
    plan = Plan(report)
    taken = {p.label.casefold() for p in known.values()}
    # Positions move when a list is edited, so a file that is read again gives its papers' sources anew.
    reread = {name for name, _ in records}
    for name, record in records:
        abstract = "" if record.reject else clean.clean(record.abstract)
        reason = record.reject or (None if len(re.findall(r"\w", abstract)) >= 20 else "no text left after cleaning")
        if reason:
            _reject(report, name, reason, record)
            continue
        report.read += 1
        paper_id = content_id(abstract)
        source = Source(file=name, position=record.position)
        if paper_id in plan.seen:
            report.duplicate += 1
            planned = plan.add if paper_id in plan.add else plan.update
            planned[paper_id] = _with_source(planned[paper_id], source)
            continue
        plan.seen.add(paper_id)
        old = known.get(paper_id)
        if old is None:
            report.added += 1
            plan.add[paper_id] = Paper(
                id=paper_id, title=record.title, abstract=abstract, label=label(abstract, record.title, taken),
                venue=record.venue, year=record.year, sources=[source],
            )  # fmt: skip
            continue
        kept = [s for s in old.sources if s.file not in reread]
        fields = {"venue": record.venue or old.venue, "year": record.year or old.year}
        plan.update[paper_id] = old.model_copy(update={**fields, "sources": [*kept, source]})
        if (old.venue, old.year) != tuple(fields.values()):
            report.updated += 1
        elif any(s.file == name for s in old.sources):
            report.unchanged += 1
        else:
            report.duplicate += 1
    plan.update = {i: p for i, p in plan.update.items() if p != known[i]}
    return plan


def _with_source(paper: Paper, source: Source) -> Paper:
    return paper if source in paper.sources else paper.model_copy(update={"sources": [*paper.sources, source]})


def _plan_pruning(plan: Plan, known: dict[str, Paper], roots: list[Path], names: dict[Path, str]) -> None:
    """Drop the sources under `roots` that this run did not see; a paper without sources is removed."""
    under = [names.get(r, r.resolve().as_posix()) for r in roots]
    for paper_id, paper in known.items():
        if paper_id in plan.seen:
            continue
        kept = [s for s in paper.sources if not any(s.file == u or s.file.startswith(u.rstrip("/") + "/") for u in under)]
        if len(kept) == len(paper.sources):
            continue
        if kept:
            plan.update[paper_id] = paper.model_copy(update={"sources": kept})
        else:
            plan.remove.append(paper_id)


def _carry_out(plan: Plan, index: Index, encoder: Encoder, progress: Progress | None) -> None:
    papers = list(plan.add.values())
    if progress:
        progress(0, len(papers))
    for begin in range(0, len(papers), BATCH):
        batch = papers[begin : begin + BATCH]
        passages = [chunking.passages(p.id, p.abstract, encoder.count_tokens, encoder.max_tokens) for p in batch]
        texts = [
            (search_text(p.title or ""), [search_text(p.abstract[s.start : s.end]) for s in passage.sentences])
            for p, own in zip(batch, passages, strict=True)
            for passage in own
        ]
        encoded = encoder.encode_passages(texts)
        index.add(batch, passages, encoded)
        plan.report.encoded += len(encoded)
        if progress:
            progress(begin + len(batch), len(papers))
    index.update(list(plan.update.values()))
    index.remove(plan.remove)
    plan.report.removed = len(plan.remove)
    if papers or plan.update or plan.remove or index.passport.generation == 0:
        index.commit()
