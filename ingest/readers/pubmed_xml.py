"""PubMed XML (`PubmedArticleSet`)."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.readers import fields
from ingest.readers.records import RawRecord
from ingest.readers.xml_text import Context, Element, Shape, attribute, every, first, marked, said


def read(unit: Element, _: Context) -> Iterator[RawRecord]:
    """The record of one `PubmedArticle` or `PubmedBookArticle`."""
    citation = first(unit, "MedlineCitation", "BookDocument")
    if citation is None:
        return
    article = first(citation, "Article")
    article = citation if article is None else article
    pmid = said(citation, "PMID")
    ids = [*every(unit, "PubmedData/ArticleIdList/ArticleId"), *every(citation, "ArticleIdList/ArticleId")]
    dois = [marked(e) for e in ids if e.get("IdType") == "doi"]
    dois += [marked(e) for e in every(article, "ELocationID") if e.get("EIdType") == "doi"]
    yield RawRecord(
        0,
        None,
        _abstract(article) or _abstract(citation, "OtherAbstract"),
        title=said(article, "ArticleTitle", "VernacularTitle", "Book/BookTitle") or None,
        authors=tuple(name for e in every(article, "AuthorList/Author") if (name := _author(e))),
        venue=said(article, "Journal/Title", "Journal/ISOAbbreviation", "Book/BookTitle") or None,
        year=_year(article),
        keywords=tuple(w for e in every(citation, "KeywordList/Keyword") if (w := marked(e))),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else None,
        doi=fields.doi(dois),
        key=pmid or None,
    )


def _abstract(article: Element, name: str = "Abstract") -> str:
    """The sections of an abstract, each behind its label; of several abstracts the first."""
    holder = first(article, name)
    if holder is None:
        return ""
    sections = []
    for section in every(holder, "AbstractText"):
        text, label = marked(section), attribute(section, "Label").strip()
        if text:
            sections.append(f"{label}: {text}" if label and label.upper() != "UNLABELLED" else text)
    return " ".join(sections) or marked(first(holder, "p"))


def _author(author: Element) -> str:
    family = said(author, "LastName")
    given = said(author, "ForeName", "FirstName", "Initials")
    names = [given, family, said(author, "Suffix")]
    return " ".join(n for n in names if n) or said(author, "CollectiveName")


def _year(article: Element) -> int | None:
    places = (
        "Journal/JournalIssue/PubDate/Year",
        "Journal/JournalIssue/PubDate/MedlineDate",
        "ArticleDate/Year",
        "Book/PubDate/Year",
        "ContributionDate/Year",
    )
    return next((found for place in places if (found := fields.year(said(article, place)))), None)


SHAPE = Shape("PubMed", frozenset({"PubmedArticle", "PubmedBookArticle"}), read)
