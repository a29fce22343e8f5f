"""ProQuest's text export: fields, front and back matter, damaged files."""

from __future__ import annotations

import pytest
from hypothesis import given
from ingest_kit import ABSTRACTS, list_file, read_all
from tagged_kit import counts, damaged, endless, survives

from ingest.readers import proquest, read_file

A, B, C = (ABSTRACTS[i] for i in (4, 5, 6))
RULE = "_" * 60 + "\n"
FRONT = f"{RULE}\nReport Information from ProQuest\nMay 01 2021 10:00\n{RULE}\nTable of contents\n\n1. One\n\n2. Two\n\nBibliography\n\n"
BACK = f"{RULE}\nBibliography\n\nDoe, J. (2021). One.\n\n{RULE}\nContact us at: http://x.example\nCopyright © 2021\n"


def entry(number: int, abstract: str, *more: str, title: str = "On tides") -> str:
    parts = [
        f"Document {number} of 3",
        title,
        "Author: Doe, Jane",
        f"http://x.example/docview/{number}",
        f"Abstract: {abstract}",
        *more,
    ]
    return RULE + "\n" + "\n\n".join(parts) + "\n\n"


THREE = FRONT + entry(1, A, title="One") + entry(2, B, title="Two") + entry(3, C, title="Three") + BACK


def test_all_fields() -> None:
    more = [
        "Links: http://resolver.example/?x=1",
        "Identifier / keyword: tides, moon",
        "Subject: Oceanography; Physics",
        "Publication title: Journal of Tides",
        "Publication year: 2014",
        "Degree date: 2013",
        "ProQuest document ID: 1234",
        "DOI: 10.1234/ABC.5",
        "Title: On tides, whole",
    ]
    (record,) = read_all(FRONT + entry(1, A, *more) + BACK, "ProQuest.txt")
    assert (record.abstract, record.title, record.authors) == (A, "On tides, whole", ("Doe, Jane",))
    assert (record.venue, record.year, record.key) == ("Journal of Tides", 2014, "1234")
    assert record.keywords == ("tides", "moon", "Oceanography", "Physics")
    assert (record.url, record.doi) == ("http://x.example/docview/1", "10.1234/abc.5")
    assert (record.reject, record.warning) == (None, None)


def test_front_and_back_matter_are_no_records() -> None:
    found = read_all(THREE.replace("\n", "\r\n"), "export.txt")
    assert [(r.position, r.title, r.abstract) for r in found] == [(0, "One", A), (1, "Two", B), (2, "Three", C)]
    lines = THREE.split("\n")
    assert [lines[(r.line or 0) - 1] for r in found] == [f"Document {i} of 3" for i in (1, 2, 3)]
    assert not any(r.warning for r in found)


def test_paragraphs_of_an_abstract_and_what_follows_it() -> None:
    (record,) = read_all(entry(1, f"{A}\n\nResults: {B}", "Full text: It begins here."))
    assert record.abstract == f"{A} Results: {B}"


@pytest.mark.parametrize("nothing", ["None available.", "", "N/A"])
def test_no_abstract(nothing: str) -> None:
    assert read_all(entry(1, nothing) + entry(2, B))[0].abstract == ""


@pytest.mark.parametrize("text", [f"{A}\n\n{RULE}\n{B}\n", "Document 1 of 3\n\nX\n", f"{RULE}\nTable of contents\n"])
def test_other_texts_are_not_taken(text: str) -> None:
    assert not proquest.recognises(list_file(text, "ProQuest.txt"))


def test_a_file_that_is_cut_off() -> None:
    found = read_all(THREE[: THREE.index(BACK)].rstrip())
    assert [r.abstract for r in found] == [A, B, C]
    assert "before the file ends" in (found[2].warning or "") and found[1].warning is None


def test_an_endless_record_is_rejected_and_the_others_load() -> None:
    file = endless("x.txt", (entry(1, A) + entry(2, "")).encode(), b"moss " * 400 + b"\n", 10, entry(3, B).encode())
    assert [(r.abstract, bool(r.reject)) for r in read_file(file)] == [(A, False), ("", True), (B, False)]


@given(damaged(THREE))
def test_damaged_files_are_read(data: bytes) -> None:
    survives(data, "list.txt")


def test_real_export() -> None:
    assert counts("metaknowledge__ProQuest_TestFile.testtxt") == (100, 100)
