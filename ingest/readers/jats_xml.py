"""JATS, the format of journal articles (PubMed Central, publishers)."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.readers import fields
from ingest.readers.records import RawRecord
from ingest.readers.xml_text import Context, Element, Shape, attribute, every, first, local, marked, said

NAMES = ("name", "string-name", "collab", "name-alternatives/name")


def read(article: Element, _: Context) -> Iterator[RawRecord]:
    """The record of one `article`."""
    meta = first(article, "front/article-meta", "front-stub", "article-meta")
    if meta is None:
        return
    ids = {e.get("pub-id-type", ""): marked(e) for e in every(meta, "article-id")}
    links = [attribute(e, "href") for e in every(meta, "self-uri")]
    years = [found for e in every(meta, "pub-date") if (found := fields.year(said(e, "year", "string-date")))]
    keywords = [marked(e) for e in every(meta, "kwd-group/kwd")]
    title = said(meta, "title-group/article-title")
    subtitle = said(meta, "title-group/subtitle")
    yield RawRecord(
        0,
        None,
        _abstract(meta),
        title=f"{title}: {subtitle}" if title and subtitle else title or None,
        authors=tuple(name for e in every(meta, "contrib-group/contrib") if _writes(e) and (name := _name(e))),
        venue=said(
            article,
            "front/journal-meta/journal-title-group/journal-title",
            "front/journal-meta/journal-title",
            "front/journal-meta/journal-id",
        )
        or None,
        year=min(years, default=None),
        keywords=tuple(dict.fromkeys(word for word in keywords if word)),
        url=fields.url(links),
        doi=fields.doi(ids.get("doi")),
        arxiv_id=fields.arxiv(ids.get("arxiv")),
        key=ids.get("doi") or ids.get("pmid") or ids.get("pmc") or ids.get("publisher-id"),
    )


def _abstract(meta: Element) -> str:
    """The abstract proper; one of a kind (graphical, teaser) or a translation only where there is no other."""
    abstracts = [*every(meta, "abstract"), *every(meta, "trans-abstract")]
    abstracts.sort(key=lambda e: (bool(e.get("abstract-type")), local(e) == "trans-abstract"))
    return next((text for e in abstracts if e.get("abstract-type") != "graphical" and (text := marked(e))), "")


def _writes(contributor: Element) -> bool:
    return bool(contributor.get("contrib-type", "author") == "author")


def _name(contributor: Element) -> str:
    holder = first(contributor, *NAMES)
    if holder is None:
        return ""
    parts = [part for name in ("given-names", "surname", "suffix") if (part := said(holder, name))]
    return " ".join(parts) or marked(holder)


SHAPE = Shape(
    "JATS",
    frozenset({"article"}),
    read,
    roots=frozenset({"article", "articles", "pmc-articleset", "OAI-PMH", "article-set", "collection"}),
)
