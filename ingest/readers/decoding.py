"""Bytes to text, whatever the locale: UTF-8 first, then what the bytes themselves say."""

from __future__ import annotations

import codecs
import io
import itertools
import re
from dataclasses import dataclass
from typing import BinaryIO

from ingest.readers.records import ReadError

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
HOLES = re.compile(rb"(?:\x00{4}){16,}")  # what a crash leaves in a file; fours, so that wide characters stay whole
HIGH = re.compile(rb"[\x80-\xff]+")
FOREIGN = re.compile(r"[^\x00-\x7f]")
STRAY = re.compile("[\udc80-\udcff]")
WINDOWS_1252 = "confer-windows-1252"  # the name of the error handler below
LOOKED_AT = 1 << 22  # bytes from which an encoding other than UTF-8 is told
GUESSED_FROM = 1 << 18  # bytes from which an encoding is guessed, which takes many times their memory
BLOCK = 1 << 20
SAMPLE = 10_000  # characters that are looked at
FEW_LOST = 2  # damaged characters that are never too many
FEW = 16  # characters that are too few to tell Chinese from Korean bytes


@dataclass(frozen=True)
class Encoding:
    """A codec's name, and what to do with bytes that it does not know."""

    name: str
    errors: str = "strict"


def decode(data: bytes) -> str:
    """Return the text of a file. Raises ReadError for empty, binary or undecodable bytes."""
    encoding = detect(io.BytesIO(data))
    return data.decode(encoding.name, encoding.errors)


def detect(stream: BinaryIO) -> Encoding:
    """Find out how a stream is encoded, reading it once. Raises ReadError for empty, binary or undecodable bytes."""
    sample = stream.read(LOOKED_AT)
    if not sample.strip(b"\x00 \t\r\n"):
        raise ReadError("the file is empty")
    sample = HOLES.sub(b"", sample)
    encoding = _detect(sample, stream)
    text = codecs.getincrementaldecoder(encoding.name)(encoding.errors).decode(sample)
    if not text.strip("\ufeff\x00 \t\r\n"):
        raise ReadError("the file is empty")
    if CONTROLS.subn("", text)[1] > len(text) * 0.01:
        raise ReadError("the file is binary, not text")
    return encoding


def _detect(sample: bytes, rest: BinaryIO) -> Encoding:
    for bom, encoding in BOMS:
        if sample.startswith(bom):
            # A mark before UTF-8 is a promise that a few damaged bytes do not break.
            return Encoding(encoding, WINDOWS_1252) if bom == codecs.BOM_UTF8 else _checked(sample, encoding)
    if sample.count(0) > len(sample) * 0.01:
        return _wide(sample)
    stray, foreign = _stray_bytes(sample, rest)
    if not stray:
        return Encoding("utf-8")
    if stray * 4 <= foreign:
        return Encoding("utf-8", WINDOWS_1252)
    known = _western(sample) or _chinese(sample)
    if known is None and 0 in sample:
        raise ReadError("the file is binary, not text")
    return known or _detected(sample)


def _checked(sample: bytes, encoding: str) -> Encoding:
    """The encoding that a mark promises, if all but a few characters are in it; the last one may be cut off."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
    if text.count("\ufffd") > max(FEW_LOST, len(text) * 0.01):
        raise ReadError(f"the file says it is {encoding} but is not")
    return Encoding(encoding, "replace")


def _stray_bytes(sample: bytes, rest: BinaryIO) -> tuple[int, int]:
    """Count the bytes that are no UTF-8, and the characters beyond ASCII that are."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    stray = foreign = 0
    block = sample
    while True:
        text = decoder.decode(block, final=not block)
        if not text.isascii():
            lost = STRAY.subn("", text)[1]  # a list of them all would take a hundred times their memory
            stray += lost
            foreign += FOREIGN.subn("", text)[1] - lost
        if not block:
            return stray, foreign
        block = rest.read(BLOCK)


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: stray bytes in UTF-8 (lists that were pasted together) are read as Windows-1252."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error(WINDOWS_1252, _as_windows_1252)


def _wide(data: bytes) -> Encoding:
    """UTF-16 without a byte order mark: one of its two readings is everyday text."""
    readings = {encoding: _reading(data, encoding) or "" for encoding in ("utf-16-le", "utf-16-be")}
    best = max(readings, key=lambda encoding: _plain(readings[encoding]))
    if _plain(readings[best]) < 0.8:
        raise ReadError("the file is binary, not text")
    return Encoding(best, "replace")


def _reading(sample: bytes, encoding: str) -> str | None:
    """The sample as text, or None; a character that is cut off at its end does not count."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None


def _plain(text: str) -> float:
    """The share of English, Chinese, Japanese and Korean characters."""
    seen = text[:SAMPLE]
    return sum(_everyday(c) or "\u3040" <= c <= "\u30ff" or "\uac00" <= c <= "\ud7a3" for c in seen) / max(len(seen), 1)


def _western(data: bytes) -> Encoding | None:
    """Windows-1252 or Latin-1: bytes beyond ASCII stand alone between ASCII letters."""
    alone = runs = 0
    for run in HIGH.finditer(data):
        runs += 1
        alone += run.end() - run.start() == 1
    if alone < runs * 0.8:
        return None
    return Encoding("latin-1") if _reading(data, "cp1252") is None else Encoding("cp1252", "replace")


def _chinese(data: bytes) -> Encoding | None:
    """GB18030, where everyday Chinese comes out. Korean bytes come out as its first characters only (rows to C8)."""
    text = _reading(data, "gb18030")
    if text is None:
        return None
    foreign = [found.group() for found in itertools.islice(FOREIGN.finditer(text), SAMPLE)]
    if sum(map(_everyday, foreign)) < len(foreign) * 0.9:
        return None
    told = len(foreign) < FEW or any(_row(c) > 0xC8 for c in foreign)
    return Encoding("gb18030", "replace") if told else None


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


def _detected(data: bytes) -> Encoding:
    from charset_normalizer import from_bytes

    first = HIGH.search(data)
    begin = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    best = from_bytes(data[begin : begin + GUESSED_FROM]).best()
    if best is None:
        raise ReadError("the file is neither UTF-8 nor any other encoding that could be told; save it as UTF-8")
    return Encoding(best.encoding, "replace")
