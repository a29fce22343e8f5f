"""Which paper a record is: a DOI, an arXiv or OpenReview id, else the words of its abstract, in whatever markup."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from ingest.readers import fields
from ingest.readers.records import RawRecord
from rag.schema import Paper
from rag.text import CJK, fold

# Chinese, Japanese and Korean characters are words of their own: spaces between them come and go.
WORD = re.compile(f"{CJK.pattern}|(?:(?!{CJK.pattern})[^\\W_])+")
WESTERN_WORD = re.compile(r"[^\W_]+")  # the same where there are no such characters, several times faster
VERSION = re.compile(r"v(\d+)$")


def words(text: str) -> list[str]:
    """The folded words of a text: what is left when case, accents, punctuation and spacing are ignored."""
    folded = fold(text).casefold()
    return (WORD if CJK.search(folded) else WESTERN_WORD).findall(folded)


def content_key(found: Sequence[str]) -> str:
    """16 hex digits for the words of an abstract."""
    return _digest(" ".join(found))


def content_id(abstract: str) -> str:
    """The id of a paper that is known only by its abstract: `c` and 16 hex digits of its words."""
    return "c" + content_key(words(abstract))


def strong_keys(paper: RawRecord | Paper) -> tuple[str, ...]:
    """What identifies a paper whatever its text: `doi:…`, `arxiv:…` without the version, `openreview:…`."""
    doi, arxiv = paper.doi, paper.arxiv_id
    if doi and (preprint := fields.arxiv_in_doi(doi)):
        doi, arxiv = None, arxiv or preprint
    keys = []
    if doi:
        keys.append(f"doi:{doi.lower()}")
    if arxiv:
        keys.append(f"arxiv:{VERSION.sub('', arxiv.lower())}")
    if paper.openreview_id:
        keys.append(f"openreview:{paper.openreview_id}")
    return tuple(keys)


def arxiv_version(arxiv_id: str | None) -> int:
    """The version in an arXiv id; 0 where none is given."""
    match = VERSION.search(arxiv_id or "")
    return int(match[1]) if match else 0


def id_of(key: str) -> str:
    """The paper id for a strong key: its first letter (d, a or o) and 16 hex digits, so that it fits any address."""
    return key[0] + _digest(key)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
