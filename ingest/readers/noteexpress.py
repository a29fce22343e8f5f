"""NoteExpress (`.net`, `.txt`), as CNKI and Wanfang export it: `{Reference Type}: …`, `{Title}: …`, `{Abstract}: …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.readers import fields, tagged
from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord

FIELD = re.compile(r"\s{0,3}\{(?P<tag>[A-Z][A-Za-z /()-]{1,40})\}[ \t]*[:：]\s?(?P<value>.*)")
RECORD = re.compile(r"^\s{0,3}\{Reference Type\}[ \t]*[:：]", re.MULTILINE)


def _renews(tag: str, block: tagged.Block, _after_blank: bool) -> bool:
    """Records have no end: a type begins the next one, or a second title where the type is missing."""
    return tag == "Reference Type" or (tag == "Title" and tag in block.tags)


SHAPE = tagged.Shape(styles=((FIELD, FIELD),), starts=frozenset({"Reference Type"}), renews=_renews, gap=2)


def recognises(file: ListFile) -> bool:
    """Whether a record begins in it."""
    return bool(RECORD.search(tagged.head(file)))


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the records of a file."""
    for position, block in enumerate(tagged.split(file.lines(), SHAPE)):
        yield _record(position, block)


def _record(position: int, block: tagged.Block) -> RawRecord:
    found = tagged.gather(block)
    links = tagged.values(found, "URL", "Link")
    sources = [*tagged.values(found, "DOI"), *links]
    people = tagged.names(tagged.values(found, "Author"))
    return RawRecord(
        position,
        block.line,
        "" if block.reject else tagged.abstract(found, "Abstract", "Translated Abstract"),
        title=tagged.first(found, "Title", "Translated Title"),
        authors=people or tagged.names(tagged.values(found, "Translated Author")),
        venue=tagged.first(found, "Journal", "Secondary Title", "Tertiary Title", "Translated Journal"),
        year=fields.year(tagged.values(found, "Year", "Date")),
        keywords=tagged.keywords(tagged.values(found, "Keywords")),
        url=tagged.lookup(fields.url, links),
        doi=tagged.lookup(fields.doi, sources),
        arxiv_id=tagged.lookup(fields.arxiv, sources),
        openreview_id=tagged.lookup(fields.openreview, links),
        key=tagged.first(found, "Accession Number"),
        reject=block.reject,
        warning=block.warning,
    )
