"""A passage as Chroma's metadata holds it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from rag.schema import Passage, Span


@dataclass(frozen=True)
class StoredPassage:
    """A passage with where its sentence vectors begin."""

    passage: Passage
    version: str
    row: int


def paper_version(abstract: str) -> str:
    """Short hash of an abstract: passages of another version of a paper are never read with it."""
    return hashlib.sha256(abstract.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def to_metadata(passage: Passage, version: str, row: int) -> dict[str, str | int]:
    """What Chroma keeps of a passage."""
    spans = json.dumps([[s.start, s.end] for s in passage.sentences], separators=(",", ":"))
    return {
        "paper_id": passage.paper_id, "version": version, "position": passage.position,
        "start": passage.start, "end": passage.end, "sentences": spans, "row": row,
    }  # fmt: skip


def from_metadata(metadata: Any) -> StoredPassage:
    """The passage that Chroma kept."""
    passage = Passage(
        paper_id=metadata["paper_id"],
        position=metadata["position"],
        start=metadata["start"],
        end=metadata["end"],
        sentences=[Span(start=start, end=end) for start, end in json.loads(metadata["sentences"])],
    )
    return StoredPassage(passage, version=metadata["version"], row=metadata["row"])
