"""A record of a plain-text or Markdown list while its lines come in."""

from __future__ import annotations

import re
from dataclasses import replace

from ingest.readers import by_names, text_lines
from ingest.readers.plain import Header
from ingest.readers.plain import header as header_of
from ingest.readers.records import LONGEST, RawRecord

BODY = "body"  # the text below a heading that has no label
LINK = re.compile(r"\]\(([^()\s]+)\)")
CHINESE_COMMA = re.compile("[，；、]")
BULLET = re.compile(r"[-*+•>]\s+")


class Draft:
    """Values by Confer's field, each a list of paragraphs, which are lists of lines."""

    def __init__(self, line: int, heading: str = "", level: int = 0) -> None:
        self.heading = heading
        self.level = level
        self._line = line
        self._values: dict[str, list[list[str]]] = {}
        self._current = ""
        self._size = 0

    def has(self, name: str) -> bool:
        """Whether there is a value of that name."""
        return any(line for lines in self._values.get(name, ()) for line in lines)

    def is_bare(self) -> bool:
        """Whether there is a heading and nothing below it."""
        return bool(self.heading) and not any(self.has(name) for name in self._values if name != "title")

    def ends_before(self, name: str, first: str) -> bool:
        """Whether a label begins the next record; `first` is the label that began the first one."""
        if self.heading:
            return name == "title" and (self.has(BODY) or self.has("abstract"))
        if name in {"title", "abstract"} and name in self._values:
            return True
        return name == first != self._current and (name in self._values or self.has("abstract"))

    def add(self, name: str, lines: list[str]) -> None:
        """Add a paragraph to a value."""
        self._current = name
        self._size += sum(map(len, lines))
        if self._size <= LONGEST:
            if name == "title" and self.heading:
                self._values.pop(name, None)  # `## Paper 12` with its title in a label below
            keeps_links = name in {BODY, "abstract", "url", "doi", "arxiv_id", "openreview_id"}
            own = lines if keeps_links else [line for line in lines if not self._take_link(line)]
            self._values.setdefault(name, []).append([line for line in own if line])

    def _take_link(self, line: str) -> bool:
        """Take the address in a line of links."""
        url = text_lines.links(line)
        if url:
            self._values.setdefault("url", []).append([url])
        return url is not None

    def takes_text(self) -> bool:
        """Whether a paragraph without label belongs to this record."""
        return bool(self.heading) or self._current == "abstract" or not self.has("abstract")

    def add_text(self, lines: list[str]) -> None:
        """Add a paragraph without label."""
        waiting = bool(self._current) and not self.has(self._current)  # the label stands on a line of its own
        other = BODY if self.heading else "abstract"
        self.add(self._current if waiting or self._current == "abstract" else other, lines)

    def record(self, position: int, below: Header) -> RawRecord:
        """The record; venue and year are those of the header above where it has none."""
        if self._size > LONGEST:
            return RawRecord(position, self._line, "", reject=f"longer than {LONGEST:,} characters")
        body = self._without_particulars(self._values.get(BODY, []))
        self._values["abstract"] = [*body, *self._values.get("abstract", [])]
        row = {name: self._text(name) for name in self._values if name and name != BODY}
        record = by_names.record(row, position, self._line, {})
        venue, year = below
        return replace(record, venue=record.venue or venue, year=record.year or year)

    def _text(self, name: str) -> str:
        lines = [line for paragraph in self._values[name] for line in paragraph]
        if name == "abstract":
            return " ".join(line.removeprefix(">").lstrip() for line in lines)
        lines = [BULLET.sub("", line, count=1) if BULLET.match(line) else line for line in lines]
        if name in {"authors", "keywords"}:
            lines = [CHINESE_COMMA.sub("; ", line) for line in lines]
        one_a_line = name in {"authors", "keywords"} and not any(mark in line for line in lines for mark in ",;")
        return LINK.sub(r" \1 ", ("; " if one_a_line else " ").join(lines))

    def _without_particulars(self, body: list[list[str]]) -> list[list[str]]:
        """The paragraphs below a heading without names, venue and links, which become values."""
        kept: list[list[str]] = []
        texts = sum(map(len, body))
        for paragraph in body:
            text: list[str] = []
            for index, line in enumerate(paragraph):
                texts -= 1
                more = texts > 0 or self.has("abstract")
                # An address on a line of its own may also end a sentence that was wrapped.
                if (not text or text[-1].endswith((".", "!", "?", "。"))) and self._take_link(line):
                    continue
                if not kept and not text and self._is_particular(line, alone=index == 0 and more):
                    continue
                text.append(line)
            if text:
                kept.append(text)
        return kept

    def _is_particular(self, line: str, *, alone: bool) -> bool:
        """Take a line of names, or of a venue with its year, in front of the abstract."""
        bare = text_lines.unmarked(line)
        found, _ = header_of([bare], first=False) if bare != line else (None, 0)
        if found is not None:
            self._values.setdefault("venue", []).append([found[0] or ""])
            self._values.setdefault("year", []).append([str(found[1])])
            return True
        people = text_lines.names(line, marked=not alone) if not self.has("authors") else ()
        if people:
            self._values["authors"] = [["; ".join(people)]]
        return bool(people)
