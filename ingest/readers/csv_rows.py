"""Rows of delimited text, one after the other, where a broken row costs no other.

Python's csv module splits the rows. What it cannot split, or not into as many cells as the header has, is looked at
line by line: a quote that is never closed swallows no row behind it.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingest.readers.records import LONGEST

LONGEST_ROW = 2 * LONGEST
SETTLED = 3  # rows after which the way that they begin counts
SWALLOWED = 5  # lines inside a row that look like rows, before they are taken for rows

csv.field_size_limit(LONGEST)  # the module's own limit, 131,072, is too low for some real abstracts

Line = tuple[int, str]
Cells = list[str]


class Row(NamedTuple):
    """The line where a row begins, and its cells, or what is wrong with it."""

    line: int
    cells: Cells
    fault: str | None = None


def split(lines: Iterable[Line], delimiter: str) -> Cells | None:
    """The cells of the first row in some lines, or None if it is malformed."""
    return _take(iter(lines), delimiter)[1]


def rows(lines: Iterable[Line], delimiter: str, width: int) -> Iterator[Row]:
    """Yield the rows with at most `width` cells; others come with their fault. Blank rows are passed over."""
    table = _Table(lines, delimiter, width)
    while taken := table.take():
        if (row := table.row(*taken)) is not None:
            yield row


def _take(source: Iterator[Line], delimiter: str, *, escaped: bool = False) -> tuple[list[Line], Cells | None]:
    """Take the lines of one row, and split it; no cells if it is malformed or too large."""
    taken: list[Line] = []

    def feed() -> Iterator[str]:
        size = 0
        for number, line in source:
            taken.append((number, line))
            size += len(line)
            if size > LONGEST_ROW:
                return
            yield (line.replace('\\"', '""') if escaped else line).replace("\0", "") + "\n"

    try:
        return taken, next(csv.reader(feed(), delimiter=delimiter, strict=True, skipinitialspace=True), None)
    except csv.Error:
        return taken, None


class _Source:
    """Numbered lines that can be put back."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = iter(lines)
        self._back: deque[Line] = deque()

    def __iter__(self) -> _Source:
        return self

    def __next__(self) -> Line:
        return self._back.popleft() if self._back else next(self._lines)

    def put_back(self, lines: list[Line]) -> None:
        self._back.extendleft(reversed(lines))


class _Table:
    """The lines below a header, and what tells where a row begins."""

    def __init__(self, lines: Iterable[Line], delimiter: str, width: int) -> None:
        self._source = _Source(lines)
        self._delimiter = delimiter
        self._width = width
        self._beginnings: set[str] = set()
        self._rows = 0

    def take(self) -> tuple[list[Line], Cells | None] | None:
        """The lines of the next row and its cells; None at the end."""
        taken, cells = _take(self._source, self._delimiter)
        return (taken, cells) if taken else None

    def row(self, taken: list[Line], cells: Cells | None) -> Row | None:
        """The row in these lines; lines that belong to rows behind it are put back. None for a blank row."""
        if cells is not None and not any(cell.strip() for cell in cells):
            return None
        if cells is None or len(self._trimmed(cells)) > self._width or self._swallows(taken, cells):
            self._source.put_back(taken[1:])
            fault = self._fault(taken, cells)
            cells = self._escaped(taken) or self._loose(taken[0][1])
            if cells is None:
                return Row(taken[0][0], [], self._passed_over(taken, fault))
        self._beginnings.add(_beginning(taken[0][1]))
        self._rows += 1
        return Row(taken[0][0], self._trimmed(cells))

    def _trimmed(self, cells: Cells) -> Cells:
        """The cells without empty ones behind the last column."""
        end = len(cells)
        while end > self._width and not cells[end - 1].strip():
            end -= 1
        return cells[:end]

    def _whole(self, cells: Cells | None) -> bool:
        return cells is not None and len(self._trimmed(cells)) == self._width

    def _settled(self) -> bool:
        """Whether all rows so far begin with a quote, or all with a digit; text inside a cell seldom does."""
        return self._rows >= SETTLED and len(self._beginnings) == 1 and "" not in self._beginnings

    def _is_row(self, line: str) -> bool:
        """Whether a line could be a row of its own."""
        return self._begins_row(line) and self._whole(split([(0, line)], self._delimiter))

    def _begins_row(self, line: str) -> bool:
        return not self._settled() or _beginning(line) in self._beginnings

    def _swallows(self, taken: list[Line], cells: Cells) -> bool:
        """Whether the lines inside a row are rows themselves, which an open quote took into it."""
        if len(taken) == 1 or self._width == 1:
            return False
        if self._delimiter == "\t" and self._whole(cells):  # tables with tabs are often written without quoting
            return all(line.count("\t") == self._width - 1 for _, line in taken)
        inside = taken[1:-1] or taken[1:]
        if len(cells) < self._width:
            return any(self._is_row(line) for _, line in inside)
        return len(inside) >= (1 if self._settled() else SWALLOWED) and all(self._is_row(line) for _, line in inside)

    def _escaped(self, taken: list[Line]) -> Cells | None:
        r"""The row again, for tables that write `\"` for a quote inside quotes."""
        if not any('\\"' in line for _, line in taken):
            return None
        self._source.put_back(taken[:1])
        again, cells = _take(self._source, self._delimiter, escaped=True)
        if self._whole(cells):
            return cells
        self._source.put_back(again[1:])
        return None

    def _loose(self, line: str) -> Cells | None:
        """The cells of a line that is a whole row in spite of its quotes, or None."""
        if self._delimiter == "\t" and self._whole(cells := line.split("\t")):
            return cells
        try:
            # Where a quote is open at the end of the line, the second line is part of the first row.
            read = csv.reader([line + "\n", "x\n"], delimiter=self._delimiter, skipinitialspace=True)
            cells, *rest = list(read)
        except csv.Error:
            return None
        return cells if rest and self._whole(cells) else None

    def _fault(self, taken: list[Line], cells: Cells | None) -> str:
        if sum(len(line) for _, line in taken) > LONGEST:
            return f"it has more than {LONGEST:,} characters"
        if len(taken) == 1 and cells is not None:
            return f"{len(cells)} cells where the header names {self._width}"
        return "its quotes do not pair up"

    def _passed_over(self, taken: list[Line], fault: str) -> str:
        """Pass over what belongs to a broken row, and say so; a row that ends on its line takes no other with it."""
        first = last = taken[0][0]
        while len(taken) > 1:
            behind, cells = _take(self._source, self._delimiter)
            if not behind or (self._whole(cells) and self._begins_row(behind[0][1])):
                self._source.put_back(behind)
                break
            last = behind[0][0]
            self._source.put_back(behind[1:])
        return fault if last == first else f"{fault}; lines {first} to {last} are passed over"


def _beginning(line: str) -> str:
    return '"' if line.startswith('"') else "0" if line[:1].isdigit() else ""
