"""Records from key names: whatever a table or a JSON object calls its title, abstract and so on.

Names are compared without case, punctuation and spaces (`Author(s)`, `authors` and `AUTHORS` are one), and a language
at their end in brackets (`dc.title[en]`) does not count.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ingest.readers import fields as values
from ingest.readers.records import RawRecord

T = TypeVar("T")

ARXIV_KEY = re.compile(r"(?:arXiv:)?(?:\d\d(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?")
LONGEST_NAME = 100  # characters; longer names are text, not names
MOST_NAMES = 500  # of a record; sets of more names are not remembered
SHOWN = 30  # names in a message

# Confer's field: the names it goes by, the more telling ones first, as `normal` writes them.
NAMES: dict[str, tuple[str, ...]] = {
    name: tuple(names.split())
    for name, names in {
        "abstract": """
            abstract abstracts abstractnote abstracttext abstractvalue paperabstract articleabstract abstracten
            abstractenglish englishabstract abstractprimary ab n2 abs dcabstract dctermsabstract
            dcdescriptionabstract 摘要 中文摘要 英文摘要 摘要abstract 抄録 要旨 초록 resumen resumo résumé
        """,
        "title": """
            title documenttitle articletitle papertitle itemtitle primarytitle titleprimary ti t1 titles dctitle
            name displayname 标题 题名 篇名 论文标题 题目 標題 題名 タイトル 제목
        """,
        "authors": """
            authorfullnames authors author authornames authorsprimary authorsnames authorname authorlist af au a1
            fullauthornames creators creator dccreator dccontributorauthor 作者 著者 저자
        """,
        "venue": """
            venue journal journaltitle sourcetitle sourcetitleanthologytitle journalref publicationtitle
            periodicalfull journalname journalbook booktitle conference conferencename containertitle meetingname
            publicationname publicationvenue proceedingstitle proceedings booksourcetitle secondarytitle t2 jf jt so
            dcsource source 来源 文献来源 刊名 期刊 会议
        """,
        "year": """
            year publicationyear pubyear publishedyear yearpublished py publicationdate datepublished publisheddate
            date pubdate published publishtime publishedonline issued y1 da dp dcdate dcdateissued pdate createddate
            coverdate updatedate 年 年份 发表时间 出版年 発行年
        """,
        "keywords": """
            keywords keyword authorkeywords keyterms de kw dcsubject tags manualtags automatictags topics terms
            subjects subject categories fieldsofstudy fos indexkeywords 关键词 关键字 キーワード 키워드
        """,
        "url": """
            url urls link entryid paperurl articleurl pageurl href website externalurl sourceurls sourcelinkout
            dimensionsurl landingpageurl pdfurl pdflink pdf ur l1 dcidentifieruri identifieruri 链接 网址
        """,
        "doi": "doi di dois itemdoi articledoi doilink doiurl dcidentifierdoi",
        "arxiv_id": "arxivid arxiv arxivnumber eprint eprintid",
        "openreview_id": "openreviewid openreview forum",
        "key": """
            ut eid lensid id corpusid docid paperid recordid corduid publicationid key citekey citationkey bibtexkey
            uid pmid pubmedid medlineid accessionnumber referenceid number no
        """,
    }.items()
}
# These hold an abstract only where nothing is called one.
SECOND_BEST = ("summary", "summaries", "description", "dcdescription")


def record(row: Mapping[str, object], position: int, line: int | None, fields: Mapping[str, str]) -> RawRecord:
    """The record in a mapping from names to values; `fields` says which name to take for a field instead."""
    columns = _columns(tuple(row)) if len(row) <= MOST_NAMES else _columns.__wrapped__(tuple(row))

    def find(field: str, convert: Callable[[object], T | None]) -> T | None:
        if field in fields:
            return convert(_mapped(row, fields[field])) or None
        for name in columns[field]:
            if found := convert(row[name]):
                return found
        return None

    url = find("url", values.url)
    doi = find("doi", values.doi)
    key = find("key", values.text)
    return RawRecord(
        position,
        line,
        find("abstract", abstract_text) or _second_best(row, columns, fields),
        title=find("title", values.text),
        authors=find("authors", _people) or (),
        venue=find("venue", _venue),
        year=find("year", values.year),
        keywords=find("keywords", values.words) or (),
        url=url,
        doi=doi or (values.doi(url) if url and "doi.org/" in url else None),
        arxiv_id=find("arxiv_id", values.arxiv) or _arxiv_elsewhere(url, doi, key),
        openreview_id=find("openreview_id", _openreview) or values.openreview(url),
        key=key,
    )


def knows(names: Iterable[str], fields: Mapping[str, str]) -> bool:
    """Whether one of these names is that of an abstract."""
    found = {normal(name) for name in names}
    if "abstract" in fields:
        return normal(fields["abstract"]) in found
    return not found.isdisjoint(NAMES["abstract"]) or not found.isdisjoint(SECOND_BEST)


def missing_abstract(names: Iterable[str], fields: Mapping[str, str] | None = None) -> str:
    """What to tell somebody whose file has none of the names of an abstract."""
    wanted = (fields or {}).get("abstract")
    missing = f"nothing is called `{wanted}`" if wanted else "nothing is called an abstract"
    found = [" ".join(name.split())[:40] for name in names]
    listed = ", ".join(name or "(no name)" for name in found[:SHOWN])
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{missing}; found: {listed or 'no names'}{more}; say which one it is with --map abstract=NAME"


def abstract_text(value: object) -> str | None:
    """The text of an abstract: a string, `{"value": …}`, or a list of sentences or of labelled sections."""
    if isinstance(value, list | tuple):
        return " ".join(part for item in value if (part := abstract_text(item))) or None
    if isinstance(value, Mapping):
        parts = (values.text(value.get(key)) for key in ("value", "text", "content", "abstract", "#text"))
        return next((part for part in parts if part), None)
    return values.text(value)


def normal(name: str) -> str:
    """A name without case, punctuation, spaces and language: `dc.title[en]` is `dctitle`, `_id` is `id`."""
    return _normal(name) if len(name) <= LONGEST_NAME else ""


@functools.lru_cache(maxsize=4096)
def _normal(name: str) -> str:
    return re.sub(r"[\W_]+", "", re.sub(r"\[\w*\]\s*$", "", name)).lower()


@functools.lru_cache(maxsize=256)
def _columns(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Which of the names hold a field, the most telling first."""
    known: dict[str, list[str]] = {}
    for name in names:
        known.setdefault(normal(name), []).append(name)
    found = {field: tuple(name for alias in NAMES[field] for name in known.get(alias, ())) for field in NAMES}
    second = tuple(name for alias in SECOND_BEST for name in known.get(alias, ()))
    return {**found, "second": () if found["abstract"] else second}


def _mapped(row: Mapping[str, object], name: str) -> object:
    """The value under the name that the user gave; a dot may lead into nested objects (`content.tldr`)."""
    if name in row:
        return row[name]
    for other in row:
        if normal(other) == normal(name):
            return row[other]
    found: object = row
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _second_best(row: Mapping[str, object], columns: Mapping[str, tuple[str, ...]], fields: Mapping[str, str]) -> str:
    if "abstract" in fields:
        return ""
    return next((text for name in columns["second"] if (text := abstract_text(row[name]))), "")


def _people(value: object) -> tuple[str, ...]:
    """Author names; Scopus puts its number behind each: `Doe, Jane (57190000000)`."""
    return tuple(re.sub(r"\s*\(\d{6,}\)$", "", name) for name in values.people(value))


def _venue(value: object) -> str | None:
    """A name, or that of an object; an address is none."""
    if isinstance(value, Mapping):
        value = [value.get(key) for key in ("value", "name", "display_name", "title", "raw")]
    found = values.text(value)
    return None if found is None or "://" in found else found


def _openreview(value: object) -> str | None:
    """A forum id, or the one in an address."""
    found = values.text(value) or ""
    return values.openreview(found) or (found if re.fullmatch(r"[\w-]{6,20}", found) else None)


def _arxiv_elsewhere(url: str | None, doi: str | None, key: str | None) -> str | None:
    """The arXiv id in an address, in arXiv's own DOIs, or as the record's key."""
    if url and "arxiv.org/" in url.lower():
        return values.arxiv(url)
    if preprint := values.arxiv_in_doi(doi):
        return preprint
    return values.arxiv(key) if ARXIV_KEY.fullmatch(key or "") else None
