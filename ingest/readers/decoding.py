"""Bytes to text, whatever the locale: UTF-8 first, then what the bytes themselves say."""

from __future__ import annotations

import codecs

from ingest.readers.records import ReadError

BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decode(data: bytes) -> str:
    """Return the text of a file. Raises ReadError for empty, binary or undecodable bytes."""
    if not data.strip(b"\x00 \t\r\n"):
        raise ReadError("the file is empty")
    for bom, encoding in BOMS:
        if data.startswith(bom):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                raise ReadError(f"the file says it is {encoding} but is not (byte {error.start})") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = _detect(data)
    controls = sum(text.count(c) for c in map(chr, [*range(0, 9), *range(14, 32)]))
    if controls > len(text) * 0.01:
        raise ReadError("the file is binary, not text")
    return text


def _detect(data: bytes) -> str:
    from charset_normalizer import from_bytes

    if data.count(b"\x00") > len(data) * 0.01 and data.count(b"\x00") < len(data) * 0.3:
        raise ReadError("the file is binary, not text")
    best = from_bytes(data).best()
    if best is None:
        raise ReadError("the file is neither UTF-8 nor any other encoding that could be told; save it as UTF-8")
    return str(best)
