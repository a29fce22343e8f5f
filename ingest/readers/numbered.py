"""Numbered lists of abstracts: `1. …`, `[12] …`, `(3) …`, a paragraph each or a line each. The numbers are dropped.

A paragraph without a number is a record of its own, or a header, as in lists without numbers.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator

from ingest.readers.listfile import ListFile
from ingest.readers.plain import Header, Paragraph, header, paragraphs, untitled
from ingest.readers.records import RawRecord

NUMBER = re.compile(
    r"[>*_\s-]*(?:\[(\d{1,5})\]|[(（](\d{1,5})[)）]|【(\d{1,5})】|#(\d{1,5})\b[.:)]?|(?i:no\.\s?|nr\.\s?)(\d{1,5})[.:)]?"
    r"|(\d{1,5})(?:[.)）:](?=\s|$|[*_])|[、．]))[*_]*\s*"
)
SHARE = 0.6  # of the paragraphs, or lines, that are numbered
SHORT = 100  # characters; numbered lines that are shorter are points of one abstract
LARGEST_GAP = 20  # numbers that may be missing between two abstracts


def recognises(file: ListFile) -> bool:
    """Whether most paragraphs, or most lines, begin with numbers that count up."""
    return _by_line(file) is not None


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the abstracts without their numbers."""
    found = paragraphs(file.lines())
    below: Header = (None, None)
    last: int | None = None
    position = 0
    for index, (line, lines) in enumerate(_split(found) if _by_line(file) else found):
        number, rest = _number(lines[0])
        length = 0
        if number is not None and _follows(number, last):
            last = number
            lines = [rest, *lines[1:]] if rest else lines[1:] or [lines[0]]
        else:
            named, length = header(lines, first=index == 0)
            below = named or below
        record = untitled(position, line + length, lines[length:], below)
        if record is not None:
            yield record
            position += 1


def _number(line: str) -> tuple[int | None, str]:
    """The number at the beginning of a line, and what stands behind it."""
    match = NUMBER.match(line)
    if match is None:
        return None, line
    marks = line[: match.end()].rstrip()[-2:]
    rest = line[match.end() :]
    if "**" in line[: match.start(match.lastindex or 0)] and marks != "**":
        rest = "**" + rest  # the emphasis goes on behind the number
    return int(match[match.lastindex or 0]), rest


def _follows(number: int, last: int | None) -> bool:
    """Whether a number counts on from the last one, or a new list begins."""
    return last is None or number == 1 or last < number <= last + LARGEST_GAP


def _by_line(file: ListFile) -> bool | None:
    """Whether each numbered line begins an abstract, or only the first of a paragraph; None for no numbered list."""
    found = list(paragraphs(enumerate(file.head_lines, start=1)))
    if found and header(found[0][1], first=True)[0] is not None:
        line, lines = found[0]
        _, length = header(lines, first=True)
        found[:1] = [(line + length, lines[length:])] if lines[length:] else []
    starts = [lines[0] for _, lines in found]
    every = [line for _, lines in found for line in lines]
    counted, all_counted = _counted(starts), _counted(every)
    if all_counted > 1.5 * max(counted, 1):
        pieces = [len(" ".join(lines)) for _, lines in _split(iter(found))]
        lined_up = all_counted >= SHARE * len(every) or counted >= SHARE * len(starts)
        # Short ones are the points that an abstract makes.
        if lined_up and statistics.median(pieces) >= SHORT:
            return True
    return False if counted > 1 and counted >= SHARE * len(starts) else None


def _counted(lines: list[str]) -> int:
    """How many lines begin with numbers that count up one by one, gaps aside."""
    count = 0
    last: int | None = None
    for line in lines:
        number, _ = _number(line)
        if number is not None and _follows(number, last):
            count += 1
            last = number
    return count


def _split(found: Iterator[Paragraph]) -> Iterator[Paragraph]:
    """Split paragraphs before each numbered line."""
    last: int | None = None
    for start, lines in found:
        begin = 0
        for index, line in enumerate(lines):
            number, _ = _number(line)
            if number is not None and _follows(number, last):
                last = number
                if index > begin:
                    yield start + begin, lines[begin:index]
                begin = index
        yield start + begin, lines[begin:]
