"""Which kind of XML a file is, told from its first element and those near the top."""

from __future__ import annotations

import codecs
import functools
import re

from ingest.readers import (
    acl_xml,
    arxiv_xml,
    crossref_xml,
    dublin_core_xml,
    endnote_xml,
    jats_xml,
    mods_xml,
    pubmed_xml,
)
from ingest.readers.listfile import ListFile
from ingest.readers.xml_text import Shape

LONGEST_PROLOGUE = 4_000_000  # bytes
SHAPES = (
    pubmed_xml.SHAPE,
    mods_xml.SHAPE,
    arxiv_xml.OAI,
    dublin_core_xml.OAI,
    acl_xml.SHAPE,
    crossref_xml.SHAPE,
    jats_xml.SHAPE,
    arxiv_xml.ATOM,
    dublin_core_xml.RDF,
    endnote_xml.SHAPE,
)
PROLOGUE = re.compile(r"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)", re.DOTALL)
UNFINISHED = re.compile(r"(?:<\?.*?\?>\s*)?<!(?:DOCTYPE\b|--)", re.DOTALL)  # of a head without an element
TAG = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)(?=[\s/>])")
# The elements around records; what they hold is known by the records.
ROOTS = frozenset({"PubmedArticleSet", "modsCollection", "collection", "feed", "doi_batch"}).union(
    *(shape.roots for shape in SHAPES)
)


def head_of(file: ListFile) -> str:
    """The beginning of the file. Names are ASCII, so that only wide encodings must be known here."""
    raw = file.head.removeprefix(codecs.BOM_UTF8)
    narrow = raw.lstrip().startswith(b"<") and 0 not in raw[:64]
    head = (raw.decode("latin-1") if narrow else file.head_text).lstrip()
    if not narrow or root_of(head) or not UNFINISHED.match(head):
        return head
    with file.open() as stream:  # a document type may hold long lists of entities
        return stream.read(LONGEST_PROLOGUE).removeprefix(codecs.BOM_UTF8).decode("latin-1").lstrip()


def root_of(head: str) -> str:
    """The name of the first element; empty if the text does not begin like XML."""
    root = TAG.match(head, _prologue(head))
    return root[1] if root else ""


def _prologue(head: str) -> int:
    """How long the declaration, document type and comments before the first element are."""
    at = 0
    while prologue := PROLOGUE.match(head, at):
        at = prologue.end()
    return at + len(head[at:]) - len(head[at:].lstrip())


@functools.lru_cache(maxsize=8)
def shape_of(head: str) -> Shape | None:
    """The kind of XML, by its root element and the elements near the top."""
    root = root_of(head)
    found = set(TAG.findall(head, _prologue(head)))
    fitting = (s for s in SHAPES if s.units & found and (not s.roots or root in s.roots))
    return next(fitting, None) if root else None
