"""Nearest passages: among all, among those of some papers, and whether each passage is found by its own vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag.encoder import Vector
from rag.stored_passage import StoredPassage, from_metadata

EXACT = 2000  # papers whose passages are compared one by one (0.2 s); among more the vector index chooses
LOOKUPS = 100  # vectors that are looked up together when an index is checked
NEIGHBOURS = 5
SAME = 1e-4  # difference of cosine distances that is rounding

Encode = Callable[[list[StoredPassage]], list[list[float]]]
Found = list[tuple[StoredPassage, float]]


@dataclass(frozen=True)
class VectorCheck:
    """Whether a passage is its own nearest neighbour, or as near as any."""

    stored: StoredPassage
    finds_itself: bool


def nearest(passages: Any, query: Vector, count: int, where: dict[str, Any] | None = None) -> Found:
    """Return up to `count` passages of a Chroma collection with their cosine to the query vector, best first."""
    count = min(count, int(passages.count()))
    if count <= 0:
        return []
    page = passages.query(
        query_embeddings=[query.tolist()], n_results=count, include=["metadatas", "distances"], where=where
    )
    pairs = zip(page["metadatas"][0], page["distances"][0], strict=True)
    return [(from_metadata(metadata), 1.0 - float(distance)) for metadata, distance in pairs]


def nearest_within(passages: Any, query: Vector, count: int, paper_ids: Sequence[str], papers: int) -> Found:
    """Return the nearest passages of the papers named, of `papers` in all.

    The vector index misses some of the neighbours among a few (of the best 100 of 2,000 papers among 20,000, 7 at
    Chroma's own search width and 0.25 at ours), so those are compared one by one. Where nearly all are named, the
    others are dropped from what it finds.
    """
    if not paper_ids:
        return []
    where = {"paper_id": {"$in": list(paper_ids)}}
    if len(paper_ids) <= EXACT:
        return _one_by_one(passages, query, count, where)
    if 2 * len(paper_ids) > papers:
        named = set(paper_ids)
        found = [(s, c) for s, c in nearest(passages, query, 4 * count) if s.passage.paper_id in named]
        if len(found) >= count:
            return found[:count]
    return nearest(passages, query, count, where)


def _one_by_one(passages: Any, query: Vector, count: int, where: dict[str, Any]) -> Found:
    page = passages.get(where=where, include=["metadatas", "embeddings"])
    if not page["ids"]:
        return []
    rows = np.asarray(page["embeddings"], dtype=np.float32)
    cosines = rows @ query / np.maximum(np.linalg.norm(rows, axis=1) * np.linalg.norm(query), 1e-12)
    order = sorted(range(len(rows)), key=lambda i: (-cosines[i], page["ids"][i]))[:count]
    return [(from_metadata(page["metadatas"][i]), float(cosines[i])) for i in order]


def paper_vectors(passages: Any, paper_ids: Sequence[str]) -> dict[str, Vector]:
    """Return the unit vector of the mean of each paper's passages, shape (dimension,)."""
    if not paper_ids:
        return {}
    page = passages.get(where={"paper_id": {"$in": list(paper_ids)}}, include=["metadatas", "embeddings"])
    sums: dict[str, Vector] = {}
    for metadata, row in zip(page["metadatas"], page["embeddings"], strict=True):
        own = str(metadata["paper_id"])
        sums[own] = sums.get(own, 0) + np.asarray(row, dtype=np.float32)
    return {i: total / np.maximum(np.linalg.norm(total), 1e-12) for i, total in sums.items()}


def vector_checks(passages: Any, encode: Encode | None = None) -> Iterator[VectorCheck]:
    """Look every passage up by its stored vector, or by the one that `encode` makes of its text."""
    total = int(passages.count())
    for offset in range(0, total, LOOKUPS):
        page = passages.get(limit=LOOKUPS, offset=offset, include=["metadatas", "embeddings"])
        stored = [from_metadata(metadata) for metadata in page["metadatas"]]
        vectors = page["embeddings"] if encode is None else encode(stored)
        found = passages.query(query_embeddings=vectors, n_results=min(NEIGHBOURS, total), include=["distances"])
        rows = zip(page["ids"], stored, found["ids"], found["distances"], strict=True)
        for passage_id, own, ids, distances in rows:
            # Passages with the same text are at the same distance; any of them may come first.
            at = distances[ids.index(passage_id)] if passage_id in ids else distances[-1]
            yield VectorCheck(own, at - distances[0] < SAME)
