"""Which files a run reads, and what it calls them."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.findings import reject
from rag.chroma import has_database
from rag.errors import UsageError
from rag.schema import IngestReport

TEMPORARY = re.compile(r"[.~].*|#.*#|.*(?:~|\.tmp|\.swp|\.part|\.crdownload)|thumbs\.db|desktop\.ini", re.IGNORECASE)
# What lies beside lists in a folder; named by itself, such a file is read.
PROGRAM = re.compile(
    r".*\.(?:py|ipynb|m?js|tsx?|jsx|[ch]|cc|[ch]pp|java|rs|go|rb|php|pl|r|jl|sh|bat|ps1|css|toml|ini|cfg|ya?ml|lock|log)",
    re.IGNORECASE,
)
NOWHERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


def source_name(path: Path) -> str:
    """The name that is stored for a file: its absolute path, the same under every locale."""
    return _name(_resolved(path))


def _name(path: Path) -> str:
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a link that leads back to itself
        return path.absolute()


def find_files(roots: Sequence[Path]) -> tuple[list[Path], IngestReport]:
    """Return the list files under `roots` in name order, each once; what is passed over goes to the report's `skipped`.

    Passed over are hidden and temporary files, programs and their settings, and indexes. Linked folders are entered
    once. A folder that cannot be listed is a reject, as is what is no file: a pipe would be waited for, and a device
    may never end. Raises UsageError for a root that does not exist or is no file.
    """
    report = IngestReport()
    files: dict[Path, Path] = {}
    for root in roots:
        is_folder = _is_folder(root)
        for path in sorted(_walk(root, report)) if is_folder else [root]:
            files.setdefault(_resolved(path), path)
    return list(files.values()), report


def _is_folder(root: Path) -> bool:
    try:
        mode = root.stat().st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or error.errno in NOWHERE:
            raise UsageError(f"no such file or folder: {root}") from error
        raise UsageError(f"cannot be read: {root}: {error.strerror}") from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise UsageError(f"neither a file nor a folder: {root}; save the list to a file first")
    return stat.S_ISDIR(mode)


def _walk(root: Path, report: IngestReport) -> Iterator[Path]:
    def unlisted(error: OSError) -> None:
        reject(report, source_name(Path(error.filename)), f"cannot be listed: {error.strerror}")

    entered: set[Path] = set()
    for folder, folders, names in os.walk(root, followlinks=True, onerror=unlisted):
        here = Path(folder)
        if _resolved(here) in entered:
            folders.clear()
            continue
        entered.add(_resolved(here))
        for name in list(folders):
            if _passed_over(here / name):
                report.skipped.append(source_name(here / name))
                folders.remove(name)
        for name in names:
            if TEMPORARY.fullmatch(name) or PROGRAM.fullmatch(name):
                report.skipped.append(source_name(here / name))
            elif fault := _fault(here / name):
                reject(report, _name((here / name).absolute()), fault)
            else:
                yield here / name


def _fault(path: Path) -> str | None:
    """Why there is no list file at a path."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return "a link that leads nowhere" if error.errno in NOWHERE else f"cannot be read: {error.strerror}"
    return None if stat.S_ISREG(mode) else "no file but a pipe, a socket or a device"


def _passed_over(folder: Path) -> bool:
    if TEMPORARY.fullmatch(folder.name):
        return True
    try:
        return has_database(folder)
    except OSError:  # it cannot be listed either, which is said then
        return False


def keep_apart(roots: Sequence[Path], index: Path) -> None:
    """Raise UsageError for a root that is the folder of the index, or lies in it; the folder need not exist yet."""
    for root in roots:
        if _resolved(index) in {_resolved(root), *_resolved(root).parents}:
            raise UsageError(f"{root} is the index, or lies in it; keep lists and the index in folders of their own")
