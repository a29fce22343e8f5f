"""Dublin Core: JaLC's RDF/XML and the `oai_dc` records of OAI-PMH interfaces."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.readers import fields
from ingest.readers.records import RawRecord
from ingest.readers.xml_text import Context, Element, Shape, attribute, every, marked, said
from rag.text import CJK


def read(unit: Element, _: Context) -> Iterator[RawRecord]:
    """The record of one description. Where it speaks two languages, that of its first title counts."""
    titles = [text for e in every(unit, "title") if (text := marked(e))]
    foreign = bool(titles) and _foreign(titles[0])
    abstracts = [text for name in ("abstract", "description") for e in every(unit, name) if (text := marked(e))]
    identifiers = [attribute(unit, "about"), said(unit, "doi"), *(marked(e) for e in every(unit, "identifier"))]
    venues = [
        text for name in ("publicationName", "source", "isPartOf") for e in every(unit, name) if (text := marked(e))
    ]
    url = fields.url(identifiers[:1]) or next((found for value in identifiers if (found := fields.url(value))), None)
    doi = next((found for value in identifiers if (found := fields.doi(value))), None)
    yield RawRecord(
        0,
        None,
        next(iter(_same(abstracts, foreign)), ""),
        title=titles[0] if titles else None,
        authors=_same(_people(unit), foreign),
        venue=next(iter(_same(venues, foreign)), None),
        year=fields.year([marked(e) for e in every(unit, "date")]),
        keywords=tuple(dict.fromkeys(word for e in every(unit, "subject") if (word := marked(e)))),
        url=url,
        doi=doi,
        arxiv_id=next(
            (found for value in identifiers if "arxiv" in value.lower() and (found := fields.arxiv(value))), None
        ),
        key=doi or url,
    )


def _people(unit: Element) -> list[str]:
    """The names; a person with parts is `Given Family`, in Chinese, Japanese and Korean as the whole name stands."""
    people = []
    for person in every(unit, "creator/Person"):
        whole = said(person, "name")
        parts = [part for name in ("givenName", "familyName") if (part := said(person, name))]
        people.append(whole if _foreign(whole) or not parts else " ".join(parts))
    return people or [text for e in every(unit, "creator") if (text := marked(e))]


def _foreign(text: str) -> bool:
    return CJK.search(text) is not None


def _same(values: list[str], foreign: bool) -> tuple[str, ...]:
    """The values in the same kind of script, or all where there are none."""
    same = tuple(dict.fromkeys(value for value in values if _foreign(value) == foreign))
    return same or tuple(dict.fromkeys(values))


RDF = Shape("JaLC RDF", frozenset({"Description"}), read, roots=frozenset({"RDF"}))
OAI = Shape("OAI-PMH Dublin Core", frozenset({"dc"}), read)
