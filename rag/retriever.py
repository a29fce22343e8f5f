"""From a question to papers: dense, sentence and keyword scores of the same candidates, fused.

Each score is min-max normalised over the candidates and the three are added with fixed weights: whole passage, best
sentence, BM25 at 1 : 1 : 1.5 (measured on SciFact; see docs/decisions.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.encoder import Encoder, Vector
from rag.index import Index
from rag.schema import Paper
from rag.stored_passage import StoredPassage, paper_version
from rag.text import CJK, search_text, terms

DENSE_WEIGHT, SENTENCE_WEIGHT, LEXICAL_WEIGHT = 1.0, 1.0, 1.5
CANDIDATES = 100  # passages from the vector index, and as many papers from the keyword index


@dataclass(frozen=True)
class SentenceHit:
    """A sentence of a found paper: offsets into its abstract and the cosine to the question."""

    start: int
    end: int
    cosine: float


@dataclass(frozen=True)
class PaperHit:
    """A found paper with what speaks for it: raw scores (cosines, BM25) and the fused one, 0 to 1."""

    paper: Paper
    score: float
    dense: float
    sentence: float
    lexical: float
    sentences: list[SentenceHit]


class Retriever:
    """Finds papers in an index. Deterministic: ties are broken by paper id."""

    def __init__(self, index: Index, encoder: Encoder) -> None:
        self.index = index
        self.encoder = encoder

    def search(self, question: str, top_k: int, *, also: Sequence[str] = ()) -> list[PaperHit]:
        """Return the `top_k` best papers, best first; `also` names papers that are scored whatever the search finds."""
        if len(self.index) == 0:
            return []
        query = self.encoder.encode_query(search_text(self._readable(question)))
        lexical = self.index.lexical.scores(terms(question))
        best_lexical = sorted(lexical, key=lambda i: (-lexical[i], i))[:CANDIDATES]
        nearest = self.index.nearest_passages(query, max(CANDIDATES, 2 * top_k))
        ids = list(dict.fromkeys([s.passage.paper_id for s, _ in nearest] + best_lexical + list(also)))
        papers = self.index.papers(ids)
        passages = self.index.passages(list(papers))
        dense: dict[str, float] = {}
        for stored, cosine in nearest:
            dense[stored.passage.paper_id] = max(cosine, dense.get(stored.passage.paper_id, -1.0))
        sentences = {i: self._sentences(papers[i], passages[i], query) for i in papers}
        rows = [
            # A paper that only the keywords found has no passage cosine; the mean of its sentences stands near it.
            (
                i,
                dense.get(i, _mean(sentences[i])),
                max((s.cosine for s in sentences[i]), default=0.0),
                lexical.get(i, 0.0),
            )
            for i in papers
        ]
        fused = _fuse(np.array([row[1:] for row in rows], dtype=np.float64))
        hits = [
            PaperHit(papers[i], float(score), d, s, b, sentences[i])
            for (i, d, s, b), score in zip(rows, fused, strict=True)
        ]
        return sorted(hits, key=lambda h: (-h.score, h.paper.id))[:top_k]

    def _readable(self, question: str) -> str:
        """The part of a question that an English encoder can read: the Latin words of a Chinese question."""
        if not CJK.search(question) or self.encoder.multilingual:
            return question
        latin = " ".join(re.findall(r"[A-Za-z0-9][\w.@%+'/-]*", CJK.sub(" ", question)))
        return latin or question

    def _sentences(self, paper: Paper, passages: list[StoredPassage], query: Vector) -> list[SentenceHit]:
        result = []
        version = paper_version(paper.abstract)
        for stored in passages:
            if stored.version != version:
                continue  # a newer text of the paper is being written
            cosines = self.index.sentence_vectors(stored) @ query
            spans = stored.passage.sentences
            result += [SentenceHit(s.start, s.end, float(c)) for s, c in zip(spans, cosines, strict=True)]
        return result


def _mean(sentences: list[SentenceHit]) -> float:
    return sum(s.cosine for s in sentences) / len(sentences) if sentences else 0.0


def _fuse(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Min-max normalise the columns (passage, sentence, BM25), add them with the weights; the result is 0 to 1."""
    low, high = scores.min(axis=0), scores.max(axis=0)
    low[2] = 0.0  # BM25 has a true zero: no word in common
    spread = np.where(high > low, high - low, 1.0)
    weights = np.array([DENSE_WEIGHT, SENTENCE_WEIGHT, LEXICAL_WEIGHT])
    fused: NDArray[np.float64] = ((scores - low) / spread) @ (weights / weights.sum())
    return fused
