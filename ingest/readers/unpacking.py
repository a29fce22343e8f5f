"""Streams that come out of compressed files: how far they are sound, and what is said where they are not."""

from __future__ import annotations

import gzip
import io
import lzma
import zipfile
import zlib
from typing import IO, BinaryIO, cast

from ingest.readers.decoding import Encoding
from ingest.readers.records import ReadError

ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")  # how zip archives begin: with a member, empty, or split
MOST_FOLD = 200  # how many times larger a stream or a workbook may become
MOST_BYTES = 200_000_000  # below this it may expand as it likes
STEP = 1 << 14  # bytes that are unpacked at a time; an error costs no more
DAMAGED = (EOFError, OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
UNREADABLE = (*DAMAGED, NotImplementedError, RuntimeError, ValueError)


class Unpacked(io.RawIOBase):
    """What comes out of a compressed stream, as far as it is sound and no longer than `most` bytes.

    All that precedes an error is handed out before the error is raised.
    """

    def __init__(self, source: IO[bytes], closing: list[IO[bytes]], name: str, most: int, checksum: int | None) -> None:
        self._source = cast(gzip.GzipFile, source)  # or a zip archive's member; both have `read1`
        self._closing = closing
        self._name = name
        self._most = most
        self._checksum = checksum  # what it has to be at the end, None once the stream was not read in order
        self._sum = 0
        self._error: ReadError | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        filled = 0
        while filled < len(buffer) and self._error is None:
            try:
                found = self._source.read1(min(len(buffer) - filled, STEP))
            except DAMAGED as error:
                self._error = ReadError(f"{self._name} is damaged or cut off ({error})")
                break
            if not found:
                if self._checksum not in (None, self._sum):
                    self._error = ReadError(f"{self._name} is damaged (its checksum is wrong)")
                break
            self._sum = zlib.crc32(found, self._sum)
            buffer[filled : filled + len(found)] = found
            filled += len(found)
            if self._source.tell() > self._most:
                self._error = ReadError(f"{self._name} expands more than {MOST_FOLD}-fold; it looks like a zip bomb")
        if self._error and not filled:
            raise self._error
        return filled

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            while self.read(1 << 16):
                pass
        self._error = self._checksum = None
        try:
            return self._source.seek(offset, whence)
        except UNREADABLE as error:
            raise ReadError(f"{self._name} is damaged or cut off ({error})") from error

    def tell(self) -> int:
        return self._source.tell()

    def close(self) -> None:
        if not self.closed:
            self._source.close()
            for stream in self._closing:
                stream.close()
        super().close()


class Held(io.RawIOBase):
    """A stream that ends where it is damaged, and keeps the error."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = cast(io.RawIOBase, stream)
        self.error: ReadError | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int | None:  # type: ignore[override]
        try:
            return self.stream.readinto(buffer)
        except ReadError as error:
            self.error = error
            return 0

    def close(self) -> None:
        self.stream.close()
        super().close()


class HeldText(io.TextIOWrapper):
    """Text whose stream may end with an error: a wrapper would lose the text that it has read by then."""

    def __init__(self, held: Held, encoding: Encoding) -> None:
        super().__init__(io.BufferedReader(held), encoding.name, encoding.errors, newline=None)
        self.held = held

    def read(self, size: int | None = -1) -> str:
        return self._checked(super().read(size))

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        return self._checked(super().readline(size))

    def _checked(self, found: str) -> str:
        if not found and self.held.error:
            raise self.held.error
        return found
