"""EndNote's XML export, which Zotero, Mendeley and others write too."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.readers import fields
from ingest.readers.records import RawRecord
from ingest.readers.xml_text import Context, Element, Shape, every, marked, said


def read(record: Element, _: Context) -> Iterator[RawRecord]:
    """The record of one reference."""
    url = fields.url(
        [marked(e) for kind in ("web-urls", "related-urls", "pdf-urls") for e in every(record, f"urls/{kind}/url")]
    )
    doi = fields.doi(said(record, "electronic-resource-num")) or fields.doi(url)
    yield RawRecord(
        0,
        None,
        said(record, "abstract"),
        title=said(record, "titles/title") or None,
        authors=tuple(name for e in every(record, "contributors/authors/author") if (name := marked(e))),
        venue=said(record, "titles/secondary-title", "periodical/full-title", "alt-periodical/full-title") or None,
        year=fields.year(said(record, "dates/year", "dates/pub-dates/date")),
        keywords=tuple(dict.fromkeys(word for e in every(record, "keywords/keyword") if (word := marked(e)))),
        url=url,
        doi=doi,
        arxiv_id=fields.arxiv(url),
        openreview_id=fields.openreview(url),
        key=said(record, "label") or said(record, "rec-number") or None,
    )


SHAPE = Shape("EndNote", frozenset({"record"}), read, roots=frozenset({"xml", "records", "XML", "RECORDS"}))
