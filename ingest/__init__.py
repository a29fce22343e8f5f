"""Ingest: list files in, papers in the index, a report that accounts for every record."""

from ingest.job import run
from ingest.watching import watch

__all__ = ["run", "watch"]
