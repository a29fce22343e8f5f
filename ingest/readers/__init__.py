"""Readers: one file a format, each turning a list file into raw records."""

from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord, ReadError
from ingest.readers.registry import read_file

__all__ = ["ListFile", "RawRecord", "ReadError", "read_file"]
