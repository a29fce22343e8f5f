"""The BibTeX reader: entries, values, people, what lies between entries, and entries that are broken."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, ROOT, list_file, listing, read_all

from ingest.clean import clean
from ingest.readers import ListFile, RawRecord, ReadError, bibtex
from ingest.readers.bibtex_fields import people, unprotect

FIXTURES = ROOT.parent / "shared" / "fixtures"
COUNTS = {  # records, records with an abstract
    "bibtexparser__gbk_test.bib": (1, 0),
    "jabref_fixtures__encoding-utf-16BE-without-header.bib": (1, 0),
    "jabref_fixtures__encoding-windows-1252-without-header.bib": (1, 1),
    "nime_bib__nime2023.bib": (99, 99),
}
PLAIN = ABSTRACTS[7]


def entry(key: str, abstract: str = PLAIN, **more: str) -> str:
    fields = {
        "title": f"Title of {key}",
        "author": "Roe, Ann and Doe, John",
        "year": "2024",
        "abstract": abstract,
    } | more
    return f"@article{{{key},\n" + "".join(f"  {k} = {{{v}}},\n" for k, v in fields.items()) + "}\n"


def one(source: str) -> RawRecord:
    (record,) = read_all(source, "list.bib")
    return record


@pytest.mark.parametrize("name", COUNTS)
def test_real_exports(name: str) -> None:
    path = FIXTURES / name
    if not path.exists():
        pytest.skip("the collection of real exports is not here")
    records = list(bibtex.read(ListFile.at(path)))
    assert (len(records), sum(bool(r.abstract) for r in records)) == COUNTS[name]
    assert not [r for r in records if r.reject or r.warning]


def test_every_field() -> None:
    record = one(
        "@inproceedings{roe24,\n title={{CLIP}: A {BERT} model},\n author={Roe, Ann and John Doe},\n"
        f" abstract = {{{PLAIN}}},\n booktitle={{Proc. of the {{ICML}}}},\n year=2024,\n keywords={{reefs, drones}},\n"
        " url={https://openreview.net/forum?id=aB_1}, doi={10.5555/ABC\\_1},\n"
        " eprint={2401.01234}, archivePrefix={arXiv}\n}\n"
    )
    assert record == RawRecord(
        0,
        1,
        PLAIN,
        title="CLIP: A BERT model",
        authors=("Roe, Ann", "John Doe"),
        venue="Proc. of the ICML",
        year=2024,
        keywords=("reefs", "drones"),
        url="https://openreview.net/forum?id=aB_1",
        doi="10.5555/abc_1",
        arxiv_id="2401.01234",
        openreview_id="aB_1",
        key="roe24",
    )


def test_biblatex_fields() -> None:
    record = one(
        f"@online{{k,\n title={{On X}}, subtitle={{A Study}}, date={{2023-05-01}}, journaltitle={{J. of X}},\n"
        f" eprint={{2301.00001v2}}, eprinttype={{arxiv}}, Abstract={{{PLAIN}}}}}\n"
    )
    assert (record.title, record.year, record.venue) == ("On X: A Study", 2023, "J. of X")
    assert (record.arxiv_id, record.abstract) == ("2301.00001v2", PLAIN)


def test_a_foreign_eprint_is_no_arxiv_id() -> None:
    assert one(entry("a", eprint="2301.00001", eprinttype="jstor")).arxiv_id is None


def test_a_brace_too_many_spoils_one_entry_only() -> None:
    records = read_all(entry("a") + entry("b", "We see gains of 12{\\% over baselines.") + entry("c"), "list.bib")
    assert [(r.key, r.line, r.abstract) for r in (records[0], records[2])] == [("a", 1, PLAIN), ("c", 13, PLAIN)]
    assert records[1].key == "b" and "b" in (records[1].reject or "") and not records[1].abstract


@pytest.mark.parametrize(
    "broken",
    [
        "@article{b,\n title = {No end",
        f"@article{{b\n title = {{No comma after the key}},\n abstract = {{{PLAIN}}}}}",
        "@article{b title = {No comma in the line},\n}",
        '@article{b,\n title = "A quote that never ends,\n year = 2020,\n}',
        "@article{b,\n title {No equals sign},\n}",
        "@article{b, title = {Too} many} closing}, year = {2020}}}}",
    ],
)
def test_broken_entries_stand_alone(broken: str) -> None:
    records = read_all(f"{entry('a')}\n{broken}\n\n{entry('c')}", "list.bib")
    assert [r.key for r in records] == ["a", "b", "c"]
    assert [records[0].abstract, records[2].abstract] == [PLAIN, PLAIN]
    assert [r.position for r in records] == [0, 1, 2]
    assert records[1].reject or records[2].warning or "No comma" in (records[1].title or "")


def test_several_entries_in_one_line() -> None:
    line = " ".join(f"@article{{k{i}, title={{T {i}}}, abstract={{{PLAIN} Mail a@b{{x}}.}}}}" for i in range(300))
    records = read_all(line, "list.bib")
    assert [r.key for r in records] == [f"k{i}" for i in range(300)]
    assert {r.line for r in records} == {1}
    assert all(r.abstract.startswith(PLAIN) for r in records)


def test_strings_and_concatenation() -> None:
    source = (
        '@string{icml = "Proc. ICML"}\n@STRING(long = icml # { (long name)})\n'
        f"@article{{a, booktitle = long # {' '}#\n {{, part 2}}, month = jan, abstract = {{{PLAIN}}}}}\n"
    ).replace("long #  #", "long #")
    assert one(source).venue == "Proc. ICML (long name), part 2"


def test_quotes_parentheses_and_upper_case() -> None:
    record = one(
        '@ARTICLE(a,\n TITLE = "A {"}quoted{"} word",\n ABSTRACT = "Braces {in (here)} and so on.",\n YEAR = "2020"\n)'
    )
    assert (record.title, record.abstract, record.year) == ('A "quoted" word', "Braces in (here) and so on.", 2020)


def test_comments_and_preambles_are_no_records() -> None:
    source = (
        'This file was written by hand.\n\n% Encoding: UTF-8\n@preamble{ "\\newcommand{\\x}{y}" }\n'
        f"@comment{{jabref-meta: databaseType:bibtex;}}\n{entry('a')}\n% a remark\n@Comment nothing\n{entry('b')}"
    )
    assert [(r.key, r.warning) for r in read_all(source, "list.bib")] == [("a", None), ("b", None)]


def test_text_between_entries_is_named() -> None:
    records = read_all(f"{entry('a')}\nstray words\nmore of them\n\n{entry('b')}", "list.bib")
    assert [r.warning for r in records] == [None, "2 lines before it belong to no record (line 8)"]


def test_twice_the_same_key_or_field() -> None:
    records = read_all(entry("a") + entry("a", note="x").replace("note", "year"), "list.bib")
    assert [(r.key, r.year, r.reject) for r in records] == [("a", 2024, None), ("a", 2024, None)]


def test_missing_key() -> None:
    records = read_all(
        f"@article{{,\n title={{A}}, abstract={{{PLAIN}}}}}\n@article{{title={{B}}, abstract={{{PLAIN}}}}}\n", "x.bib"
    )
    assert [(r.title, r.key, r.reject) for r in records] == [("A", None, None), ("B", None, None)]


def test_an_at_sign_at_the_start_of_a_line_is_text() -> None:
    abstract = "The mean average precision\n@ (IoU=0.5) and\n  @IoU(0.75) of {nine} detectors is\n@home{less} than 0.3."
    assert (
        one(entry("a", abstract)).abstract.split()
        == abstract.replace("{nine}", "nine").replace("{less}", "less").split()
    )


@pytest.mark.parametrize("declared", ["% Encoding: windows-1251\n\n", "% Encoding: windows-1251\r\n\r\n"])
def test_declared_encoding(declared: str) -> None:
    source = (declared + entry("a", "Шум в данных мешает обучению моделей.")).encode("cp1251")
    (record,) = bibtex.read(list_file(source, "list.bib"))
    assert record.abstract == "Шум в данных мешает обучению моделей."


def test_a_declaration_does_not_outdo_utf8() -> None:
    source = "% Encoding: windows-1252\n\n" + entry("a", "Ein Maß für Größe.")
    assert one(source).abstract == "Ein Maß für Größe."


def test_an_endless_entry_is_rejected_without_holding_it() -> None:
    class Endless(io.RawIOBase):
        """An entry of 60 MB between two good ones."""

        def __init__(self) -> None:
            self.left = 6000
            self.rest = (entry("a") + "@article{b, abstract = {").encode()

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            if not self.rest and self.left >= 0:
                self.left -= 1
                self.rest = b"many words " * 950 if self.left >= 0 else ("}}\n" + entry("c")).encode()
            count = min(len(buffer), len(self.rest))
            buffer[:count], self.rest = self.rest[:count], self.rest[count:]
            return count

    file = ListFile("list.bib", lambda: io.BufferedReader(Endless()))  # type: ignore[type-var]
    import tracemalloc

    tracemalloc.start()
    records = list(bibtex.read(file))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(r.key, bool(r.abstract)) for r in records] == [("a", True), ("b", False), ("c", True)]
    assert records[1].reject == "b: the entry is longer than 2,000,000 characters"
    assert peak < 40_000_000


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("Roe, Ann and Doe, John and others", ("Roe, Ann", "Doe, John")),
        ("{The ATLAS and CMS Collaborations} and Ann\n  Roe", ("The ATLAS and CMS Collaborations", "Ann Roe")),
        ("Roe, Ann; Doe, John", ("Roe, Ann", "Doe, John")),
        ("Anderson, Andy AND Sand, Randi", ("Anderson, Andy", "Sand, Randi")),
        ("", ()),
    ],
)
def test_people(source: str, names: tuple[str, ...]) -> None:
    assert people(source) == names


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("{CLIP}: A {BERT} model", "CLIP: A BERT model"),
        ("{{Doubly} protected}", "Doubly protected"),
        ('On H{\\"o}lder Na\\"{\\i}ve Bounds', "On Hölder Naïve Bounds"),
        ("Mu{\\~n}iz, I. and {\\'{E}}va", "Muñiz, I. and Éva"),
        ("The {\\em old} $x_{i}^{2}$ of 5{\\%}", "The old $x_{i}^{2}$ of 5%"),
        ("\\emph{One {two}} \\textbf{three}", "One two three"),
        ("\\{not a group\\}", "{not a group}"),
        ("An unclosed { brace", "An unclosed { brace"),
    ],
)
def test_protective_braces(source: str, shown: str) -> None:
    assert clean(unprotect(source)) == shown


def test_a_mapped_field() -> None:
    (record,) = read_all(entry("a", abstract="", annote=PLAIN), "list.bib", {"abstract": "annote"})
    assert record.abstract == PLAIN


@pytest.mark.parametrize(
    ("text", "name", "yes"),
    [
        (entry("a"), "list.txt", True),
        ("Notes\n\n" + entry("a"), "list", True),
        ("@string{a = {b}}\n", "list.bib", True),
        ("no entry at all\n", "list.bib", False),
        (listing(*ABSTRACTS), "list.txt", False),
        (listing(ABSTRACTS[0] + " Cite us as\n@article{key,\nlater.", ABSTRACTS[1]), "list.txt", False),
        ("TY  - JOUR\nAB  - mail a@b{c}\nER  - \n", "list.bib", False),
    ],
)
def test_recognising(text: str, name: str, yes: bool) -> None:
    assert bibtex.recognises(list_file(text, name)) is yes


words = st.text(
    st.characters(codec="utf-8", exclude_characters='{}\\@"#$\r\x00', exclude_categories=("C", "Z")), min_size=1
)


@given(
    st.lists(
        st.tuples(st.from_regex(r"[a-z]{1,8}[0-9]", fullmatch=True), st.lists(words, min_size=1, max_size=20)),
        min_size=1,
        max_size=6,
    )
)
def test_round_trip(items: list[tuple[str, list[str]]]) -> None:
    source = "".join(entry(key, " ".join(text)) for key, text in items)
    found = [(r.key, r.abstract.split(" "), r.line) for r in bibtex.read(list_file(source, "list.bib"))]
    assert found == [(key, text, 1 + 6 * i) for i, (key, text) in enumerate(items)]


ENTRIES = [entry(f"k{i}", abstract).encode() for i, abstract in enumerate(ABSTRACTS)]


def damaged(data: st.DataObject, source: bytes, first: int) -> bytes:
    """A text with some bytes behind the first ones deleted, changed, doubled or added."""
    found = bytearray(source)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(first, len(found) - 80))
        kind = data.draw(st.sampled_from(["delete", "flip", "double", "add"]))
        if kind == "delete":
            del found[at : at + data.draw(st.integers(1, 60))]
        elif kind == "flip":
            found[at] = data.draw(st.integers(1, 255))
        else:
            found[at:at] = (
                found[at : at + 300] if kind == "double" else data.draw(st.sampled_from([b"{", b"}", b'"', b"@"]))
            )
        first = min(first, len(found) - 80)
    return bytes(found)


@settings(deadline=None)
@given(st.data(), st.integers(1, len(ENTRIES) - 2))
def test_damage_stays_in_its_entry(data: st.DataObject, index: int) -> None:
    broken = damaged(data, ENTRIES[index], 20)
    source = b"".join([*ENTRIES[:index], broken, b"\n", *ENTRIES[index + 1 :]])
    records = list(bibtex.read(list_file(source, "list.bib")))
    assert [r.position for r in records] == list(range(len(records)))
    others = {f"k{i}" for i in range(len(ENTRIES)) if i != index}
    found = {r.key: r.abstract for r in records if r.abstract}
    assert others <= set(found)
    assert all(found[f"k{i}"] == unprotect(ABSTRACTS[i]) for i in range(len(ENTRIES)) if i != index)


@settings(deadline=None)
@given(st.data())
def test_damage_anywhere_ends_in_records_or_a_reason(data: st.DataObject) -> None:
    positions: list[int] = []
    with contextlib.suppress(ReadError):
        positions.extend(r.position for r in bibtex.read(list_file(damaged(data, b"".join(ENTRIES), 0), "list.bib")))
    assert positions == list(range(len(positions)))


def test_a_file_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "list.bib"
    path.write_text(entry("a") * 50, encoding="utf-8")
    assert len(list(bibtex.read(ListFile.at(path)))) == 50
