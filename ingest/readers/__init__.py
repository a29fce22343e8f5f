"""Readers: one file a format, each turning a list file into raw records. `plain` is the only format so far."""

from ingest.readers.records import RawRecord, ReadError
from ingest.readers.registry import read_file

__all__ = ["RawRecord", "ReadError", "read_file"]
