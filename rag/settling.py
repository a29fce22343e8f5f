"""What a commit looks at: which papers there are, in which words, and which passages belong to them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rag.schema import Paper
from rag.stored_passage import paper_version

PAGE = 1000  # ids in one call to Chroma


@dataclass(frozen=True)
class State:
    """The hash of each paper's abstract by id, one of them all, and one of all that is known of the papers."""

    versions: dict[str, str]
    corpus_hash: str
    records_hash: str


def state_of(papers: Iterable[Paper]) -> State:
    """Read the state of papers, in whatever order they come."""
    versions, records = {}, {}
    for paper in papers:
        versions[paper.id] = paper_version(paper.abstract)
        records[paper.id] = paper_version(paper.model_dump_json())
    return State(versions, _hash(versions), _hash(records))


def sweep(passages: Any, versions: dict[str, str]) -> tuple[int, int]:
    """Delete the passages that a killed run left behind; return the numbers of the others and their sentences."""
    stray, count, sentences = [], 0, 0
    for page in pages(passages, ["metadatas"]):
        for passage_id, metadata in zip(page["ids"], page["metadatas"], strict=True):
            if versions.get(metadata["paper_id"]) == metadata["version"]:
                count += 1
                sentences += metadata["sentences"].count("[") - 1  # [[start,end],…]
            else:
                stray.append(passage_id)
    for begin in range(0, len(stray), PAGE):
        passages.delete(ids=stray[begin : begin + PAGE])
    return count, sentences


def pages(collection: Any, include: list[str]) -> Iterator[Any]:
    """Yield a Chroma collection page by page."""
    for offset in range(0, collection.count(), PAGE):
        yield collection.get(limit=PAGE, offset=offset, include=include)


def _hash(hashes: dict[str, str]) -> str:
    lines = "".join(f"{i}:{hashes[i]}\n" for i in sorted(hashes))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]
