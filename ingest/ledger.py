"""What the last run found in each file, so that a file that has not changed need not be read again.

It only saves work: an entry counts while the index still holds as many sources of the file as it says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ingest.clean import CLEANING_VERSION
from rag.schema import IngestReport, Model

READING_VERSION = 2  # grows when readers find other records in the same bytes
BLOCK = 1 << 20


class Entry(Model):
    """A file that was read to its end: its bytes, how they were read, and what was found in it.

    `accepted` are the records that became sources of papers, by source name (members of an archive have their own).
    """

    digest: str
    accepted: dict[str, int]
    report: IngestReport


class Ledger(Model):
    """Entries by the names of files."""

    files: dict[str, Entry] = {}  # noqa: RUF012 (pydantic copies it)

    def unchanged(self, name: str, digest: str, sources: Mapping[str, int]) -> Entry | None:
        """The entry of a file if it has these bytes, and the index these numbers of sources."""
        entry = self.files.get(name)
        if entry is None or entry.digest != digest:
            return None
        return entry if all(sources.get(n, 0) == count for n, count in entry.accepted.items()) else None


def digest_of(path: Path, fields: Mapping[str, str]) -> str:
    """Stands for the bytes of a file and for all else that decides what is read from it. Raises OSError."""
    how = f"{READING_VERSION} {CLEANING_VERSION} {sorted(fields.items())}"
    digest = hashlib.sha256(how.encode("utf-8", "surrogatepass"))
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()[:32]


def load(index: Path) -> Ledger:
    """The ledger of an index; an empty one where there is none or it cannot be read."""
    try:
        return Ledger.model_validate_json((index / "files.json").read_bytes())
    except (OSError, ValueError):
        return Ledger()


def save(index: Path, ledger: Ledger) -> None:
    """Write the ledger; it appears whole or not at all."""
    partial = index / "files.json.partial"
    partial.write_text(ledger.model_dump_json(), encoding="utf-8")
    partial.replace(index / "files.json")
