"""From list files to records that can be told apart: read, cleaned, spooled, with what the plan decides by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten

from ingest import identity, language, suspicion
from ingest.clean import clean, clean_abstract
from ingest.files import source_name
from ingest.findings import LISTED, SHOWN, find, reject
from ingest.ledger import Entry, Ledger, digest_of
from ingest.likeness import Sketch, sketch
from ingest.readers import ListFile, RawRecord, ReadError, read_file
from ingest.readers.containers import HIDDEN, members
from ingest.spool import Spool
from rag.schema import IngestReport

LETTER = re.compile(r"\w")
FEWEST = 8  # letters and digits; cleaned text with fewer is no abstract
# What exports write where there is no abstract.
PLACEHOLDER = re.compile(
    r"\W*(?:(?:there is |the |an? )?(?:no |not |missing )?abstract(?: is| was)?(?: not| un)?"
    r"(?: ?(?:available|provided|supplied|given|found|present))?(?: for this (?:article|paper|record|item))?"
    r"|not (?:available|applicable|provided)|none|null|to be (?:announced|added)|abstract to follow"
    r"|摘要缺失|暂无摘要|无摘要)\W*",
    re.IGNORECASE,
)
PLACEHOLDER_LENGTH = 80  # characters
LOOKED_AT = 80  # characters that are looked at for them first
LONGEST = 1_000_000  # characters; what is longer is a book or a broken file
# Names and keywords that have nothing in them that cleaning could change.
PLAIN = re.compile(r"[^\W_]+(?:[ .,:(-] ?[^\W_]+)*[.)]?")


@dataclass(slots=True)
class Item:
    """A record as the plan sees it; the record itself stands in the spool, at `at`."""

    file: str
    position: int
    line: int | None
    at: int
    content: str
    keys: tuple[str, ...]
    version: int
    title: str
    language: str
    sketch: Sketch


@dataclass
class Gathered:
    """What the files of a run hold.

    `read` and `unread` are the names of the files that could be read to their end, and of those that could not, or that
    are damaged; `familiar` are those that were not read, because they are as they were at the last run. `entries` are
    for the ledger.
    """

    items: list[Item] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    familiar: set[str] = field(default_factory=set)
    entries: dict[str, Entry] = field(default_factory=dict)


def gather(
    files: Sequence[Path],
    names: Mapping[Path, str],
    report: IngestReport,
    spool: Spool,
    fields: Mapping[str, str] | None = None,
    ledger: Ledger | None = None,
    sources: Mapping[str, int] | None = None,
) -> Gathered:
    """Read and clean all records. What is no paper, and every file that cannot be read, is a reject in the report.

    A file that the ledger knows, and of which the index has as many `sources` as it should, is not read again.
    """
    gathered = Gathered()
    for path in files:
        name = names.get(path) or source_name(path)
        part = IngestReport()
        try:
            digest = digest_of(path, fields or {})
        except OSError as error:
            _lost(name, error, gathered, part)
            _add(report, part)
            continue
        entry = (ledger or Ledger()).unchanged(name, digest, sources or {})
        if entry is not None:
            gathered.familiar.update(entry.accepted)
            gathered.read.update(entry.accepted)
            gathered.entries[name] = entry
            _add(report, entry.report)
            continue
        begin, lost = len(gathered.items), len(gathered.unread)
        for file in _opened(ListFile.at(path, name, fields), gathered, part):
            _read(file, gathered, part, spool)
        if len(gathered.unread) == lost:
            accepted = Counter(item.file for item in gathered.items[begin:])
            gathered.entries[name] = Entry(digest=digest, accepted=accepted or {name: 0}, report=part)
        _add(report, part)
    return gathered


def _add(report: IngestReport, part: IngestReport) -> None:
    """Add what was found in one file to the report of the run."""
    report.read += part.read
    report.rejected += part.rejected
    report.rejects += part.rejects[: max(0, LISTED - len(report.rejects))]
    report.skipped += part.skipped
    report.suspicious += part.suspicious[: max(0, SHOWN - len(report.suspicious))]
    report.languages = dict((Counter(report.languages) + Counter(part.languages)).most_common())


def _opened(file: ListFile, gathered: Gathered, report: IngestReport) -> Iterator[ListFile]:
    """The list files in a file, which may be an archive."""
    try:
        for member in members(file):
            if isinstance(member, ListFile):
                yield member
                continue
            name, reason = member
            if reason == HIDDEN:
                report.skipped.append(name)
            else:
                reject(report, name, reason)
                gathered.unread.add(name)
    except (ReadError, OSError) as error:
        _lost(file.name, error, gathered, report)


def _read(file: ListFile, gathered: Gathered, report: IngestReport, spool: Spool) -> None:
    anything = False
    languages = Counter(report.languages)
    try:
        for raw in read_file(file):
            anything = True
            if _damaged(raw):
                gathered.unread.add(file.name)  # what else it held is not known, so nothing is pruned for it
            record = cleaned(raw)
            if record.warning:
                find(report.suspicious, file.name, record, record.warning)
            if record.reject:
                reject(report, file.name, record.reject, record)
                continue
            report.read += 1
            found = identity.words(record.abstract)
            for reason in suspicion.reasons(record.abstract, found):
                find(report.suspicious, file.name, record, reason)
            gathered.items.append(item_of(file.name, record, found, spool))
            languages[gathered.items[-1].language] += 1
    except (ReadError, OSError) as error:
        _lost(file.name, error, gathered, report)
        report.languages = dict(languages)
        return
    gathered.read.add(file.name)
    report.languages = dict(languages)
    if not anything:
        reject(report, file.name, "no abstracts in it (a header line alone is not a paper)")


def _damaged(raw: RawRecord) -> bool:
    """Whether a reader met a record that is broken or cut off, rather than one that is merely no abstract."""
    broken = raw.reject is not None and not raw.reject.startswith(("too short", "longer than"))
    return broken or "cut off" in (raw.warning or "")


def _lost(name: str, error: ReadError | OSError, gathered: Gathered, report: IngestReport) -> None:
    gathered.unread.add(name)
    reject(report, name, f"cannot be read: {error.strerror or error}" if isinstance(error, OSError) else str(error))


def cleaned(record: RawRecord) -> RawRecord:
    """The record with display text in all its fields, or with the reason why it is no paper."""
    if record.reject:
        return record
    raw = record.abstract.strip()
    if len(raw) > LONGEST:
        return replace(record, abstract="", reject=f"too long for an abstract: {len(raw):,} characters")
    abstract = clean_abstract(raw)
    title = clean(record.title) if record.title else None
    few = len(LETTER.findall(abstract, 0, LOOKED_AT)) < FEWEST and len(LETTER.findall(abstract)) < FEWEST
    if few or _is_placeholder(raw):
        return replace(record, abstract=abstract, title=title, reject=_nothing(raw, abstract, title or record.key))
    return replace(
        record,
        abstract=abstract,
        title=title or None,
        authors=tuple(filter(None, map(_clean_short, record.authors))),
        keywords=tuple(filter(None, map(_clean_short, record.keywords))),
        venue=_clean_short(record.venue) or None if record.venue else None,
    )


def _clean_short(text: str) -> str:
    return text if PLAIN.fullmatch(text) else clean(text)


def _is_placeholder(raw: str) -> bool:
    return len(raw) <= PLACEHOLDER_LENGTH and PLACEHOLDER.fullmatch(raw) is not None


def _nothing(raw: str, abstract: str, called: str | None) -> str:
    of = f" ({shorten(called, 80, placeholder=' …')!r})" if called else ""
    if not raw:
        return f"no abstract{of}"
    if _is_placeholder(raw):
        return f"no abstract: {raw[:60]!r}{of}"
    if not abstract:
        return f"no text left after cleaning{of}"
    return f"too short for an abstract: {abstract[:40]!r}{of}"


def item_of(name: str, record: RawRecord, found: Sequence[str], spool: Spool) -> Item:
    """Put a cleaned record with those words into the spool and return what the plan needs of it."""
    return Item(
        file=name,
        position=record.position,
        line=record.line,
        at=spool.add(record),
        content=identity.content_key(found),
        keys=identity.strong_keys(record),
        version=identity.arxiv_version(record.arxiv_id),
        title=" ".join(identity.words(record.title or "")),
        language=language.of(record.abstract, found),
        sketch=sketch(found),
    )
