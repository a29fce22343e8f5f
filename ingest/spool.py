"""The records of a run on disk: in memory a run keeps only what it decides by."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

from ingest.readers.records import RawRecord
from rag.errors import ConferError


class Spool:
    """A temporary file of records, gone when it is closed. Not safe for several threads.

    Its methods raise ConferError where there is no room for it; that is no fault of the list that is being read.
    """

    def __init__(self) -> None:
        with _room():
            self._file = tempfile.TemporaryFile(prefix="confer-")  # noqa: SIM115 (closed by `close`)
        self._end = 0

    def add(self, record: RawRecord) -> int:
        """Store a record and return where it stands."""
        at = self._end
        with _room():
            self._file.seek(at)
            pickle.dump(record, self._file)
            self._end = self._file.tell()
        return at

    def read(self, at: int) -> RawRecord:
        """The record that stands there."""
        with _room():  # what is still to be written is written before
            self._file.seek(at)
            record = pickle.load(self._file)
        assert isinstance(record, RawRecord)
        return record

    def close(self) -> None:
        """Give the space back."""
        with suppress(OSError):  # what found no room is not wanted any more
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = tempfile.gettempdir()
        raise ConferError(f"the records of this run cannot be kept in {where}: {error.strerror or error}") from error
