"""ProQuest's text export: `Document 1 of 100` between ruled lines, then `Author: …`, `Abstract: …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.readers import fields, tagged
from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord

OPENING = re.compile(r"(?P<tag>Document) (?P<value>\d+ of \d+)\s*$")
# Only names that are known: a paragraph of an abstract begins with `Results:` too.
FIELD = re.compile(
    r"(?P<tag>Abstract(?: \([^()]*\))?|Full text|Links|Document URL|Title|Author|Publication title|Source|Source type"
    r"|Subject|Classification|Identifier / keyword|Company / organization|Volume|Issue|Pages|First page|Number of pages"
    r"|Publication year|Publication date|Degree date|Year|Date|School code|Place of publication|Country of publication"
    r"|Publisher|Publication subject|Publication info|ISSN|ISBN|e-?ISSN|CODEN|DOI|Digital Object Identifier|Advisor"
    r"|Committee member|University/institution|University location|Department|Degree|Language(?: of publication)?"
    r"|Document type|Document feature|Dissertation/thesis number|Accession number|ProQuest document ID|Copyright"
    r"|Database|Last updated|References|Correspondence author|Author affiliation): ?(?P<value>.*)"
)
SHAPE = tagged.Shape(
    styles=((OPENING, FIELD),),
    starts=frozenset({"Document"}),
    end=re.compile(r"_{20,}\s*$"),
    silent=re.compile(""),  # a title page, a table of contents, a bibliography and the publisher's address
)
SUBJECTS = ("Identifier / keyword", "Subject")
RECORD = re.compile(r"^(?:Report Information from ProQuest|Document \d+ of \d+)\s*$", re.MULTILINE)


def recognises(file: ListFile) -> bool:
    """Whether it begins with a ruled line, and the report or a record in it."""
    head = tagged.head(file)
    return head.lstrip().startswith("_" * 20) and bool(RECORD.search(head))


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the records of a file."""
    for position, block in enumerate(tagged.split(file.lines(), SHAPE)):
        yield _record(position, block)


def _record(position: int, block: tagged.Block) -> RawRecord:
    found = tagged.gather(block)
    number, *title = found["Document"][0].split("\n")
    abstracts = [tag for tag in found if tag.startswith("Abstract")]
    abstract = tagged.abstract(found, *abstracts)
    links = [
        line for tag in ("Document", "Author", "Document URL") for v in found.get(tag, ()) for line in v.split("\n")
    ]
    doi = tagged.lookup(fields.doi, tagged.values(found, "DOI", "Digital Object Identifier"))
    return RawRecord(
        position,
        block.line,
        "" if block.reject or abstract.lower().startswith("none available") else abstract,
        title=tagged.first(found, "Title") or fields.text(tagged.flat("\n".join(title))),
        authors=tagged.names(value.split("\n")[0] for value in found.get("Author", ())),
        venue=tagged.first(found, "Publication title", "University/institution", "Source"),
        year=fields.year(tagged.values(found, "Publication year", "Publication date", "Degree date", "Year", "Date")),
        keywords=fields.words(
            [word for tag in SUBJECTS for value in found.get(tag, ()) for word in fields.words(value)]
        ),
        url=tagged.lookup(fields.url, links),
        doi=doi,
        key=tagged.first(found, "ProQuest document ID") or f"Document {number}",
        reject=block.reject,
        warning=block.warning,
    )
