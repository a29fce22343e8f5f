"""Plans made from lists in memory, and what an index would hold after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ingest.findings import reject
from ingest.gather import Gathered, cleaned, item_of
from ingest.identity import words
from ingest.job import coverage
from ingest.known import Known
from ingest.merge import Merger
from ingest.plan import Plan, assign, make_plan
from ingest.readers import RawRecord
from ingest.spool import Spool
from ingest.writing import labelled
from rag.schema import IngestReport, Paper

Lists = Mapping[str, Sequence[RawRecord]]
Papers = dict[str, Paper]


@dataclass
class Outcome:
    """A plan, and the papers of an index that it was carried out on."""

    plan: Plan
    papers: Papers = field(default_factory=dict)

    @property
    def report(self) -> IngestReport:
        return self.plan.report


def carried_out(
    lists: Lists, known: Papers | None = None, prune: Sequence[str] | None = None, unread: Sequence[str] = ()
) -> Outcome:
    """Plan the records of some lists on an index that holds `known`, and carry the plan out.

    `prune` are the paths that were given to a pruning run.
    """
    held = dict(known or {})
    report = IngestReport()
    gathered = Gathered(read=set(lists), unread=set(unread))
    with Spool() as spool:
        for name, records in lists.items():
            for record in map(cleaned, records):
                if record.reject:
                    reject(report, name, record.reject, record)
                else:
                    report.read += 1
                    gathered.items.append(item_of(name, record, words(record.abstract), spool))
        index = Known(held.values())
        covered = coverage(gathered, prune or [])
        merger = Merger(spool, lambda ids: {i: held[i] for i in ids}, covered)
        assign(gathered.items, index, held.values, report)
        plan = make_plan(index, merger, report, prune=prune is not None)
        after = dict(held)
        for _, _, new in merger.merged([*plan.encode, *plan.update]):
            after[new.id] = new if new.label else labelled(new, index.labels)
        for paper_id in plan.remove:
            del after[paper_id]
    return Outcome(plan, after)
