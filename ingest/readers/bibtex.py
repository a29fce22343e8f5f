"""BibTeX and BibLaTeX. Each entry is parsed alone, so that a brace too many or too few spoils no other entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ingest.readers import bibtex_fields
from ingest.readers.blocks import Block, Junk, cut
from ingest.readers.charset import chunks, open_declared
from ingest.readers.listfile import ListFile
from ingest.readers.records import LONGEST, RawRecord

if TYPE_CHECKING:
    from bibtexparser.model import Entry

KEY = r"[^,={}\"\n]{0,300}"
# What comes after the key tells an entry from `@name{…}` in running text, and an entry without key or comma counts too.
ENTRY = (
    rf"@[A-Za-z]\w*[ \t]*[{{(]\s{{0,64}}"
    rf"(?:{KEY}(?:,[ \t]*(?:$|%|[}})]|[\w-]+[ \t]*=)|=|\n[ \t]*(?:,|[\w-]+[ \t]*=)|[}})][ \t]*$|\Z))"
)
# An entry begins a line, or it follows the end of another in the same line.
BEGINS = re.compile(
    rf"(?:^|(?<=[}})]),?)[ \t]{{0,64}}(@(?:comment|preamble|string)\b[ \t]*[{{(]?|{ENTRY})",
    re.MULTILINE | re.IGNORECASE,
)
FIRST = re.compile(rf"^[ \t]*{ENTRY}", re.MULTILINE | re.IGNORECASE)
FIELD = re.compile(r"\b[A-Za-z][\w-]*\s*=\s*[{\"\w]")
NAME = re.compile(r"@\s*(\w+)\s*[{(]?\s*([^,={}\"\n]*)")
# Nothing between the key and the first field but space, or no key at all.
NO_COMMA = re.compile(r"^(@\w+\s*[{(](?:\s*[^\s,={}\"]+(?=\s))?)(?=\s*[\w-]+\s*=)")
INNER_AT = re.compile(r"\n[ \t]{0,64}(?=@\w*[ \t]*[{(])")
DECLARED = re.compile(r"^%\s*Encoding:\s*([\w-]+)", re.MULTILINE | re.IGNORECASE)
SUFFIXES = frozenset({".bib", ".bibtex", ".biblatex"})
FOREWORD = 2000  # characters that may stand before the first entry where the name does not say BibTeX


def recognises(file: ListFile) -> bool:
    """Whether an entry with a field begins near the top, or anywhere in the beginning of a file named `.bib`."""
    head = file.head_text
    if file.suffix in SUFFIXES and BEGINS.search(head):
        return True
    first = FIRST.search(head, 0, FOREWORD + 400)
    return bool(first and first.start() <= FOREWORD and FIELD.search(head, first.start(), first.end() + 400))


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the entries. `@string`, `@comment`, `@preamble` and the text between entries are no records."""
    declared = DECLARED.search(re.sub("\r\n?", "\n", file.head.decode("latin-1")))
    strings: dict[str, str] = {}
    position = 0
    junk: str | None = None
    text = open_declared(file, declared[1] if declared else None)
    for block in cut(chunks(text), BEGINS, LONGEST):
        kind, key = _name(block)
        if kind in {"", "comment", "preamble", "xdata"}:
            continue
        if kind == "string":
            strings |= _definitions(block.text, strings)
            continue
        record, rest = _record(block, key, position, strings, file)
        yield record if junk is None else _warned(record, junk)
        junk = _junk(block, rest)
        position += 1


def _name(block: Block) -> tuple[str, str]:
    match = NAME.match(block.text)
    return (match[1].lower(), match[2].strip()) if match else ("", "")


def _definitions(text: str, strings: dict[str, str]) -> dict[str, str]:
    from bibtexparser.entrypoint import parse_string

    found = parse_string(text, parse_stack=[]).strings
    return {item.key.lower(): bibtex_fields.value(item.value, strings) for item in found}


def _record(block: Block, key: str, position: int, strings: dict[str, str], file: ListFile) -> tuple[RawRecord, str]:
    """The record of an entry, and the text that stands after it."""

    def rejected(reason: str) -> tuple[RawRecord, str]:
        named = f"{key or 'an entry without key'}: {reason}"
        return RawRecord(position, block.line, "", key=key or None, reject=named), ""

    if block.size > LONGEST:
        return rejected(f"the entry is longer than {LONGEST:,} characters")
    entry, problem, rest = _parse(block.text)
    if entry is None:
        return rejected(problem)
    values: dict[str, str] = {}
    for item in entry.fields:
        found = bibtex_fields.value(item.value, strings)
        if not values.get(item.key.lower()):  # a field that is given twice: the first that says something
            values[item.key.lower()] = found
    return bibtex_fields.record(values, entry.key or None, position, block.line, file.fields), rest


def _parse(text: str) -> tuple[Entry | None, str, str]:
    """The entry at the beginning of a text, or what is wrong with it, and the text after it."""
    import logging

    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import DuplicateFieldKeyBlock, Entry, ParsingFailedBlock

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # what is wrong stands in the record
    source = INNER_AT.sub(" ", NO_COMMA.sub(r"\1,", text))
    try:
        blocks = parse_string(source, parse_stack=[]).blocks
    except Exception as error:  # a fault of the parser must not end the file
        return None, f"the entry cannot be parsed ({error})", ""
    entry = blocks[0] if blocks else None
    if isinstance(entry, DuplicateFieldKeyBlock):
        entry = entry.ignore_error_block
    if isinstance(entry, Entry):
        return entry, "", source[len(entry.raw or "") :]
    reason = entry.error.abort_reason if isinstance(entry, ParsingFailedBlock) else "no entry"  # type: ignore[attr-defined]
    if "end of file" in reason:
        reason = "a brace or quote is not closed"
    return None, f"the entry cannot be parsed: {reason.strip()}", ""


def _junk(block: Block, rest: str) -> str | None:
    """What to say about text after an entry that is neither blank nor a comment line."""
    lines = [line for line in rest.split("\n") if line.strip(" \t,;") and not line.lstrip().startswith("%")]
    if not lines:
        return None
    line = block.line + block.lines - rest.count("\n") + rest[: rest.index(lines[0])].count("\n")
    return Junk(len(lines), line).told("before")


def _warned(record: RawRecord, warning: str) -> RawRecord:
    import dataclasses

    return dataclasses.replace(record, warning=warning)
