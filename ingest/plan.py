"""What a run will do with every record, decided before anything is encoded or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.files import Gathered, reject
from ingest.identity import content_id
from ingest.labels import label
from ingest.readers import RawRecord
from rag.schema import IngestReport, Paper, Source


@dataclass
class Plan:
    """Papers to add, to change (their abstracts stay) and to remove.

    `seen` are the ids that the records hold, `reread` the names of the files that they came from.
    """

    report: IngestReport
    add: dict[str, Paper] = field(default_factory=dict)
    update: dict[str, Paper] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    reread: set[str] = field(default_factory=set)


def make_plan(records: Sequence[tuple[str, RawRecord]], known: dict[str, Paper], report: IngestReport) -> Plan:
    """Decide for every cleaned record whether it is new, known, changed or no paper; the counts go to `report`."""
    # Positions move when a list is edited, so a file that is read again gives its papers' sources anew.
    plan = Plan(report, reread={name for name, _ in records})
    taken = {p.label.casefold() for p in known.values()}
    for name, record in records:
        if record.reject:
            reject(report, name, record.reject, record)
            continue
        report.read += 1
        paper_id = content_id(record.abstract)
        source = Source(file=name, position=record.position)
        if paper_id in plan.seen:
            report.duplicate += 1
            planned = plan.add if paper_id in plan.add else plan.update
            planned[paper_id] = _merged(planned[paper_id], record, source)
            continue
        plan.seen.add(paper_id)
        old = known.get(paper_id)
        if old is None:
            report.added += 1
            plan.add[paper_id] = Paper(
                id=paper_id,
                title=record.title,
                abstract=record.abstract,
                label=label(record.abstract, record.title, taken),
                venue=record.venue,
                year=record.year,
                sources=[source],
            )
            continue
        kept = [s for s in old.sources if s.file not in plan.reread]
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


def _merged(paper: Paper, record: RawRecord, source: Source) -> Paper:
    """The paper with one more source; a later record fills what the first left open."""
    sources = paper.sources if source in paper.sources else [*paper.sources, source]
    fields = {"venue": paper.venue or record.venue, "year": paper.year or record.year}
    return paper.model_copy(update={**fields, "sources": sources})


def plan_pruning(plan: Plan, known: dict[str, Paper], gathered: Gathered, roots: Sequence[str]) -> None:
    """Drop the sources under `roots` that this run did not see; a paper without sources is removed.

    What a file holds that could not be read is not known, so its papers stay.
    """

    def covered(file: str) -> bool:
        if file in gathered.unread:
            return False
        return file in gathered.read or any(file == r or file.startswith(r.rstrip("/") + "/") for r in roots)

    for paper_id, old in known.items():
        paper = plan.update.get(paper_id, old)
        fresh = plan.reread if paper_id in plan.seen else set()
        kept = [s for s in paper.sources if s.file in fresh or not covered(s.file)]
        if kept == paper.sources:
            continue
        if kept:
            plan.update[paper_id] = paper.model_copy(update={"sources": kept})
        else:
            plan.remove.append(paper_id)
