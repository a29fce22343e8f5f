"""RIS: fields, multi-line values, junk between records, damaged and endless records."""

from __future__ import annotations

import tracemalloc

import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, list_file, read_all
from tagged_kit import WORDS, counts, damaged, endless, survives

from ingest.readers import ReadError, read_file, registry, ris

A, B, C = (ABSTRACTS[i] for i in (4, 5, 6))


def entry(abstract: str, *more: str, title: str = "On tides", end: str = "ER  - ") -> str:
    return "\n".join(["TY  - JOUR", f"TI  - {title}", f"AB  - {abstract}", *more, end]) + "\n"


TWO = entry(A, title="One") + "\n" + entry(B, title="Two")
THREE = TWO + "\n" + entry(C, title="Three")


def test_all_fields() -> None:
    text = entry(
        A,
        "AU  - Doe, Jane",
        "AU  - van der Maas, Mary Ann",
        "T2  - Journal of Tides",
        "JA  - J Tid",
        "PY  - 2021/05//",
        "KW  - tides",
        "KW  - moon, full",
        "DO  - https://doi.org/10.1234/ABC.5",
        "UR  - https://example.org/a?b=1",
        "UR  - https://example.org/pdf",
        "ID  - doe2021",
    )
    (record,) = read_all(text, "list.ris")
    assert record.abstract == A
    assert (record.title, record.venue, record.year) == ("On tides", "Journal of Tides", 2021)
    assert record.authors == ("Doe, Jane", "van der Maas, Mary Ann")
    assert record.keywords == ("tides", "moon, full")
    assert (record.doi, record.url, record.key) == ("10.1234/abc.5", "https://example.org/a?b=1", "doe2021")
    assert (record.line, record.reject, record.warning) == (1, None, None)


def test_the_other_tags_for_the_same_things() -> None:
    lines = [
        "T1  - On moss",
        "A1  - Roe, R",
        f"N2  - {B}",
        "JF  - Moss",
        "Y1  - 1998//",
        "L1  - http://x.example/f.pdf",
    ]
    (record,) = read_all("TY  - JOUR\n" + "\n".join(lines) + "\nER  - \n")
    assert (record.abstract, record.title, record.authors) == (B, "On moss", ("Roe, R",))
    assert (record.venue, record.year, record.url) == ("Moss", 1998, "http://x.example/f.pdf")


def test_abstract_tags_that_say_nothing_give_way() -> None:
    assert read_all(f"TY  - JOUR\nAB  - N/A\nN2  - {B}\nER  - \n")[0].abstract == B
    assert read_all(f"TY  - JOUR\nN2  - a note\nAB  - {A}\nER  - \n")[0].abstract == A
    assert read_all("TY  - JOUR\nTI  - T\nAB  - NA\nER  - \n")[0].abstract == ""


@pytest.mark.parametrize(
    ("links", "arxiv", "openreview"),
    [
        (["UR  - https://arxiv.org/abs/2101.00001v2"], "2101.00001v2", None),
        (["DO  - 10.48550/arXiv.2101.00001"], "2101.00001", None),
        (["UR  - https://openreview.net/forum?id=aB_c-1"], None, "aB_c-1"),
    ],
)
def test_ids(links: list[str], arxiv: str | None, openreview: str | None) -> None:
    (record,) = read_all(entry(A, *links))
    assert (record.arxiv_id, record.openreview_id) == (arxiv, openreview)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Abstract Background A cure is near.", "Background A cure is near."),
        ("ABSTRACT In recent years tides rose.", "In recent years tides rose."),
        ("AbstractMany governments act.", "Many governments act."),
        ("Abstract: tides rise.", "tides rise."),
        ("Abstract Tides rise twice a day.", "Tides rise twice a day."),
        ("Abstract Meaning Representation is a graph.", "Abstract Meaning Representation is a graph."),
        ("Abstract Interpretation is a theory.", "Abstract Interpretation is a theory."),
        ("Abstract interpretation is a theory.", "Abstract interpretation is a theory."),
        ("Abstraction helps.", "Abstraction helps."),
    ],
)
def test_the_word_abstract_before_it(written: str, kept: str) -> None:
    assert read_all(entry(written))[0].abstract == kept


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_line_ends_and_encodings(newline: str, encoding: str) -> None:
    found = read_all(THREE.replace("\n", newline).encode(encoding), "list.txt")
    assert [(r.position, r.line, r.title, r.abstract) for r in found] == [
        (0, 1, "One", A),
        (1, 6, "Two", B),
        (2, 11, "Three", C),
    ]


@pytest.mark.parametrize("indent", ["", "      ", "\t"])
def test_values_over_several_lines(indent: str) -> None:
    wrapped = B.replace(". ", f".\n{indent}").replace(" texts", f"\n{indent}ER texts")
    found = read_all(entry(wrapped, "KW  - moss", "birch", "tide") + entry(A))
    assert found[0].abstract == B.replace(" texts", " ER texts")
    assert found[0].keywords == ("moss", "birch", "tide")
    assert found[1].abstract == A


def test_paragraphs_of_an_abstract_stay_together() -> None:
    assert read_all(entry(f"{A}\n\n{B}"))[0].abstract == f"{A} {B}"


@pytest.mark.parametrize(
    "junk", [("Link to full text: http://x.example/1", "C1 - Database: X", "2."), ("C1  - Database: X",)]
)
def test_junk_between_records_is_in_neither(junk: tuple[str, ...]) -> None:
    text = entry(A, title="One") + "\n" + "\n".join(junk) + "\n" + entry(B, title="Two")
    first, second = read_all(text, "list.ris")
    assert (first.abstract, first.title, first.warning) == (A, "One", None)
    assert (second.abstract, second.title, second.line) == (B, "Two", 6 + len(junk))
    assert "belong" in (second.warning or "") and "line 6)" in (second.warning or "")
    assert str(len(junk)) in (second.warning or "")
    for record in (first, second):
        assert not any(
            "Database" in str(value) or "full text" in str(value)
            for value in (record.abstract, record.keywords, record.authors)
        )


def test_junk_around_all_records() -> None:
    first, last = read_all("Record #1 of 2\nProvider: X\n1.\n" + TWO + "\nThe end.\n")
    assert first.warning == "3 lines before it belong to no record (line 1)"
    assert last.warning == "1 line after it belongs to no record (line 14)"


def test_styles_of_tags() -> None:
    loose = TWO.replace("  - ", " - ")
    assert [(r.title, r.abstract) for r in read_all(loose)] == [("One", A), ("Two", B)]
    indented = "\n".join("  " + line for line in TWO.split("\n"))
    assert [(r.title, r.abstract) for r in read_all(indented)] == [("One", A), ("Two", B)]
    assert [(r.title, r.abstract) for r in read_all(TWO.replace("  - ", "  -"))] == [("One", A), ("Two", B)]


def test_dashes_in_wrapped_text_begin_no_field() -> None:
    wrapped = "We study two forms of it,\nAD - the late one, and\nUK - the other. " + A
    assert read_all(entry(wrapped))[0].abstract == wrapped.replace("\n", " ")


def test_a_record_without_end_ends_where_the_next_one_begins() -> None:
    found = read_all(entry(A, title="One").replace("ER  - \n", "") + entry(B, title="Two"))
    assert [(r.title, r.abstract) for r in found] == [("One", A), ("Two", B)]
    assert "line 4" in (found[0].warning or "") and found[1].warning is None


def test_a_record_that_the_file_ends_in_still_counts() -> None:
    found = read_all(TWO[: TWO.rindex("ER")])
    assert [r.abstract for r in found] == [A, B]
    assert "before the file ends" in (found[1].warning or "")


def test_a_record_without_first_line_still_counts() -> None:
    parts = THREE.split("TY  - JOUR\n")
    found = read_all("TY  - JOUR\n".join(parts[:2]) + "T  - JOUR\n" + parts[2] + "TY  - JOUR\n" + parts[3])
    assert [(r.title, r.abstract) for r in found] == [("One", A), ("Two", B), ("Three", C)]
    assert "without its first line" in (found[1].warning or "") and found[2].warning is None


def test_a_record_with_neither_end_nor_first_line_is_not_mixed_into_the_last() -> None:
    found = read_all(THREE.replace("ER  - \n\nTY  - JOUR\n", "\n", 1))
    assert [(r.title, r.abstract) for r in found] == [("One", A), ("Two", B), ("Three", C)]


def test_unknown_tags_do_no_harm() -> None:
    (record,) = read_all(entry(A, "UK  - x", "ZZ  - y", "UK  - z", "X9  -"))
    assert record.abstract == A


@pytest.mark.parametrize("name", ["list.txt", "list.ris", "list.csv", "list"])
def test_recognised_by_content(name: str) -> None:
    assert [r.abstract for r in read_all(TWO, name)] == [A, B]


@pytest.mark.parametrize(
    "text", [f"{A}\n\n{B}\n", "ICML 2026\n\nTY is a tag.\nTY, - a tag\n", '{"TY": "TY  - JOUR"}', "@article{TY  - J}"]
)
def test_other_texts_are_not_taken(text: str) -> None:
    assert not ris.recognises(list_file(text, "list.ris"))


def test_plain_text_with_the_wrong_name_is_read_as_text() -> None:
    assert [r.abstract for r in read_all(f"{A}\n\n{B}\n", "list.ris")] == [A, B]


def test_a_file_of_junk_is_refused() -> None:
    with pytest.raises(ReadError, match="no record begins"):
        list(ris.read(list_file("nothing\nat all\n", "list.ris")))


@pytest.mark.parametrize(
    ("line", "megabytes"),
    [(b"AB  - " + b"moss " * 2000 + b"\n", 30), (b"and birch and tide\n" * 600, 3), (b"moss " * 2000, 30)],
)
def test_an_endless_record_is_rejected_and_the_others_load(line: bytes, megabytes: int) -> None:
    before = (entry(A, title="One") + "TY  - JOUR\nTI  - Endless\nAB  - ").encode()
    after = ("\nER  - \n" + entry(B, title="Two")).encode()
    file = endless("list.ris", before, line, megabytes, after)
    tracemalloc.start()
    try:
        found = list(read_file(file))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [(r.title, r.abstract, bool(r.reject)) for r in found] == [
        ("One", A, False),
        ("Endless", "", True),
        ("Two", B, False),
    ]
    assert "2,000,000 characters" in (found[1].reject or "")
    assert peak < 40_000_000


@given(st.lists(st.tuples(WORDS, WORDS, st.lists(WORDS, max_size=3)), min_size=1, max_size=5), st.booleans())
def test_what_rispy_writes_is_read(entries: list[tuple[list[str], list[str], list[list[str]]]], windows: bool) -> None:
    references = [
        {
            "type_of_reference": "JOUR",
            "title": "On " + " ".join(t),
            "abstract": "It: " + " ".join(a),
            "authors": ["X, " + " ".join(w) for w in people],
        }
        for t, a, people in entries
    ]
    text = rispy.dumps(references)
    found = read_all(text.replace("\n", "\r\n") if windows else text, "list.ris")
    assert [(r.title, r.abstract) for r in found] == [(r["title"], r["abstract"]) for r in references]
    assert [list(r.authors) for r in found] == [list(dict.fromkeys(r["authors"])) for r in references]


@given(damaged("1.\n" + THREE + "\njunk\n"))
def test_damaged_files_are_read(data: bytes) -> None:
    survives(data, "list.ris")


@given(st.integers(0, 2), st.integers(0, 12))
def test_damage_to_one_record_spares_the_others(which: int, lines: int) -> None:
    parts = [entry(text, "KW  - moss", title=title) for text, title in ((A, "One"), (B, "Two"), (C, "Three"))]
    broken = parts[which].split("\n")
    parts[which] = "\n".join(line[1:] if i == lines % len(broken) else line for i, line in enumerate(broken))
    found = {r.title: r.abstract for r in read_all("".join(parts), "list.ris")}
    whole = {"One": A, "Two": B, "Three": C}
    for place, (title, text) in enumerate(whole.items()):
        if place != which:
            assert found[title].startswith(text)


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "asreview_formats___baseline_mendeley.ris": (10, 8),
        "asreview_formats___baseline_openalex.ris": (9, 9),
        "citesource__20221207_gambling-harms_lens_49.ris": (49, 49),
        "citesource__20221207_gambling-harms_psycinfo_124.ris": (124, 124),
        "citesource__AGRIS.ris": (12, 0),  # every one says `NA`
        "citesource__WoS_79.ris": (79, 76),
        "revtools__restoration_scopus.ris": (286, 281),
        "rispy__example_extraneous_data.ris": (2, 2),
        "rispy__example_multiline.ris": (3, 3),
    }.items(),
)
def test_real_exports(name: str, expected: tuple[int, int]) -> None:
    assert counts(name) == expected


def test_registered_before_plain_text() -> None:
    names = [reader.__name__.rpartition(".")[2] for reader in registry.READERS]
    assert names.index("medline") < names.index("ris") < names.index("plain")
