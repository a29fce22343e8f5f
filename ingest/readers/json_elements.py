"""Split a JSON text into the texts of its records, as a stream: JSON Lines, lists, lists within objects, members.

A JSON parser gives up at the first mistake and wants the whole text; here a record that is broken costs that record,
and no more than one is held. Only brackets and strings are looked at; what is in a record is for `json.loads`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TextIO

from ingest.readers.json_layout import NEXT_OBJECT, layout
from ingest.readers.json_window import CHUNK, Window
from ingest.readers.records import LONGEST, ReadError

OVERLAP = 4096  # characters that are searched again for the next record when more is read
DEEPEST = 900  # open brackets; `json` gives up at some more
FIRST_NAME = re.compile(r'\{\s*("(?:[^"\\\n]|\\.){1,100}")\s*:')
MEMBER = r'"(?:[^"\\\n]|\\.){0,200}"\s*:\s*'
COMMENT = re.compile(r'("(?:[^"\\]++|\\.)*+")|//[^\n]*|/\*.*?\*/', re.DOTALL)
SCALAR = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\w.+-]++', re.DOTALL)
SCALARS = re.compile(r'[\s,]*+(?:(?:"(?:[^"\\]++|\\.)*+"|[\w.+-]++)\s*+(?:,[\s,]*+|\Z))++', re.DOTALL)
TOO_LONG = f"the record is longer than {LONGEST:,} characters"
TOO_DEEP = "the record is nested too deep"
CUT_OFF = "the file ends inside this record; it may be cut off"


@dataclass(frozen=True, slots=True)
class Element:
    """The text of one record, or why there is none; `aside`: it is from a list beside the list of records."""

    line: int
    text: str
    reject: str | None = None
    aside: bool = False


def elements(text: TextIO, fields: Mapping[str, str] | None = None) -> Iterator[Element]:
    """Yield the records of a JSON text in order. Raises ReadError, after all records, where the text is cut off."""
    yield from _Splitter(text, fields or {}).elements()


class _Splitter:
    """Walks the brackets around the records (`around`, with the names that lead to them), then record by record."""

    def __init__(self, text: TextIO, fields: Mapping[str, str]) -> None:
        self.window = Window(text)
        self.window.more()
        if self.window.buffer.lstrip("\ufeff \t\n").startswith("{") and not NEXT_OBJECT.search(self.window.buffer):
            while len(self.window.buffer) < LONGEST and not self.window.ended:
                self.window.more()  # an abstract may stand below long lists of references
        self.kind, self.path = (found := layout(self.window.buffer, fields)).kind, found.path
        self.around: list[tuple[str, str]] = []
        self.listing = self.kind == "sequence"  # whether records may begin here
        self.aside = self.swallowed = False
        self.indent: str | None = None  # of the last record, if it began a line
        self.broken_line = 0  # the last line with text that is in no record

    def elements(self) -> Iterator[Element]:
        window, name = self.window, ""
        while (token := window.token()) or not window.ended:
            if token is None:
                if not self.listing or window.at - window.kept > CHUNK:
                    yield from self._between(window.at)
                if len(window.buffer) - window.at > LONGEST:  # within one string
                    if self.listing:
                        yield self._lost(window.at, TOO_LONG)
                    window.at = window.kept = len(window.buffer)
                window.more()
                continue
            bracket, at = token[0], token.start()
            if self.listing and self._is_torn(token):
                yield self._torn(at)
                name = ""
                continue
            if bracket in "{[" and self._begins_record(at, bracket):
                yield from self._between(at)
                yield self._record(at, bracket)
                name = ""
                continue
            window.at = token.end()
            if bracket in "{}[]":
                yield from self._between(at)
                self._move(bracket, name)
            name = bracket[1:-1] if token[1] == ":" else ""
        yield from self._between(len(window.buffer))
        if window.error:
            raise window.error
        if self.listing and self.around and not self.swallowed:
            raise ReadError(f"the file ends inside its list (line {window.line(window.at)}); it may be cut off")

    def _is_torn(self, token: re.Match[str]) -> bool:
        """Whether what stands between records is none of it: a record that lost its beginning leaves an odd quote."""
        if not token[0].startswith('"'):
            return self.kind == "members" and token[0] in "{[" and not self._is_named(token.start())
        return token[0] == '"' or "\n" in token[0] or (self.kind != "sequence" and token[1] is None)

    def _torn(self, at: int) -> Element:
        """What is left of a record that lost its beginning, up to the next one; an odd quote is in it."""
        while self.window.kept < at and self.window.buffer[self.window.kept] in ", \t\n":
            self.window.kept += 1
        return self._lost(at)

    def _begins_record(self, at: int, bracket: str) -> bool:
        named = self._is_named(at)
        if not self.around and self.kind != "sequence":  # `[` and `{` begin the records, unless closed once too often
            return not self.path and bracket == "{" and named == (self.kind == "members")
        if self.kind == "members":
            return self.listing and named and bracket == "{"
        return self.listing and not named

    def _is_named(self, at: int) -> bool:
        before = self.window.before(at)
        return before >= 0 and self.window.buffer[before] == ":"

    def _move(self, bracket: str, name: str) -> None:
        """Step into or out of a list or object around the records; a bracket that does not fit is passed over."""
        if bracket in "{[":
            self.around.append((bracket, name))
            if len(self.around) > DEEPEST:
                raise ReadError(f"brackets are nested too deep in line {self.window.line(self.window.at)}")
        elif self.around and self.around[-1][0] == ("{" if bracket == "}" else "["):
            self.around.pop()
        elif not self.listing:
            self.around = self.around[:-1]
        names = tuple(name for _, name in self.around[1:])
        here = self.around[-1][0] if self.around else ""
        if self.kind == "members":
            self.listing = here == "{" and names == self.path
        elif self.kind == "list":
            self.listing = here == "[" and len(names) == len(self.path) and names[:-1] == self.path[:-1]
            self.aside = self.listing and names != self.path
        else:
            self.listing = not self.around
        self.window.kept = self.window.at

    def _between(self, end: int) -> Iterator[Element]:
        """What stands between two records and is none: numbers, strings, broken text."""
        begin, self.window.kept = self.window.kept, end
        if not self.listing or self.kind == "members":
            return
        line = self.window.line(begin)
        gap = COMMENT.sub(lambda found: found[1] or "\n" * found[0].count("\n"), self.window.buffer[begin:end])
        if self.kind == "sequence":
            pieces = re.finditer(r"[^\n]+", gap)
        else:
            pieces = SCALAR.finditer(gap) if SCALARS.fullmatch(gap) else re.finditer(r"\S(?:.*\S)?", gap, re.DOTALL)
        for piece in pieces:
            text = piece[0].strip("\ufeff\x1e \t\n,;[]{}")
            at = line + gap.count("\n", 0, piece.start())
            if text and at != self.broken_line:
                yield Element(at, text, aside=self.aside)
            self.broken_line = at if text and not SCALAR.fullmatch(text) else self.broken_line

    def _record(self, at: int, bracket: str) -> Element:
        """The record that begins here, up to its last bracket."""
        window, stack = self.window, [bracket]
        window.kept, window.at = at, at + 1
        self.indent = window.indent(self._begin(at))
        while True:
            window.past_strings()
            token = window.token()
            if token is None:
                if window.ended and self.indent is None and self.kind != "members":
                    return self._cut(len(window.buffer), CUT_OFF)
                if window.ended:
                    return self._lost(window.kept + 1, CUT_OFF)
                if len(window.buffer) - window.kept > LONGEST:
                    return self._lost(window.at, TOO_LONG)
                window.more()
                continue
            mark, at = token[0], token.start()
            if mark not in "{}[]":
                if token[1] is None:
                    return self._lost(at)
            elif mark in "{[" and len(stack) == DEEPEST:
                return self._lost(at, TOO_DEEP)
            elif mark in "{[":
                before = window.before(at)
                if mark == "{" == stack[-1] and window.buffer[before] != ":":
                    return self._lost(before)
                stack.append(mark)
            elif not self._shut(stack, mark):
                return self._cut(at)
            elif not stack:
                return self._cut(token.end())
            window.at = token.end()

    def _shut(self, stack: list[str], mark: str) -> bool:
        """Close a bracket and those in it that were left open; False if it closes what is around the record."""
        opening = "{" if mark == "}" else "["
        if opening not in stack:
            return self.kind == "sequence"
        while stack.pop() != opening:
            pass
        return True

    def _cut(self, end: int, reject: str | None = None) -> Element:
        window = self.window
        text, line = window.buffer[window.kept : end], window.line(window.kept)
        window.at = window.kept = end
        self.swallowed = reject is not None
        return Element(line, *((text, reject) if len(text) <= LONGEST else ("", TOO_LONG)), self.aside)

    def _lost(self, at: int, reject: str | None = None) -> Element:
        """The broken or endless record up to where the next one seems to begin."""
        window, pattern = self.window, self._next_record()
        line = window.line(window.kept)
        # What begins a line like a record is one, even where brackets say that it lies in this one.
        window.at = at if self.indent is None else window.kept + 1
        while (begin := self._search(pattern)) is None and not window.ended:
            window.at = max(window.at, len(window.buffer) - OVERLAP)
            if window.at - window.kept > LONGEST:
                reject, window.kept = TOO_LONG, window.at
            window.more()
        end = len(window.buffer) if begin is None else begin
        if reject == CUT_OFF and begin is not None:
            reject = None
        text = "" if reject else window.buffer[window.kept : end]
        window.at = window.kept = end
        self.swallowed = begin is None
        return Element(line, text, reject, self.aside)

    def _search(self, pattern: re.Pattern[str]) -> int | None:
        """Where the next record begins, as far as the text is here."""
        for found in pattern.finditer(self.window.buffer, self.window.at):
            begin = found.start(found.lastindex or 0)
            if not self._is_named(begin) or self.indent is not None:
                return begin
        return None

    def _begin(self, at: int) -> int:
        """Where the record at a bracket begins: in an object of records at its name."""
        if self.kind != "members":
            return at
        named = re.compile(MEMBER + r"\Z").search(self.window.buffer, max(0, at - 300), at)
        return named.start() if named else at

    def _next_record(self) -> re.Pattern[str]:
        """How the next record begins: on a line of its own like this one, else with the same name as this one."""
        member = MEMBER if self.kind == "members" else ""
        if self.indent is not None:
            return re.compile(rf"\n{self.indent}({member}\{{)")
        first = FIRST_NAME.match(self.window.buffer, self.window.kept)
        name = rf"{re.escape(first[1])}\s*:" if first else '"'
        return re.compile(rf"({member}\{{\s*{name})|\n({member}\{{)")
