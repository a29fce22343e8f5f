"""Entities and archives that expand, climb out or lead elsewhere: nothing is expanded, written or fetched."""

from __future__ import annotations

import socket
import struct
import zipfile
from pathlib import Path

import pytest
from broken_kit import PLAIN_ABSTRACTS, TEXTS, Format, gathered, outcome_of, zipped

LIST = TEXTS["list.bib"].file()
OTHERS = [PLAIN_ABSTRACTS[number] for number in (0, 1, 3, 4)]
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">\n' for n in range(1, 10))
DECLARATIONS = {
    "billion laughs": f'<!DOCTYPE x [<!ENTITY l0 "ha">\n{LAUGHS}]>',
    "quadratic": f'<!DOCTYPE x [<!ENTITY l9 "{"a" * 100_000}">]>',
    "a comment": f"<!-- {' <PubmedArticle> ' * 6000} -->",
    "a file": '<!DOCTYPE x [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
    "an address": '<!DOCTYPE x [<!ENTITY l9 SYSTEM "http://127.0.0.1:9/x">]>',
    "a definition elsewhere": '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
    "a parameter": '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>',
}


@pytest.mark.parametrize("kind", DECLARATIONS)
@pytest.mark.parametrize("name", [name for name in TEXTS if name.endswith(".xml")])
def test_entities_are_neither_expanded_nor_fetched(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket, "socket", refuse)
    item, records = TEXTS[name], TEXTS[name].records()
    records[2] = records[2].replace(PLAIN_ABSTRACTS[2], "&l9;" * 1000)
    begin = item.begin.replace("?>\n", f"?>\n{DECLARATIONS[kind]}\n")
    found = outcome_of(Format(name, item.one, begin, item.end).text(*records), name)
    assert found.abstracts == OTHERS
    assert "&l9;" in found.report and "root:" not in found.report


BAD_NAMES = [
    "../../x.bib",
    "a/../../x.bib",
    "/etc/x.bib",
    "C:\\x.bib",
    "C:/x.bib",
    "\\\\server\\x.bib",
    "..\\x.bib",
    "..",
]


def test_names_that_climb_out_of_an_archive_are_named_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = outcome_of(zipped(dict.fromkeys(BAD_NAMES, LIST) | {"good.bib": LIST, "./a/too.bib": LIST}), "all.zip")
    assert len(found.good) == 10
    assert found.said == ["its name leads out of the archive"] * len(BAD_NAMES)
    assert not list(tmp_path.iterdir())


def test_names_of_members_stay_on_one_line(tmp_path: Path) -> None:
    (tmp_path / "all.zip").write_bytes(zipped({"a\n\x1b[31mb.txt": b"", "good.bib": LIST}))
    found, report = gathered(tmp_path)
    assert len(found.items) == 5
    assert [reject.file.rpartition("/")[2] for reject in report.rejects] == ["a\ufffd\ufffd[31mb.txt"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_with_members_that_cannot_be_read(tmp_path: Path) -> None:
    locked = bytearray(zipped({"a.bib": LIST, "b.bib": LIST}))
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    strange = bytearray(zipped({"a.bib": LIST, "b.bib": LIST}))
    strange[8] = strange[strange.index(b"PK\x01\x02") + 10] = 93  # a way of packing
    twice = tmp_path / "twice.zip"
    with zipfile.ZipFile(twice, "w") as archive:
        for _ in range(2):
            archive.writestr("a.bib", LIST)
    linked = zipfile.ZipInfo("link.txt")
    linked.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "linked.zip", "w") as archive:
        archive.writestr(linked, "/etc/passwd")
        archive.writestr("a.bib", LIST)
    for data, reason in [
        (bytes(locked), "encrypted; unpack it first"),
        (bytes(strange), "a.bib cannot be unpacked"),
        (twice.read_bytes(), "a second member of that name"),
        ((tmp_path / "linked.zip").read_bytes(), "no abstracts in it"),
    ]:
        found = outcome_of(data, "all.zip")
        assert len(found.good) == 5 and found.said[0].startswith(reason)
    for empty in (zipped({}), zipped({"folder/": b""})):
        assert outcome_of(empty, "all.zip").said == ["the zip archive is empty"]


def test_archives_within_archives_are_not_unpacked() -> None:
    """Five floors with sixteen archives on each; at the bottom ten megabytes."""
    inner = zipped({"0.txt": bytes(10_000_000)})
    for _ in range(5):
        inner = zipped({f"lib {number}.zip": inner for number in range(16)} | {"good.bib": LIST})
    found = outcome_of(inner, "all.zip")
    assert len(found.good) == 5
    assert found.said == ["an archive within an archive; unpack it first"] * 16


def test_members_that_overlap_are_read_once() -> None:
    """A directory that names the same bytes a thousand times under one name."""
    whole = zipped({"a.bib": LIST})
    directory, end = whole.index(b"PK\x01\x02"), whole.index(b"PK\x05\x06")
    entries = whole[directory:end] * 1000
    last = whole[end : end + 8] + struct.pack("<HHI", 1000, 1000, len(entries)) + whole[end + 16 :]
    found = outcome_of(whole[:directory] + entries + last, "all.zip")
    assert len(found.good) == 5 and len(found.said) == 999
