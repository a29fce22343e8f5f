"""A list file as readers see it: bytes or decoded lines, from the beginning each time, never whole in memory."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO, TextIO

from ingest.readers.decoding import Encoding, detect

HEAD = 1 << 16  # bytes that readers look at to recognise their format
LONGEST_LINE = 4_000_000  # characters; what a longer line has beyond them is passed over


class ListFile:
    """A named stream of bytes that can be opened again and again.

    `name` is the source name that is stored with its papers, `suffix` its lower-case ending (`.ris`), not counting
    `.gz`; `fields` maps Confer's field names to this file's (`--map abstract=summary`).
    """

    def __init__(self, name: str, opener: Callable[[], BinaryIO], fields: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.open = opener
        self.fields = dict(fields or {})
        self.suffix = PurePosixPath(name.lower().removesuffix(".gz")).suffix

    @classmethod
    def at(cls, path: Path, name: str | None = None, fields: Mapping[str, str] | None = None) -> ListFile:
        """The file at a path, called `name`, or as it is called there."""
        return cls(name or path.name, lambda: path.open("rb"), fields)

    @functools.cached_property
    def head(self) -> bytes:
        """The first 64 KB."""
        with self.open() as stream:
            return stream.read(HEAD)

    @functools.cached_property
    def encoding(self) -> Encoding:
        """How the text is encoded. Raises ReadError for an empty or binary file and for unknown encodings."""
        with self.open() as stream:
            return detect(stream)

    @functools.cached_property
    def head_text(self) -> str:
        """The beginning as text with LF line ends, without byte order mark; only for recognising a format."""
        text = self.head.decode(self.encoding.name, "replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @property
    def head_lines(self) -> list[str]:
        """The whole lines at the beginning; a last one that may be cut off does not count."""
        lines = self.head_text.split("\n")
        return lines[:-1] if len(self.head) == HEAD and len(lines) > 1 else lines

    def text(self, encoding: Encoding | None = None) -> TextIO:
        """Open as text, in this encoding or its own. Only CR, LF and CRLF end lines; they all arrive as LF."""
        encoding = encoding or self.encoding
        stream = io.BufferedReader(self.open())  # type: ignore[type-var]
        return io.TextIOWrapper(stream, encoding.name, encoding.errors, newline=None)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (1-based number, line without its end)."""
        with self.text() as text:
            number = 0
            while line := text.readline(LONGEST_LINE):
                number += 1
                if not line.endswith("\n"):
                    while (rest := text.readline(LONGEST_LINE)) and not rest.endswith("\n"):
                        pass
                yield number, line.rstrip("\n")
