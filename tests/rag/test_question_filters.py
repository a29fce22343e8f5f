"""Filters that a question names itself."""

from __future__ import annotations

import pytest

from rag.field_table import FieldTable
from rag.question_filters import understood
from rag.schema import Paper

PAPERS = [
    Paper(id="a", abstract="We study sharpness.", label="a", year=2024, venue="ICML", authors=["Mara Lindqvist"]),
    Paper(id="b", abstract="We study judges.", label="b", year=2025, venue="ICML", authors=["José Núñez"]),
    Paper(id="c", abstract="We study tables.", label="c", year=2025, venue="Workshop on NLP for Law"),
    Paper(id="d", abstract="We study maps.", label="d", year=2023, venue="Proceedings of ACL"),
    Paper(id="e", abstract="We study maps too.", label="e", year=2022, venue="NAACL"),
]
FIELDS = FieldTable.build(PAPERS)


@pytest.mark.parametrize(
    ("question", "where", "rest"),
    [
        ("Which papers from 2025 study judges?", "year = 2025", "Which papers study judges?"),
        ("papers since 2024 on sharpness", "year >= 2024", "papers on sharpness"),
        ("papers from 2024 onwards on sharpness", "year >= 2024", "papers on sharpness"),
        ("work published before 2024 about maps", "year < 2024", "work published about maps"),
        ("Work on maps published up to 2023?", "year <= 2023", "Work on maps published?"),
        ("papers after 2023 on judges", "year > 2023", "papers on judges"),
        ("papers between 2023 and 2025 on maps", "year >= 2023 and year <= 2025", "papers on maps"),
        ("which 2025 papers study judges?", "year = 2025", "which papers study judges?"),
        ("What was said at ICML about judges?", 'venue = "ICML"', "What was said about judges?"),
        ("ICML papers on judges", 'venue = "ICML"', "papers on judges"),
        ("ICML 2025 papers on judges", 'venue = "ICML" and year = 2025', "papers on judges"),
        ("maps at ACL 2023?", 'venue = "proceedings of acl" and year = 2023', "maps?"),
        ("papers by Lindqvist on sharpness", 'author ~ "Lindqvist"', "papers on sharpness"),
        ("papers by José Núñez on judges", 'author ~ "José Núñez"', "papers on judges"),
        ("2025年发表的关于评判的论文", "year = 2025", "关于评判的论文"),
        ("2024年以来关于评判的论文", "year >= 2024", "关于评判的论文"),
    ],
)
def test_a_filter_is_read_and_its_words_are_taken_out(question: str, where: str, rest: str) -> None:
    found = understood(question, FIELDS)
    assert (str(found.where), found.question) == (where, rest)
    assert FIELDS.select(found.where) if found.where else False


@pytest.mark.parametrize(
    "question",
    [
        "How accurate is it on AIME 2024?",  # no preposition names the year
        "How many images were collected in 2024?",  # the year of the data: nothing is said of papers
        "Which papers from 1999 study judges?",  # no paper has that year
        "Which papers at NeurIPS study judges?",  # nor that venue
        "advances in NLP papers",  # a word of some venue's name
        "papers by Nobody on judges",
        "papers from 2025",  # nothing else is asked
        "What do ACLs protect?",
        "what of LLM judges?",
    ],
)
def test_what_names_no_filter_stays_as_it_is(question: str) -> None:
    found = understood(question, FIELDS)
    assert (found.where, found.question) == (None, question)
