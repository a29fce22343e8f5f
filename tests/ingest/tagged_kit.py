"""What the tests of the line-tagged formats share: damaged files, endless files, and the table of real exports."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from hypothesis import strategies as st
from ingest_kit import ROOT, list_file

from ingest.readers import ListFile, RawRecord, ReadError, read_file

FIXTURES = ROOT.parent / "shared" / "fixtures"
WORDS = st.lists(
    st.sampled_from("moss birch tide Ökonomie 湖 p<0.05 {x} 7% AB ER TY - PT of".split()), min_size=1, max_size=8
)


class Endless(io.RawIOBase):
    """A file that is made while it is read."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        if not self._rest:
            self._rest = next(self._parts, b"")
        part = self._rest[: len(buffer)]
        buffer[: len(part)] = part
        self._rest = self._rest[len(part) :]
        return len(part)


def endless(name: str, before: bytes, line: bytes, megabytes: int, after: bytes) -> ListFile:
    """A file with the same line for many megabytes between a beginning and an end."""

    def parts() -> Iterator[bytes]:
        yield before
        for _ in range(megabytes * 1_000_000 // len(line)):
            yield line
        yield after

    return ListFile(name, lambda: io.BufferedReader(Endless(parts())))  # type: ignore[arg-type]


@st.composite
def damaged(draw: st.DrawFn, text: str) -> bytes:
    """The bytes of a file after a few cuts, copies and flips."""
    data = text.encode()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 120)))
        kind = draw(st.sampled_from(["cut", "copy", "flip", "end", "lines"]))
        if kind == "cut":
            data = data[:start] + data[end:]
        elif kind == "copy":
            data = data[:end] + data[start:end] + data[end:]
        elif kind == "flip":
            data = data[:start] + bytes([draw(st.integers(0, 255))]) + data[start + 1 :]
        elif kind == "end":
            data = data[: max(start, 1)]
        else:
            lines = data.split(b"\n")
            place = draw(st.integers(0, len(lines) - 1))
            data = b"\n".join([*lines[:place], *lines[place + 1 :]])
    return data


def survives(data: bytes, name: str) -> list[RawRecord]:
    """Read a file, however damaged, and return what came before it ended or was given up."""
    found: list[RawRecord] = []
    try:
        found.extend(read_file(list_file(data, name)))  # what came before an error stays in the list
    except ReadError as error:
        assert str(error)
    assert [record.position for record in found] == list(range(len(found)))
    lines = [record.line for record in found if record.line is not None]
    assert lines == sorted(set(lines))
    return found


def counts(name: str) -> tuple[int, int]:
    """How many records a real export has, and how many of them an abstract."""
    path = FIXTURES / name
    if not path.exists():
        pytest.skip(f"{name} is not here")
    found = list(read_file(ListFile.at(path)))
    assert [record.position for record in found] == list(range(len(found)))
    assert all(record.title for record in found) or "multiline" in name
    return len(found), sum(bool(record.abstract) for record in found)
