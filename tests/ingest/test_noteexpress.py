"""NoteExpress: fields, Chinese lists, encodings, damaged files."""

from __future__ import annotations

import pytest
from hypothesis import given
from ingest_kit import ABSTRACTS, list_file, read_all
from tagged_kit import counts, damaged, endless, survives

from ingest.readers import noteexpress, read_file

A, B, C = ABSTRACTS[2], ABSTRACTS[4], ABSTRACTS[5]


def entry(abstract: str, *more: str, title: str = "论潮汐") -> str:
    lines = ["{Reference Type}: Journal Article", f"{{Title}}: {title}", f"{{Abstract}}: {abstract}", *more]
    return "\n".join([*lines, "{Database Provider}: CNKI"]) + "\n\n\n"


THREE = entry(A, title="一号") + entry(B, title="Two") + entry(C, title="三号")


def test_all_fields() -> None:
    more = [
        "{Author}: 张小明;欧阳娜娜;",
        "{Author Address}: 某大学;某所;",
        "{Journal}: 潮汐学报",
        "{Year}: 2019",
        "{Keywords}: 潮汐;;月球;;GA-BP算法",
        "{URL}: https://example.org/a",
        "{DOI}: 10.1234/ABC.5",
    ]
    (record,) = read_all(entry(A, *more), "CNKI-1.net")
    assert (record.abstract, record.title, record.venue, record.year) == (A, "论潮汐", "潮汐学报", 2019)
    assert record.authors == ("张小明", "欧阳娜娜")
    assert record.keywords == ("潮汐", "月球", "GA-BP算法")
    assert (record.url, record.doi, record.line) == ("https://example.org/a", "10.1234/abc.5", 1)
    assert (record.reject, record.warning) == (None, None)


@pytest.mark.parametrize(
    ("written", "people"),
    [
        ("张小明,李雷,韩梅梅", ("张小明", "李雷", "韩梅梅")),
        ("张小明，李雷", ("张小明", "李雷")),
        ("王, 小明", ("王, 小明",)),
        ("Doe, Jane;Roe, Richard", ("Doe, Jane", "Roe, Richard")),
    ],
)
def test_authors(written: str, people: tuple[str, ...]) -> None:
    assert read_all(entry(A, f"{{Author}}: {written}"))[0].authors == people


@pytest.mark.parametrize("name", ["CNKI.net", "CNKI.txt", "list"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "utf-16"])
def test_recognised_by_content_in_chinese_encodings(name: str, encoding: str) -> None:
    found = read_all(THREE.replace("ö", "o").replace("\n", "\r\n").encode(encoding), name)
    assert [(r.position, r.line, r.title) for r in found] == [(0, 1, "一号"), (1, 7, "Two"), (2, 13, "三号")]
    assert [r.abstract for r in found] == [A, B, C.replace("ö", "o")]


@pytest.mark.parametrize(
    "text", [f"{A}\n\n{B}\n", "{Title}: x\n", '{"Reference Type": "x"}', "The {Reference Type}: x\n"]
)
def test_other_texts_are_not_taken(text: str) -> None:
    assert not noteexpress.recognises(list_file(text, "list.net"))


def test_newspaper_articles_without_abstract() -> None:
    text = "{Reference Type}: Newspaper Article\n{Title}: 潮汐\n{Secondary Title}: 潮汐报\n{Date}: 2019-01-29\n"
    (record,) = read_all(text)
    assert (record.abstract, record.venue, record.year) == ("", "潮汐报", 2019)


def test_values_over_several_lines_and_many_blank_ones() -> None:
    more = ["{Author Address}: 某大学", *[""] * 7, ",湖北武汉430074", "{Journal}: 潮汐学报"]
    first, second = read_all(entry(f"{A}\n\n\n{B}", *more) + entry(C))
    assert (first.abstract, first.venue, first.warning) == (f"{A} {B}", "潮汐学报", None)
    assert (second.abstract, second.warning) == (C, None)


def test_junk_between_records_is_in_neither() -> None:
    head = f"{{Reference Type}}: Journal Article\n{{Title}}: 一号\n{{Abstract}}: {A}\n"
    first, second = read_all(head + "\n\n原文链接: x\n2.\n" + entry(B))
    assert (first.abstract, second.abstract) == (A, B)
    assert (first.warning, second.warning) == (None, "2 lines before it belong to no record (line 6)")


def test_a_record_without_type_still_counts() -> None:
    parts = THREE.split("{Reference Type}: Journal Article\n")
    found = read_all(
        "{Reference Type}: Journal Article\n" + parts[1] + parts[2] + "{Reference Type}: Journal Article\n" + parts[3]
    )
    assert [(r.title, r.abstract) for r in found] == [("一号", A), ("Two", B), ("三号", C)]


def test_a_file_that_is_cut_off() -> None:
    assert [r.abstract for r in read_all(THREE[: THREE.rindex("{Database")])] == [A, B, C]


def test_an_endless_record_is_rejected_and_the_others_load() -> None:
    before = entry(A) + "{Reference Type}: Thesis\n{Abstract}: "
    file = endless("x.net", before.encode(), "潮汐".encode() * 700 + b"\n", 12, ("\n" + entry(B)).encode())
    assert [(r.abstract, bool(r.reject)) for r in read_file(file)] == [(A, False), ("", True), (B, False)]


@given(damaged(THREE))
def test_damaged_files_are_read(data: bytes) -> None:
    survives(data, "list.net")


@pytest.mark.parametrize("name", ["cnki__mixed.net", "cnki__mixed.gbk.net"])
def test_real_exports(name: str) -> None:
    assert counts(name) == (12, 11)
