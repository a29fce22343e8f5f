"""Files of every format that are damaged, cut off, empty or called something else: the good records load."""

from __future__ import annotations

import gzip
import itertools
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath

import pytest
from broken_kit import PLAIN_ABSTRACTS, TEXTS, outcome_of, valid_files, zipped

FILES = valid_files()
LIST = FILES["list.bib"]
OTHERS = [PLAIN_ABSTRACTS[number] for number in (0, 1, 3, 4)]
FREE = {"plain.txt", "numbered.txt", "labelled.txt", "headings.md"}  # any text is a record, or part of one
ENDLESS = {"list.net"}  # nothing marks the end of a record

# How the third of five records is damaged. In free text these are only odd abstracts.
DAMAGES: dict[str, Callable[[str], str]] = {
    "cut in the middle": lambda record: record[: len(record) // 2].rstrip() + "\n",
    "without its beginning": lambda record: record[len(record) // 2 :].lstrip(),
    "without its first character": lambda record: record.lstrip()[1:],
    "open brackets": lambda record: _inside(record, "{[(<\"'"),
    "closed brackets": lambda record: _inside(record, "}])>\"'"),
    "a quote": lambda record: _inside(record, '"'),
    "a brace": lambda record: _inside(record, "{"),
    "zeros": lambda record: _inside(record, "\0" * 4096),
    "controls": lambda record: _inside(record, "\x01\x02\x0c\x1b"),
    "a comment": lambda record: _inside(record, "<!-- "),
    "a section": lambda record: _inside(record, "<![CDATA["),
    "an entity": lambda record: _inside(record, "&unknown; &#0; &#xD800; &;"),
    "a line of rubbish": lambda _: '&/()=? {{{ ]] "<<< @@@\n',
}
# Where two records are one in the eyes of anybody.
JOINED = {
    ("labelled.txt", "without its beginning"),
    ("labelled.txt", "without its first character"),
    ("labelled.txt", "a line of rubbish"),
    ("headings.md", "without its beginning"),
    ("headings.md", "a line of rubbish"),
}


def _inside(record: str, odd: str) -> str:
    return record[: len(record) // 2] + odd + record[len(record) // 2 :]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", TEXTS)
def test_damage_in_the_middle_costs_no_other_record(name: str, damage: str) -> None:
    if (name, damage) in JOINED:
        pytest.skip("what is left belongs to the record before it")
    records = TEXTS[name].records()
    records[2] = DAMAGES[damage](records[2]) + ("\n" if name in FREE else "")
    found = outcome_of(TEXTS[name].text(*records), name)
    assert [abstract for abstract in found.abstracts if abstract in OTHERS] == OTHERS
    assert len(found.good) + len(found.rejected) <= 6


@pytest.mark.parametrize("damage", ["without its beginning", "without its first character"])
@pytest.mark.parametrize("name", ["lines.jsonl", "list.json", "compact.json", "nested.json", "members.json"])
def test_json_that_is_torn_is_counted_once(name: str, damage: str) -> None:
    records = TEXTS[name].records()
    records[2] = DAMAGES[damage](records[2])
    found = outcome_of(TEXTS[name].text(*records), name)
    assert found.abstracts == OTHERS and [record.position for record in found.rejected] == [2]
    assert "not valid JSON" in found.report


@pytest.mark.parametrize("share", [0.3, 0.55, 0.85])
@pytest.mark.parametrize("name", TEXTS)
def test_files_that_are_cut_off(name: str, share: float) -> None:
    whole = TEXTS[name].file().decode()
    kept = whole[: int(len(whole) * share)]
    found = outcome_of(kept, name)
    complete = [a for a, b in itertools.pairwise(PLAIN_ABSTRACTS) if a in kept and b[:30] in kept]
    assert complete and found.abstracts[: len(complete)] == complete
    in_a_record = any(a[:5] in kept and a not in kept for a in PLAIN_ABSTRACTS)
    if name not in FREE | ENDLESS and in_a_record:
        assert found.report


@pytest.mark.parametrize("kept", [20, 200, -30])
@pytest.mark.parametrize("name", ["list.xlsx", "lists.zip", "list.jsonl.gz"])
def test_containers_that_are_cut_off(name: str, kept: int) -> None:
    assert "damaged or cut off" in outcome_of(FILES[name][:kept], name).report


@pytest.mark.parametrize("name", TEXTS)
def test_what_precedes_damage_in_a_container_loads(name: str) -> None:
    """The damage is behind the last record, so that no whole record may be missing."""
    data = TEXTS[name].file() + b"\n\n"
    found = outcome_of(gzip.compress(data) + b"no gzip", f"{name}.gz")
    assert "is damaged or cut off" in found.report
    may_miss = {"labelled.txt", "headings.md", "list.net"}  # the next record would end the last one
    assert found.abstracts[:4] == list(PLAIN_ABSTRACTS[:4])
    assert len(found.good) == 5 or name in may_miss
    packed = bytearray(zipped({name: data}, zipfile.ZIP_STORED))
    packed[14:18] = packed[packed.index(b"PK\x01\x02") + 16 :][:4] = b"\0\0\0\1"  # the checksum
    packed[packed.index(b"PK\x01\x02") + 16 : packed.index(b"PK\x01\x02") + 20] = b"\0\0\0\1"
    found = outcome_of(bytes(packed), "lists.zip")
    assert "its checksum is wrong" in found.report and found.abstracts[:4] == list(PLAIN_ABSTRACTS[:4])


SUFFIXES = sorted({PurePosixPath(name).suffix for name in FILES} | {"", ".pdf", ".docx", ".html", ".jsonl.gz"})


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", FILES)
def test_the_name_decides_nothing(name: str, suffix: str) -> None:
    found, own = outcome_of(FILES[name], "papers" + suffix), outcome_of(FILES[name], name)
    assert found.good == own.good and not found.report


@pytest.mark.parametrize("data", [b"", b"\n\n", b"   ", b"\xef\xbb\xbf", b"\xff\xfe", bytes(9)], ids=repr)
@pytest.mark.parametrize("name", FILES)
def test_empty_files_say_so(name: str, data: bytes) -> None:
    found = outcome_of(data, name)
    assert not found.good and not found.rejected and found.said == ["the file is empty"]


@pytest.mark.parametrize("name", [name for name, item in TEXTS.items() if item.begin or item.end])
def test_files_without_records_say_so(name: str) -> None:
    found = outcome_of(TEXTS[name].begin + TEXTS[name].end, name)
    assert not found.good and len(found.rejected) <= 1 and found.report
    assert "of a kind that Confer does not read" not in found.report
