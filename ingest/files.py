"""Which files a run reads, and what it calls them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.readers import RawRecord
from rag.errors import UsageError
from rag.schema import IngestReport, Reject

TEMPORARY = re.compile(r"[.~].*|#.*#|.*(?:~|\.tmp|\.swp|\.part|\.crdownload)|thumbs\.db|desktop\.ini", re.IGNORECASE)
INDEX_MARK = Path("chroma") / "chroma.sqlite3"  # a folder that holds this is an index, not a folder of lists


def source_name(path: Path) -> str:
    """The name that is stored for a file: its absolute path, the same under every locale."""
    return os.fsencode(path.resolve().as_posix()).decode("utf-8", "replace")


def find_files(roots: Sequence[Path]) -> tuple[list[Path], IngestReport]:
    """Return the list files under `roots` in name order, each once; what is passed over goes to the report's `skipped`.

    Passed over are hidden and temporary files, and indexes. Linked folders are entered once. A folder that cannot be
    listed is a reject. Raises UsageError for a root that does not exist.
    """
    report = IngestReport()
    files: dict[Path, Path] = {}
    for root in roots:
        if not root.exists():
            raise UsageError(f"no such file or folder: {root}")
        for path in sorted(_walk(root, report)) if root.is_dir() else [root]:
            files.setdefault(path.resolve(), path)
    return list(files.values()), report


def _walk(root: Path, report: IngestReport) -> Iterator[Path]:
    def unlisted(error: OSError) -> None:
        reject(report, source_name(Path(error.filename)), f"cannot be listed: {error.strerror}")

    entered: set[Path] = set()
    for folder, folders, names in os.walk(root, followlinks=True, onerror=unlisted):
        here = Path(folder)
        entered.add(here.resolve())
        for name in list(folders):
            if _passed_over(here / name):
                report.skipped.append(source_name(here / name))
                folders.remove(name)
            elif (here / name).resolve() in entered:
                folders.remove(name)
        for name in names:
            if TEMPORARY.fullmatch(name):
                report.skipped.append(source_name(here / name))
            elif (here / name).is_file():
                yield here / name


def _passed_over(folder: Path) -> bool:
    return TEMPORARY.fullmatch(folder.name) is not None or (folder / INDEX_MARK).is_file()


def reject(report: IngestReport, file: str, reason: str, record: RawRecord | None = None) -> None:
    """Count a record (or a file as a whole) that is no paper, and say why."""
    report.read += 1
    report.rejected += 1
    position, line = (record.position, record.line) if record else (None, None)
    report.rejects.append(Reject(file=file, position=position, line=line, reason=reason))
