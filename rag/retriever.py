"""From a question to papers: dense, sentence and keyword scores of the same candidates, fused.

Each score is min-max normalised over the candidates and the three are added with fixed weights: whole passage, best
sentence, BM25 at 1 : 1 : 1.5 (measured on SciFact; see docs/decisions.md). A filter is applied before the best are
taken, so that they are the best of the papers that meet it. A reranker's scores replace the fused ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag.encoder import Encoder, Vector
from rag.filters import Filter
from rag.index import Index
from rag.reranker import DEPTH, Reranker
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
    """A found paper with what speaks for it: raw scores (cosines, BM25), and `score`, 0 to 1, the order."""

    paper: Paper
    score: float
    dense: float
    sentence: float
    lexical: float
    sentences: list[SentenceHit]


@dataclass(frozen=True)
class Ranking:
    """What a search found, best first; `below` are papers that the reranker found wanting, the best of them first."""

    hits: list[PaperHit]
    below: list[PaperHit]


class Retriever:
    """Finds papers in an index. Deterministic: ties are broken by paper id."""

    def __init__(self, index: Index, encoder: Encoder, reranker: Reranker | None = None) -> None:
        self.index = index
        self.encoder = encoder
        self.reranker = reranker

    def search(
        self, question: str, top_k: int, *, also: Sequence[str] = (), where: Filter | None = None
    ) -> list[PaperHit]:
        """Return the `top_k` best papers that meet a filter, best first, without those the reranker finds wanting.

        `also` names papers that are scored whatever the search finds, if they meet the filter.
        """
        return self.ranking(question, top_k, also=also, where=where).hits

    def ranking(self, question: str, top_k: int, *, also: Sequence[str] = (), where: Filter | None = None) -> Ranking:
        """Search as `search` does, and tell also which papers the reranker found wanting."""
        within = None if where is None else self.index.select(where)
        if len(self.index) == 0 or within == []:
            return Ranking([], [])
        if self.reranker is None:
            return Ranking(self._fused(question, top_k, also, within)[:top_k], [])
        depth = max(top_k, DEPTH)
        hits = self._reranked(question, self._fused(question, depth, also, within)[:depth])
        good = [h for h in hits if h.score >= self.reranker.threshold]
        return Ranking(good[:top_k], hits[len(good) :])

    def _reranked(self, question: str, hits: list[PaperHit]) -> list[PaperHit]:
        """The hits in the order of the reranker, with its scores."""
        assert self.reranker is not None
        passages = self.index.passages([h.paper.id for h in hits])
        texts = [_read(h, passages[h.paper.id]) for h in hits]
        scores = self.reranker.scores(search_text(question), texts)
        scored = [replace(hit, score=float(score)) for hit, score in zip(hits, scores, strict=True)]
        return sorted(scored, key=lambda h: (-h.score, h.paper.id))

    def _fused(self, question: str, top_k: int, also: Sequence[str], within: list[str] | None) -> list[PaperHit]:
        """All candidates, at least `top_k` where there are so many, in the order of their fused scores."""
        query = self.encoder.encode_query(search_text(self._readable(question)))
        lexical = self.index.lexical.scores(terms(question))
        if within is not None:
            allowed = set(within)
            lexical = {i: score for i, score in lexical.items() if i in allowed}
            also = [i for i in also if i in allowed]
        best_lexical = sorted(lexical, key=lambda i: (-lexical[i], i))[:CANDIDATES]
        nearest = self.index.nearest_passages(query, max(CANDIDATES, 2 * top_k), within)
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
        return sorted(hits, key=lambda h: (-h.score, h.paper.id))

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


def _read(hit: PaperHit, passages: list[StoredPassage]) -> str:
    """What a reranker reads of a paper: its title and the passage with its best sentence."""
    abstract = hit.paper.abstract
    best = max(hit.sentences, key=lambda s: s.cosine, default=None)
    held = (s.passage for s in passages if best and s.passage.start <= best.start < s.passage.end)
    passage = next(held, None)
    text = abstract[passage.start : passage.end] if passage else abstract
    return search_text(f"{hit.paper.title}. {text}" if hit.paper.title else text)


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
