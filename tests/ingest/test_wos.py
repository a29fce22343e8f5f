"""Web of Science's plain text: fields, wrapped values, headers, damaged files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, list_file, read_all
from tagged_kit import WORDS, counts, damaged, endless, survives

from ingest.readers import read_file, wos

A, B, C = (ABSTRACTS[i] for i in (4, 5, 6))
HEADER = "FN Clarivate Analytics Web of Science\nVR 1.0\n"


def entry(abstract: str, *more: str, title: str = "On tides") -> str:
    return "\n".join(["PT J", "AU Doe, J", f"TI {title}", f"AB {abstract}", *more, "UT WOS:0001", "ER"]) + "\n"


THREE = HEADER + "\n".join(entry(text, title=title) for text, title in ((A, "One"), (B, "Two"), (C, "Three"))) + "\nEF"


def test_all_fields() -> None:
    more = [
        "   and of the moon",
        "AF Doe, Jane",
        "   Roe, Richard",
        "SO JOURNAL OF TIDES",
        "DE tides; high",
        "   water; moon",
        "ID LOW WATER",
        "C1 [Doe, Jane] Univ X, Y 12345 USA.",
        "CR Doe J, 1999, TIDES, V1",
        "   Roe R, 2000, TIDES, V2, DOI 10.9999/not-this",
        "PD MAY",
        "PY 2021",
        "DI 10.1234/ABC.5",
        "WE Some Index",
        "QQ unknown",
    ]
    (record,) = read_all(HEADER + entry(A, *more) + "EF\n", "savedrecs.txt")
    assert record.abstract == A + " and of the moon"
    assert (record.title, record.venue, record.year) == ("On tides", "JOURNAL OF TIDES", 2021)
    assert record.authors == ("Doe, Jane", "Roe, Richard")
    assert record.keywords == ("tides", "high water", "moon", "LOW WATER")
    assert (record.doi, record.key, record.line) == ("10.1234/abc.5", "WOS:0001", 3)
    assert (record.reject, record.warning) == (None, None)


def test_short_names_where_there_are_no_long_ones() -> None:
    assert read_all(entry(A))[0].authors == ("Doe, J",)
    assert read_all(entry(A).replace("AU Doe, J", "CA Tide Group"))[0].authors == ("Tide Group",)


@pytest.mark.parametrize("name", ["savedrecs.txt", "savedrecs.ciw", "savedrecs.isi", "savedrecs.ris", "x"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_recognised_by_content(name: str, encoding: str) -> None:
    found = read_all(THREE.replace("\n", "\r\n").encode(encoding), name)
    assert [(r.position, r.line, r.title, r.abstract) for r in found] == [
        (0, 3, "One", A),
        (1, 10, "Two", B),
        (2, 17, "Three", C),
    ]
    assert not any(r.warning for r in found)


@pytest.mark.parametrize(
    "text", [f"{A}\n\n{B}\n", "PT\tAU\tTI\nJ\tDoe\tT\n", "PT J\n", "FN is a word.\n", "PT  - J\nAU  - X\n"]
)
def test_other_texts_are_not_taken(text: str) -> None:
    assert not wos.recognises(list_file(text, "savedrecs.ciw"))


def test_several_exports_put_together() -> None:
    text = (THREE + "\n").encode("utf-8-sig") * 2
    found = read_all(text)
    assert [r.abstract for r in found] == [A, B, C] * 2
    assert not any(r.warning for r in found)


def test_text_that_looks_like_tags_is_text_where_it_is_indented() -> None:
    (record,) = read_all(entry(A, "   PT J", "   ER", "   EF"))
    assert record.abstract == A + " PT J ER EF"


def test_junk_between_records() -> None:
    first, second = read_all(HEADER + entry(A) + "\nLink to full text: x\n2.\n" + entry(B) + "EF")
    assert (first.abstract, second.abstract) == (A, B)
    assert second.warning == "2 lines before it belong to no record (line 10)"


def test_records_without_end_or_beginning_still_count() -> None:
    parts = THREE.split("\nER\n")
    found = read_all(parts[0] + "\nER\n" + parts[1].replace("PT J\n", "P J\n") + parts[2])
    assert [(r.title, r.abstract) for r in found] == [("One", A), ("Two", B), ("Three", C)]
    assert "without its first line" in (found[1].warning or "") and "no end" in (found[1].warning or "")
    assert "before the file ends" in (found[2].warning or "")


def test_a_record_with_neither_end_nor_first_line_is_not_mixed_into_the_last() -> None:
    found = read_all(THREE.replace("ER\n\nPT J\n", "\n", 1))
    assert [(r.title, r.abstract) for r in found] == [("One", A), ("Two", B), ("Three", C)]


def test_an_endless_record_is_rejected_and_the_others_load() -> None:
    line = b"   " + b"moss " * 400 + b"\n"
    file = endless("x.ciw", (HEADER + entry(A) + "PT J\nAB ").encode(), line, 10, b"ER\n" + entry(B).encode())
    assert [(r.abstract, bool(r.reject)) for r in read_file(file)] == [(A, False), ("", True), (B, False)]


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_wrapping_is_undone(pairs: list[tuple[list[str], list[str]]]) -> None:
    text = HEADER + "\n".join(entry("It\n   " + "\n   ".join(a), title="On\n   " + "\n   ".join(t)) for a, t in pairs)
    expected = [("It " + " ".join(a), "On " + " ".join(t)) for a, t in pairs]
    assert [(r.abstract, r.title) for r in read_all(text, "x.ciw")] == expected


@given(damaged(THREE))
def test_damaged_files_are_read(data: bytes) -> None:
    survives(data, "list.ciw")


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "revtools__restoration_WoS.ciw": (247, 215),
        "metaknowledge__testFile.isi": (34, 12),
        "metaknowledge__OnePaper.isi": (1, 1),
        "bibliometrix__wos_sample.txt": (8, 7),
    }.items(),
)
def test_real_exports(name: str, expected: tuple[int, int]) -> None:
    assert counts(name) == expected
