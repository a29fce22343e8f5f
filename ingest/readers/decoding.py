"""Bytes to text, whatever the locale: UTF-8 first, then what the bytes themselves say."""

from __future__ import annotations

import codecs
import re

from ingest.readers.records import ReadError

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
HIGH = re.compile(rb"[\x80-\xff]+")
FOREIGN = re.compile(r"[^\x00-\x7f]")
SAMPLE = 10_000  # characters that are looked at
FEW = 16  # characters that are too few to tell Chinese from Korean bytes


def decode(data: bytes) -> str:
    """Return the text of a file. Raises ReadError for empty, binary or undecodable bytes."""
    if not data.strip(b"\x00 \t\r\n"):
        raise ReadError("the file is empty")
    text = _decode(data)
    if len(CONTROLS.findall(text)) > len(text) * 0.01:
        raise ReadError("the file is binary, not text")
    return text


def _decode(data: bytes) -> str:
    for bom, encoding in BOMS:
        if data.startswith(bom):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                raise ReadError(f"the file says it is {encoding} but is not (byte {error.start})") from error
    if data.count(0) > len(data) * 0.01:
        return _wide(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if 0 in data:
            return _wide(data)
        return _nearly_utf8(data) or _western(data) or _chinese(data) or _detected(data)


def _wide(data: bytes) -> str:
    """UTF-16 without a byte order mark: one of its two readings is everyday text."""
    readings = [text for encoding in ("utf-16-le", "utf-16-be") if (text := _reading(data, encoding))]
    best = max(readings, key=_plain, default="")
    if _plain(best) < 0.8:
        raise ReadError("the file is binary, not text")
    return best


def _reading(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return ""


def _plain(text: str) -> float:
    """The share of English, Chinese, Japanese and Korean characters."""
    seen = text[:SAMPLE]
    return sum(_everyday(c) or "\u3040" <= c <= "\u30ff" or "\uac00" <= c <= "\ud7a3" for c in seen) / max(len(seen), 1)


def _nearly_utf8(data: bytes) -> str | None:
    """UTF-8 with a few stray bytes (lists that were pasted together); those are read as Windows-1252."""
    text = data.decode("utf-8", "surrogateescape")
    stray = len(re.findall("[\udc80-\udcff]", text))
    if stray * 4 > len(FOREIGN.findall(text)) - stray:
        return None
    return text.translate({0xDC00 + b: bytes([b]).decode("cp1252", "replace") for b in range(0x80, 0x100)})


def _western(data: bytes) -> str | None:
    """Windows-1252 or Latin-1: bytes beyond ASCII stand alone between ASCII letters."""
    runs = HIGH.findall(data)
    if sum(len(run) == 1 for run in runs) < len(runs) * 0.8:
        return None
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _chinese(data: bytes) -> str | None:
    """GB18030, where everyday Chinese comes out. Korean bytes come out as its first characters only (rows to C8)."""
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    foreign = FOREIGN.findall(text)[:SAMPLE]
    if sum(map(_everyday, foreign)) < len(foreign) * 0.9:
        return None
    return text if len(foreign) < FEW or any(_row(c) > 0xC8 for c in foreign) else None


def _everyday(character: str) -> bool:
    """Whether a character is ASCII text, Chinese of the first level of GB 2312, or its punctuation."""
    if character <= "\x7f":
        return character.isprintable() or character in "\t\r\n"
    return 0xB0 <= _row(character) <= 0xD7 or _row(character) in {0xA1, 0xA3} or character in "—…“”‘’·"


def _row(character: str) -> int:
    try:
        return character.encode("gb2312")[0]
    except UnicodeEncodeError:
        return 0


def _detected(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is None:
        raise ReadError("the file is neither UTF-8 nor any other encoding that could be told; save it as UTF-8")
    return str(best)
