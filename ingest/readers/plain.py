"""Plain-text lists: abstracts separated by blank lines, no titles, an optional header line.

A header (`ICML 2026 论文列表`) is never a paper; its venue and year hold for the papers below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ingest.readers.decoding import decode
from ingest.readers.records import RawRecord

# Only true line ends split lines: U+2028 and U+0085 may stand inside a sentence.
NEWLINE = re.compile(r"\r\n|\r|\n")
BLANK = re.compile(r"[\s\u200b\u2060\ufeff]*")
VENUE_YEAR = re.compile(r"^[#=\s*-]*(?P<venue>[A-Za-z][A-Za-z0-9&/+. '-]{1,40}?)[\s'’,:_-]*(?P<year>(?:19|20)\d\d)\b(?P<rest>.*)$")
SHORTEST = 40  # characters; anything shorter is no abstract (`N/A`, a page number, a stray heading)


def read(path: Path) -> Iterator[RawRecord]:
    """Yield the abstracts of a file, numbered from 0 without the headers."""
    return records(decode(path.read_bytes()))


def records(text: str) -> Iterator[RawRecord]:
    """Yield the abstracts of a text; a paragraph that is neither abstract nor header comes with its reason."""
    venue: str | None = None
    year: int | None = None
    position = 0
    for number, (line, paragraph) in enumerate(paragraphs(text)):
        header = _header(paragraph, first=number == 0)
        if header is not None:
            venue, year = header
            continue
        letters = sum(c.isalpha() for c in paragraph)
        reject = None
        if letters < SHORTEST // 2 or len(paragraph) < SHORTEST:
            reject = f"too short for an abstract: {paragraph[:40]!r}"
        yield RawRecord(position, line, paragraph, venue=venue, year=year, reject=reject)
        position += 1


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield (1-based line, text) of runs of lines that are not blank; white space of any kind counts as blank."""
    start = 0
    lines: list[str] = []
    for number, line in enumerate(NEWLINE.split(text), start=1):
        if BLANK.fullmatch(line):
            if lines:
                yield start, " ".join(lines)
            lines = []
            continue
        if not lines:
            start = number
        lines.append(line.strip("\ufeff \t"))
    if lines:
        yield start, " ".join(lines)


def _header(paragraph: str, *, first: bool) -> tuple[str | None, int | None] | None:
    """Return (venue, year) of a header line, or None. Only the first paragraph may be a header without a year."""
    if len(paragraph) > 120 or paragraph.rstrip().endswith((".", "!", "?", "。")):
        return None
    match = VENUE_YEAR.match(paragraph)
    if match and len(match["rest"].split()) <= 8:
        return match["venue"].strip(" .'-"), int(match["year"])
    if first and len(paragraph.split()) <= 12:
        return None, None
    return None
