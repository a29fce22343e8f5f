"""The plain-text reader: paragraphs, headers, positions and lines."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, HEADER, listing, paragraphs_of, read_all

from ingest.readers import ListFile, RawRecord, ReadError, read_file

THREE = ABSTRACTS[4:7]
UNSEEN = ["", " ", "\t", "\u00a0", "\u200b", "\u00a0\u200b \t", "\ufeff", "\u2028", "\u3000", "\u00ad\u2060"]


def texts(text: str) -> list[str]:
    return [r.abstract for r in paragraphs_of(text) if not r.reject]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blank", UNSEEN)
def test_line_ends_and_blank_lines(newline: str, blank: str) -> None:
    found = list(paragraphs_of(listing(*THREE, newline=newline, blank=blank)))
    assert [r.abstract for r in found] == list(THREE)
    assert [(r.position, r.line) for r in found] == [(0, 3), (1, 5), (2, 7)]
    assert {(r.venue, r.year) for r in found} == {("ICML", 2026)}


def test_hard_wrapped_lines_are_one_abstract() -> None:
    wrapped = THREE[0].replace(". ", ".\r\n")
    assert texts(listing(wrapped, THREE[1], newline="\r\n")) == list(THREE[:2])


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c"])
def test_characters_that_look_like_line_ends_do_not_split(character: str) -> None:
    abstract = THREE[0].replace(" are ", f" are{character}{character}")
    assert texts(listing(abstract, THREE[1])) == [abstract, THREE[1]]


@pytest.mark.parametrize(
    ("header", "venue", "year"),
    [
        ("ICML 2026 论文列表", "ICML", 2026),
        ("ICML2026论文列表", "ICML", 2026),
        ("\ufeffICML 2026 论文列表", "ICML", 2026),
        ("ICML 2026 论文列表（第2部分）", "ICML", 2026),
        ("# NeurIPS 2025 Accepted Papers", "NeurIPS", 2025),
        ("**ICLR 2026**", "ICLR", 2026),
        ("=== CVPR-2025 ===", "CVPR", 2025),
        ("AAAI 2024 | 38th conference", "AAAI", 2024),
        ("ACL 2024 Findings", "ACL", 2024),
        ("2026 ICML papers", "ICML", 2026),
        ("2026年ICML论文列表", "ICML", 2026),
        ("Nature 2024", "Nature", 2024),
        ("International Conference on Machine Learning (ICML) 2026", "ICML", 2026),
        ("ICML 2026\nAccepted papers", "ICML", 2026),
        ("Papers to read", None, None),
        ("论文列表", None, None),
    ],
)
def test_headers(header: str, venue: str | None, year: int | None) -> None:
    found = list(paragraphs_of(listing(*THREE, header=header)))
    assert [(r.position, r.abstract, r.venue, r.year) for r in found] == [
        (i, abstract, venue, year) for i, abstract in enumerate(THREE)
    ]


def test_header_right_above_the_first_abstract() -> None:
    found = list(paragraphs_of(f"{HEADER}\n{THREE[0]}\n\n{THREE[1]}\n"))
    assert [(r.line, r.abstract, r.venue) for r in found] == [(2, THREE[0], "ICML"), (4, THREE[1], "ICML")]


def test_no_header() -> None:
    found = list(paragraphs_of(listing(*THREE, header=None)))
    assert [(r.position, r.line, r.venue, r.year) for r in found] == [
        (0, 1, None, None),
        (1, 3, None, None),
        (2, 5, None, None),
    ]


def test_second_header_holds_for_what_follows() -> None:
    found = list(paragraphs_of(listing(THREE[0], "NeurIPS 2025 论文列表", THREE[1], THREE[2])))
    assert [(r.position, r.venue, r.year) for r in found] == [
        (0, "ICML", 2026),
        (1, "NeurIPS", 2025),
        (2, "NeurIPS", 2025),
    ]


@pytest.mark.parametrize("line", ["Copyright 2026 by the authors", "Page 2001 of them", "N/A", "2.", "A stray heading"])
def test_short_paragraphs_are_rejected_and_are_no_headers(line: str) -> None:
    found = list(paragraphs_of(listing(THREE[0], line, THREE[1])))
    assert [(r.position, bool(r.reject), r.venue) for r in found] == [
        (0, False, "ICML"),
        (1, True, "ICML"),
        (2, False, "ICML"),
    ]
    assert found[1].line == 5
    assert line in (found[1].reject or "")


def test_a_wrapped_abstract_that_begins_like_a_header_is_an_abstract() -> None:
    abstract = "The COVID 2019 pandemic has changed how\n" + THREE[0]
    assert [r.abstract for r in paragraphs_of(listing(THREE[1], abstract))] == [THREE[1], abstract.replace("\n", " ")]


@pytest.mark.parametrize("rule", ["---", "* * *", "=====", "————"])
def test_rules_between_abstracts_are_no_records(rule: str) -> None:
    assert [(r.position, r.reject) for r in paragraphs_of(listing(THREE[0], rule, THREE[1]))] == [(0, None), (1, None)]


def test_empty_looking_paragraphs() -> None:
    text = f"{HEADER}\n\n\n\n\n\n{THREE[0]}\n\n\u00a0\u200b\n\u200b\n\n{THREE[1]}\n\n\u00a0\n"
    assert texts(text) == list(THREE[:2])


def test_header_only_holds_no_records() -> None:
    assert list(paragraphs_of(HEADER + "\n")) == []


def test_lines_that_nearly_are_headers_take_no_time() -> None:
    begin = time.process_time()
    for piece in ("i", "v ", "part", "第", "- "):
        paragraphs_of(f"ICML 2026 {piece * 40}"[:115] + "q\n")
    assert time.process_time() - begin < 1


def test_read_file_reads_bytes(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(listing(*THREE, newline="\r\n").encode("utf-16"))
    assert [r.abstract for r in read_file(ListFile.at(path))] == list(THREE)


@pytest.mark.parametrize(
    "begin", [b"%PDF-1.7\n", b"{\\rtf1 ", b"\xd0\xcf\x11\xe0\xa1", b"\n<!DOCTYPE html><p>", b"<html>"]
)
def test_formats_that_nobody_can_read_are_named(begin: bytes) -> None:
    with pytest.raises(ReadError, match=r"it is an? .*(save it|export the list) as"):
        read_all(begin + listing(*THREE).encode())


paragraph = st.lists(st.sampled_from([*THREE, "N/A", "short", "---", "# ICML 2026", *ABSTRACTS[:2]]), max_size=8)


@given(paragraph, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(UNSEEN), st.booleans())
def test_every_paragraph_is_accounted_for(parts: list[str], newline: str, blank: str, headed: bool) -> None:
    text = listing(*parts, header=HEADER if headed else None, newline=newline, blank=blank)
    found: list[RawRecord] = list(paragraphs_of(text))
    assert [r.position for r in found] == list(range(len(found)))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert all(lines[r.line - 1].startswith(r.abstract[:10]) for r in found)
    assert [r.abstract for r in found if not r.reject] == [p for p in parts if p in ABSTRACTS]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for record in paragraphs_of(text):
        assert record.abstract.strip()
        assert "\n" not in record.abstract and "\r" not in record.abstract
