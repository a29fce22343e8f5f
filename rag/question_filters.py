"""Filters that stand in the question itself: `papers from 2025 on …`, `at ICML`, `papers by …`.

Only what the index knows is taken: a year or an author that some paper has, a name that stands in some venue. Years
are read only from questions that speak of papers, so that the year of a data set does not become one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from rag.filters import Comparison, Every, Filter, Op, comparable

PAPERS = re.compile(
    r"\b(?:papers?|works?|articles?|abstracts?|publications?|publish\w+|appear\w+|accepted|presented|submissions?|"
    r"studies|literature|research)\b|论文|文章|工作|发表",
    re.IGNORECASE,
)
YEAR = r"(?P<year>(?:19|20)\d\d)(?![\d-])"
YEARS = tuple(
    (re.compile(pattern.replace("YEAR", YEAR), re.IGNORECASE), op)
    for pattern, op in (
        (r"\bfrom YEAR (?:on(?:wards?)?|to (?:now|date|today))\b", Op.AT_LEAST),
        (r"\bsince YEAR", Op.AT_LEAST),
        (r"YEAR ?年(?:以来|之后|以后|起)", Op.AT_LEAST),
        (r"\b(?:later than|after) YEAR", Op.MORE),
        (r"\b(?:before|earlier than) YEAR", Op.LESS),
        (r"YEAR ?年(?:以前|之前)", Op.LESS),
        (r"\b(?:until|up to|through) YEAR", Op.AT_MOST),
        (r"\b(?:from|in|of|during) (?:the year )?YEAR", Op.EQUAL),
        (r"\bYEAR(?= (?:papers?|works?)\b)", Op.EQUAL),
        (r"YEAR ?年(?:发表)?的?", Op.EQUAL),
    )
)
RANGE = re.compile(
    r"\b(?:between|from) (?P<first>(?:19|20)\d\d)(?: and | to |-)(?P<last>(?:19|20)\d\d)\b", re.IGNORECASE
)
ACRONYM = r"(?P<name>[A-Z][A-Za-z]*[A-Z][A-Za-z]*|[A-Z]{3,})"
VENUE = re.compile(
    rf"\b(?P<link>at|in|from|of|by)\s+(?:the\s+)?{ACRONYM}(?:['’ -]?(?P<year>(?:19|20)\d\d))?(?![\w-])"
    rf"|\b{ACRONYM.replace('name', 'before')}(?: (?P<y2>(?:19|20)\d\d))?(?= (?:papers?|works?|abstracts?)\b)"
)
AUTHOR = re.compile(
    r"\b(?:papers?|works?|articles?|abstracts?|written|authored|published)\s+by\s+"
    r"(?P<name>[A-ZÀ-Þ][\w.’'-]*(?:\s+[A-ZÀ-Þ][\w.’'-]*){0,3})"
)


class Fields(Protocol):
    """What an index knows of a field."""

    def select(self, where: Filter) -> list[str]:
        """The ids of the papers that meet a filter."""

    def values(self, field: str) -> list[str]:
        """The distinct values of a field, in the form in which they are compared."""


@dataclass(frozen=True)
class Understood:
    """The filter that a question names, if any, and the question without the words that name it."""

    where: Filter | None
    question: str


def understood(question: str, fields: Fields) -> Understood:
    """Read the filter of a question. A question that would be left without words keeps all of them and has none."""
    parts: list[Comparison] = []
    rest = question
    for read in (partial(_venues, values=fields.values("venue")), _authors, _years):
        for match, found in read(rest):
            if all(fields.select(part) for part in found):
                parts += found
                rest = rest.replace(match, " ", 1)
    rest = re.sub(r"\s+(?=[?.,!])", "", " ".join(rest.split()))
    if not parts or not re.search(r"\w{3}|[\u4e00-\u9fff]", PAPERS.sub("", rest)):
        return Understood(None, question)
    return Understood(parts[0] if len(parts) == 1 else Every(parts=list(parts)), rest)


Reading = Iterator[tuple[str, list[Comparison]]]


def _venues(question: str, values: list[str]) -> Reading:
    for match in VENUE.finditer(question):
        name = match["name"] or match["before"]
        year = match["year"] or match["y2"]
        whole = re.compile(rf"\b{re.escape(comparable(name))}\b")
        held = [value for value in values if whole.search(value)]
        loose = match["link"] in {"in", "of", "by"} and not year  # `in NLP`, where some venue is a workshop on NLP
        if not held or (loose and comparable(name) not in held):
            continue
        with_year = [value for value in held if year and year in value]
        yield (
            match.group(),
            [
                _one_of("venue", name, with_year or held),
                *([Comparison(field="year", op=Op.EQUAL, value=int(year))] if year and not with_year else []),
            ],
        )


def _one_of(field: str, name: str, values: list[str]) -> Comparison:
    if len(values) > 1:
        return Comparison(field=field, op=Op.IN, value=list(values))
    return Comparison(field=field, op=Op.EQUAL, value=name if values == [comparable(name)] else values[0])


def _authors(question: str) -> Reading:
    for match in AUTHOR.finditer(question):
        name = match["name"].rstrip(".'’-")
        kept = match.group().split(maxsplit=1)[0]
        yield match.group().removeprefix(kept), [Comparison(field="author", op=Op.CONTAINS, value=name)]


def _years(question: str) -> Reading:
    if not PAPERS.search(question):
        return
    for span in RANGE.finditer(question):
        bounds = ((Op.AT_LEAST, span["first"]), (Op.AT_MOST, span["last"]))
        yield span.group(), [Comparison(field="year", op=op, value=int(year)) for op, year in bounds]
        return
    for pattern, op in YEARS:
        match = pattern.search(question)
        if match:
            yield match.group(), [Comparison(field="year", op=op, value=int(match["year"]))]
            return
