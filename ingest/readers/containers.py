"""Files within files: gzip and zip. They are read as streams; nothing is unpacked to disk."""

from __future__ import annotations

import functools
import gzip
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, BinaryIO, TextIO, cast

from ingest.readers.decoding import Encoding, detect
from ingest.readers.listfile import ListFile
from ingest.readers.records import ReadError
from ingest.readers.unpacking import MOST_BYTES, MOST_FOLD, UNREADABLE, ZIP, Held, HeldText, Unpacked

GZIP = b"\x1f\x8b"
OFFICE = frozenset({"[Content_Types].xml", "mimetype"})  # .xlsx, .docx, .odt, .epub: documents that are zip archives
ENCRYPTED = 0x1
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e]")  # in a name they would spoil the line that tells it
HIDDEN = "hidden"  # the reason for what no list file is, such as .DS_Store


def members(file: ListFile) -> Iterator[ListFile | tuple[str, str]]:
    """Yield the list files in a file: the content of a gzip file, the members of a zip archive, or the file itself.

    A member that is passed over comes as (name, reason). Raises ReadError for an archive that cannot be read; what is
    wrong with the content of a member comes up when it is read.
    """
    if file.head.startswith(GZIP):
        yield _unzipped(file, _size(file.open))
    elif file.head.startswith(ZIP) and not _is_document(file):
        yield from _members(file)
    else:
        yield file


def _unzipped(file: ListFile, compressed: int) -> ListFile | tuple[str, str]:
    def opened() -> BinaryIO:
        raw = file.open()
        return _stream(cast(IO[bytes], gzip.GzipFile(fileobj=raw)), [raw], file.name, compressed)

    inner = _Member(file.name, opened, file.fields)
    nested = _nested(inner)
    return (file.name, nested) if nested else inner


class _Member(ListFile):
    """A file in a container. Its encoding is told from what can be read of it, so that this much is not lost."""

    @functools.cached_property
    def encoding(self) -> Encoding:
        held = Held(self.open())
        with io.BufferedReader(held) as stream:
            try:
                return detect(stream)
            except ReadError as error:
                raise held.error or error from None

    def text(self, encoding: Encoding | None = None) -> TextIO:
        """Open as text; what is wrong with the stream comes up when all that precedes it was read."""
        encoding = encoding or self.encoding
        return HeldText(Held(self.open()), encoding)


class _Archive:
    """A zip archive that is opened once for all members, and once more for one that is read after it was closed."""

    def __init__(self, file: ListFile) -> None:
        self.file = file
        try:
            self.zip = zipfile.ZipFile(file.open())
        except UNREADABLE as error:
            raise ReadError(f"the zip archive is damaged or cut off ({error})") from error

    def member(self, info: zipfile.ZipInfo, name: str, compressed: int) -> ListFile:
        def opened() -> BinaryIO:
            closing: list[IO[bytes]] = []
            archive = self.zip
            if archive.fp is None:
                raw = self.file.open()
                closing.append(raw)
                archive = zipfile.ZipFile(raw)
            try:
                source = archive.open(info)
                source._expected_crc = None  # type: ignore[attr-defined]  # zipfile would withhold the end of the member
                return _stream(source, closing, name, compressed, info.CRC)
            except UNREADABLE as error:
                raise ReadError(f"{_last(name)} cannot be unpacked ({error})") from error

        return _Member(name, opened, self.file.fields)


def _members(file: ListFile) -> Iterator[ListFile | tuple[str, str]]:
    archive = _Archive(file)
    seen: set[str] = set()
    with archive.zip, cast(IO[bytes], archive.zip.fp):
        infos = sorted((info for info in archive.zip.infolist() if not info.is_dir()), key=lambda info: info.filename)
        if not infos:
            raise ReadError("the zip archive is empty")
        for info in infos:
            name = f"{file.name}/" + UNPRINTABLE.sub("\ufffd", info.filename)
            reason = _passed_over(info) or ("a second member of that name" if name in seen else None)
            seen.add(name)
            if reason:
                yield name, reason
                continue
            member = archive.member(info, name, info.compress_size)
            try:
                head = member.head
                if head.startswith(GZIP):
                    yield _unzipped(member, info.compress_size)
                elif reason := _nested(member):
                    yield name, reason
                else:
                    yield member
            except ReadError as error:
                yield name, str(error)


def _passed_over(info: zipfile.ZipInfo) -> str | None:
    """Why a member is not read: where it would lie, or that it is encrypted."""
    parts = re.split(r"[/\\]", info.filename)
    if ".." in parts or not parts[0] or re.match(r"[A-Za-z]:", info.filename):
        return "its name leads out of the archive"
    if "__MACOSX" in parts or any(part.startswith(".") and part != "." for part in parts):
        return HIDDEN
    return "encrypted; unpack it first" if info.flag_bits & ENCRYPTED else None


def _nested(file: ListFile) -> str | None:
    """Why the content of a container is not read: it is one itself, other than a document."""
    try:
        head = file.head
        nested = head.startswith(GZIP) or (head.startswith(ZIP) and not _is_document(file))
    except ReadError:  # comes up again when the file is read
        return None
    return "an archive within an archive; unpack it first" if nested else None


def _is_document(file: ListFile) -> bool:
    try:
        with file.open() as stream, zipfile.ZipFile(stream) as archive:
            return not OFFICE.isdisjoint(archive.namelist())
    except UNREADABLE:
        return any(name.encode() in file.head[:200] for name in OFFICE)  # damaged, but one of them


def _size(opener: Callable[[], BinaryIO]) -> int:
    with opener() as stream:
        return stream.seek(0, io.SEEK_END)


def _last(name: str) -> str:
    return PurePosixPath(name).name


def _stream(
    source: IO[bytes], closing: list[IO[bytes]], name: str, compressed: int, checksum: int | None = None
) -> BinaryIO:
    most = max(MOST_BYTES, MOST_FOLD * compressed)
    return cast(BinaryIO, Unpacked(source, closing, _last(name), most, checksum))
