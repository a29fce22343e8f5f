"""Web of Science's plain text (`.ciw`, `.isi`, `.txt`): `PT J` … `ER`, continuation lines with three spaces."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.readers import fields, tagged
from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord

OPENING = re.compile(r"(?P<tag>PT) (?P<value>[A-Z]\w*)\s*$")
HEADLESS = re.compile(r"(?P<tag>AU|AF|TI|SO|AB) (?P<value>\S.*)")
FIELD = re.compile(r"(?P<tag>[A-Z][A-Z0-9])(?: |$)(?P<value>.*)")
SHAPE = tagged.Shape(
    styles=((OPENING, FIELD), (HEADLESS, FIELD)),
    starts=frozenset({"PT"}),
    # A tag of the beginning that comes again after a blank line: end and first line are both missing.
    renews=lambda tag, block, after_blank: tag == "PT" or (after_blank and tag in block.tags),
    end=re.compile(r"ER\s*$"),
    silent=re.compile(r"(?:FN|VR) |EF\s*$"),
)
FILE = re.compile(r"\s*FN .*\n\s*VR \d")
RECORD = re.compile(r"^PT [A-Z]\w*[ \t]*\n(?:[A-Z][A-Z0-9] .*|   .*)\n", re.MULTILINE)


def recognises(file: ListFile) -> bool:
    """Whether the file begins as such exports do, or a record begins somewhere in it."""
    head = tagged.head(file)
    return bool(FILE.match(head) or RECORD.search(head))


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the records of a file."""
    for position, block in enumerate(tagged.split(file.lines(), SHAPE)):
        yield _record(position, block, _parse(block))


@functools.cache
def _parser() -> Any:
    import rispy
    from rispy.config import WOK_TAG_KEY_MAPPING

    mapping = {**WOK_TAG_KEY_MAPPING, "DL": "doi_link"}
    return rispy.WokParser(mapping=mapping, skip_unknown_tags=True, enforce_list_tags=False)


def _parse(block: tagged.Block) -> Mapping[str, object]:
    lines = [f"{tag} " + "\n".join(value) for tag, value in block.fields if tag != "PT"]
    found: Mapping[str, object] = _parser().parse_lines(iter(["PT ", *lines, "ER"]))[0]
    return found


def _record(position: int, block: tagged.Block, found: Mapping[str, object]) -> RawRecord:
    words = [part for value in tagged.values(found, "author_keywords", "keywords_plus") for part in _parts(value)]
    people = next(
        (p for name in ("author_full_name", "authors", "group_authors", "book_authors") if (p := _people(found, name))),
        (),
    )
    sources = tagged.values(found, "doi", "doi_link")
    return RawRecord(
        position,
        block.line,
        "" if block.reject else tagged.abstract(found, "abstract"),
        title=tagged.first(found, "document_title"),
        authors=people,
        venue=tagged.first(found, "publication_name", "conference_title"),
        year=fields.year(tagged.values(found, "publication_year", "early_access_year", "early_access_date")),
        keywords=fields.words(words),
        url=tagged.lookup(fields.url, tagged.values(found, "doi_link")),
        doi=tagged.lookup(fields.doi, sources),
        arxiv_id=tagged.lookup(fields.arxiv, sources),
        key=tagged.first(found, "accession_number"),
        reject=block.reject,
        warning=block.warning,
    )


def _people(found: Mapping[str, object], name: str) -> tuple[str, ...]:
    return tagged.names(tagged.values(found, name))


def _parts(value: str) -> list[str]:
    """Keywords are wrapped like text, also within one."""
    return tagged.flat(value).split(";")
