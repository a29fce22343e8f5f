"""Records by the names of their columns or keys."""

from __future__ import annotations

import pytest
from ingest_kit import ABSTRACTS

from ingest.readers import by_names

TEXT = ABSTRACTS[0]


@pytest.mark.parametrize(
    "name",
    ["abstract", "Abstract", "ABSTRACT", " abstract ", "Abstract Note", "abstractNote", "AB", "abstract_text", "Abstract (English)", "dc.description.abstract[en_US]", "摘要", "Paper Abstract", "Résumé", "summary", "description"],
)  # fmt: skip
def test_names_of_abstracts(name: str) -> None:
    assert by_names.record({"x": "y", name: TEXT}, 0, None, {}).abstract == TEXT
    assert by_names.knows(["x", name], {})


@pytest.mark.parametrize("name", ["abstract url", "abstract length", "tldr", "text", "notes", ""])
def test_names_of_other_things(name: str) -> None:
    assert by_names.record({name: TEXT}, 0, None, {}).abstract == ""
    assert not by_names.knows([name], {})


def test_every_field() -> None:
    row = {
        "Document Title": "On Gardens",
        "Author(s)": "Doe, Jane; Roe, Richard",
        "Source title": "Journal of Gardens",
        "Publication Year": "2021",
        "Author Keywords": "weeds; crops",
        "Link": "https://example.org/1",
        "DOI": "https://doi.org/10.1234/ABC.5",
        "arXiv ID": "arXiv:2601.00001v2",
        "EID": "2-s2.0-1",
        "Abstract": TEXT,
    }
    found = by_names.record(row, 3, 7, {})
    assert (found.position, found.line, found.abstract, found.title) == (3, 7, TEXT, "On Gardens")
    assert (found.authors, found.venue, found.year) == (("Doe, Jane", "Roe, Richard"), "Journal of Gardens", 2021)
    assert (found.keywords, found.url, found.doi) == (("weeds", "crops"), "https://example.org/1", "10.1234/abc.5")
    assert (found.arxiv_id, found.key) == ("2601.00001v2", "2-s2.0-1")


@pytest.mark.parametrize(
    ("row", "field", "value"),
    [
        ({"Source": "Scopus", "Source title": "J. Gardens"}, "venue", "J. Gardens"),
        ({"AU": "Doe J", "AF": "Doe, Jane; Roe, Jo"}, "authors", ("Doe, Jane", "Roe, Jo")),
        ({"Author full names": "Doe, Jane (57190000001); Roe, Jo (57190000002)"}, "authors", ("Doe, Jane", "Roe, Jo")),
        ({"UT": "WOS:1", "ID": "WEEDS; CROPS"}, "key", "WOS:1"),
        ({"name": "Fallback", "title": "Title"}, "title", "Title"),
        ({"title": "", "name": "Fallback"}, "title", "Fallback"),
        ({"update_date": "2024-05-01", "year": "2019"}, "year", 2019),
        ({"update_date": "2024-05-01", "year": "n.d."}, "year", 2024),
        ({"source": "https://example.org/x", "journal": None}, "venue", None),
        ({"journal": {"name": "J. Gardens", "volume": "3"}}, "venue", "J. Gardens"),
        ({"url": "https://openreview.net/forum?id=AbC-1_x2"}, "openreview_id", "AbC-1_x2"),
        ({"url": "https://arxiv.org/abs/2601.00001v3"}, "arxiv_id", "2601.00001v3"),
        ({"doi": "10.48550/arXiv.2601.00001"}, "arxiv_id", "2601.00001"),
        ({"id": "2601.00001v1"}, "arxiv_id", "2601.00001v1"),
        ({"id": "cs/0601001"}, "arxiv_id", "cs/0601001"),
        ({"id": "4799.0815"}, "arxiv_id", None),
        ({"id": 17}, "key", "17"),
        ({"url": "https://doi.org/10.1234/x"}, "doi", "10.1234/x"),
        ({"Abstract": "One.", "abstract": "Two."}, "abstract", "One."),
        ({"Abstract": " ", "abstract": "Two."}, "abstract", "Two."),
        ({"abstract": None, "description": "A file of 2 MB"}, "abstract", ""),
        ({"abstract": ["One.", "Two."]}, "abstract", "One. Two."),
        ({"abstract": {"value": "One."}}, "abstract", "One."),
        ({"abstract": [{"label": "AIM", "text": "One."}, {"text": "Two."}]}, "abstract", "One. Two."),
        ({"abstract": 12}, "abstract", "12"),
        ({"abstract": "N/A"}, "abstract", ""),
        ({"abstract": True}, "abstract", ""),
        ({"abstract": {}}, "abstract", ""),
    ],
)  # fmt: skip
def test_which_value_is_taken(row: dict[str, object], field: str, value: object) -> None:
    assert getattr(by_names.record(row, 0, None, {}), field) == value


def test_a_mapped_name_is_taken_instead() -> None:
    row = {"abstract": "Not this.", "Long Summary": TEXT, "x": {"y": "Deep."}, "a.b": "Flat."}
    assert by_names.record(row, 0, None, {"abstract": "long summary"}).abstract == TEXT
    assert by_names.record(row, 0, None, {"abstract": "x.y"}).abstract == "Deep."
    assert by_names.record(row, 0, None, {"abstract": "a.b"}).abstract == "Flat."
    assert by_names.record(row, 0, None, {"abstract": "missing"}).abstract == ""
    assert by_names.record(row, 0, None, {"title": "Long Summary"}).abstract == "Not this."
    assert by_names.knows(row, {"abstract": "long_summary"})
    assert not by_names.knows(row, {"abstract": "missing"})


def test_the_message_for_a_file_without_abstracts() -> None:
    message = by_names.missing_abstract(["id", "Long\nText", ""])
    assert "id, Long Text, (no name)" in message
    assert "--map abstract=" in message
    assert "`missing`" in by_names.missing_abstract(["id"], {"abstract": "missing"})
    assert len(by_names.missing_abstract(["x" * 1000] * 1000)) < 2000


def test_many_and_long_names() -> None:
    row = {f"column {i}": "x" for i in range(2000)} | {"x" * 100_000: "y", "abstract": TEXT}
    assert by_names.record(row, 0, None, {}).abstract == TEXT
