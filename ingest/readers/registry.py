"""Which reader takes a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ingest.readers import plain
from ingest.readers.records import RawRecord, ReadError

# Formats that people hold and that no reader takes yet: said so, instead of read as if they were prose.
_NOT_YET = ".json .jsonl .bib .ris .nbib .ciw .isi .xml .csv .tsv .xlsx .xls .net .gz .zip .pdf .docx .html .htm"
NOT_YET = frozenset(_NOT_YET.split())


def read_file(path: Path) -> Iterator[RawRecord]:
    """Yield the records of a list file. Raises ReadError when the file as a whole cannot be read."""
    if path.suffix.lower() in NOT_YET:
        raise ReadError(f"{path.suffix.lower()} files are not read yet; give a plain-text list (.txt or .md)")
    return plain.read(path)
