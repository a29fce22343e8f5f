"""Text in the encoding that the file itself declares, where that is believable."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator
from typing import TextIO

from ingest.readers.blocks import CHUNK
from ingest.readers.decoding import Encoding
from ingest.readers.listfile import ListFile
from ingest.readers.records import ReadError

# The encodings whose names say something that the bytes do not; UTF-8 and UTF-16 are told from the bytes.
NATIONAL = re.compile(
    r"(?:iso-?8859-?\d+|windows-?\d+|cp-?\d+|latin-?\d+|shift[_-]?jis|sjis|euc-?(?:jp|kr)|iso-?2022-?(?:jp|kr)"
    r"|gb2312|gbk|gb18030|big5|koi8-?[ru]|mac-?roman)",
    re.IGNORECASE,
)
WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "sjis": "cp932"}  # what writers of these mean


def open_declared(file: ListFile, declared: str | None) -> TextIO:
    """Open as text. Bytes that are UTF-8 are read as such, whatever they say (except 7-bit encodings)."""
    name = (declared or "").strip().lower()
    if NATIONAL.fullmatch(name) and (name.startswith("iso-2022") or not _is_unicode(file)):
        with contextlib.suppress(LookupError):
            return file.text(Encoding(codecs.lookup(WIDER.get(name, name)).name, "replace"))
    return file.text()


def _is_unicode(file: ListFile) -> bool:
    try:
        encoding = file.encoding
    except ReadError:  # it cannot be told, so the declaration decides
        return False
    return encoding.name.startswith("utf")


def chunks(stream: TextIO) -> Iterator[str]:
    """Yield the text piece by piece, and close the stream."""
    with stream:
        while chunk := stream.read(CHUNK):
            yield chunk
