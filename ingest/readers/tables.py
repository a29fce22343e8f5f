"""Tables in text: CSV with commas, semicolons or pipes, and TSV, whichever program exported them.

The header is the first row that names an abstract; what some exports write above it (the search, a ruled line) is
passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ingest.readers import by_names
from ingest.readers.csv_rows import rows, split
from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord, ReadError

SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".psv", ".xlsx", ".xls"})  # some programs call any table a spreadsheet
DELIMITERS = "\t;,|"
PREAMBLE = 20  # rows in which the header is looked for
LONGEST_PREAMBLE = 300  # characters of a line above a header; longer ones are text
SAMPLE = 6  # rows that tell whether a file is a table
NARROW = "\x1f"  # no character of a text: tables with one column have no delimiter
KNOWN = frozenset(name for names in by_names.NAMES.values() for name in names) | frozenset(by_names.SECOND_BEST)
RULE = re.compile(r"[\s:=_+-]*")


class _Layout(NamedTuple):
    """Where the header begins (1-based line), what separates the cells, and the names of the columns."""

    line: int
    delimiter: str
    names: list[str]


def recognises(file: ListFile) -> bool:
    """Whether a row names an abstract; under the name of a table also whether rows have equally many cells.

    Whoever says what a table calls its abstracts means a table, so that a slip there is told.
    """
    layout = _layout(file)
    if file.suffix in SUFFIXES:
        return layout is not None or "abstract" in file.fields or _even(file.head_lines)
    return layout is not None and len(layout.names) > 1 and _is_table(file.head_lines, layout)


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield a record a row. Raises ReadError where no column holds abstracts."""
    layout = _layout(file)
    if layout is None:
        # What stands where a header should, cut where that gives most cells.
        names = max((_cells(file.head_lines, 0, delimiter) for delimiter in DELIMITERS), key=len)
        raise ReadError(by_names.missing_abstract(names, file.fields))
    if not by_names.knows(layout.names, file.fields):
        raise ReadError(by_names.missing_abstract(layout.names, file.fields))
    lines = ((number, line.lstrip("\ufeff") if number == 1 else line) for number, line in file.lines())
    below = (numbered for numbered in lines if numbered[0] >= layout.line)
    position = 0
    for row in rows(below, layout.delimiter, len(layout.names)):
        if row.fault:
            yield RawRecord(position, row.line, "", reject=f"row {row.line} of the table: {row.fault}")
        elif row.line == layout.line or row.cells == layout.names or all(map(RULE.fullmatch, row.cells)):
            continue
        else:
            yield table_record(layout.names, row.cells, position, row.line, file.fields)
        position += 1


def header(cells: Sequence[object], fields: Mapping[str, str]) -> list[str] | None:
    """The names of the columns if the cells of a row are names, and one of them is an abstract's."""
    names = [cell.strip() if isinstance(cell, str) else "" for cell in cells]
    while names and not names[-1]:
        names.pop()
    short = all(len(name) <= by_names.LONGEST_NAME and not name.endswith((".", "。")) for name in names)
    return names if short and by_names.knows(names, fields) else None


def known_names(cells: Sequence[object]) -> list[str]:
    """The cells that name a field, an abstract or any other."""
    return [cell for cell in cells if isinstance(cell, str) and by_names.normal(cell) in KNOWN]


def table_record(
    names: Sequence[str], cells: Sequence[object], position: int, line: int, fields: Mapping[str, str]
) -> RawRecord:
    """The record in a row. Of columns with one name the first that is filled counts."""
    row: dict[str, object] = {}
    for name, cell in zip(names, cells, strict=False):
        if name and row.get(name) in (None, ""):
            row[name] = cell
    record = by_names.record(row, position, line, fields)
    if len(cells) < len(names) and record.abstract:
        # Spreadsheets leave empty cells at the end of a row away.
        return replace(record, warning=f"row {line} has {len(cells)} cells where the header names {len(names)}")
    return record


def _layout(file: ListFile) -> _Layout | None:
    lines = file.head_lines
    found = (_header_in(lines, delimiter, file.fields) for delimiter in DELIMITERS)
    best = max((layout for layout in found if layout), key=lambda layout: len(layout.names), default=None)
    if best or file.suffix not in SUFFIXES:
        return best
    return _header_in(lines, NARROW, file.fields) or _without_abstract(lines)


def _header_in(lines: list[str], delimiter: str, fields: Mapping[str, str]) -> _Layout | None:
    for index, line in enumerate(lines[:PREAMBLE]):
        if delimiter == NARROW or delimiter in line:
            names = header(_cells(lines, index, delimiter), fields)
            if names and (len(names) > 1 or delimiter == NARROW):
                return _Layout(index + 1, delimiter, names)
    return None


def _without_abstract(lines: list[str]) -> _Layout | None:
    """A header that names other fields, for the message."""
    for index in range(len(lines[:PREAMBLE])):
        for delimiter in DELIMITERS:
            cells = _cells(lines, index, delimiter)
            if len(known_names(cells)) > 1:
                return _Layout(index + 1, delimiter, cells)
    return None


def _cells(lines: list[str], index: int, delimiter: str) -> list[str]:
    return split(enumerate(lines[index : index + PREAMBLE]), delimiter) or []


def _is_table(lines: list[str], layout: _Layout) -> bool:
    """Whether what looks like a header stands above rows of a table rather than in a text."""
    above, below = lines[: layout.line - 1], lines[layout.line :]
    if any(len(line) > LONGEST_PREAMBLE for line in above):
        return False
    width = len(layout.names)
    found = [row for row, _ in zip(rows(enumerate(below), layout.delimiter, width), range(SAMPLE), strict=False)]
    return 2 * sum(len(row.cells) == width for row in found) >= len(found)


def _even(lines: list[str]) -> bool:
    """Whether most of the first rows have as many cells as the one above them: more than two, or two that are marked.

    Text has commas too; a tab, or a quote at the beginning of each line, marks cells.
    """
    first = [line for line in lines[:SAMPLE] if line]
    for delimiter in DELIMITERS:
        pairs = [split([(0, line)], delimiter) for line in first]
        marked = delimiter == "\t" or all(line.startswith('"') for line in first)
        if len(pairs) > 1 and marked and all(cells is not None and len(cells) == 2 for cells in pairs):
            return True
        widths = [len(_cells(lines, index, delimiter)) for index in range(min(len(lines), SAMPLE)) if lines[index]]
        if len(widths) > 2 and widths[0] > 2 and 2 * widths[1:].count(widths[0]) > len(widths) - 1:
            return True
    return False
