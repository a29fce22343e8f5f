"""An index that follows a folder."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from ingest_kit import ABSTRACTS, write

import ingest
from rag.encoder import Encoder
from rag.errors import UsageError
from rag.index import Index
from rag.schema import IngestReport


def test_changes_are_followed_until_told_to_stop(tmp_path: Path, encoder: Encoder) -> None:
    lists = tmp_path / "lists"
    write(lists / "a.txt", ABSTRACTS[4])
    stop = threading.Event()
    reports = ingest.watch([lists], tmp_path / "index", encoder=encoder, stop=stop)
    first = next(reports)
    assert isinstance(first, IngestReport) and first.added == 1
    threading.Timer(1.0, write, (lists / "b.txt", ABSTRACTS[5], ABSTRACTS[6])).start()
    second = next(reports)
    assert isinstance(second, IngestReport) and (second.added, second.unchanged) == (2, 1)
    threading.Timer(1.0, (lists / "a.txt").unlink).start()
    third = next(reports)
    assert isinstance(third, IngestReport) and (third.removed, third.unchanged) == (1, 2)
    threading.Timer(0.5, (lists / "b.txt").write_bytes, (b"",)).start()
    assert isinstance(next(reports), UsageError)  # said, and the watch goes on
    stop.set()
    assert list(reports) == []
    index = Index.open(tmp_path / "index")
    assert len(index) == 2
    index.close()


def test_a_missing_folder_is_said_at_once(tmp_path: Path, encoder: Encoder) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        next(ingest.watch([tmp_path / "gone"], tmp_path / "index", encoder=encoder))
