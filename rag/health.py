"""Whether an index finds what it holds: every passage by its own vector, every sentence row, every keyword entry."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from rag.index import Index
from rag.neighbours import Encode, VectorCheck
from rag.schema import Model
from rag.stored_passage import paper_version


class Ailment(Model):
    """A paper that an index does not hold whole or cannot find."""

    paper_id: str
    reason: str


class Health(Model):
    """What a check found; `ailing` is empty for a sound index."""

    papers: int
    passages: int
    ailing: list[Ailment] = Field(default_factory=list)


def check(index: Index, encode: Encode | None = None) -> Health:
    """Look up every passage by its vector, and compare the collections with what is derived from them.

    The vector is the stored one, or what `encode` makes of the passage's text.
    """
    versions = {paper.id: paper_version(paper.abstract) for paper in index.each_paper()}
    ailing: dict[str, str] = {}
    held: set[str] = set()
    passages = 0
    for found in index.vector_checks(encode):
        paper_id = found.stored.passage.paper_id
        if versions.get(paper_id) != found.stored.version:
            continue  # a stray of a killed run: never shown, and swept at the next ingest
        passages += 1
        held.add(paper_id)
        reason = _reason(index, found)
        if reason:
            ailing.setdefault(paper_id, reason)
    for paper_id in versions.keys() - held:
        ailing.setdefault(paper_id, "no passage of it is stored")
    for paper_id in versions.keys() ^ set(index.lexical.ids):
        ailing.setdefault(paper_id, "the keyword index is out of step")
    told = [Ailment(paper_id=paper_id, reason=reason) for paper_id, reason in sorted(ailing.items())]
    return Health(papers=len(versions), passages=passages, ailing=told)


def _reason(index: Index, found: VectorCheck) -> str:
    if not found.finds_itself:
        return "a passage is not its own nearest neighbour"
    try:
        rows = index.sentence_vectors(found.stored)
    except IndexError:
        return "sentence vectors are missing"
    norms = np.linalg.norm(rows, axis=1)
    return "" if np.allclose(norms, 1.0, atol=0.01) else "sentence vectors are damaged"
