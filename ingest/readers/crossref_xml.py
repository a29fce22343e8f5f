"""Crossref's Unixref: answers to queries, and deposits."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.readers import fields
from ingest.readers.records import RawRecord
from ingest.readers.xml_text import Context, Element, Shape, every, first, local, marked, said

ITEMS = frozenset({"journal_article", "conference_paper", "content_item"})
OWN = ("journal_metadata", "proceedings_metadata", "book_metadata", "book_series_metadata", "book_set_metadata")
DATES = ("publication_date", "posted_date", "approval_date", "review_date", "acceptance_date")
VENUES = (
    "journal_metadata/full_title",
    "proceedings_metadata/proceedings_title",
    "proceedings_series_metadata/proceedings_title",
    "event_metadata/conference_name",
    *(f"{name}/titles/title" for name in OWN),
    "book_series_metadata/series_metadata/titles/title",
)
NO_ABSTRACT = frozenset(
    {"graphical", "teaser", "short", "toc", "key-points", "editor-summary", "plain-language-summary"}
)


def read(unit: Element, _: Context) -> Iterator[RawRecord]:
    """The articles of a journal, the papers of a conference, the chapters of a book, or the work itself."""
    venue = said(unit, *VENUES) or None
    year = fields.year([said(unit, f"{place}/publication_date/year") for place in ("journal_issue", *OWN)])
    items = [child for child in unit if local(child) in ITEMS]
    for item in items:
        yield _record(item, venue, year)
    if not items:
        own = first(unit, *OWN)
        work = unit if own is None else own
        container = said(unit, "group_title", "institution/institution_name") or None
        yield _record(work, container if own is None else None, year)


def _record(item: Element, venue: str | None, year: int | None) -> RawRecord:
    doi = fields.doi(said(item, "doi_data/doi"))
    dates = [said(item, f"{name}/year") for name in DATES]
    return RawRecord(
        0,
        item.sourceline,
        _abstract(item),
        title=_title(item) or None,
        authors=tuple(name for e in _people(item) if (name := _name(e))),
        venue=venue,
        year=fields.year(dates) or year,
        url=fields.url(said(item, "doi_data/resource")),
        doi=doi,
        arxiv_id=fields.arxiv_in_doi(doi),
        key=doi,
    )


def _title(item: Element) -> str:
    title, subtitle = said(item, "titles/title", "full_title", "proceedings_title"), said(item, "titles/subtitle")
    if title and subtitle:
        return f"{title} {subtitle}" if title.endswith((":", "?", "!", ".")) else f"{title}: {subtitle}"
    return title


def _abstract(item: Element) -> str:
    found = [e for e in every(item, "abstract") if e.get("abstract-type", "") not in NO_ABSTRACT]
    return next((text for e in found if (text := marked(e))), "")


def _people(item: Element) -> Iterator[Element]:
    for holder in (*every(item, "contributors"), item):
        for child in holder:
            if local(child) in {"person_name", "organization"} and child.get("contributor_role", "author") == "author":
                yield child


def _name(person: Element) -> str:
    if local(person) == "organization":
        return marked(person)
    return " ".join(part for name in ("given_name", "surname", "suffix") if (part := said(person, name)))


SHAPE = Shape(
    "Crossref Unixref",
    frozenset(
        {"journal", "conference", "book", "posted_content", "dissertation", "peer_review", "report-paper", "standard"}
    ),
    read,
    roots=frozenset({"doi_records", "doi_record", "doi_batch", "crossref", "crossref_result", "OAI-PMH", "unixref"}),
)
