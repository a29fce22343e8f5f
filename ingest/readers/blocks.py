"""Cut a stream of text before each place where a record begins; no record is held beyond a limit."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from ingest.readers.records import ReadError

T = TypeVar("T")

CHUNK = 1 << 16  # characters that are read at a time
BEFORE = 256  # characters kept before the searched text, for patterns that look back
AHEAD = 1024  # characters in which a beginning must be told


@dataclass
class Junk:
    """Lines that belong to no record: how many, and the number of the first."""

    count: int = 0
    line: int = 0

    def add(self, number: int) -> None:
        """Count one more."""
        self.line = self.line or number
        self.count += 1

    def told(self, where: str) -> str:
        """One sentence for a report."""
        lines, belong = ("lines", "belong") if self.count > 1 else ("line", "belongs")
        return f"{self.count} {lines} {where} it {belong} to no record (line {self.line})"


@dataclass(slots=True)
class Block:
    """The text from one beginning to the next. `size` counts all its characters, `text` has them up to the limit."""

    line: int
    size: int = 0
    lines: int = 0
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text, up to the limit."""
        self.parts = ["".join(self.parts)]
        return self.parts[0]

    def add(self, text: str, longest: int) -> None:
        """Append text; what goes beyond the limit is only counted."""
        if self.size < longest:
            self.parts.append(text[: longest - self.size])
        self.size += len(text)
        self.lines += text.count("\n")


def cut(chunks: Iterable[str], begins: re.Pattern[str], longest: int) -> Iterator[Block]:
    """Yield the text before the first beginning, then one block for each; empty ones are left out.

    A block begins where group 1 of a match begins, which may look back by 64 characters and ahead by 1000. What stands
    before an error of the chunks is a block before the error is raised.
    """
    block = Block(1)
    failed: list[ReadError] = []
    window = ""
    taken = searched = 0  # how much of the window is in blocks, and from where on to search
    for chunk in itertools.chain(sound(chunks, failed), (None,)):
        drop = max(0, min(taken, searched) - BEFORE)
        window, taken, searched = window[drop:] + (chunk or ""), taken - drop, searched - drop
        certain = len(window) if chunk is None else max(taken, len(window) - AHEAD)
        for match in begins.finditer(window, searched):
            start = match.start(1)
            if start >= certain:
                break
            if start >= taken:
                block.add(window[taken:start], longest)
                if block.size:
                    yield block
                block = Block(block.line + block.lines)
                taken = start
            searched = match.end()
        if certain > taken:
            block.add(window[taken:certain], longest)
            taken = certain
        searched = max(searched, certain - 64)
    if block.size:
        yield block
    if failed:
        raise failed[0]


def sound(source: Iterable[T], failed: list[ReadError]) -> Iterator[T]:
    """Yield what precedes an error; the error is put into `failed`, to be raised when all is done with."""
    try:
        yield from source
    except ReadError as error:
        failed.append(error)
