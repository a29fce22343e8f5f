"""What the sources of JSON lists call things: each shape turns a record into one that goes by Confer's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from ingest.readers import by_names
from ingest.readers import fields as values
from ingest.readers.json_layout import ENVELOPES
from ingest.readers.records import RawRecord

Row = Mapping[str, object]
FILE_NAME = re.compile(r"(?<![a-z])([a-z]+)[-_ ]?((?:19|20)\d\d)(?!\d)", re.IGNORECASE)
VENUES = {"neurips": "NeurIPS", "corl": "CoRL", "interspeech": "Interspeech"}  # the others are written in capitals
FORUM = re.compile(r"(?=[\w-]*[A-Za-z])[\w-]{8,12}")


def record(row: Row, position: int, line: int | None, fields: Mapping[str, str], name: str) -> RawRecord:
    """The record in a JSON object; `name` is that of its file, `fields` says which names to take instead."""
    shaped = shape(row, name)
    found = by_names.record(row if shaped is None else shaped, position, line, fields if shaped is None else {})
    if shaped is None or not fields:
        return found
    mapped = by_names.record(row, position, line, fields)
    return replace(found, **{field: getattr(mapped, field) for field in fields if hasattr(mapped, field)})


def names_abstract(row: Row, fields: Mapping[str, str]) -> bool:
    """Whether a record has a place for its abstract, if an empty one."""
    return by_names.knows(row, fields) or ("abstract" not in fields and shape(row, "") is not None)


def shape(row: Row, name: str) -> Row | None:
    """The record by Confer's names, None where by_names knows what to do."""
    if row.keys().isdisjoint(SIGNS):
        return None
    for recognised, shaped in SHAPES:
        if recognised(row):
            return shaped(row, name)
    return None


def inverted(index: object) -> str:
    """The text of OpenAlex's inverted index (`{"We": [0, 4], "show": [1]}`)."""
    if not isinstance(index, Mapping):
        return ""
    places = [
        (place, word)
        for word, found in index.items()
        if isinstance(found, list)
        for place in found
        if isinstance(place, int)
    ]
    return " ".join(word for _, word in sorted(places))


def _openreview(row: Row, _name: str) -> Row:
    content = _mapping(row.get("content"))
    plain = {key: value.get("value") if isinstance(value, Mapping) else value for key, value in content.items()}
    forum = values.text(row.get("forum")) or values.text(row.get("id"))
    venue = values.text(plain.get("venue")) or values.text(plain.get("venueid"))
    dates = (
        venue,
        plain.get("venueid"),
        plain.get("year"),
        *(row.get(key) for key in ("pdate", "odate", "cdate", "tcdate")),
    )
    return {
        **plain,
        "authors": plain.get("authors"),
        "venue": venue,
        "year": next((found for date in dates if (found := values.year(date))), None),
        "url": f"https://openreview.net/forum?id={forum}" if forum else None,
        "openreview_id": forum,
        "key": values.text(row.get("id")) or forum,
    }


def _arxiv(row: Row, _name: str) -> Row:
    """The Kaggle snapshot of arXiv; the last version is the one whose abstract it holds."""
    versions = [version for version in _list(row.get("versions")) if isinstance(version, Mapping)]
    last = values.text(versions[-1].get("version")) if versions else None
    identifier = values.arxiv(row.get("id"))
    return {
        **row,
        "authors": row.get("authors_parsed") or row.get("authors"),
        "venue": row.get("journal-ref"),
        "year": (values.year(versions[0].get("created")) if versions else None) or values.year(row.get("update_date")),
        "keywords": (values.text(row.get("categories")) or "").split(),
        "url": f"https://arxiv.org/abs/{identifier}" if identifier else None,
        "arxiv_id": f"{re.sub(r'v[0-9]+$', '', identifier)}{last or ''}" if identifier and last else identifier,
        "key": row.get("id"),
    }


def _paperlist(row: Row, name: str) -> Row:
    """A conference's list by papercopilot; what conference it is stands in the file's name (`icml2019.json`)."""
    file = FILE_NAME.search(PurePosixPath(name).name)
    told = VENUES.get(file[1].lower(), file[1].upper()) if file else None
    addresses = [row.get(key) for key in ("openreview", "site", "url", "oa", "pdf")]
    forum = next((found for address in addresses if (found := values.openreview(address))), None)
    identifier = values.text(row.get("id"))
    at_openreview = identifier and FORUM.fullmatch(identifier) and told in {"ICLR", "ICML", "NeurIPS", "CoRL", "COLM"}
    return {
        **row,
        "authors": row.get("author") or row.get("authors") or row.get("author_site"),
        "venue": values.text(row.get("venue")) or told,
        "year": values.year(row.get("year")) or (file[2] if file else None),
        "url": next((found for address in addresses if (found := values.url(address))), None),
        "openreview_id": forum or (identifier if at_openreview else None),
    }


def _openalex(row: Row, _name: str) -> Row:
    place = _mapping(row.get("primary_location"))
    host = _mapping(place.get("source")) or _mapping(row.get("host_venue"))
    keywords = [item.get("keyword", item) if isinstance(item, Mapping) else item for item in _list(row.get("keywords"))]
    return {
        "abstract": inverted(row.get("abstract_inverted_index")) or row.get("abstract"),
        "title": row.get("title") or row.get("display_name"),
        "authors": row.get("authorships"),
        "venue": host.get("display_name"),
        "year": row.get("publication_year") or row.get("publication_date"),
        "keywords": keywords or row.get("topics") or row.get("concepts"),
        "url": place.get("landing_page_url") or place.get("pdf_url") or row.get("id"),
        "doi": row.get("doi") or _mapping(row.get("ids")).get("doi"),
        "arxiv_id": next(
            (i for i in (values.arxiv(row.get("doi")), values.arxiv(place.get("landing_page_url"))) if i), None
        ),
        "key": row.get("id"),
    }


def _crossref(row: Row, _name: str) -> Row:
    dates = ("published", "issued", "published-print", "published-online", "created")
    return {
        "abstract": row.get("abstract"),
        "title": row.get("title"),
        "authors": row.get("author"),
        "venue": values.text(row.get("container-title")) or _mapping(row.get("event")).get("name"),
        "year": next((found for date in dates if (found := values.year(row.get(date)))), None),
        "keywords": row.get("subject") or row.get("keyword"),
        "url": row.get("URL"),
        "doi": row.get("DOI"),
        "key": row.get("DOI"),
    }


def _semantic_scholar(row: Row, _name: str) -> Row:
    ids = {key.lower(): value for key, value in _mapping(row.get("externalIds") or row.get("externalids")).items()}
    venues = [row.get("venue"), *(_mapping(row.get(key)).get("name") for key in ("publicationVenue", "journal"))]
    return {
        **row,
        "venue": values.text(venues),
        "url": row.get("url") or _mapping(row.get("openAccessPdf")).get("url"),
        "doi": ids.get("doi") or row.get("doi"),
        "arxiv_id": ids.get("arxiv") or row.get("arxivId"),
        "keywords": row.get("fieldsOfStudy") or row.get("s2FieldsOfStudy"),
        "key": row.get("paperId") or row.get("corpusid"),
    }


def _doaj(row: Row, _name: str) -> Row:
    paper = _mapping(row.get("bibjson"))
    identifiers = [item for item in _list(paper.get("identifier")) if isinstance(item, Mapping)]
    return {
        **paper,
        "venue": _mapping(paper.get("journal")).get("title"),
        "doi": [item.get("id") for item in identifiers if str(item.get("type")).lower() == "doi"],
        "url": [item.get("url") for item in _list(paper.get("link")) if isinstance(item, Mapping)],
        "key": row.get("id"),
    }


def _zotero(row: Row, _name: str) -> Row:
    item = _mapping(row.get("data")) or row
    creators = [person for person in _list(item.get("creators")) if isinstance(person, Mapping)]
    names = ((person.get("firstName"), person.get("lastName") or person.get("name")) for person in creators)
    return {
        **item,
        "authors": [" ".join(part for part in map(values.text, name) if part) for name in names],
        "keywords": [tag.get("tag") for tag in _list(item.get("tags")) if isinstance(tag, Mapping)],
    }


def _retrieval(row: Row, _name: str) -> Row:
    """A corpus for retrieval, as BEIR has it: `{"_id", "title", "text"}`."""
    return {**row, "abstract": row.get("text")}


def _enveloped(row: Row, name: str) -> Row:
    """A record within an object that says more about it."""
    inner = next(_mapping(row.get(envelope)) for envelope in ENVELOPES if _abstract_in(row.get(envelope)))
    shaped = shape(inner, name)
    return {**row, **(inner if shaped is None else shaped)}


def _abstract_in(value: object) -> bool:
    return isinstance(value, Mapping) and (by_names.knows(value, {}) or "abstract_inverted_index" in value)


def _mapping(value: object) -> Row:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _any(row: Row, *names: str) -> bool:
    return not row.keys().isdisjoint(names)


# The first that recognises a record shapes it.
SHAPES: tuple[tuple[Callable[[Row], bool], Callable[[Row, str], Row]], ...] = (
    (lambda row: isinstance(row.get("content"), Mapping) and _any(row, "forum", "invitation", "id"), _openreview),
    (lambda row: "authors_parsed" in row or ("versions" in row and "update_date" in row), _arxiv),
    (lambda row: _any(row, "abstract_inverted_index", "authorships"), _openalex),
    (lambda row: "DOI" in row and _any(row, "container-title", "issued", "is-referenced-by-count"), _crossref),
    (lambda row: _any(row, "paperId", "corpusid", "externalIds", "externalids"), _semantic_scholar),
    (lambda row: isinstance(row.get("bibjson"), Mapping), _doaj),
    (lambda row: "title" in row and _any(row, "aff", "author_site", "gs_citation", "track", "status"), _paperlist),
    (lambda row: isinstance((_mapping(row.get("data")) or row).get("creators"), list), _zotero),
    (
        lambda row: row.keys() >= {"title", "text"} and _any(row, "_id", "id") and not by_names.knows(row, {}),
        _retrieval,
    ),
    (lambda row: not by_names.knows(row, {}) and any(_abstract_in(row.get(name)) for name in ENVELOPES), _enveloped),
)
# A record with none of these has no shape.
SIGNS = frozenset(
    {
        "authors_parsed",
        "versions",
        "abstract_inverted_index",
        "authorships",
        "DOI",
        "paperId",
        "corpusid",
        "externalIds",
    }
    | {"externalids", "aff", "author_site", "gs_citation", "track", "status", "creators", "text", *ENVELOPES}
)
