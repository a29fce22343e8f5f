"""RIS: `TY  - JOUR` … `ER  - `, from reference managers and most databases."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.readers import fields, tagged
from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord

OPENING = re.compile(r"(?P<tag>TY)  -\s?(?P<value>.*)")
HEADLESS = re.compile(r"(?P<tag>TI|T1|AU|A1|AB|N2)  -\s?(?P<value>.*)")
FIELD = re.compile(r"(?P<tag>[A-Z][A-Z0-9])  -\s?(?P<value>.*)")
# Some sites write one space or three, or indent. A record is written in one way, so that text with dashes is no field.
LOOSE_OPENING = re.compile(r"[ \t]*(?P<tag>TY)[ \t\xa0]{1,3}-[ \t]*(?P<value>[A-Z]{3,})[ \t]*$")
LOOSE_FIELD = re.compile(r"[ \t]*(?P<tag>[A-Z][A-Z0-9])[ \t\xa0]{1,3}-(?:\s|$)(?P<value>.*)")
TITLES = frozenset({"TI", "T1"})
SHAPE = tagged.Shape(
    styles=((OPENING, FIELD), (LOOSE_OPENING, LOOSE_FIELD), (HEADLESS, FIELD)),
    starts=frozenset({"TY"}),
    # A second title after a blank line: end and first line are both missing.
    renews=lambda tag, block, after_blank: tag == "TY" or (after_blank and tag in TITLES and tag in block.tags),
    end=re.compile(r"ER  -|[ \t]*ER[ \t\xa0]{0,3}-[ \t]*$"),
)
VENUE = ("secondary_title", "alternate_title3", "journal_name", "book_title", "conference", "alternate_title2")
LINKS = ("urls", "file_attachments1", "file_attachments2", "link")


def recognises(file: ListFile) -> bool:
    """Whether a line begins a record, or a field at least in a file that is named so."""
    openings = (OPENING, LOOSE_OPENING) if file.suffix != ".ris" else (OPENING, LOOSE_OPENING, HEADLESS)
    return any(opening.match(line) for line in tagged.head(file).split("\n") for opening in openings)


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the records of a file."""
    for position, block in enumerate(tagged.split(file.lines(), SHAPE)):
        yield _record(position, block, _parse(block))


@functools.cache
def _parser() -> Any:
    import rispy

    mapping = {**rispy.TAG_KEY_MAPPING, "BT": "book_title", "C3": "conference", "L3": "link", "LK": "link"}
    del mapping["UK"]  # a tag of that name would clash with rispy's box for unknown tags
    return rispy.RisParser(mapping=mapping, skip_unknown_tags=True, enforce_list_tags=False)


def _parse(block: tagged.Block) -> Mapping[str, object]:
    lines = [f"{tag}  - " + "\n".join(value) for tag, value in block.fields if tag != "TY"]
    found: Mapping[str, object] = _parser().parse_lines(iter(["TY  - ", *lines, "ER  - "]))[0]
    return found


def _record(position: int, block: tagged.Block, found: Mapping[str, object]) -> RawRecord:
    links = tagged.values(found, *LINKS)
    sources = [*tagged.values(found, "doi"), *links, *tagged.values(found, *VENUE)]
    years = tagged.values(found, "year", "publication_year", "date")
    return RawRecord(
        position,
        block.line,
        "" if block.reject else tagged.abstract(found, "abstract", "notes_abstract"),
        title=tagged.first(found, "title", "primary_title", "short_title", "translated_title"),
        authors=tagged.names(tagged.values(found, "authors", "first_authors")),
        venue=tagged.first(found, *VENUE),
        year=fields.year(years),
        keywords=tagged.keywords(tagged.values(found, "keywords")),
        url=tagged.lookup(fields.url, links),
        doi=tagged.lookup(fields.doi, sources),
        arxiv_id=tagged.lookup(fields.arxiv, sources),
        openreview_id=tagged.lookup(fields.openreview, links),
        key=tagged.first(found, "id", "accession_number"),
        reject=block.reject,
        warning=block.warning,
    )
