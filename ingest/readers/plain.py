"""Plain-text lists: abstracts separated by blank lines, no titles, an optional header line.

A header (`ICML 2026 论文列表`) is never a paper; its venue and year hold for the papers below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingest.readers.listfile import ListFile
from ingest.readers.records import LONGEST, RawRecord
from rag.text import CJK

UNSEEN = "\\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2800\u3164\ufeff"
BLANK = re.compile(f"[{UNSEEN}\x00]*")
RULE = re.compile(r"[\s\-=_*~#•·.—–]+")  # a line drawn between abstracts is no record
HEADER = re.compile(
    r"[#=\s*\-【《]*(?P<venue>[A-Za-z][A-Za-z0-9&/+.() '-]{1,60}?)[\s'’,:_\-]*(?P<year>(?:19|20)\d\d)(?!\d)(?P<rest>.*)"
    r"|[#=\s*\-【《]*(?P<first_year>(?:19|20)\d\d)[\s年'’,:_\-]*(?P<second_venue>[A-Z][A-Za-z0-9&/+.-]{1,40})(?P<second_rest>.*)"
)
ACRONYM = re.compile(r"[A-Z]\w*[A-Z]|(?i:conference|workshop|symposium|journal|transactions|proceedings|meeting)")
LIST_WORDS = re.compile(
    r"(?i:[\W\d_]|papers?|abstracts?|accepted|list|of|and|the|conference|workshop|main|track|findings|proceedings|posters?"
    r"|orals?|spotlights?|part|volume|[ivx]|论文|列表|摘要|接收|录用|清单|会议|全部|部分|第|[一二三四五六七八九十])*"
)
LONGEST_HEADER = 120  # characters
SHORTEST = 40  # characters, see `_length`; anything shorter is no abstract (`N/A`, a page number, a stray heading)

Header = tuple[str | None, int | None]
Paragraph = tuple[int, list[str]]  # the line where it begins, and its lines


def recognises(file: ListFile) -> bool:
    """Whether the file is text of any kind."""
    return bool(file.encoding)


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the abstracts of a file, numbered from 0 without the headers.

    A paragraph that is neither abstract nor header comes with its reason.
    """
    venue: str | None = None
    year: int | None = None
    position = 0
    for number, (line, lines) in enumerate(paragraphs(file.lines())):
        found, length = header(lines, first=number == 0)
        if found is not None:
            venue, year = found
        record = untitled(position, line + length, lines[length:], (venue, year))
        if record is not None:
            yield record
            position += 1


def untitled(position: int, line: int, lines: list[str], below: Header) -> RawRecord | None:
    """The record in a paragraph below a header, with a reason if it is no abstract; None for a rule or no text."""
    paragraph = " ".join(lines)
    if not paragraph or RULE.fullmatch(paragraph):
        return None
    reject = None
    if len(paragraph) > LONGEST:
        reject = f"longer than {LONGEST:,} characters: {paragraph[:40]!r}"
        paragraph = paragraph[:SHORTEST]
    elif _length(re.sub(r"[\W\d_]", "", paragraph)) < SHORTEST // 2 or _length(paragraph) < SHORTEST:
        reject = f"too short for an abstract: {paragraph[:40]!r}"
    venue, year = below
    return RawRecord(position, line, paragraph, venue=venue, year=year, reject=reject)


def _length(text: str) -> int:
    """The characters of a text; Chinese, Japanese and Korean ones say as much as two or three others."""
    return len(text) + 2 * len(CJK.findall(text))


def paragraphs(numbered: Iterable[tuple[int, str]]) -> Iterator[Paragraph]:
    """Yield runs of lines that are not blank; what the eye does not see counts as blank.

    Of a paragraph that is too long only its beginning comes, more than LONGEST characters of it.
    """
    start = size = 0
    lines: list[str] = []
    for number, line in numbered:
        if BLANK.fullmatch(line):
            if lines:
                yield start, lines
            lines = []
            continue
        if not lines:
            start, size = number, 0
        if size <= LONGEST:
            lines.append(line.strip("\ufeff \t"))
        size += len(line)
    if lines:
        yield start, lines


def header(lines: list[str], *, first: bool) -> tuple[Header | None, int]:
    """Return the header at the head of a paragraph, or None, and how many lines it takes.

    A header is a paragraph of its own, or the first line of the file with the first abstract right below it.
    """
    line = " ".join(lines)
    if len(line) > LONGEST_HEADER or line.endswith((".", "!", "?", "。")):
        found, rest = _venue_and_year(lines[0])
        glued = first and found is not None and LIST_WORDS.fullmatch(rest)
        return (found, 1) if glued else (None, 0)
    found, rest = _venue_and_year(line)
    plain = found is not None and LIST_WORDS.fullmatch(rest)
    named = found is not None and ACRONYM.search(found[0] or "") and len(rest.split()) <= 8
    if plain or named:
        return found, len(lines)
    # Only the first line of a file may be a header without a venue or a year.
    return ((None, None), len(lines)) if first and len(line.split()) <= 12 else (None, 0)


def _venue_and_year(line: str) -> tuple[Header | None, str]:
    match = HEADER.fullmatch(line) if len(line) <= LONGEST_HEADER else None
    if match is None:
        return None, ""
    venue = (match["venue"] or match["second_venue"]).strip(" .'-")
    short = re.search(r"\(([A-Z][\w-]+)\)$", venue)
    header = (short[1] if short else venue, int(match["year"] or match["first_year"]))
    return header, match["rest"] or match["second_rest"] or ""
