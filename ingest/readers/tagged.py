"""Line-tagged formats: a stream of lines is split into records, each a list of (tag, lines of its value)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ingest.readers import fields
from ingest.readers.blocks import Junk, sound
from ingest.readers.listfile import ListFile
from ingest.readers.records import LONGEST, ReadError

MOST_TAGS = 200  # of a record that are told apart
NOTHING = re.compile("(?!)")
CHINESE = re.compile("[\u4e00-\u9fff·]{2,}(?:[,，、] ?[\u4e00-\u9fff·]{2,})+")
# `Abstract` before the abstract, as databases put it; `Abstract Meaning Representation` is no such label.
LABEL = re.compile(
    r"(?:Abstract|ABSTRACT|摘\s*要)\s*[:：.—–-]+\s*|【摘要】\s*|A(?:bstract|BSTRACT)(?=[A-Z][a-z])"
    r"|A(?:bstract|BSTRACT)\s+(?=(?:Background|Objectives?|Purpose|Aims?|Introduction|[A-Z][A-Z]{4,}|The|This|An?)\b"
    r"|(?!Meaning|Interpret|State|Syntax|Argument|Data|Algebra|Reason|Semantic)[A-Z]\w* [a-z])"
)


@dataclass
class Block:
    """The text of one record."""

    line: int
    pattern: re.Pattern[str]  # what begins a field in this record
    before: Junk
    after: Junk = field(default_factory=Junk)
    fields: list[tuple[str, list[str]]] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    size: int = 0
    open: bool = True
    warnings: list[str] = field(default_factory=list)
    kept: int | None = None  # how many lines of the last field stand, should no field come after the others
    stray: Junk = field(default_factory=Junk)

    def begin(self, tag: str, value: str) -> None:
        """Add a field."""
        self.kept, self.stray = None, Junk()
        if len(self.tags) < MOST_TAGS:
            self.tags.add(tag)
        if self._fits(tag + value):
            self.fields.append((tag, [value]))

    def go_on(self, line: str) -> None:
        """Add a line to the last field."""
        if self._fits(line) and self.fields:
            self.fields[-1][1].append(line)

    def stray_on(self, number: int, line: str) -> None:
        """Add a line to the last field, if another field comes after it; if not, it belongs to no record."""
        if self.kept is None and self.fields:
            self.kept = len(self.fields[-1][1])
        self.stray.add(number)
        self.go_on(line)

    def strayed(self) -> Junk:
        """End the record: take off the last lines that do not belong to it, and say which they are."""
        if self.kept is not None:
            del self.fields[-1][1][self.kept :]
        return self.stray

    def _fits(self, text: str) -> bool:
        self.size += len(text) + 1
        return self.size <= LONGEST

    @property
    def reject(self) -> str | None:
        """Why the record is no paper."""
        return f"the record is longer than {LONGEST:,} characters" if self.size > LONGEST else None

    @property
    def warning(self) -> str | None:
        """What was passed over on the way to the record, and what is missing in it."""
        before = [self.before.told("before")] if self.before.count else []
        after = [self.after.told("after")] if self.after.count else []
        return "; ".join([*before, *self.warnings, *after]) or None


@dataclass(frozen=True)
class Shape:
    """How a format marks its records and fields. All patterns are matched at the beginning of a line.

    `styles` holds pairs: what opens a record (with the groups `tag` and `value`), and what begins a field in a record
    that was opened so. `starts` are the tags that records should begin with; other tags that open one do so outside of
    records, where the proper first line is missing. `renews(tag, block, after_blank)` says whether a line that opens a
    record does so within another. `end` closes a record; in a format without, `last` is the tag that whole records
    come to, and lines that are no fields, not indented and after `gap` blank ones are junk if the record ends there.
    `silent` lines between records are no junk.
    """

    styles: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
    starts: frozenset[str]
    renews: Callable[[str, Block, bool], bool] = lambda *_: True
    end: re.Pattern[str] | None = None
    last: str | None = None
    silent: re.Pattern[str] = NOTHING
    gap: int | None = None

    def opened(self, line: str, block: Block | None, after_blank: bool) -> tuple[re.Match[str], re.Pattern[str]] | None:
        """Match the first line of a record and say what its fields begin with."""
        for opening, pattern in self.styles:
            if match := opening.match(line):
                outside = block is None or not block.open
                if outside or self.renews(match["tag"].strip(), block, after_blank):  # type: ignore[arg-type]
                    return match, pattern
        return None


def split(lines: Iterable[tuple[int, str]], shape: Shape) -> Iterator[Block]:
    """Yield the records of numbered lines. Raises ReadError where there is text but no record.

    Where the lines end with an error, the record that they end in is lost.
    """
    block: Block | None = None
    junk = Junk()
    blanks = 0
    failed: list[ReadError] = []
    for number, line in sound(lines, failed):
        line = line.lstrip("\ufeff")  # files that were put together have a mark at each seam
        after_gap = blanks > 0 or (block is not None and block.stray.count > 0)
        if opened := shape.opened(line, block, after_gap):
            if block:
                junk = _close(block, shape, number) if block.open else junk
                yield block
            block, junk = _new(number, opened, shape, junk), Junk()
        elif block is None or not block.open:
            if line.strip() and not shape.silent.match(line):
                junk.add(number)
        elif shape.end and shape.end.match(line):
            block.open = False
        elif match := block.pattern.match(line):
            block.begin(match["tag"].strip(), match["value"])
        elif line.strip() and shape.gap and (blanks >= shape.gap or block.stray.count) and not line[0].isspace():
            block.stray_on(number, line)
        else:
            block.go_on(line)
        blanks = 0 if line.strip() else blanks + 1
    if block and not (failed and block.open and shape.last not in block.tags):
        block.after = _close(block, shape, None) if block.open else junk
        yield block
    if failed:
        raise failed[0]
    if block is None and junk.count:
        raise ReadError(f"no record begins in it (line {junk.line} ff.)")


def _new(number: int, opened: tuple[re.Match[str], re.Pattern[str]], shape: Shape, junk: Junk) -> Block:
    match, pattern = opened
    tag = match["tag"].strip()
    block = Block(number, pattern, before=junk)
    block.begin(tag, match["value"])
    if tag not in shape.starts:
        block.warnings.append(f"it begins without its first line (line {number})")
    return block


def _close(block: Block, shape: Shape, number: int | None) -> Junk:
    """End a record where the next one begins, or the file ends, and return what did not belong to it."""
    if shape.end:
        where = f"before line {number}, where the next one begins" if number else "before the file ends"
        block.warnings.append(f"the record that begins in line {block.line} has no end {where}")
    if number is None and shape.last and shape.last not in block.tags:
        block.warnings.append(f"the file seems to be cut off in the record that begins in line {block.line}")
    return block.strayed()


def head(file: ListFile) -> str:
    """The beginning of a file; nothing for a file that is no text."""
    try:
        return file.head_text
    except ReadError:
        return ""


def gather(block: Block) -> dict[str, list[str]]:
    """The values of each tag, their lines with LF between them."""
    found: dict[str, list[str]] = {}
    for tag, lines in block.fields:
        found.setdefault(tag, []).append("\n".join(lines))
    return found


def values(found: Mapping[str, object], *names: str) -> list[str]:
    """All values of several fields, in the order of the names."""
    every: list[str] = []
    for name in names:
        value = found.get(name)
        every += [str(v) for v in value] if isinstance(value, list) else [str(value)] if value is not None else []
    return every


def flat(value: str) -> str:
    """A value on one line."""
    return " ".join(line.strip() for line in value.split("\n") if line.strip())


def first(found: Mapping[str, object], *names: str) -> str | None:
    """The first value that says something, on one line."""
    return fields.text([flat(value) for value in values(found, *names)])


def abstract(found: Mapping[str, object], *names: str) -> str:
    """The first field that says something, all its values together, without the label `Abstract`."""
    for name in names:
        text = " ".join(flat(value) for value in values(found, name) if fields.text(flat(value)))
        if text:
            label = LABEL.match(text)
            return text[label.end() :] if label else text
    return ""


def names(every: Iterable[str]) -> tuple[str, ...]:
    """People: one a line, or with semicolons between them; between whole Chinese names commas too."""
    parts = [part.strip(" ,，") for value in every for part in re.split(r"[;；\n]", value)]
    each = [name for part in parts for name in (re.split("[,，、] ?", part) if CHINESE.fullmatch(part) else [part])]
    return tuple(dict.fromkeys(name for name in each if fields.text(name)))


def keywords(every: list[str]) -> tuple[str, ...]:
    """Keywords: one a value or a line, or several with semicolons; with commas where there is but one value."""
    if len(every) == 1:
        return fields.words(every[0])
    return fields.words([part for value in every for part in re.split(r"[;；\n]", value)])


def lookup(convert: Callable[[object], str | None], every: Iterable[str]) -> str | None:
    """The first thing that a converter (`fields.doi`, …) finds in any of the values."""
    return next((found for value in every if (found := convert(value))), None)
