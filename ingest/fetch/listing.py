"""The list file that a fetch writes: a line a paper, under another name until it is whole, and gone on with if cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from ingest.fetch.visit import Row
from rag.errors import UsageError

ORIGIN = "fetched_from"  # the key that says of each paper which fetch it belongs to


def part_of(out: Path) -> Path:
    """The name of a file while it is not whole; ingest passes over such names."""
    return out.with_name(f"{out.name}.part")


def papers_in(out: Path, source: str) -> int:
    """How many papers a whole file holds. Raises UsageError if something else than a fetch of `source` wrote it."""
    with out.open("rb") as file:
        count = 0
        for line in file:
            if not count:
                _identifier(line, source, out)
            count += 1
    if not count:
        raise UsageError(f"{out} is empty, and not by `confer fetch`; remove it, or give another file with --out")
    return count


def taken_up(part: Path, source: str, limit: int | None) -> list[str]:
    """The ids of the papers that a cut fetch left, in order; what comes behind the last whole line is cut off.

    Raises UsageError if something else than a fetch of `source` wrote the file.
    """
    identifiers: list[str] = []
    end = 0
    with part.open("r+b") as file:
        for line in file:
            if len(identifiers) == limit or not line.endswith(b"\n"):
                break
            try:
                identifiers.append(_identifier(line, source, part))
            except UsageError:
                if not identifiers:
                    raise
                break
            end += len(line)
        if not identifiers and not _begun(part):
            raise _foreign(part)
        file.truncate(end)
    return identifiers


def add(
    part: Path, rows: Iterable[Row], source: str, done: list[str], limit: int | None, told: Callable[[], None]
) -> None:
    """Write each paper as it comes, without those in `done`, to which its id is added; `told` is called for each."""
    seen = set(done)
    # A lone surrogate cannot be encoded; \ud800, which stands for it then, is JSON's way to write it.
    with part.open("a", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        for row in rows:
            identifier = str(row["id"])
            if identifier in seen:
                continue
            file.write(json.dumps({**row, ORIGIN: source}, ensure_ascii=False) + "\n")
            file.flush()
            seen.add(identifier)
            done.append(identifier)
            told()
            if len(done) == limit:
                return


def _identifier(line: bytes, source: str, file: Path) -> str:
    """The id of the paper on a line. Raises UsageError if a fetch of `source` has not written it."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or ORIGIN not in row or not isinstance(row.get("id"), str):
        raise _foreign(file)
    if row[ORIGIN] != source:
        raise UsageError(f"{file} holds papers of {row[ORIGIN]}; give another file with --out")
    return str(row["id"])


def _begun(part: Path) -> bool:
    """Whether a file may be one whose first line was cut, or an empty one."""
    with part.open("rb") as file:
        begin = file.read(8)
    return b'{"id": "'.startswith(begin)


def _foreign(file: Path) -> UsageError:
    return UsageError(f"{file} is there already, and not by `confer fetch`; give another file with --out")
