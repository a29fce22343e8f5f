"""XML lists. Each record is cut out and parsed alone, so that a broken or monstrous one spoils no other.

Nothing is expanded and nothing is fetched: the parser never sees a document type or an entity.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from ingest.readers.blocks import Block, cut
from ingest.readers.charset import chunks, open_declared
from ingest.readers.listfile import ListFile
from ingest.readers.records import RawRecord, ReadError
from ingest.readers.xml_kinds import LONGEST_PROLOGUE, ROOTS, SHAPES, UNFINISHED, head_of, root_of, shape_of
from ingest.readers.xml_source import Comments, mended
from ingest.readers.xml_text import Context, Element, Shape

LONGEST = 4_000_000  # characters of one record
DECLARED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([\w.-]+)")
SUFFIXES = frozenset({".xml", ".nxml", ".mods", ".rdf", ".atom"})

ENTITIES_ONLY = re.compile(r"(?:\s*&[\w.-]+;)+\s*")


def recognises(file: ListFile) -> bool:
    """Whether the file is XML: it says so, it is named so, or its first element is one that holds records."""
    head = head_of(file)
    if not head.startswith("<"):
        return False
    if not root_of(head):
        return UNFINISHED.match(head) is not None
    return file.suffix in SUFFIXES or head.startswith("<?xml") or shape_of(head) is not None


def read(file: ListFile) -> Iterator[RawRecord]:
    """Yield the records in order. Raises ReadError for a kind of XML that is not known.

    The last record says if the file is cut off behind it.
    """
    head = head_of(file)
    root, shape = root_of(head), shape_of(head)
    if not root:
        raise ReadError(f"no element begins in its first {LONGEST_PROLOGUE:,} bytes")
    if shape is None:
        if root in ROOTS:
            raise ReadError(f"no record in its <{root}>")
        labels = ", ".join(shape.label for shape in SHAPES)
        kind = f"it is XML of a kind that Confer does not read (its root element is <{root}>)"
        raise ReadError(f"{kind}; it reads {labels}")
    end = _End("" if root in shape.units else root)
    yield from _all_but_last(file, shape, end)
    if end.comment:
        yield from _behind_comment(file, shape, end)
    elif end.last:
        warning = None if end.seen else f"the file ends before its <{root}> does, so what stood behind is lost"
        yield _warned(end.last, warning)


def _behind_comment(file: ListFile, shape: Shape, end: _End) -> Iterator[RawRecord]:
    """A comment that never ends hides all that stands behind it; this is read again with the comment as text."""
    first = end.last.position if end.last else 0
    warning = f"the comment that begins in line {end.comment} never ends"
    again = _End(end.root, endless=end.comment)
    for record in _all_but_last(file, shape, again):
        if record.position >= first:
            yield _warned(record, warning if record.position == first else None)
    if again.last is None:
        raise ReadError(warning)
    yield _warned(again.last, warning if again.last.position == first else None)


def _all_but_last(file: ListFile, shape: Shape, end: _End) -> Iterator[RawRecord]:
    """Yield the records in order, but not the last one of a sound file, which is left in `end`."""
    try:
        for position, record in enumerate(_all(file, shape, end)):
            if end.last:
                yield end.last
            end.last = dataclasses.replace(record, position=position)
    except ReadError:
        if end.last:
            yield end.last
        raise


def _warned(record: RawRecord, warning: str | None) -> RawRecord:
    return dataclasses.replace(record, warning=record.warning or warning)


@dataclasses.dataclass
class _End:
    """How a file ends: whether with the end of its root element, in which comment, and with which record.

    From the line `endless` on comments are known to be text.
    """

    root: str
    endless: int = 0
    seen: bool = False
    comment: int = 0
    last: RawRecord | None = None


def _all(file: ListFile, shape: Shape, end: _End) -> Iterator[RawRecord]:
    names = "|".join(map(re.escape, sorted(shape.units | shape.contexts)))
    begins = re.compile(rf"(<(?:[\w.-]+:)?({names})(?=[\s/>]))")
    ends = re.compile(rf"</(?:[\w.-]+:)?{re.escape(end.root)}\s*>")
    declared = DECLARED.search(file.head)
    text = open_declared(file, declared[1].decode() if declared else None)
    context: Context = {}
    comments = Comments(end.endless)
    for block in cut(comments.dropped(chunks(text)), begins, LONGEST):
        end.seen = not end.root or block.size > LONGEST or bool(ends.search(block.text[-1000:]))
        name = begins.match(block.text)
        if name and name[2] in shape.contexts:
            context = shape.enter(_parse(block)[0])
        elif name:
            yield from _records(block, name[2], shape, context)
    end.comment = comments.inside


def _records(block: Block, name: str, shape: Shape, context: Context) -> Iterator[RawRecord]:
    """The records in one block, or one that is rejected."""
    if block.size > LONGEST:
        yield RawRecord(0, block.line, "", reject=f"<{name}> is longer than {LONGEST:,} characters")
        return
    own, behind = _divided(block, name)
    element, problem, unknown = _parse(own, name)
    if problem and behind:
        own, behind = block, ""
        element, problem, unknown = _parse(block, name)
    if problem:
        broken = next(iter(shape.read(element, context)), None) if element is not None else None
        yield RawRecord(0, block.line, "", key=broken.key if broken else None, reject=problem)
        return
    warning = f"the XML entity {unknown} is not expanded (line {block.line})" if unknown else None
    found = list(shape.read(element, context))
    if not found:
        yield RawRecord(0, block.line, "", reject=f"<{name}> in line {block.line} holds no paper")
    for record in found:
        line = block.line + max((record.line or 1) - 1, 0)
        reject = f"its abstract is an XML entity ({unknown})" if ENTITIES_ONLY.fullmatch(record.abstract) else None
        abstract = "" if reject else record.abstract
        yield dataclasses.replace(record, line=line, abstract=abstract, reject=reject, warning=warning)
    if behind:
        line = block.line + own.text.count("\n") + behind[: -len(behind.lstrip())].count("\n")
        yield RawRecord(0, line, "", reject=f"the <{name}> that line {line} belongs to does not begin")


def _ends(text: str, name: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"</(?:[\w.-]+:)?{re.escape(name)}\s*>", text))


def _divided(block: Block, name: str) -> tuple[Block, str]:
    """A block up to the first end of its record, and what is behind it: one that lost its beginning has only an end."""
    ends = _ends(block.text, name)
    if len(ends) < 2:
        return block, ""
    own, behind = block.text[: ends[0].end()], block.text[ends[0].end() : ends[-1].end()]
    return Block(block.line, len(own), parts=[own]), behind


def _parse(block: Block, name: str | None = None) -> tuple[Element, str, str]:
    """The element that a block begins with, what is wrong with it, and an entity in it that is not known.

    Without a name the element need not end in the block, and nothing counts as wrong.
    """
    from lxml import etree

    text, problem = block.text, ""
    if name is not None:
        ends = _ends(text, name)
        text = text[: ends[-1].end()] if ends else text
        empty = re.match(r"<[^<>]*/>", text)
        if not ends and not empty:
            problem = f"<{name}> in line {block.line} is not closed"
        elif not ends and empty:
            text = empty.group()
    source, unknown = mended(text)
    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        element = etree.fromstring(source.encode(), parser)
    except etree.XMLSyntaxError as error:
        return None, problem or f"malformed XML: {error.msg}", unknown
    faults = [e for e in parser.error_log if e.domain_name != "NAMESPACE"]
    if faults and not problem:
        said, *_ = faults[0].message.strip().split("\n")
        said = "its elements are nested too deep" if "Excessive depth" in said else said
        problem = f"malformed XML in line {block.line + faults[0].line - 1}: {said}"
    return element, problem, unknown
