"""Chroma's client for a folder."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any


def open_client(folder: Path) -> Any:
    """Return a client on the database in a folder, which is made where it is missing; telemetry is off."""
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    logging.getLogger("chromadb.telemetry").disabled = True
    spelt = _spelling(folder)
    client = chromadb.PersistentClient(spelt, settings=ChromaSettings(anonymized_telemetry=False))
    _OPENED[str(folder)] = (spelt, _inode(folder))
    return client


# Chroma shares one connection among all clients of a process that spell a path alike. A folder that was removed and
# made again while an index on it was open must not get the connection to the removed files, so it is spelt anew.
_OPENED: dict[str, tuple[str, int | None]] = {}  # path: how it was spelt last, and the file that was found there


def _spelling(folder: Path) -> str:
    spelt, inode = _OPENED.get(str(folder), (str(folder), None))
    return spelt if inode in {None, _inode(folder)} else f"{spelt}/."


def _inode(folder: Path) -> int | None:
    database = folder / "chroma.sqlite3"
    return database.stat().st_ino if database.exists() else None
