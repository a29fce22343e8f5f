"""What a report says of single records: each finding with its place, up to a limit of its kind."""

from __future__ import annotations

from typing import Protocol

from ingest.readers import RawRecord
from rag.schema import Finding, IngestReport, Reject

SHOWN = 1000  # findings of a kind that a report lists
LISTED = 10_000  # rejects that a report lists; all are counted, but a file of rubbish may hold millions


class Place(Protocol):
    """What has a place in a file: a record, or what the plan keeps of one."""

    @property
    def position(self) -> int: ...
    @property
    def line(self) -> int | None: ...


def find(findings: list[Finding], file: str, place: Place, reason: str) -> None:
    """Note something about a record, unless enough of the kind is noted."""
    if len(findings) < SHOWN:
        findings.append(Finding(file=file, position=place.position, line=place.line, reason=reason))


def reject(report: IngestReport, file: str, reason: str, record: RawRecord | None = None) -> None:
    """Count a record (or a file as a whole) that is no paper, and say why."""
    report.read += 1
    report.rejected += 1
    position, line = (record.position, record.line) if record else (None, None)
    if len(report.rejects) < LISTED:
        report.rejects.append(Reject(file=file, position=position, line=line, reason=reason))
