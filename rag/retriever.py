"""From a question to papers: dense, sentence and keyword scores of the same candidates, fused.

Each score is min-max normalised over the candidates and the three (whole passage, best sentence, BM25) are added with
fixed weights. That is done twice: the second time with a query that has moved towards the three best papers (J. J.
Rocchio, Relevance feedback in information retrieval, 1971). Weights, depth and step were chosen on training questions
(docs/decisions.md). A filter is applied before the best are taken, so that they are the best of the papers that meet
it. A reranker's scores replace the fused ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag.encoder import Encoder, Vector
from rag.filters import Filter
from rag.glossary import english
from rag.index import Index
from rag.lexical import LexicalMatches
from rag.reranker import DEPTH, Reranker
from rag.schema import Paper
from rag.stored_passage import StoredPassage, paper_version
from rag.text import CJK, search_text, terms

Weights = tuple[float, float, float]
Candidates = dict[str, tuple[Paper, list[StoredPassage]]]  # by paper id

FIRST_WEIGHTS = (1.0, 1.0, 2.0)  # of passage, sentence and BM25 for the papers that the query is moved towards
WEIGHTS = (1.0, 1.0, 1.5)
FEEDBACK = 3  # papers
FEEDBACK_WEIGHT = 0.3  # of their mean beside the query
CANDIDATES = 100  # passages from the vector index, and as many papers from the keyword index


@dataclass(frozen=True)
class SentenceHit:
    """A sentence of a found paper: offsets into its abstract and the cosine to the question."""

    start: int
    end: int
    cosine: float


@dataclass(frozen=True)
class PaperHit:
    """A found paper with what speaks for it: raw scores (cosines, BM25), and `score`, 0 to 1, the order.

    `ranks` are those of the three raw scores among all candidates, from 1; None where no word is shared.
    """

    paper: Paper
    score: float
    dense: float
    sentence: float
    lexical: float
    sentences: list[SentenceHit]
    ranks: tuple[int | None, int | None, int | None] = (None, None, None)


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
        also_english = terms(english(question)) if CJK.search(question) else []
        lexical = self.index.lexical.matches([*terms(question), *also_english])
        if within is not None and also:
            allowed = set(within)
            also = [i for i in also if i in allowed]
        best_lexical = lexical.best(max(CANDIDATES, top_k), within)
        depth = max(CANDIDATES, 2 * top_k)
        nearest = self.index.nearest_passages(query, depth, within)
        found = self._candidates([*(p.passage.paper_id for p, _ in nearest), *best_lexical, *also])
        hits = self._likened(found, query, nearest, lexical)
        wider = self._widened(query, _ranked(hits, FIRST_WEIGHTS)[:FEEDBACK])
        further = self.index.nearest_passages(wider, depth, within)
        new = self._candidates([p.passage.paper_id for p, _ in further if p.passage.paper_id not in found])
        hits += self._likened(new, query, nearest, lexical)
        # The order is that of the second round; what else is said of a paper is its likeness to the question itself.
        second = _ranked(self._likened(found | new, wider, further, lexical), WEIGHTS)
        own = {h.paper.id: h for h in _with_ranks(hits)}
        return [replace(own[h.paper.id], score=h.score) for h in second]

    def _candidates(self, ids: Sequence[str]) -> Candidates:
        """Papers with the passages of their present text."""
        papers = self.index.papers(ids)
        passages = self.index.passages(list(papers))
        found = {}
        for i, paper in papers.items():
            version = paper_version(paper.abstract)  # a newer text of the paper may be being written
            found[i] = (paper, [stored for stored in passages[i] if stored.version == version])
        return found

    def _likened(
        self,
        found: Candidates,
        query: Vector,
        nearest: Sequence[tuple[StoredPassage, float]],
        lexical: LexicalMatches,
    ) -> list[PaperHit]:
        """The candidates with their likeness to a query, not yet fused."""
        dense: dict[str, float] = {}
        for stored, cosine in nearest:
            dense[stored.passage.paper_id] = max(cosine, dense.get(stored.passage.paper_id, -1.0))
        hits = []
        for i, (paper, passages) in found.items():
            sentences = self._sentences(passages, query)
            best = max((s.cosine for s in sentences), default=0.0)
            # A paper that only the keywords found has no passage cosine; the mean of its sentences stands near it.
            hits.append(PaperHit(paper, 0.0, dense.get(i, _mean(sentences)), best, lexical.score(i), sentences))
        return hits

    def _widened(self, query: Vector, best: Sequence[PaperHit]) -> Vector:
        """The query moved towards the best papers of a first round."""
        vectors = self.index.paper_vectors([h.paper.id for h in best])
        weighed = [(h.score, vectors[h.paper.id]) for h in best if h.score > 0 and h.paper.id in vectors]
        if not weighed:
            return query
        mean = sum(score * vector for score, vector in weighed) / sum(score for score, _ in weighed)
        wider = query + FEEDBACK_WEIGHT * mean
        return np.asarray(wider / np.linalg.norm(wider), dtype=np.float32)

    def _readable(self, question: str) -> str:
        """What the encoder reads: an English one gets a Chinese question word by word in English."""
        if not CJK.search(question) or self.encoder.multilingual:
            return question
        return english(question) or question

    def _sentences(self, passages: list[StoredPassage], query: Vector) -> list[SentenceHit]:
        result = []
        for stored in passages:
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


def _ranked(hits: Sequence[PaperHit], weights: Weights) -> list[PaperHit]:
    """The hits with their fused scores, best first."""
    if not hits:
        return []
    fused = _fuse(np.array([(h.dense, h.sentence, h.lexical) for h in hits], dtype=np.float64), weights)
    scored = [replace(h, score=float(score)) for h, score in zip(hits, fused, strict=True)]
    return sorted(scored, key=lambda h: (-h.score, h.paper.id))


def _with_ranks(hits: Sequence[PaperHit]) -> list[PaperHit]:
    """The hits with their ranks by each raw score; equal scores share the better rank."""
    scores = np.array([(h.dense, h.sentence, h.lexical) for h in hits], dtype=np.float64).reshape(len(hits), 3)
    better = np.stack([np.searchsorted(np.sort(-column), -column) + 1 for column in scores.T], axis=1)
    return [
        replace(h, ranks=(int(dense), int(sentence), int(lexical) if h.lexical > 0 else None))
        for h, (dense, sentence, lexical) in zip(hits, better, strict=True)
    ]


def _fuse(scores: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Min-max normalise the columns (passage, sentence, BM25), add them with the weights; the result is 0 to 1."""
    low, high = scores.min(axis=0), scores.max(axis=0)
    low[2] = 0.0  # BM25 has a true zero: no word in common
    spread = np.where(high > low, high - low, 1.0)
    fused: NDArray[np.float64] = ((scores - low) / spread) @ (np.array(weights) / sum(weights))
    return fused
