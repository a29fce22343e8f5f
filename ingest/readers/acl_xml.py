"""ACL Anthology XML: volumes with papers; what a volume says holds for the papers in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.readers import fields
from ingest.readers.records import RawRecord
from ingest.readers.xml_text import Context, Element, Shape, every, first, said

IDENTIFIER = re.compile(r"[\w.-]+")


def enter(volume: Element) -> Context:
    """The title and year of a volume."""
    return {"venue": said(volume, "meta/booktitle"), "year": said(volume, "meta/year"), "url": said(volume, "meta/url")}


def read(paper: Element, volume: Context) -> Iterator[RawRecord]:
    """The record of one paper."""
    address = said(paper, "url")
    url = f"https://aclanthology.org/{address}/" if IDENTIFIER.fullmatch(address) else fields.url(address)
    yield RawRecord(
        0,
        None,
        said(paper, "abstract"),
        title=said(paper, "title") or None,
        authors=tuple(name for e in every(paper, "author") if (name := _name(e))),
        venue=said(paper, "booktitle") or volume.get("venue") or None,
        year=fields.year(said(paper, "year")) or fields.year(volume.get("year")),
        url=url,
        doi=fields.doi(said(paper, "doi")),
        key=said(paper, "bibkey") or paper.get("id"),
    )


def _name(author: Element) -> str:
    parts = [said(author, "first"), said(author, "last")] if first(author, "last") is not None else [author.text or ""]
    return " ".join(part.strip() for part in parts if part.strip())


SHAPE = Shape(
    "ACL Anthology", frozenset({"paper"}), read, frozenset({"volume"}), enter, roots=frozenset({"collection", "volume"})
)
