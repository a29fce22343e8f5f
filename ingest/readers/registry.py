"""Which reader takes a file: what its content says comes first, its name second. A format is one line here."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from ingest.readers import (
    bibtex,
    json_lists,
    medline,
    noteexpress,
    numbered,
    plain,
    proquest,
    ris,
    sections,
    tables,
    wos,
    xlsx,
    xml_lists,
)
from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord, ReadError

# A reader is a module with `recognises(file) -> bool` and `read(file) -> Iterator[RawRecord]`. The first that
# recognises a file reads it, so the more particular formats stand first; `plain` takes any text.
READERS: tuple[ModuleType, ...] = (
    xlsx,
    xml_lists,
    noteexpress,  # begins with a brace, as JSON does
    json_lists,
    bibtex,
    proquest,
    medline,
    wos,
    ris,
    tables,
    sections,
    numbered,
    plain,
)

# The endings that list files usually have, for file pickers; what a file is called decides nothing by itself.
SUFFIXES = (
    ".txt", ".md", ".json", ".jsonl", ".bib", ".ris", ".nbib", ".medline", ".ciw", ".isi", ".net", ".xml", ".csv",
    ".tsv", ".xlsx", ".gz", ".zip",
)  # fmt: skip

# What people hold and no reader can take, by the bytes that it begins with.
FOREIGN = (
    (b"%pdf", "a PDF; export the list as text, BibTeX, RIS, CSV or JSON"),
    (b"{\\rtf", "an RTF document; save it as plain text"),
    (b"\xd0\xcf\x11\xe0", "an old or password-protected Office document; save it as .xlsx, .csv or plain text"),
    (b"<!doctype html", "a web page; export the list as text, BibTeX, RIS, CSV or JSON"),
    (b"<html", "a web page; export the list as text, BibTeX, RIS, CSV or JSON"),
)


def read_file(file: ListFile) -> Iterator[RawRecord]:
    """Yield the records of a list file. Raises ReadError when the file cannot be read, or not to its end."""
    begin = file.head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for mark, reason in FOREIGN:
        if begin.startswith(mark):
            raise ReadError(f"it is {reason}")
    for reader in READERS:
        if reader.recognises(file):
            yield from reader.read(file)
            return
    raise ReadError("no format that Confer knows")
