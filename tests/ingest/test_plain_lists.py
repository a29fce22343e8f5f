"""Plain-text lists with numbers, labels or headings; and lists that only look a little like these."""

from __future__ import annotations

import time
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, HEADER, SEEDS, list_file, listing

from ingest.readers import ListFile, RawRecord, ReadError, numbered, plain, sections

FOUR = ABSTRACTS[4:8]
READERS = (sections, numbered, plain)


def reader_of(text: str) -> ModuleType:
    return next(reader for reader in READERS if reader.recognises(list_file(text)))


def read(text: str, expected: ModuleType) -> list[RawRecord]:
    assert reader_of(text) is expected
    found = list(expected.read(list_file(text)))
    assert [r.position for r in found] == list(range(len(found)))
    return found


def abstracts(found: list[RawRecord]) -> list[str]:
    return [r.abstract for r in found if not r.reject]


def wrapped(text: str) -> str:
    return text.replace(". ", ".\n")


@pytest.mark.parametrize(
    "form", ["{}. ", "{}) ", "[{}] ", "({}) ", "（{}）", "{}、", "**{}.** ", "#{} ", "No. {}: ", "- [{}] "]
)
@pytest.mark.parametrize("between", ["\n\n", "\n", "\n\n\n"])
@pytest.mark.parametrize("header", [HEADER + "\n\n", ""])
def test_numbered(form: str, between: str, header: str) -> None:
    for texts in (FOUR, [wrapped(text) for text in FOUR]):
        text = header + between.join(form.format(i) + text for i, text in enumerate(texts, start=7))
        found = read(text, numbered)
        assert abstracts(found) == list(FOUR)
        assert {r.venue for r in found} == {"ICML" if header else None}
        lines = text.split("\n")
        assert [lines[(r.line or 0) - 1].startswith(form.format(i)) for i, r in enumerate(found, 7)] == [True] * 4


def test_a_header_right_above_numbered_lines() -> None:
    found = read(HEADER + "\n" + "\n".join(f"{i}. {text}" for i, text in enumerate(FOUR, 1)), numbered)
    assert [(r.line, r.abstract, r.year) for r in found] == [(i + 2, text, 2026) for i, text in enumerate(FOUR)]


def test_what_has_no_number_in_a_numbered_list_is_not_lost() -> None:
    parts = [
        "1. " + FOUR[0],
        "2. " + FOUR[1],
        FOUR[2],
        "ACL 2024 Findings",
        "1. " + FOUR[3],
        "3. n/a",
        "4. " + ABSTRACTS[0],
    ]
    found = read("\n\n".join(parts), numbered)
    assert abstracts(found) == [*FOUR, ABSTRACTS[0]]
    assert [(r.line, r.venue) for r in found] == [(1, None), (3, None), (5, None), (9, "ACL"), (11, "ACL"), (13, "ACL")]
    assert found[4].reject == "too short for an abstract: 'n/a'"


LABELLED = {
    "english": ("Title: {}\nAuthors: A. One, B. Two\nAbstract: {}\nKeywords: reef, sea\nYear: 2020\nVenue: ACL\n"
                "URL: https://example.org/{}\nDOI: 10.1234/abc.{}"),
    "blank lines": ("Title: {}\n\nAuthors: A. One; B. Two\n\nAbstract:\n\n{}\n\nKeywords: reef; sea\n\nYear: 2020\n\n"
                    "Journal: ACL\n\nLink: https://example.org/{}\n\nDOI: https://doi.org/10.1234/abc.{}"),
    "chinese": "标题：{}\n作者：A. One，B. Two\n摘要：{}\n关键词：reef；sea\n年份：2020\n会议：ACL\n链接：https://example.org/{}\nDOI：10.1234/abc.{}",
    "brackets": "【标题】{}\n【作者】A. One、B. Two\n【摘要】{}\n【关键词】reef；sea\n【年份】2020\n【会议】ACL\n【链接】https://example.org/{}\n【DOI】10.1234/abc.{}",
    "bold": ("**Title:** {}\n**Authors:** A. One, B. Two\n**Abstract**: {}\n**Keywords:** reef, sea\n**Year:** 2020\n"
             "**Venue:** ACL\n**URL:** [pdf](https://example.org/{})\n**DOI:** 10.1234/abc.{}"),
    "bullets": ("- TITLE: {}\n  - AUTHORS: A. One, B. Two\n  - ABSTRACT: {}\n  - KEYWORDS: reef, sea\n  - DATE: 2020-05-01\n"
                "  - CONFERENCE: ACL\n  - PDF: https://example.org/{}\n  - DOI: 10.1234/abc.{}"),
    "authors a line": ("Title: {}\nAuthors:\n- A. One\n- B. Two\nAbstract: {}\nKeywords:\n- reef\n- sea\nYear: 2020\n"
                       "Venue: ACL\nhttps://example.org/{}\nDOI: 10.1234/abc.{}"),
}  # fmt: skip


@pytest.mark.parametrize("form", LABELLED)
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("header", ["ICML 2026 papers\n\n", "# ICML 2026 papers\n\n", ""])
def test_labelled(form: str, wrap: bool, header: str) -> None:
    records = [LABELLED[form].format(f"On {i}", wrapped(t) if wrap else t, i, i) for i, t in enumerate(FOUR)]
    for between in ("\n\n", "\n", "\n\n---\n\n"):
        found = read(header + between.join(records), sections)
        assert [(r.title, r.abstract, r.url, r.doi) for r in found] == [
            (f"On {i}", text, f"https://example.org/{i}", f"10.1234/abc.{i}") for i, text in enumerate(FOUR)
        ]
        assert {(r.authors, r.keywords, r.year, r.venue) for r in found} == {
            (("A. One", "B. Two"), ("reef", "sea"), 2020, "ACL")
        }


def test_labelled_values_go_on_to_the_next_label() -> None:
    text = (
        f"{HEADER}\n\nTitle: On a\n  long thing\nAbstract: {FOUR[0]}\n\n{FOUR[1]}\n\nResults: many.\n\n"
        f"Title: Two\n\n{FOUR[2]}\n\nTitle: Three\nAuthors: A. One\n\nAbstract: {FOUR[3]}\nKeywords: sea\n"
    )
    found = read(text, sections)
    assert [(r.title, r.abstract, r.line) for r in found] == [
        ("On a long thing", f"{FOUR[0]} {FOUR[1]} Results: many.", 3),
        ("Two", FOUR[2], 11),
        ("Three", FOUR[3], 15),
    ]
    assert {(r.venue, r.year) for r in found} == {("ICML", 2026)}


def test_what_has_no_label_in_a_labelled_list_is_not_lost() -> None:
    form = "Title: {}\nAbstract: {}\nYear: 2020"
    parts = [form.format("A", FOUR[0]), FOUR[1], "NeurIPS 2025 papers", form.format("B", FOUR[2]), "stray", "Title: C"]
    found = read("\n\n".join(parts), sections)
    assert [(r.title, r.abstract, r.venue) for r in found] == [
        ("A", FOUR[0], None),
        (None, FOUR[1], None),
        ("B", FOUR[2], "NeurIPS"),
        (None, "stray", "NeurIPS"),
        ("C", "", "NeurIPS"),
    ]
    assert [bool(r.reject) for r in found] == [False, False, False, True, False]


def test_only_abstracts_have_labels() -> None:
    found = read("\n\n".join(f"Abstract: {text}" for text in FOUR), sections)
    assert abstracts(found) == list(FOUR)


BELOW = {
    "nothing": "",
    "italics": "*Ann One, Bo Two*\n\n",
    "underscores": "_Ann One and Bo Two_\n",
    "label": "- Authors: Ann One, Bo Two\n- [pdf](https://example.org/1.pdf)\n\n",
    "bold label": "**Authors:** Ann One, Bo Two  \n[pdf](https://example.org/1.pdf) | [code](https://example.org/c)\n\n",
    "bullet": "- Ann One, Bo Two\n- https://example.org/1.pdf\n\n",
    "names": "Ann One, Bo Two\n\n",
    "names and label": "Ann One, Bo Two\n\n[pdf](https://example.org/1.pdf)\n\n#### Abstract\n\n",
    "links": "[[pdf]](https://example.org/1.pdf) [code](https://example.org/c)\n\n",
}


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("heading", ["## On {}", "### {}. On {}", "## **On {}**", "**On {}**", "**{}. On {}**"])
@pytest.mark.parametrize("wrap", [False, True])
def test_headings(below: str, heading: str, wrap: bool) -> None:
    parts = [
        f"{heading.format(i, i)}\n\n{BELOW[below]}{wrapped(text) if wrap else text}\n\nA second paragraph."
        for i, text in enumerate(FOUR)
    ]
    found = read("# ICML 2026 papers\n\n" + "\n\n".join(parts), sections)
    assert [(r.title, r.abstract) for r in found] == [
        (f"On {i}", f"{t} A second paragraph.") for i, t in enumerate(FOUR)
    ]
    assert {(r.venue, r.year) for r in found} == {("ICML", 2026)}
    people = () if below in {"nothing", "links"} else ("Ann One", "Bo Two")
    assert {r.authors for r in found} == {people}
    assert {r.url for r in found} <= {None, "https://example.org/1.pdf"}
    assert ("example" in BELOW[below]) == (found[0].url is not None)


def test_headings_that_are_no_papers() -> None:
    text = (
        f"# Reading list\n\nCollected in May.\n\n# ICML 2026 papers\n\n## Oral papers\n\n### ImageNet 2012 revisited\n\n{FOUR[0]}"
        f"\n\n### Nothing below\n\n## Session 2: Vision\n\n{FOUR[3]}\n\n### On sea\n\n#### Methods\n\n{FOUR[1]}\n\n"
        f"# ACL 2024\n\n### On land\n{FOUR[2]}\n"
    )
    found = read(text, sections)
    assert [(r.title, r.abstract, r.venue) for r in found if not r.reject] == [
        ("ImageNet 2012 revisited", FOUR[0], "ICML"),
        ("Nothing below", "", "ICML"),
        (None, FOUR[3], "ICML"),
        ("On sea", f"#### Methods {FOUR[1]}", "ICML"),
        ("On land", FOUR[2], "ACL"),
    ]
    assert [r.reject for r in found if r.reject] == ["too short for an abstract: 'Collected in May.'"]


def test_an_address_that_ends_a_wrapped_sentence_stays() -> None:
    text = "\n\n".join(f"## T{i}\n\n{t}\nCode is at\nhttps://example.org/{i}\n" for i, t in enumerate(FOUR))
    assert read(text, sections)[1].abstract == f"{FOUR[1]} Code is at https://example.org/1"


POINTS = "We make three points about this:\n1. it is new to all of us\n2. it is true of many\n3. it is of use to some"


@pytest.mark.parametrize(
    "parts",
    [
        ABSTRACTS,
        ("3D models are costly. " + FOUR[0], *FOUR[1:]),
        ("12 of 40 cities flood. " + FOUR[0], "2. " + FOUR[1], *FOUR[2:]),
        ("2019 was warm. " + FOUR[0], "2020 was warmer. " + FOUR[1], "2021 was not. " + FOUR[2], FOUR[3]),
        ("1.5 million users vote. " + FOUR[0], "2.5 million do not. " + FOUR[1]),
        ("(1) " + FOUR[0], *FOUR[1:], *ABSTRACTS[:3]),
        (POINTS, *FOUR),
        (POINTS, POINTS),
        ("Abstract: " + FOUR[0], *FOUR[1:]),
        (*FOUR[:3], "Abstract: " + FOUR[3]),
        (*FOUR[:2], "Title: One\nAbstract: " + FOUR[2], *FOUR[3:], *ABSTRACTS[:3]),
        (FOUR[0] + "\nKeywords: sea, reef", FOUR[1] + "\nKeywords: reef", FOUR[2]),
        ("**DriftNet**\n" + FOUR[0], *FOUR[1:]),
        ("# NeurIPS 2025 papers", *FOUR[:2], "# ACL 2024", *FOUR[2:]),
        ("# One heading", *FOUR),
    ],
)
@pytest.mark.parametrize("header", [HEADER, None])
def test_other_lists_stay_what_they_are(parts: tuple[str, ...], header: str | None) -> None:
    assert reader_of(listing(*parts, header=header)) is plain


def test_the_seeds_stay_what_they_are() -> None:
    paths = sorted(SEEDS.glob("*.txt"))
    if not paths:
        pytest.skip("the seeds are not part of the repository")
    files = [ListFile.at(path) for path in paths]
    assert not any(reader.recognises(file) for file in files for reader in READERS[:2])
    assert sum(not r.reject for file in files for r in plain.read(file)) == 57


@pytest.mark.parametrize("form", ["{}\n\n", "{}. {}\n\n", "Title: {}\nAbstract: {}\n\n", "## T{}\n\n{}\n\n"])
def test_a_paragraph_beyond_all_bounds_is_a_reject(form: str) -> None:
    huge = "\n".join(["x" * 1000] * 2500)
    bodies = [FOUR[0], FOUR[1], huge, FOUR[2]]
    text = "".join(form.format(*([body] if form.count("{}") == 1 else [i, body])) for i, body in enumerate(bodies, 1))
    reader = reader_of(text)
    found = list(reader.read(list_file(text)))
    assert abstracts(found) == list(FOUR[:3])
    assert "longer than 2,000,000 characters" in (found[2].reject or "")
    assert len(found) == 4


@pytest.mark.parametrize(
    "piece", ["*", "#", "# ", "[", "1.", "**a", "https://a/", "i", "Title:", "- ", "\\", "__", "【", ">"]
)
def test_odd_lines_take_no_time(piece: str) -> None:
    text = f"## A\n\n{piece * 3000}!\n\nTitle: b\n{piece * 100}\n\nICML 2026 {piece * 40}z\n\n## C\n\n{piece * 60}x y\n\n{FOUR[0]}"
    begin = time.process_time()
    for reader in READERS:
        reader.recognises(list_file(text))
        list(reader.read(list_file(text)))
    assert time.process_time() - begin < 2


lines = st.sampled_from(
    ["", "", "# ICML 2026", "## A title", "**Bold**", "Title: T", "Abstract:", "Abstract: " + FOUR[1], "Authors: A, B",
     "Keywords: k", "1. " + FOUR[2], "2) " + FOUR[3], "[3] n/a", *FOUR, "---", "*Ann One, Bo Two*", "https://example.org",
     "摘要：" + ABSTRACTS[2], "Summary: none", "short"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(lines, max_size=25))
def test_no_abstract_is_lost_whatever_the_mixture(mixture: list[str]) -> None:
    text = "\n".join(["ACL 2024", "", *mixture, "", "end"])
    for reader in READERS:
        found = list(reader.read(list_file(text)))
        assert [r.position for r in found] == list(range(len(found)))
        everything = " ".join(r.abstract for r in found)
        for abstract in FOUR:
            assert everything.count(abstract) == text.count(abstract)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    file = list_file("x" + text)
    for reader in READERS:
        try:
            reader.recognises(file)
            found = list(reader.read(file))
        except ReadError as error:
            assert "binary" in str(error)
            continue
        assert [r.position for r in found] == list(range(len(found)))
