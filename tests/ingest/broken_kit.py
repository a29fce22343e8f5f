"""One small valid list in every format, ways to break it, and reading it as the ingest job does. All texts are invented."""

from __future__ import annotations

import gzip
import io
import json
import random
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from ingest_kit import ABSTRACTS, list_file

from ingest.files import find_files
from ingest.gather import Gathered, gather
from ingest.readers import ListFile, RawRecord, ReadError, read_file
from ingest.readers.containers import members
from ingest.spool import Spool
from rag.schema import IngestReport

PLAIN_ABSTRACTS = (
    "Weather stations drift over the years, and nobody recalibrates them on time. A model learns the drift of each "
    "sensor from its neighbours. On 412 stations it halves the error that the operators report every month.",
    ABSTRACTS[4].replace("$1-1/e$", "two thirds").replace("$O(\\log m)$", "linear time").replace("$", ""),
    *ABSTRACTS[5:8],
)
LIMIT = 10.0  # seconds of computing that no small file may take


@dataclass(frozen=True)
class Format:
    """A text format: what stands around its records, and how one is written."""

    name: str
    one: Callable[[int, str], str]
    begin: str = ""
    end: str = ""
    between: str = ""

    def text(self, *records: str) -> str:
        """A file with these records, each as `one` has written it."""
        return self.begin + self.between.join(records) + self.end

    def records(self, abstracts: tuple[str, ...] = PLAIN_ABSTRACTS) -> list[str]:
        """The abstracts written as records."""
        return [self.one(number, abstract) for number, abstract in enumerate(abstracts)]

    def file(self, abstracts: tuple[str, ...] = PLAIN_ABSTRACTS) -> bytes:
        """A whole file."""
        return self.text(*self.records(abstracts)).encode()


def _json(number: int, abstract: str) -> str:
    return json.dumps({"id": f"p{number}", "title": f"On thing {number}", "abstract": abstract})


def _pubmed(number: int, abstract: str) -> str:
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{number}</PMID><Article><ArticleTitle>On thing {number}</ArticleTitle>"
        f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract></Article></MedlineCitation>"
        "</PubmedArticle>\n"
    )


def _jats(number: int, abstract: str) -> str:
    return (
        f"<article><front><article-meta><title-group><article-title>On thing {number}</article-title></title-group>"
        f"<abstract>{escape(abstract)}</abstract></article-meta></front></article>\n"
    )


def _proquest(number: int, abstract: str) -> str:
    return (
        f"{'_' * 60}\n\nDocument {number + 1} of 5\n\nOn thing {number}\n\nAuthor: Doe, Jane\n\nAbstract: {abstract}\n\n"
        f"Title: On thing {number}\n\nPublication year: 2020\n\n"
    )


def _medline(number: int, abstract: str) -> str:
    return f"PMID- {number + 100}\nTI  - On thing {number}\nAB  - {abstract}\nAU  - Doe J\nSO  - Journal. 2020\n\n"


def _csv(delimiter: str) -> Callable[[int, str], str]:
    return lambda number, abstract: delimiter.join(f'"{cell}"' for cell in (number, "On it", abstract, 2020)) + "\n"


TEXTS = {
    item.name: item
    for item in (
        Format("plain.txt", lambda _, a: f"{a}\n\n", begin="ICML 2026 论文列表\n\n"),
        Format("numbered.txt", lambda n, a: f"{n + 1}. {a}\n\n"),
        Format("labelled.txt", lambda n, a: f"Title: On thing {n}\nAuthors: Jane Doe, Rick Roe\nAbstract: {a}\n\n"),
        Format(
            "headings.md", lambda n, a: f"## On thing {n}\n\n*Jane Doe, Rick Roe*\n\n{a}\n\n", begin="# ICML 2026\n\n"
        ),
        Format("lines.jsonl", lambda n, a: _json(n, a) + "\n"),
        Format("list.json", lambda n, a: "  " + _json(n, a), "[\n", "\n]\n", ",\n"),
        Format("compact.json", _json, "[", "]", ", "),
        Format("nested.json", lambda n, a: "    " + _json(n, a), '{"data": {"papers": [\n', "\n]}}\n", ",\n"),
        Format("members.json", lambda n, a: f'  "k{n}": {_json(n, a)}', "{\n", "\n}\n", ",\n"),
        Format("list.bib", lambda n, a: f"@article{{k{n},\n  title = {{On thing {n}}},\n  abstract = {{{a}}},\n}}\n\n"),
        Format("list.ris", lambda n, a: f"TY  - JOUR\nTI  - On thing {n}\nAU  - Doe, Jane\nAB  - {a}\nER  - \n\n"),
        Format("list.nbib", _medline),
        Format(
            "list.ciw",
            lambda n, a: f"PT J\nAU Doe, J\nTI On thing {n}\nAB {a}\nPY 2020\nER\n\n",
            "FN Clarivate Analytics Web of Science\nVR 1.0\n",
            "EF\n",
        ),
        Format(
            "list.net",
            lambda n, a: f"{{Reference Type}}: Journal Article\n{{Title}}: On thing {n}\n{{Abstract}}: {a}\n\n\n",
        ),
        Format("proquest.txt", _proquest, end="_" * 60 + "\n"),
        Format("pubmed.xml", _pubmed, '<?xml version="1.0"?>\n<PubmedArticleSet>\n', "</PubmedArticleSet>\n"),
        Format("jats.xml", _jats, '<?xml version="1.0"?>\n<pmc-articleset>\n', "</pmc-articleset>\n"),
        Format(
            "acl.xml",
            lambda n, a: f'<paper id="{n}"><title>On thing {n}</title><abstract>{escape(a)}</abstract></paper>\n',
            '<?xml version="1.0"?>\n<collection id="2020.x"><volume id="1"><meta><booktitle>X</booktitle></meta>\n',
            "</volume></collection>\n",
        ),
        Format(
            "arxiv.xml",
            lambda n, a: (
                f"<entry><id>http://arxiv.org/abs/2001.0000{n}v1</id><title>On thing {n}</title>"
                f"<summary>{escape(a)}</summary></entry>\n"
            ),
            '<?xml version="1.0"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n',
            "</feed>\n",
        ),
        Format(
            "endnote.xml",
            lambda n, a: (
                f"<record><titles><title>On thing {n}</title></titles><abstract>{escape(a)}</abstract></record>\n"
            ),
            '<?xml version="1.0"?>\n<xml><records>\n',
            "</records></xml>\n",
        ),
        Format(
            "mods.xml",
            lambda n, a: (
                f"<mods><titleInfo><title>On thing {n}</title></titleInfo><abstract>{escape(a)}</abstract></mods>\n"
            ),
            '<?xml version="1.0"?>\n<modsCollection xmlns="http://www.loc.gov/mods/v3">\n',
            "</modsCollection>\n",
        ),
        Format("list.csv", _csv(","), '"No","Title","Abstract","Year"\n'),
        Format("semicolons.csv", _csv(";"), '"No";"Title";"Abstract";"Year"\n'),
        Format("list.tsv", lambda n, a: f"{n}\tOn thing {n}\t{a}\t2020\n", "No\tTitle\tAbstract\tYear\n"),
    )
}


def workbook(rows: list[list[object]]) -> bytes:
    """An Excel workbook with these rows."""
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in rows:
        sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def zipped(parts: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive with these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def valid_files() -> dict[str, bytes]:
    """A whole file in every format, by its name."""
    rows: list[list[object]] = [["Title", "Abstract", "Year"]]
    rows += [[f"On thing {n}", abstract, 2020] for n, abstract in enumerate(PLAIN_ABSTRACTS)]
    files = {name: item.file() for name, item in TEXTS.items()}
    return {
        **files,
        "wide.txt": files["plain.txt"].decode().encode("utf-16"),
        "list.xlsx": workbook(rows),
        "list.jsonl.gz": gzip.compress(files["lines.jsonl"], mtime=0),
        "lists.zip": zipped({name: files[name] for name in ("list.bib", "list.ris", "list.csv")}),
        "stored.zip": zipped({"list.bib": files["list.bib"], "list.xlsx": workbook(rows)}, zipfile.ZIP_STORED),
    }


@dataclass
class Outcome:
    """What was read from a file: records that have an abstract, those that do not, and what was said."""

    good: list[RawRecord] = field(default_factory=list)
    rejected: list[RawRecord] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def abstracts(self) -> list[str]:
        """The abstracts, on one line each."""
        return [" ".join(record.abstract.split()) for record in self.good]

    @property
    def report(self) -> str:
        """All that a report would name."""
        told = [*self.said, *(r.reject or f"no abstract ({r.key})" for r in self.rejected)]
        return "\n".join([*told, *(r.warning for r in [*self.good, *self.rejected] if r.warning)])


def outcome(file: ListFile) -> Outcome:
    """Read a file as the ingest job does; only ReadError may come up, and no position may be left out."""
    found = Outcome()
    try:
        for member in members(file):
            if isinstance(member, ListFile):
                _read(member, found)
            else:
                found.said.append(member[1])
    except ReadError as error:
        found.said.append(str(error))
    assert all(said and "\n" not in said.strip() for said in found.said), found.said
    return found


def _read(member: ListFile, found: Outcome) -> None:
    position = -1
    try:
        for position, record in enumerate(read_file(member)):
            assert record.position == position
            usable = record.abstract.strip() and not record.reject
            (found.good if usable else found.rejected).append(record)
    except ReadError as error:
        found.said.append(str(error))
    if position < 0 and not found.said:
        found.said.append("no abstracts in it")


def outcome_of(data: bytes | str, name: str) -> Outcome:
    """Read bytes under a name, within LIMIT."""
    begin = time.process_time()
    found = outcome(list_file(data, name))
    took = time.process_time() - begin
    assert took < LIMIT, f"{name} took {took:.0f} s"
    return found


def gathered(*roots: Path) -> tuple[Gathered, IngestReport]:
    """Find and read files as a run of the ingest job does."""
    files, report = find_files(roots)
    with Spool() as spool:
        return gather(files, {}, report, spool), report


def mutated(data: bytes, other: bytes, draw: random.Random) -> bytes:
    """The bytes after one to four accidents; `other` is a file of another format."""
    for _ in range(draw.randint(1, 4)):
        data = draw.choice(ACCIDENTS)(data, other, draw)
    return data


def _span(data: bytes, draw: random.Random, longest: int = 300) -> tuple[int, int]:
    begin = draw.randint(0, len(data))
    return begin, min(len(data), begin + draw.randint(1, longest))


def _delete(data: bytes, _: bytes, draw: random.Random) -> bytes:
    begin, end = _span(data, draw)
    return data[:begin] + data[end:]


def _duplicate(data: bytes, _: bytes, draw: random.Random) -> bytes:
    begin, end = _span(data, draw)
    return data[:end] + data[begin:]


def _flip(data: bytes, _: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _round in range(draw.randint(1, 20)):
        if changed:
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _insert(data: bytes, _: bytes, draw: random.Random) -> bytes:
    marks = [b"{", b"}", b"[", b"]", b'"', b"<", b">", b"&", b"@", b"\\", b"\n", b"\r", b",", b"\t", b"]]>", b"<!--"]
    inserted = b"".join(draw.choices(marks, k=draw.randint(1, 4))) if draw.random() < 0.7 else draw.randbytes(9)
    at, _end = _span(data, draw)
    return data[:at] + inserted + data[at:]


def _swap(data: bytes, _: bytes, draw: random.Random) -> bytes:
    at, _end = _span(data, draw)
    return data[at:] + data[:at]


def _cut(data: bytes, _: bytes, draw: random.Random) -> bytes:
    at, _end = _span(data, draw)
    return data[:at] if draw.random() < 0.7 else data[at:]


def _splice(data: bytes, other: bytes, draw: random.Random) -> bytes:
    at, _end = _span(data, draw)
    there, _end = _span(other, draw)
    return data[:at] + other[there:] + (data[at:] if draw.random() < 0.5 else b"")


def _recode(data: bytes, _: bytes, draw: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    codec = draw.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "gb18030", "cp1252", "shift_jis", "utf-32"])
    recoded = text.encode(codec, "replace")
    at = draw.choice([0, 0, len(text) // 2])
    return data[:at] + recoded[at:]


def _nuls(data: bytes, _: bytes, draw: random.Random) -> bytes:
    at, _end = _span(data, draw)
    return data[:at] + bytes(draw.choice([1, 10, 1000])) + data[at:]


def _repeat(data: bytes, _: bytes, draw: random.Random) -> bytes:
    begin, end = _span(data, draw, draw.choice([1, 2, 5, 40, 300]))
    return data[:begin] + data[begin:end] * 1000 + data[end:]


ACCIDENTS = (_delete, _duplicate, _flip, _insert, _swap, _cut, _splice, _recode, _nuls, _repeat)
