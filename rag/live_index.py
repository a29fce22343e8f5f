"""An index that follows what other processes write to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.errors import ConferError
from rag.index import Index


class LiveIndex:
    """Hands an index to readers and opens it anew once its generation on disk has moved on.

    Chroma shows another process's writes only to a client opened after the last one of this process was closed, so the
    change waits until no reader is inside, and new readers wait for the change. Readers should be brief.
    """

    def __init__(self, index: Index) -> None:
        self.path: Path = index.path
        self._index: Index | None = index
        self._readers = 0
        self._changed = threading.Condition()

    @contextmanager
    def reading(self) -> Iterator[Index]:
        """Yield the index in its present state. Raises ConferError when it was closed."""
        with self._changed:
            index = self._current()
            self._readers += 1
        try:
            yield index
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Close once the readers have left; harmless when called twice."""
        with self._changed:
            self._changed.wait_for(lambda: self._readers == 0)
            if self._index is not None:
                self._index.close()
                self._index = None

    def _current(self) -> Index:
        if self._index is not None and self._index.current_generation() != self._index.passport.generation:
            stale = self._index
            self._changed.wait_for(lambda: self._readers == 0)
            if self._index is stale:  # else another thread has opened it anew meanwhile
                stale.close()
                self._index = None
                self._index = Index.open(self.path)
        if self._index is None:
            raise ConferError(f"the index at {self.path} is closed")
        return self._index
