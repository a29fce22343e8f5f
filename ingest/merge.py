"""One paper from all that is known of it: its record in the index, and its records in this run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ingest.gather import Item
from ingest.known import Target
from ingest.readers import RawRecord
from ingest.spool import Spool
from rag.schema import Paper, Source

FIELDS = ("title", "authors", "year", "venue", "keywords", "url", "doi", "arxiv_id", "openreview_id")

Record = tuple[Item, RawRecord]
Covered = Callable[[str], bool]


class Merger:
    """Makes papers as they shall stand in the index. `fetch` gives papers of the index by id.

    `covered` tells whether this run saw all that a file holds, so that a source there that it did not meet is gone.
    """

    def __init__(self, spool: Spool, fetch: Callable[[Sequence[str]], dict[str, Paper]], covered: Covered) -> None:
        self._spool = spool
        self._fetch = fetch
        self._covered = covered

    def merged(self, targets: Sequence[Target]) -> Iterator[tuple[Target, Paper | None, Paper]]:
        """Yield (target, the paper in the index if it is there, the paper as it shall be); new ones have no label."""
        held = self._fetch([t.id for t in targets if t.in_index])
        for target in targets:
            old = held.get(target.id)
            records = [(item, self._spool.read(item.at)) for item in target.members]
            yield target, old, self._paper(target, old, records)

    def _paper(self, target: Target, old: Paper | None, records: list[Record]) -> Paper:
        lead = target.leads[-1] if target.leads else None if old else target.members[0]
        fields, abstract = _fields(old, lead, records)
        sources = _sources(old.sources if old else [], records, self._covered, target.content)
        label = old.label if old else ""
        return Paper(id=target.id, abstract=abstract, label=label, sources=sources, **fields)

    def gone(self, target: Target) -> bool | None:
        """For a paper that this run did not meet: True if no source of it is left, False if some are, None if all."""
        left = [file for file, _ in target.sources if not self._covered(file)]
        return None if len(left) == len(target.sources) else not left


def _fields(old: Paper | None, lead: Item | None, records: list[Record]) -> tuple[dict[str, Any], str]:
    """The fields and the text. What supplies the text supplies the fields; the others fill what it leaves open."""
    given = [(item, _given(item, record)) for item, record in records]
    held = {name: value for name in (*FIELDS, "language") if (value := getattr(old, name))} if old else {}
    if lead is not None:
        first = next(fields for item, fields in given if item is lead)
        order = [first, held, *(fields for item, fields in given if item is not lead)]
        abstract = next(record.abstract for item, record in records if item is lead)
    else:
        assert old is not None
        supplier = (old.sources[0].file, old.sources[0].digest) if old.sources else None
        own = [fields for item, fields in given if (item.file, item.content) == supplier]
        order = [*own[:1], held, *(fields for item, fields in given if (item.file, item.content) != supplier)]
        abstract = old.abstract
    merged: dict[str, Any] = {}
    for fields in order:
        for name, value in fields.items():
            merged.setdefault(name, value)
    return merged, abstract


def _given(item: Item, record: RawRecord) -> dict[str, Any]:
    fields = {name: value for name in FIELDS if (value := getattr(record, name))}
    return {n: list(v) if isinstance(v, tuple) else v for n, v in fields.items()} | {"language": item.language}


def _sources(old: Sequence[Source], records: list[Record], covered: Covered, content: str) -> list[Source]:
    """The sources: those of files that were read again anew, those in files that no longer hold the paper dropped.

    Files that hold the present text come first, each group in the order in which the files were met, so the first
    source is the one that supplies the text.
    """
    now = [Source(file=item.file, position=item.position, digest=item.content) for item, _ in records]
    again = {source.file for source in now}
    kept = [source for source in old if source.file not in again and not covered(source.file)]
    rank = {file: number for number, file in enumerate(dict.fromkeys(s.file for s in [*old, *now]))}
    suppliers = {source.file for source in [*kept, *now] if source.digest == content}
    return sorted([*kept, *now], key=lambda s: (s.file not in suppliers, rank[s.file], s.digest != content, s.position))
