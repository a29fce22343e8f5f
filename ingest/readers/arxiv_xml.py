"""What arXiv's interfaces answer: Atom feeds, and the `arXiv` and `arXivRaw` records of its OAI-PMH interface."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.readers import fields
from ingest.readers.records import RawRecord
from ingest.readers.xml_text import Context, Element, Shape, every, marked, said


def read_entry(entry: Element, _: Context) -> Iterator[RawRecord]:
    """The record of an entry of an Atom feed."""
    address = said(entry, "id")
    links = {e.get("rel", "alternate"): e.get("href", "") for e in every(entry, "link")}
    yield RawRecord(
        0,
        None,
        said(entry, "summary") or said(entry, "content"),
        title=said(entry, "title") or None,
        authors=tuple(name for e in every(entry, "author/name") if (name := marked(e))),
        venue=said(entry, "journal_ref") or None,
        year=fields.year(said(entry, "published", "updated")),
        keywords=tuple(e.get("term") for e in every(entry, "category") if e.get("term")),
        url=fields.url(address) or fields.url(links.get("alternate")),
        doi=fields.doi(said(entry, "doi")),
        arxiv_id=fields.arxiv(address),
        key=address.rpartition("/abs/")[2] or None,
    )


def read_oai(record: Element, _: Context) -> Iterator[RawRecord]:
    """The record of an OAI-PMH answer in arXiv's own formats."""
    identifier = said(record, "id")
    people = [
        " ".join(part for name in ("forenames", "keyname", "suffix") if (part := said(e, name)))
        for e in every(record, "authors/author")
    ]
    yield RawRecord(
        0,
        None,
        said(record, "abstract"),
        title=said(record, "title") or None,
        authors=tuple(people) if people else fields.people(said(record, "authors")),
        venue=said(record, "journal-ref") or None,
        year=fields.year(said(record, "created", "version/date")),
        keywords=tuple(said(record, "categories").split()),
        url=f"https://arxiv.org/abs/{identifier}" if identifier else None,
        doi=fields.doi(said(record, "doi")),
        arxiv_id=fields.arxiv(identifier),
        key=identifier or None,
    )


ATOM = Shape("Atom (arXiv)", frozenset({"entry"}), read_entry, roots=frozenset({"feed", "entry"}))
OAI = Shape("arXiv OAI-PMH", frozenset({"arXiv", "arXivRaw"}), read_oai)
