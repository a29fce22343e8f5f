"""What every reader yields."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 2_000_000  # characters of a record; a longer one is no paper, and what is beyond them is not kept


class ReadError(Exception):
    """A file that cannot be read (on); the text says why and what to do.

    Raised after some records were yielded it means that the rest of the file is lost; those before it stand.
    """


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record as it stands in the file: raw text, not cleaned.

    `position` counts all records of the file from 0, rejected ones too; `line` is the 1-based line (or spreadsheet row)
    where the record begins, None for formats without lines. An empty `abstract` is allowed: the job rejects it.
    `reject` says why the record is no paper, if the reader knows; `warning` says what was passed over on the way to it.
    `key` is what the file itself calls the record (a BibTeX key, a PMID), for messages.
    """

    position: int
    line: int | None
    abstract: str
    title: str | None = None
    authors: tuple[str, ...] = ()
    venue: str | None = None
    year: int | None = None
    keywords: tuple[str, ...] = ()
    url: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    openreview_id: str | None = None
    key: str | None = None
    reject: str | None = None
    warning: str | None = None
