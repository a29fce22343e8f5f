"""Excel workbooks (.xlsx): the first sheet with a row that names an abstract, row by row."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from ingest.readers import by_names
from ingest.readers.listfile import ListFile
from ingest.readers.records import LONGEST, RawRecord, ReadError
from ingest.readers.tables import PREAMBLE, RULE, header, known_names, table_record
from ingest.readers.unpacking import MOST_BYTES, MOST_FOLD, ZIP

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

LAST_ROW = 1_048_576  # Excel's own limit
LARGEST_STRINGS = 500_000_000  # bytes; all texts of a workbook are held at once
OTHERS = (
    ("word/", "a Word document; save it as plain text"),
    ("ppt/", "a presentation; save the list as plain text"),
    ("xl/workbook.bin", "a binary workbook; save it as .xlsx or .csv"),
    ("content.xml", "an OpenDocument file; save it as .xlsx, .csv or plain text"),
)

Cells = tuple[object, ...]


def recognises(file: ListFile) -> bool:
    """Whether the file is a zip archive, as workbooks are."""
    return file.head.startswith(ZIP[0])


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield a record a row. Raises ReadError for a file that is no sound workbook, or holds no abstracts."""
    import openpyxl

    with file.open() as stream:
        try:
            _check(zipfile.ZipFile(stream))
            workbook = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            yield from _records(workbook.worksheets, file)
        except (ReadError, OSError, MemoryError):
            raise
        except Exception as error:  # openpyxl lets through whatever its parsers raise
            cause = error.__context__ or error
            what = " ".join(str(cause).split())[:100] or type(cause).__name__
            raise ReadError(f"the workbook is damaged ({what}); save it again, or as .csv") from error


def _check(archive: zipfile.ZipFile) -> None:
    """Raise ReadError for archives that are no workbook, are locked, or would grow beyond all bounds."""
    parts = archive.infolist()
    names = {part.filename for part in parts}
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/worksheets/") for name in names):
        other = (what for mark, what in OTHERS if any(name.startswith(mark) for name in names))
        raise ReadError(f"it is {next(other, 'a zip archive, not a workbook; unpack it first')}")
    if any(part.flag_bits & 1 for part in parts):
        raise ReadError("the workbook is locked with a password; save it without one")
    expanded = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    strings = sum(part.file_size for part in parts if "sharedStrings" in part.filename)
    if (expanded > MOST_BYTES and expanded > MOST_FOLD * packed) or strings > LARGEST_STRINGS:
        raise ReadError(f"the workbook would unpack to {expanded // 1_000_000:,} MB; save it as .csv")


def _records(sheets: list[ReadOnlyWorksheet], file: ListFile) -> Iterator[RawRecord]:
    seen: list[str] = []
    for sheet in sheets:
        for line, cells in islice(_rows(sheet), PREAMBLE):
            names = header(cells, file.fields)
            if names:
                yield from _below(sheet, line, names, file)
                return
            if not seen and len(known := known_names(cells)) > 1:
                seen = known
    raise ReadError(
        by_names.missing_abstract(seen, file.fields)
        if seen
        else "no row of the workbook names its columns; the first row must, with one called abstract"
    )


def _below(sheet: ReadOnlyWorksheet, first: int, names: list[str], file: ListFile) -> Iterator[RawRecord]:
    position = 0
    for line, cells in _rows(sheet):
        if line <= first or all(RULE.fullmatch(str(cell or "")) for cell in cells) or list(cells) == names:
            continue
        if any(isinstance(cell, str) and len(cell) > LONGEST for cell in cells):
            reject = f"row {line} of the table: it has more than {LONGEST:,} characters"
            yield RawRecord(position, line, "", reject=reject)
        else:
            filled = (*cells, *[None] * (len(names) - len(cells)))
            yield table_record(names, filled, position, line, file.fields)
        position += 1


def _rows(sheet: ReadOnlyWorksheet) -> Iterator[tuple[int, Cells]]:
    """Yield (row number, cells); what programs say about the size of a sheet is often wrong, so it does not count."""
    sheet.reset_dimensions()
    for line, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        if line > LAST_ROW:
            raise ReadError(f"the sheet goes beyond row {LAST_ROW:,}; no workbook has more")
        yield line, tuple(map(_value, cells))


def _value(cell: object) -> object:
    """A cell as text or number: dates as ISO, escapes undone (`_x000D_` is a line end), 2020 for 2020.0."""
    from openpyxl.utils.escape import unescape

    if isinstance(cell, str):
        return unescape(cell)
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell
