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
        sources = _sources(old.sources if old else [], records, self._covered, target.content)
        supplier = (sources[0].file, sources[0].digest) if sources else None
        supplied = [(item, record) for item, record in records if (item.file, item.content) == supplier]
        others = [(item, record) for item, record in records if (item.file, item.content) != supplier]
        return Paper(
            id=target.id,
            abstract=supplied[0][1].abstract if supplied else old.abstract if old else "",
            label=old.label if old else "",
            sources=sources,
            **_fields(old, supplied, others),
        )

    def gone(self, target: Target) -> bool | None:
        """For a paper that this run did not meet: True if no source of it is left, False if some are, None if all."""
        left = [file for file, _ in target.sources if not self._covered(file)]
        return None if len(left) == len(target.sources) else not left


def _fields(old: Paper | None, supplied: list[Record], others: list[Record]) -> dict[str, Any]:
    """What supplies the text supplies the fields; what the index has and the other records fill what is left open."""
    held = {name: value for name in (*FIELDS, "language") if (value := getattr(old, name))} if old else {}
    merged: dict[str, Any] = {}
    for fields in [*(_given(*r) for r in supplied), held, *(_given(*r) for r in others)]:
        for name, value in fields.items():
            merged.setdefault(name, value)
    return merged


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
