"""gzip and zip: their content is read as streams, bombs and broken ones are named."""

from __future__ import annotations

import gzip
import io
import json
import random
import warnings
import zipfile
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS, list_file, listing

from ingest.readers import ListFile, ReadError, containers, json_lists, plain

LIST = listing(*ABSTRACTS[:3])
ODDS = random.Random(1)


def zipped(members: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def unpacked(data: bytes, name: str) -> dict[str, bytes | str]:
    """Name to content, or to the reason why it is passed over."""
    found: dict[str, bytes | str] = {}
    for member in containers.members(list_file(data, name)):
        if isinstance(member, ListFile):
            with member.open() as stream:
                found[member.name] = io.BufferedReader(stream).read()  # type: ignore[type-var]
        else:
            found[member[0]] = member[1]
    return found


def json_lines(count: int) -> str:
    words = [f"w{ODDS.random()}" for _ in range(500)]
    return "".join(json.dumps({"id": i, "abstract": " ".join(ODDS.choices(words, k=60))}) + "\n" for i in range(count))


def test_other_files_are_passed_on_as_they_are() -> None:
    file = list_file(LIST)
    assert list(containers.members(file)) == [file]


@pytest.mark.parametrize("marker", ["[Content_Types].xml", "mimetype"])
def test_office_documents_are_passed_on_as_they_are(marker: str) -> None:
    file = list_file(zipped({marker: "x", "sheet.xml": "y"}), "list.xlsx")
    assert list(containers.members(file)) == [file]
    inside = zipped({"a.xlsx": zipped({marker: "x"})})
    assert unpacked(inside, "all.zip") == {"all.zip/a.xlsx": zipped({marker: "x"})}


def test_gzip_under_any_name_keeps_its_name_and_fields() -> None:
    for name in ("list.txt.gz", "list.dat"):
        (file,) = containers.members(list_file(gzip.compress(LIST.encode()), name, {"abstract": "x"}))
        assert isinstance(file, ListFile)
        assert (file.name, file.fields) == (name, {"abstract": "x"})
        assert [r.abstract for r in plain.read(file)] == list(ABSTRACTS[:3])
        assert [r.abstract for r in plain.read(file)] == list(ABSTRACTS[:3])  # again, from the beginning
    assert file.suffix == ".dat"


def test_gzip_files_that_were_joined() -> None:
    data = gzip.compress(LIST.encode()) + gzip.compress(b"\n" + LIST.encode())
    (file,) = containers.members(list_file(data, "list.gz"))
    assert isinstance(file, ListFile)
    assert len(list(plain.read(file))) == 6


def test_members_come_in_name_order() -> None:
    data = zipped({"b/two.txt": LIST, "a.bib": "@a", "b/": "", "c.jsonl.gz": gzip.compress(b"{}"), "empty.ris": ""})
    assert unpacked(data, "/home/x/all.zip") == {
        "/home/x/all.zip/a.bib": b"@a",
        "/home/x/all.zip/b/two.txt": LIST.encode(),
        "/home/x/all.zip/c.jsonl.gz": b"{}",
        "/home/x/all.zip/empty.ris": b"",
    }


def test_members_can_be_read_after_the_archive_was_gone_through() -> None:
    files = list(
        containers.members(list_file(zipped({"a.txt": LIST, "b.txt.gz": gzip.compress(LIST.encode())}), "all.zip"))
    )
    assert [len(list(plain.read(file))) for file in files if isinstance(file, ListFile)] == [3, 3]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../evil.txt", "out of the archive"),
        ("a/../../evil.txt", "out of the archive"),
        ("/etc/passwd.txt", "out of the archive"),
        ("..\\evil.txt", "out of the archive"),
        ("C:\\evil.txt", "out of the archive"),
        ("__MACOSX/._list.txt", "hidden"),
        (".hidden.txt", "hidden"),
        ("a/.git/list.txt", "hidden"),
    ],
)
def test_names_that_are_passed_over(name: str, reason: str) -> None:
    found = unpacked(zipped({name: LIST, "good.txt": LIST}), "all.zip")
    assert reason in str(found.pop(f"all.zip/{name}"))
    assert found == {"all.zip/good.txt": LIST.encode()}


@pytest.mark.parametrize(
    "inner", [zipped({"a.txt": LIST}), gzip.compress(gzip.compress(LIST.encode())), gzip.compress(zipped({"a": "b"}))]
)
def test_archives_in_archives_are_passed_over(inner: bytes) -> None:
    found = unpacked(zipped({"inner": inner, "good.txt": LIST}), "all.zip")
    assert "archive within an archive" in str(found.pop("all.zip/inner"))
    assert found == {"all.zip/good.txt": LIST.encode()}


def test_encrypted_members_are_passed_over() -> None:
    data = bytearray(zipped({"a.txt": LIST, "b.txt": LIST}))
    data[6] |= 1  # the flag in the first member's own header and in the directory
    data[data.index(b"PK\x01\x02") + 8] |= 1
    found = unpacked(bytes(data), "all.zip")
    assert "encrypted" in str(found["all.zip/a.txt"])
    assert found["all.zip/b.txt"] == LIST.encode()


def test_a_second_member_of_the_same_name_is_passed_over() -> None:
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("a.txt", LIST)
        archive.writestr("a.txt", "other")
    reasons = [
        member
        for member in containers.members(list_file(out.getvalue(), "all.zip"))
        if not isinstance(member, ListFile)
    ]
    assert reasons == [("all.zip/a.txt", "a second member of that name")]


def test_a_gzip_file_that_is_cut_off_gives_what_precedes() -> None:
    text = json_lines(2000)
    data = gzip.compress(text.encode())
    (file,) = containers.members(list_file(data[: len(data) // 2], "list.jsonl.gz"))
    assert isinstance(file, ListFile)
    found = []
    with pytest.raises(ReadError, match=r"list\.jsonl\.gz is damaged or cut off"):
        for record in json_lists.read(file):
            found.append(record)  # noqa: PERF402
    good = [record for record in found if not record.reject]
    assert 900 < len(good) < 1100
    assert [record.key for record in good] == [str(i) for i in range(len(good))]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_member_gives_what_precedes(method: int) -> None:
    data = bytearray(zipped({"a.jsonl": json_lines(500), "b.txt": LIST}, method))
    middle = data.index(b"b.txt") // 2
    data[middle : middle + 40] = bytes(40)
    first, second = (member for member in containers.members(list_file(bytes(data), "all.zip")))
    assert isinstance(first, ListFile) and isinstance(second, ListFile)
    found = []
    with pytest.raises(ReadError, match=r"a\.jsonl is damaged"):
        for record in json_lists.read(first):
            found.append(record)  # noqa: PERF402
    assert len([record for record in found if not record.reject]) > 150
    assert len(list(plain.read(second))) == 3


@pytest.mark.parametrize("cut", [30, 400, -10])
def test_a_zip_archive_that_is_cut_off(cut: int) -> None:
    data = zipped({"a.txt": LIST, "b.txt": LIST})[:cut]
    with pytest.raises(ReadError, match="zip archive is damaged or cut off"):
        list(containers.members(list_file(data, "all.zip")))


def test_bombs_are_stopped_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MOST_BYTES", 1_000_000)
    zeros = bytes(5_000_000)
    bombs = {
        "bomb.gz": gzip.compress(zeros),
        "bomb.zip": zipped({"a.txt": zeros}),
        "packed.zip": zipped({"a.txt.gz": gzip.compress(zeros)}),
        "office.zip": zipped({"a.xlsx": zipped({"mimetype": "x"}) + zeros}),
    }
    for name, data in bombs.items():
        (file,) = containers.members(list_file(data, name))
        assert isinstance(file, ListFile), name
        read = 0
        with file.open() as stream, pytest.raises(ReadError, match="zip bomb"):
            while block := stream.read(65536):
                read += len(block)
        assert read <= 1_100_000
        with file.open() as stream, pytest.raises(ReadError, match="zip bomb"):
            stream.seek(0, io.SEEK_END)


def test_what_expands_little_or_is_small_is_no_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = bytes(5_000_000)
    assert unpacked(gzip.compress(zeros), "x.gz") == {"x.gz": zeros}
    monkeypatch.setattr(containers, "MOST_BYTES", 1000)
    mixed = ODDS.randbytes(50_000) + bytes(1_000_000)
    assert unpacked(zipped({"x.txt": mixed}), "x.zip") == {"x.zip/x.txt": mixed}


@given(st.sampled_from(["zip", "gz"]), st.integers(0, 10_000), st.integers(1, 8), st.binary(max_size=8))
def test_any_damage_is_an_error_that_is_named(kind: str, at: int, length: int, instead: bytes) -> None:
    data = (
        zipped({"a.txt": LIST, "b.txt.gz": gzip.compress(LIST.encode())})
        if kind == "zip"
        else gzip.compress(LIST.encode())
    )
    at %= len(data)
    damaged = data[:at] + instead + data[at + length :]
    try:
        for member in containers.members(list_file(damaged, f"x.{kind}")):
            if isinstance(member, ListFile):
                try:
                    with member.open() as stream:
                        while stream.read(1000):
                            pass
                except ReadError:
                    pass
    except ReadError:
        pass
