"""Tables in text: dialects, preambles, broken rows."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, HEADER, ROOT, list_file, listing

from ingest.readers import ListFile, RawRecord, ReadError, tables

FIXTURES = {  # records, and how many of them have an abstract
    "asreview_formats___baseline_embase.csv": (10, 8),
    "asreview_formats___baseline_excel.csv": (10, 8),
    "asreview_formats___baseline_zotero.csv": (10, 8),
    "asreview_formats___baseline_refworks.tsv": (100, 98),
    "bibliometrix__lens_sample.csv": (8, 8),
    "bibliometrix__scopus_sample.csv": (8, 8),
}
FOLDER = ROOT.parent / "shared" / "fixtures"
NAMES = ["Title", "Authors", "Year", "Abstract"]
ROWS = [[f"On thing {i}", "Doe, Jane; Roe, Rick", str(2000 + i), text] for i, text in enumerate(ABSTRACTS)]


def table(*rows: list[str], delimiter: str = ",", newline: str = "\r\n", quoting: int = csv.QUOTE_MINIMAL) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=newline, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


def read(data: str | bytes, name: str = "list.csv", fields: dict[str, str] | None = None) -> list[RawRecord]:
    file = list_file(data, name, fields)
    assert tables.recognises(file)
    return list(tables.read(file))


def good(found: list[RawRecord]) -> list[str]:
    assert [r.position for r in found] == list(range(len(found)))
    return [r.abstract for r in found if not r.reject]


@pytest.mark.parametrize("name", FIXTURES)
def test_fixtures(name: str) -> None:
    if not (FOLDER / name).exists():
        pytest.skip("the fixtures are not part of the repository")
    file = ListFile.at(FOLDER / name)
    assert tables.recognises(file)
    found = list(tables.read(file))
    assert (len(found), sum(len(r.abstract) > 99 for r in found)) == FIXTURES[name]
    assert not any(r.reject or r.warning for r in found)
    assert all(r.title and r.year for r in found)


@pytest.mark.parametrize("name", ["list.csv", "list.tsv", "list.txt", "list.xlsx", "list"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_dialects_are_told_by_content(name: str, delimiter: str, quoting: int) -> None:
    found = read(table(NAMES, *ROWS, delimiter=delimiter, quoting=quoting), name)
    assert [[r.title, "; ".join(r.authors), str(r.year), r.abstract] for r in found] == ROWS
    assert [r.line for r in found] == list(range(2, 2 + len(ROWS)))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(encoding: str, newline: str) -> None:
    assert good(read(table(NAMES, *ROWS, newline=newline).encode(encoding))) == list(ABSTRACTS)


@pytest.mark.parametrize(
    "preamble",
    ["sep=,\n", '"SEARCH QUERY","reefs:ti"\n----------\n\n', "Exported in May\n\n", "Search: reefs\n" * 12, ",,,\n"],
)
def test_lines_above_the_header_are_passed_over(preamble: str) -> None:
    found = read(preamble + table(NAMES, *ROWS[:2]))
    assert good(found) == list(ABSTRACTS[:2])
    assert found[0].line == preamble.count("\n") + 2


def test_line_ends_inside_cells_survive_and_lines_are_those_of_the_file() -> None:
    parts = "Background. Short.\n\nMethods. None, and none.\nResults. Many."
    found = read(table(NAMES, ROWS[0], [*ROWS[1][:3], parts], ROWS[2]))
    assert [(r.line, r.abstract) for r in found] == [(2, ABSTRACTS[0]), (3, parts), (7, ABSTRACTS[2])]


def test_blank_rows_rules_and_repeated_headers_are_no_records() -> None:
    text = table(NAMES, ROWS[0], ["", "", "", ""], NAMES, ["---", "---", "---", "---"], ROWS[1]) + "\n\n"
    assert good(read(text)) == list(ABSTRACTS[:2])


def test_a_very_long_cell_costs_no_other_row() -> None:
    long = "Reefs grow. " * 12_000
    found = read(table(NAMES, ROWS[0], [*ROWS[1][:3], long], ROWS[2]))
    assert [r.line for r in found] == [2, 3, 4]
    assert good(found) == [ABSTRACTS[0], long.strip(), ABSTRACTS[2]]


@pytest.mark.parametrize("size", [2_100_000, 4_500_000])
def test_a_cell_beyond_all_bounds_is_rejected_by_row(size: int) -> None:
    found = read(table(NAMES, ROWS[0], [*ROWS[1][:3], "x" * size], ROWS[2]))
    assert good(found) == [ABSTRACTS[0], ABSTRACTS[2]]
    assert (found[1].line, found[1].reject) == (3, "row 3 of the table: it has more than 2,000,000 characters")


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("broken", range(6))
def test_a_quote_that_is_never_closed_swallows_no_other_row(broken: int, quoting: int) -> None:
    lines = table(NAMES, *ROWS[:6], newline="\n", quoting=quoting).splitlines()
    lines[1 + broken] = f'"On nothing","Doe, Jane",2001,"{ABSTRACTS[7]}'
    found = read("\n".join(lines))
    assert good(found) == [text for i, text in enumerate(ABSTRACTS[:6]) if i != broken]
    rejects = [(r.line, r.reject) for r in found if r.reject]
    assert rejects == [(2 + broken, f"row {2 + broken} of the table: its quotes do not pair up")]


def test_lines_of_a_broken_row_are_passed_over_and_said() -> None:
    broken = '"On nothing","Doe, Jane",2001,"A ""fine"" text\nwith "stray" quotes\nand, more, lines'
    text = table(NAMES, *ROWS[:3], newline="\n") + broken + "\n" + table(*ROWS[3:5], newline="\n")
    found = read(text)
    assert good(found) == list(ABSTRACTS[:5])
    assert found[3].reject == "row 5 of the table: its quotes do not pair up; lines 5 to 7 are passed over"


def test_a_long_open_quote_with_rows_behind_it() -> None:
    rows = [[str(i), f"Thing {i}", ABSTRACTS[6].replace(",", "")] for i in range(900)]
    lines = table(["Id", "Title", "Abstract"], *rows, newline="\n").splitlines()
    lines[5] = '4,"Thing'
    lines[-1] = '899,Thing",and'
    found = read("\n".join(lines))
    assert sum(not r.reject for r in found) == 899
    assert [r.line for r in found if r.reject] == [6]


def test_stray_quotes_inside_cells() -> None:
    said = 'We ask what "fair" means, and to whom, in ten cities of the north'
    lines = [
        "Title,Abstract",
        f'One,"{said}"',
        'Two,"' + said.replace('"', '\\"') + '"',
        'Three,"' + said.replace('"', '""') + '"',
    ]
    found = read("\n".join(lines))
    assert [r.title for r in found if r.abstract.startswith("We ask")] == ["Two", "Three"]
    assert found[0].reject


def test_tables_with_tabs_are_often_written_without_quoting() -> None:
    rows = [["A", '"Fair" is a word that means'], ["B", '"Open'], ["C", 'and shut"'], ["D", "nothing"]]
    found = read("title\tabstract\n" + "\n".join("\t".join(row) for row in rows), "list.tsv")
    assert [r.title for r in found] == ["A", "B", "C", "D"]
    assert [r.abstract for r in found[1:]] == ['"Open', 'and shut"', "nothing"]


def test_rows_with_too_many_or_too_few_cells() -> None:
    text = "Title,Abstract,Year,Doi\n" + "\n".join(
        ["A,some text,2001,10.1234/a", "B,some, more text,2001,10.1234/b", "C", "D,last text", "E,text,2002,,,"]
    )
    found = read(text)
    assert [(r.title, r.abstract) for r in found if not r.reject] == [
        ("A", "some text"),
        ("C", ""),
        ("D", "last text"),
        ("E", "text"),
    ]
    assert found[1].reject == "row 3 of the table: 5 cells where the header names 4"
    assert found[3].warning == "row 5 has 2 cells where the header names 4"


def test_nul_bytes() -> None:
    text = table(NAMES, *ROWS[:3]).replace("On thing 1", "On\0 thing 1")
    assert good(read(text)) == list(ABSTRACTS[:3])


def test_one_column() -> None:
    plain = "\n".join(["abstract", *ABSTRACTS[4:6], f'"{ABSTRACTS[6]}"'])
    assert good(read(plain)) == list(ABSTRACTS[4:7])


def test_mapped_and_repeated_columns() -> None:
    found = read(table(["Title", "Text", "Title"], ["", ABSTRACTS[4], "B"]), fields={"abstract": "text"})
    assert [(r.title, r.abstract) for r in found] == [("B", ABSTRACTS[4])]


def test_a_table_without_abstracts_says_what_it_has() -> None:
    with pytest.raises(ReadError, match=r"nothing is called an abstract; found: Title, Authors, Year;.*--map"):
        read(table(NAMES[:3], *[row[:3] for row in ROWS]))


def test_a_table_without_header_says_so() -> None:
    with pytest.raises(
        ReadError,
        match=r"nothing is called an abstract; found: On thing 0, Doe, Jane; Roe, Rick, 2000, .*--map abstract=NAME",
    ):
        read(table(*ROWS))


PROSE = "We screen title, abstract, and keywords, in that order, of all papers"


@pytest.mark.parametrize(
    "text",
    [
        listing(*ABSTRACTS),
        listing(*ABSTRACTS, header=None).replace(" ", ", "),
        listing(f"{PROSE}.", *ABSTRACTS),
        listing(PROSE, *ABSTRACTS),
        listing("title, abstract, and keywords are screened", *ABSTRACTS),
        listing("Title, Abstract, Keywords", *ABSTRACTS),
        listing(*[f"Abstract: {text}" for text in ABSTRACTS]),
        listing(*[text.replace(". ", ";\n") for text in ABSTRACTS]),
    ],
)
def test_lists_of_abstracts_are_no_tables(text: str) -> None:
    assert not tables.recognises(list_file(text))


cells = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), max_size=30)


@given(st.lists(st.tuples(cells, cells), max_size=8), st.sampled_from(",;\t|"), st.booleans())
def test_what_is_written_is_read(rows: list[tuple[str, str]], delimiter: str, every: bool) -> None:
    written = [[str(i), f"T{title}", f"An abstract{text}"] for i, (title, text) in enumerate(rows)]
    quoting = csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL
    found = read(table(["id", "title", "abstract"], *written, delimiter=delimiter, quoting=quoting))
    assert [[r.key, r.title, r.abstract] for r in found] == [[i, t.strip(), a.strip()] for i, t, a in written]


edits = st.lists(
    st.tuples(st.integers(0, 2000), st.sampled_from(["", '"', ",", "\n", '""', '",', "\0", "é", ";"])), max_size=6
)


@settings(max_examples=150)
@given(edits, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_damage_is_survived(damage: list[tuple[int, str]], quoting: int) -> None:
    text = table(NAMES, *ROWS, quoting=quoting)
    for place, what in damage:
        text = text[: 60 + place] + what + text[61 + place :]
    found = list(tables.read(list_file(text, "list.csv")))
    assert [r.position for r in found] == list(range(len(found)))
    lost = len(ROWS) - sum(r.abstract in ABSTRACTS for r in found)
    assert lost <= 2 * len(damage)


def test_a_table_of_quotes_takes_linear_time() -> None:
    text = "title,abstract\n" + 'a,"b\n' * 3 + "c,d\n" * 100_000 + 'a,"""\n' * 5_000
    assert sum(not r.reject for r in read(text)) >= 100_000


def test_a_plain_list_named_csv_is_no_table() -> None:
    assert not tables.recognises(list_file(listing(*ABSTRACTS, header=HEADER), "list.csv"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_ragged_row_does_not_make_text_of_a_table(delimiter: str) -> None:
    rows = [["Ref No", "Kopfzeile", "Gist"], *([str(n), f"Title {n}", f"We study {n}."] for n in range(3))]
    rows[2].append("one cell too many")
    file = list_file(table(*rows, delimiter=delimiter), "odd.csv")
    assert tables.recognises(file)
    with pytest.raises(ReadError, match="nothing is called an abstract; found: Ref No, Kopfzeile, Gist"):
        list(tables.read(file))


def test_a_table_whose_abstracts_are_named_wrongly_is_no_text() -> None:
    file = list_file("Ref No;Gist\n1;We study bees.\n", "odd.csv", {"abstract": "Nope"})
    assert tables.recognises(file)
    with pytest.raises(ReadError, match="Nope"):
        list(tables.read(file))


@pytest.mark.parametrize(("delimiter", "quoting"), [(",", csv.QUOTE_ALL), ("\t", csv.QUOTE_MINIMAL)])
def test_two_columns_without_a_header_are_told_not_joined(delimiter: str, quoting: int) -> None:
    rows = [[f"Title {n}", text] for n, text in enumerate(ABSTRACTS)]
    file = list_file(table(*rows, delimiter=delimiter, quoting=quoting), "noheader.csv")
    assert tables.recognises(file)
    with pytest.raises(ReadError, match="nothing is called an abstract"):
        list(tables.read(file))
