"""The last ingest reports of an index, kept as files in its folder."""

from __future__ import annotations

from pathlib import Path

from rag.schema import IngestReport

KEPT = 10


def keep(index: Path, report: IngestReport) -> None:
    """Keep a report; the oldest of more than ten goes."""
    folder = index / "reports"
    folder.mkdir(exist_ok=True)
    held = sorted(folder.glob("*.json"))
    number = int(held[-1].stem) + 1 if held else 1
    partial = folder / "partial"
    partial.write_text(report.model_dump_json(), encoding="utf-8")
    partial.rename(folder / f"{number:06d}.json")
    for old in held[: max(0, len(held) + 1 - KEPT)]:
        old.unlink(missing_ok=True)


def last(index: Path) -> list[IngestReport]:
    """Up to ten reports, newest first."""
    files = sorted((index / "reports").glob("*.json"), reverse=True)
    return [IngestReport.model_validate_json(file.read_text(encoding="utf-8")) for file in files]
