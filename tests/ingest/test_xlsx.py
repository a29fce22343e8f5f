"""Excel workbooks, sound and damaged."""

from __future__ import annotations

import datetime
import io
import random
import zipfile
from collections.abc import Callable

import openpyxl
import pytest
from ingest_kit import ABSTRACTS, ROOT, list_file

from ingest.readers import ListFile, RawRecord, ReadError, xlsx

FIXTURES = {"asreview_formats___baseline_embase.xlsx": (10, 8)}  # records, and how many of them have an abstract
FOLDER = ROOT.parent / "shared" / "fixtures"
NAMES: list[object] = ["Title", "Authors", "Year", "Abstract"]
ROWS: list[list[object]] = [
    [f"On thing {i}", "Doe, Jane; Roe, Rick", 2000 + i, text] for i, text in enumerate(ABSTRACTS)
]


def workbook(*sheets: list[list[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def read(data: bytes, name: str = "list.xlsx") -> list[RawRecord]:
    file = list_file(data, name)
    assert xlsx.recognises(file)
    return list(xlsx.read(file))


def changed(data: bytes, part: str, change: Callable[[bytes], bytes]) -> bytes:
    """A workbook with one part of its archive changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == part else old.read(name))
    return out.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
SOUND = workbook([NAMES, *ROWS])


@pytest.mark.parametrize("name", FIXTURES)
def test_fixtures(name: str) -> None:
    if not (FOLDER / name).exists():
        pytest.skip("the fixtures are not part of the repository")
    found = list(xlsx.read(ListFile.at(FOLDER / name)))
    assert (len(found), sum(len(r.abstract) > 99 for r in found)) == FIXTURES[name]
    assert [r.line for r in found] == list(range(5, 15))


@pytest.mark.parametrize("name", ["list.xlsx", "list.csv", "list"])
def test_workbooks_are_told_by_content(name: str) -> None:
    found = read(SOUND, name)
    assert [[r.title, "; ".join(r.authors), r.year, r.abstract] for r in found] == ROWS
    assert [(r.position, r.line) for r in found] == [(i, i + 2) for i in range(len(ROWS))]


def test_the_sheet_that_has_abstracts_counts_and_rows_above_its_header_do_not() -> None:
    rows: list[list[object]] = [["Search: reefs"], [], NAMES, ROWS[0], [], [None, "", " "], ROWS[1]]
    found = read(workbook([["Notes"], ["none"]], rows))
    assert [(r.line, r.abstract) for r in found] == [(4, ABSTRACTS[0]), (7, ABSTRACTS[1])]


def test_dates_numbers_formulas_and_escapes() -> None:
    names: list[object] = ["Title", "Date", "PMID", "Abstract"]
    row = ["=A1", datetime.date(2019, 5, 1), 1234.0, "One_x000D_\nTwo"]
    (found,) = read(workbook([names, row]))
    assert (found.title, found.year, found.key, found.abstract.split()) == (None, 2019, "1234", ["One", "Two"])


def test_rows_without_an_abstract_are_records() -> None:
    assert [r.abstract for r in read(workbook([NAMES, ROWS[0], ["Only a title"]]))] == [ABSTRACTS[0], ""]


def test_wrong_dimensions_do_not_hide_rows() -> None:
    def lie(data: bytes) -> bytes:
        return data.replace(b'<dimension ref="A1:D9"', b'<dimension ref="A1:A1"')

    assert lie(zipfile.ZipFile(io.BytesIO(SOUND)).read(SHEET)) != zipfile.ZipFile(io.BytesIO(SOUND)).read(SHEET)
    assert [r.abstract for r in read(changed(SOUND, SHEET, lie))] == list(ABSTRACTS)


def test_a_workbook_without_abstracts_says_what_it_has() -> None:
    with pytest.raises(ReadError, match="nothing is called an abstract; found: Title, Authors, Year"):
        read(workbook([NAMES[:3], ["A", "B", 2001]]))
    with pytest.raises(ReadError, match="no row of the workbook names its columns"):
        read(workbook([["a", "b"]], []))


@pytest.mark.parametrize("end", [4, 100, len(SOUND) // 2, len(SOUND) - 10])
def test_truncated_workbooks(end: int) -> None:
    with pytest.raises(ReadError, match="the workbook is damaged"):
        read(SOUND[:end])


def test_rows_in_front_of_the_damage_load() -> None:
    data = changed(SOUND, SHEET, lambda xml: xml[: xml.index(b'<row r="6"')] + b"<row <<")
    found: list[str] = []
    with pytest.raises(ReadError, match="the workbook is damaged"):
        found.extend(record.abstract for record in xlsx.read(list_file(data, "list.xlsx")))
    assert found == list(ABSTRACTS[:4])


def test_entities_are_not_expanded() -> None:
    bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    data = changed(SOUND, SHEET, lambda xml: bomb + xml.replace(b"<v>2001</v>", b"<v>&b;</v>"))
    with pytest.raises(ReadError, match=r"the workbook is damaged.*Entit"):
        read(data)


def test_archives_that_grow_beyond_all_bounds() -> None:
    data = changed(SOUND, SHEET, lambda xml: xml.replace(b"</sheetData>", b" " * 250_000_000 + b"</sheetData>"))
    assert len(data) < 1_000_000
    with pytest.raises(ReadError, match="the workbook would unpack to 250 MB"):
        read(data)


def test_rows_that_no_workbook_has() -> None:
    data = changed(SOUND, SHEET, lambda xml: xml.replace(b'<row r="5"', b'<row r="99999999999"'))
    with pytest.raises(ReadError, match="beyond row"):
        read(data)


@pytest.mark.parametrize(
    ("part", "what"),
    [("word/document.xml", "a Word document"), ("content.xml", "an OpenDocument file"), ("a.txt", "a zip archive")],
)
def test_other_archives_are_named(part: str, what: str) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(part, "nothing")
    with pytest.raises(ReadError, match=what):
        read(out.getvalue())


def test_damaged_bytes_raise_nothing_else() -> None:
    chance = random.Random(7)
    for _ in range(60):
        data = bytearray(SOUND)
        for _ in range(chance.randint(1, 12)):
            data[chance.randrange(4, len(data))] = chance.randrange(256)
        count = 0
        try:
            for record in xlsx.read(list_file(bytes(data), "list.xlsx")):
                assert record.position == count
                count += 1
        except ReadError:
            continue
        assert count <= len(ROWS)
