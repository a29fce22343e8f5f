"""Sentence vectors on disk: float16 rows in one file that only grows while the index lives.

A passage's metadata in Chroma names its first row. Rows are flushed before that metadata is written, so a passage
never points at rows that are not there; rows that nothing points at are harmless.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


class SentenceVectors:
    """Rows of `dimension` float16 numbers in a file. One writer at a time (the index's lock sees to it)."""

    def __init__(self, path: Path, dimension: int) -> None:
        self.path = path
        self.dimension = dimension
        self._map: NDArray[np.float16] | None = None

    def __len__(self) -> int:
        return self.path.stat().st_size // (2 * self.dimension) if self.path.exists() else 0

    def append(self, rows: NDArray[np.float32], *, at_least: int = 0) -> int:
        """Write rows of shape (n, dimension) durably; return the number of the first.

        That is `at_least` so much: where a file was lost or cut, its rows are in use and must not be given again. They
        are zeros then, which no sentence has.
        """
        row_bytes = 2 * self.dimension
        with self.path.open("ab") as file:
            whole = max(file.tell() // row_bytes, at_least)
            file.truncate(whole * row_bytes)  # a row cut off by a crash
            file.seek(0, os.SEEK_END)
            file.write(np.ascontiguousarray(rows, dtype="<f2").tobytes())
            file.flush()
            os.fsync(file.fileno())
        return whole

    def read(self, first: int, count: int) -> NDArray[np.float32]:
        """Return rows as float32, shape (count, dimension). Raises IndexError where the file has no such rows."""
        rows = self._rows()
        if first + count > len(rows):
            self._map = None
            rows = self._rows()
        if first + count > len(rows):
            raise IndexError(f"{self.path} holds {len(rows)} sentence vectors, row {first + count - 1} was asked for")
        return np.asarray(rows[first : first + count], dtype=np.float32)

    def _rows(self) -> NDArray[np.float16]:
        if self._map is None:
            if len(self) == 0:
                return np.empty((0, self.dimension), dtype=np.float16)
            self._map = np.memmap(self.path, dtype="<f2", mode="r", shape=(len(self), self.dimension))
        return self._map
