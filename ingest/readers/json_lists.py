"""JSON and JSON Lines: lists of objects, whatever stands around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from ingest.readers import by_names, json_shapes
from ingest.readers.json_elements import COMMENT, TOO_DEEP, Element, elements
from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord

SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".jsonlines", ".json5", ".jsonc"})
NAME = r'\{\s*+"(?:[^"\\\n]|\\.){0,200}"\s*+:'
SCALAR = r'(?:null|true|false|-?\d[\d.eE+-]*+|"(?:[^"\\]++|\\.)*+")\s*+,\s*+'
BEGIN = re.compile(rf"(?:\[\s*+(?:{SCALAR})*+)?{NAME}")
TRAILING_COMMA = re.compile(r'("(?:[^"\\]++|\\.)*+")|,(?=\s*+[}\]])', re.DOTALL)
DECODER = json.JSONDecoder(strict=False)
KINDS = {str: "a string", int: "a number", float: "a number", bool: "true or false", list: "a list", type(None): "null"}


def recognises(file: ListFile) -> bool:
    """Whether the text begins with an object or a list of objects; a name that ends in `.json` needs less."""
    begin = COMMENT.sub(lambda found: found[1] or " ", file.head_text[:4096]).lstrip("\x1e \t\r\n")
    if BEGIN.match(begin):
        return True
    return file.suffix in SUFFIXES and (begin[:1] in ("[", "{") or re.search(NAME, file.head_text) is not None)


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the objects of the text as records; what is broken, or no object, is a rejected record."""
    position = 0
    with file.text() as text:
        for element in elements(text, file.fields):
            record = _record(element, position, file)
            if record:
                yield record
                position += 1


def _record(element: Element, position: int, file: ListFile) -> RawRecord | None:
    """The record in an element; None for what stands in a list beside the records and is none."""
    try:
        row = _parsed(element)
        if isinstance(row, str):
            return None if element.aside else RawRecord(position, element.line, "", reject=row)
        record = json_shapes.record(row, position, element.line, file.fields, file.name)
        known = record.abstract or json_shapes.names_abstract(row, file.fields)
    except RecursionError:
        return RawRecord(position, element.line, "", reject=TOO_DEEP)
    if element.aside and not known:
        return None
    if position == 0 and not known:  # once is enough
        return replace(record, reject=by_names.missing_abstract(row, file.fields))
    return record


def _parsed(element: Element) -> dict[str, object] | str:
    """The object in an element, or why there is none."""
    if element.reject:
        return element.reject
    try:
        found = _loads(element.text)
    except json.JSONDecodeError as error:
        return (
            f"not valid JSON: {error.msg} (line {element.line + error.lineno - 1}, column {error.colno} of the record)"
        )
    except ValueError as error:  # a number with thousands of digits
        return f"not valid JSON: {error}"
    if not isinstance(found, dict):
        return f"{KINDS[type(found)]}, not an object with names and values"
    return found


def _loads(text: str) -> object:
    """Parse JSON; line breaks in strings, comments and commas before a bracket are let pass."""
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        mended = TRAILING_COMMA.sub(lambda found: found[1] or "", COMMENT.sub(lambda found: found[1] or " ", text))
        try:
            return DECODER.decode(mended)
        except ValueError:
            raise error from None
