"""MEDLINE text (`.nbib`, `.medline`, `.txt`) from PubMed: `PMID- 1` …, continuation lines with six spaces."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.readers import fields, tagged
from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord

OPENING = re.compile(r"(?P<tag>PMID|PMC |UI  |OWN |STAT)- ?(?P<value>.*)")
HEADLESS = re.compile(r"(?P<tag>TI  |AB  |FAU |AU  )- ?(?P<value>.*)")
FIELD = re.compile(r"(?P<tag>[A-Z][A-Z0-9 ]{3})-(?: |$)(?P<value>.*)")
RECORD = re.compile(r"^PMID- ?\d", re.MULTILINE)
HEADS = frozenset({"PMID", "PMC", "UI"})
# What is read here; all else is passed over.
TAGS = frozenset(
    {"PMID", "PMC", "TI", "BTI", "CTI", "TT", "AB", "OAB", "FAU", "AU", "CN", "FED", "JT", "TA", "DP", "DEP", "EDAT"}
    | {"OT", "MH", "LID", "AID", "ER"}
)


def _renews(tag: str, block: tagged.Block, after_blank: bool) -> bool:
    """Records have no end: a number ends the one before, or a field that comes again, after a blank line."""
    if tag == "PMID" and tag in block.tags:
        return True
    return after_blank and (tag in HEADS or tag in block.tags)


SHAPE = tagged.Shape(styles=((OPENING, FIELD), (HEADLESS, FIELD)), starts=HEADS, renews=_renews, last="SO", gap=1)


def recognises(file: ListFile) -> bool:
    """Whether a record begins in it."""
    return bool(RECORD.search(tagged.head(file)))


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the records of a file."""
    for position, block in enumerate(tagged.split(file.lines(), SHAPE)):
        yield _record(position, block, _parse(block))


@functools.cache
def _parser() -> Any:
    import rispy

    class MedlineParser(rispy.RisParser):  # type: ignore[misc]
        """Tags of up to four letters, which are their own names."""

        START_TAG = "PMID"

        def parse_line(self, line: str) -> tuple[str, str]:
            return line[:4].strip(), line[6:].strip()

    mapping = {tag: tag for tag in TAGS}
    return MedlineParser(mapping=mapping, delimiter_tags_mapping={}, skip_unknown_tags=True, enforce_list_tags=False)


def _parse(block: tagged.Block) -> Mapping[str, object]:
    lines = [f"{tag:<4}- " + "\n".join(value) for tag, value in block.fields]
    found: Mapping[str, object] = _parser().parse_lines(iter(["PMID- ", *lines, "ER  - "]))[0]
    return found


def _record(position: int, block: tagged.Block, found: Mapping[str, object]) -> RawRecord:
    abstract = "" if block.reject else tagged.abstract(found, "AB", "OAB")
    identifiers = [*_marked(found, "[doi]"), *tagged.values(found, "LID", "AID")]
    return RawRecord(
        position,
        block.line,
        abstract,
        title=tagged.first(found, "TI", "BTI", "CTI", "TT"),
        authors=_authors(found),
        venue=tagged.first(found, "JT", "TA", "BTI", "CTI"),
        year=fields.year(tagged.values(found, "DP", "DEP", "EDAT")),
        keywords=fields.words([_subject(word) for word in tagged.values(found, "OT", "MH")]),
        doi=tagged.lookup(fields.doi, identifiers),
        arxiv_id=tagged.lookup(fields.arxiv, identifiers),
        key=tagged.first(found, "PMID", "PMC"),
        reject=block.reject,
        warning=block.warning,
    )


def _marked(found: Mapping[str, object], mark: str) -> list[str]:
    return [value for value in tagged.values(found, "LID", "AID") if mark in value]


def _authors(found: Mapping[str, object]) -> tuple[str, ...]:
    """Full names where given, else short ones; groups and the editors of books too."""
    people = tagged.values(found, "FAU") or tagged.values(found, "AU")
    return tagged.names([*map(tagged.flat, people), *map(tagged.flat, tagged.values(found, "CN"))]) or tagged.names(
        tagged.values(found, "FED")
    )


def _subject(word: str) -> str:
    """A subject heading without the star of main subjects."""
    return tagged.flat(word).replace("*", "")
