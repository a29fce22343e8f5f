"""MEDLINE text: fields, wrapped values, records without ends, damaged files."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, list_file, read_all
from tagged_kit import WORDS, counts, damaged, endless, survives

from ingest.readers import medline, read_file

A, B, C = (ABSTRACTS[i] for i in (4, 5, 6))


def wrapped(tag: str, value: str) -> str:
    return textwrap.fill(
        f"{tag:<4}- {value}", 88, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False
    )


def entry(number: int, abstract: str, *more: str, title: str = "On tides") -> str:
    head = [
        f"PMID- {number}",
        "OWN - NLM",
        "STAT- MEDLINE",
        "DP  - 2016 Jan-Feb",
        wrapped("TI", title),
        wrapped("AB", abstract),
    ]
    return "\n".join([*head, *more, "SO  - J Tid. 2016;1(1):2-3."]) + "\n"


THREE = "\n" + "\n".join(entry(i, text, title=f"No {i}") for i, text in ((11, A), (12, B), (13, C)))


def test_all_fields() -> None:
    more = [
        "FAU - Doe, Jane",
        "AU  - Doe J",
        "FAU - Roe, Richard",
        "AU  - Roe R",
        "TA  - J Tid",
        "JT  - Journal of tides",
        "LID - S0000-1 [pii]",
        "LID - 10.1234/ABC.5 [doi]",
        "AID - 10.9999/other [doi]",
        "OT  - *tides",
        "MH  - *Moon/physiology",
        "MH  - Diabetes Mellitus, Type 2/*therapy",
        "PHST- 2016/01/01 00:00 [received]",
    ]
    (record,) = read_all(
        entry(11, A, *more, title="On tides: a long title that must be wrapped because it goes on and on and on."),
        "x.nbib",
    )
    assert record.abstract == A
    assert record.title == "On tides: a long title that must be wrapped because it goes on and on and on."
    assert record.authors == ("Doe, Jane", "Roe, Richard")
    assert (record.venue, record.year, record.doi, record.key) == ("Journal of tides", 2016, "10.1234/abc.5", "11")
    assert record.keywords == ("tides", "Moon/physiology", "Diabetes Mellitus, Type 2/therapy")
    assert (record.line, record.reject, record.warning) == (1, None, None)


@pytest.mark.parametrize("name", ["list.nbib", "list.txt", "list.ris", "list"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_recognised_by_content(name: str, newline: str) -> None:
    found = read_all(THREE.replace("\n", newline), name)
    assert [(r.position, r.title, r.abstract) for r in found] == [(0, "No 11", A), (1, "No 12", B), (2, "No 13", C)]
    lines = THREE.split("\n")
    assert [lines[(r.line or 0) - 1] for r in found] == ["PMID- 11", "PMID- 12", "PMID- 13"]


@pytest.mark.parametrize("text", [f"{A}\n\n{B}\n", "PMID-card\n", "The PMID- 12 of it\n", "TY  - JOUR\nER  - \n"])
def test_other_texts_are_not_taken(text: str) -> None:
    assert not medline.recognises(list_file(text, "list.nbib"))


def test_the_other_abstract_and_title() -> None:
    found = read_all(
        f"PMID- 1\nBTI - A book\nOAB - {A}\nOABL- eng\nFED - Ed, Itor\nSO  - x\n\nPMID- 2\nTI  - T\nSO  - x\n"
    )
    assert [(r.title, r.abstract, r.authors) for r in found] == [("A book", A, ("Ed, Itor",)), ("T", "", ())]


def test_records_need_no_blank_line_between_them() -> None:
    assert [r.abstract for r in read_all(entry(1, A) + entry(2, B))] == [A, B]


def test_a_number_of_another_archive_before_it() -> None:
    text = "".join(f"PMC - PMC{i}\n" + entry(i, text) + "\n" for i, text in ((1, A), (2, B)))
    found = read_all(text)
    assert [(r.abstract, r.key) for r in found] == [(A, "1"), (B, "2")]
    assert [text.split("\n")[(r.line or 0) - 1] for r in found] == ["PMC - PMC1", "PMC - PMC2"]
    assert [r.key for r in read_all(text + "PMC - PMC3\nTI  - T\nAB  - " + C + "\n")] == ["1", "2", "PMC3"]


def test_junk_between_records() -> None:
    first, second, third = read_all(
        entry(1, A) + "\nSearch 2\n2: see below\n\n" + entry(2, B) + "\n" + entry(3, C) + "\n\nThe end.\n"
    )
    assert [first.abstract, second.abstract, third.abstract] == [A, B, C]
    line = entry(1, A).count("\n") + 2
    assert second.warning == f"2 lines before it belong to no record (line {line})"
    assert (first.warning, (third.warning or "")[:41]) == (None, "1 line after it belongs to no record (lin")


def test_blank_lines_within_a_record() -> None:
    assert [
        r.abstract for r in read_all(THREE.replace("\nAB  - ", "\n\nAB  - ").replace("\nSO  - ", "\n\nSO  - "))
    ] == [A, B, C]


def test_a_record_without_number_still_counts() -> None:
    found = read_all(THREE.replace("PMID- 12", "PMI- 12"))
    assert [(r.title, r.abstract) for r in found] == [("No 11", A), ("No 12", B), ("No 13", C)]
    assert "without its first line" in (found[1].warning or "")


def test_a_file_that_is_cut_off() -> None:
    found = read_all(THREE[: THREE.rindex("programs")])
    assert [r.abstract for r in found[:2]] == [A, B]
    assert C.startswith(found[2].abstract[:40]) and found[2].abstract
    assert "cut off" in (found[2].warning or "")


def test_an_endless_record_is_rejected_and_the_others_load() -> None:
    file = endless(
        "x.nbib",
        (entry(1, A) + "\nPMID- 2\nAB  - ").encode(),
        b"      " + b"moss " * 400 + b"\n",
        10,
        ("\n" + entry(3, B)).encode(),
    )
    found = list(read_file(file))
    assert [(r.abstract, bool(r.reject), r.key) for r in found] == [(A, False, "1"), ("", True, "2"), (B, False, "3")]


@given(st.lists(WORDS.map(lambda words: "It: " + " ".join(words * 6)), min_size=1, max_size=4))
def test_wrapping_is_undone(abstracts: list[str]) -> None:
    text = "\n".join(entry(i, abstract) for i, abstract in enumerate(abstracts))
    assert [r.abstract for r in read_all(text, "x.nbib")] == abstracts


@given(damaged(THREE))
def test_damaged_files_are_read(data: bytes) -> None:
    survives(data, "list.nbib")


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "asreview_formats___baseline_pubmed.ris": (50, 49),  # MEDLINE under the name of RIS
        "revtools__restoration_pubmed.nbib": (104, 96),
        "metaknowledge__medline_test.medline": (175, 171),  # the last one is cut off
    }.items(),
)
def test_real_exports(name: str, expected: tuple[int, int]) -> None:
    assert counts(name) == expected
