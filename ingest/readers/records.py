"""What every reader yields."""

from __future__ import annotations

from dataclasses import dataclass


class ReadError(Exception):
    """A file that cannot be read at all; the text says why and what to do."""


@dataclass(frozen=True)
class RawRecord:
    """One record as it stands in the file: raw text, not cleaned. `reject` says why it is no paper, if it is none."""

    position: int
    line: int
    abstract: str
    title: str | None = None
    venue: str | None = None
    year: int | None = None
    reject: str | None = None
