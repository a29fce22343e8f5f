"""Ingest: list files in, papers in the index, a report that accounts for every record."""

from ingest.job import run

__all__ = ["run"]
