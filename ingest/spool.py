"""The records of a run on disk: in memory a run keeps only what it decides by."""

from __future__ import annotations

import pickle
import tempfile
from typing import Self

from ingest.readers.records import RawRecord


class Spool:
    """A temporary file of records, gone when it is closed. Not safe for several threads."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="confer-")  # noqa: SIM115 (closed by `close`)
        self._end = 0

    def add(self, record: RawRecord) -> int:
        """Store a record and return where it stands."""
        at = self._end
        self._file.seek(at)
        pickle.dump(record, self._file)
        self._end = self._file.tell()
        return at

    def read(self, at: int) -> RawRecord:
        """The record that stands there."""
        self._file.seek(at)
        record = pickle.load(self._file)
        assert isinstance(record, RawRecord)
        return record

    def close(self) -> None:
        """Give the space back."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
