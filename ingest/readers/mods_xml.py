"""MODS, the format of libraries and of bibutils."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.readers import fields
from ingest.readers.records import RawRecord
from ingest.readers.xml_text import Context, Element, Shape, every, first, marked, said

DATES = ("originInfo/dateIssued", "originInfo/copyrightDate", "originInfo/dateCreated", "part/date")
AUTHORS = frozenset({"author", "aut", "creator", "cre"})


def read(mods: Element, _: Context) -> Iterator[RawRecord]:
    """The record of one `mods`."""
    host = next((e for e in every(mods, "relatedItem") if e.get("type") == "host"), None)
    identifiers = {e.get("type", ""): marked(e) for e in every(mods, "identifier")}
    url = fields.url([marked(e) for e in every(mods, "location/url")]) or fields.url(identifiers.get("uri"))
    holders = [mods] if host is None else [mods, host]
    year = next((found for e in holders for path in DATES if (found := fields.year(said(e, path)))), None)
    subjects = [marked(e) for e in every(mods, "subject/topic")]
    yield RawRecord(
        0,
        None,
        " ".join(text for e in every(mods, "abstract") if (text := marked(e))),
        title=_title(mods) or None,
        authors=tuple(name for e in every(mods, "name") if _writes(e) and (name := _name(e))),
        venue=None if host is None else _title(host) or None,
        year=year,
        keywords=tuple(dict.fromkeys(word for word in subjects if word)),
        url=url,
        doi=fields.doi(identifiers.get("doi")) or fields.doi(url),
        arxiv_id=fields.arxiv(identifiers.get("arxiv")) or fields.arxiv(url),
        key=mods.get("ID") or identifiers.get("citekey") or None,
    )


def _title(holder: Element) -> str:
    infos = list(every(holder, "titleInfo"))
    info = next((e for e in infos if not e.get("type")), infos[0] if infos else None)
    if info is None:
        return ""
    title = " ".join(part for part in (said(info, "nonSort"), said(info, "title")) if part)
    subtitle = said(info, "subTitle")
    return f"{title}: {subtitle}" if title and subtitle else title


def _writes(name: Element) -> bool:
    roles = {marked(e).lower() for e in every(name, "role/roleTerm")}
    return not roles or bool(roles & AUTHORS)


def _name(name: Element) -> str:
    parts = list(every(name, "namePart"))
    family = " ".join(marked(e) for e in parts if e.get("type") == "family")
    if not family:
        return " ".join(marked(e) for e in parts if e.get("type") not in {"date", "termsOfAddress"}) or marked(
            first(name, "displayForm")
        )
    return " ".join([*(marked(e) for e in parts if e.get("type") == "given"), family])


SHAPE = Shape("MODS", frozenset({"mods"}), read)
