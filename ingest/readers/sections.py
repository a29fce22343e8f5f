"""Lists that name the parts of a record: lines with labels (`Title: …`), Markdown headings, or both.

A value may go on over lines, an abstract over paragraphs, up to the next label. What is in no such record is read as in
lists without titles: an abstract, a header, or a reject.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ingest.readers import text_lines
from ingest.readers.draft import BODY, Draft
from ingest.readers.listfile import ListFile
from ingest.readers.plain import RULE, Header, Paragraph, header, paragraphs, untitled
from ingest.readers.records import RawRecord

PARTS = 4  # paragraphs of an abstract, on average; a list with more has abstracts that no heading names


def recognises(file: ListFile) -> bool:
    """Whether labels or headings begin several records, and not much text is in none of them."""
    return _title_level(file) is not None


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the records, and what else looks like one."""
    reading = _Reading(_title_level(file) or 0, file.fields)
    for line, lines in _blocks(paragraphs(file.lines()), file.fields):
        yield from reading.block(line, lines)
    yield from reading.finish()


def _title_level(file: ListFile) -> int | None:
    """The level of the headings that are titles, 0 for lists with labels only, None for neither."""
    labels: Counter[str] = Counter()
    levels: Counter[int] = Counter()
    texts = 0  # paragraphs without label and heading
    for index, (_, found) in enumerate(_blocks(paragraphs(enumerate(file.head_lines)), file.fields)):
        named = header(found, first=index == 0)[0] is not None
        if mark := text_lines.label(found[0], file.fields):
            labels[mark[0]] += 1
        elif title := text_lines.heading(found[0]):
            levels[title[0]] += not (named or text_lines.is_section(title[1]))
        else:
            texts += not (named or RULE.fullmatch(" ".join(found)))
    level, titles = max(levels.items(), key=lambda item: item[1], default=(0, 0))
    abstracts = labels["abstract"]
    if titles > 1 or (titles == 1 and level > 1 and texts < 3):
        return level if texts <= PARTS * titles else None
    if labels["title"] > 1 or (labels["title"] and abstracts):
        return 0 if texts <= PARTS * max(labels["title"], abstracts) else None
    return 0 if abstracts > 1 and texts <= abstracts else None


def _blocks(found: Iterable[Paragraph], mapped: Mapping[str, str]) -> Iterator[Paragraph]:
    """Split paragraphs before each label and heading."""
    for start, lines in found:
        begin = 0
        for index, line in enumerate(lines):
            if index > begin and (text_lines.label(line, mapped) or text_lines.heading(line)):
                yield start + begin, lines[begin:index]
                begin = index
        yield start + begin, lines[begin:]


class _Reading:
    """One pass over a file."""

    def __init__(self, level: int, mapped: Mapping[str, str]) -> None:
        self._level = level
        self._mapped = mapped
        self._below: Header = (None, None)
        self._draft: Draft | None = None
        self._first_label = ""
        self._position = 0
        self._begun = False

    def block(self, line: int, lines: list[str]) -> Iterator[RawRecord]:
        """Put a block where it belongs, and yield the records that end before it."""
        mark = text_lines.label(lines[0], self._mapped)
        title = None if mark else text_lines.heading(lines[0])
        if title and title[0] == text_lines.BOLD_LEVEL != self._level:
            title = None  # a line in bold letters is a title only where titles are such lines
        if mark:
            yield from self._label(line, *mark, lines)
        elif title:
            yield from self._heading(line, *title, lines)
        else:
            yield from self._text(line, lines)
        self._begun = True

    def finish(self) -> Iterator[RawRecord]:
        """Yield the record that was being read; a heading without anything below it may be a header."""
        draft, self._draft = self._draft, None
        if draft is None:
            return
        if draft.is_bare():
            found, _ = header([draft.heading], first=False)
            if found is not None or draft.level < self._level:
                self._below = found or self._below
                return
        yield draft.record(self._position, self._below)
        self._position += 1

    def _label(self, line: int, name: str, value: str, lines: list[str]) -> Iterator[RawRecord]:
        if name == text_lines.SUMMARY:
            if self._draft and self._draft.has("abstract"):
                yield from self._text(line, lines)
                return
            name = "abstract"
        self._first_label = self._first_label or name
        if self._draft is None or self._draft.ends_before(name, self._first_label):
            yield from self.finish()
            self._draft = Draft(line)
        rest = lines[1:]
        own = (
            len(rest)
            if name == "abstract"
            else next((i for i, t in enumerate(rest) if text_lines.is_text(t)), len(rest))
        )
        self._draft.add(name, [value, *rest[:own]])
        if rest[own:]:
            yield from self._text(line + 1 + own, rest[own:])

    def _heading(self, line: int, level: int, text: str, lines: list[str]) -> Iterator[RawRecord]:
        yield from self.finish()
        found, _ = header(lines[:1], first=False)
        shallow = level < self._level or not self._level
        if text_lines.is_section(text) or (shallow and (found or not self._level or not self._begun)):
            self._below = found or self._below
            if lines[1:]:
                yield from self._text(line + 1, lines[1:])
            return
        self._draft = Draft(line, heading=lines[0], level=level)
        self._draft.add("title", [text])
        self._draft.add(BODY, lines[1:])

    def _text(self, line: int, lines: list[str]) -> Iterator[RawRecord]:
        found, length = header(lines, first=not self._begun)
        if found is None and RULE.fullmatch(" ".join(lines)):
            return
        if found is None and self._draft is not None and self._draft.takes_text():
            self._draft.add_text(lines)
            return
        yield from self.finish()
        self._below = found or self._below
        record = untitled(self._position, line + length, lines[length:], self._below)
        if record is not None:
            yield record
            self._position += 1
