"""Whether a paper belongs on the list that a question asks for: a decision for every candidate, not a top k.

A logistic model over a paper's likeness to the question, by itself and beside the best paper's, fitted on questions
that ask for all papers on a matter, with every paper of their lists judged (`eval/fitting/relevance.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag.confidence import threshold
from rag.evidence import logistic, wanted_terms, weights
from rag.filters import Filter
from rag.lexical import LexicalIndex
from rag.questions import Question
from rag.retriever import PaperHit, Retriever
from rag.text import terms

RELEVANCE_FEATURES = (
    "dense", "sentence", "second_sentence", "dense_margin", "sentence_margin", "score", "lexical", "coverage",
    "sentence_coverage", "uncovered", "rarest", "pairs",
)  # fmt: skip


CANDIDATES = 500  # papers that are judged: by what they share with the question, the first so many


@dataclass(frozen=True)
class Listed:
    """The papers on a list, the surest first, and the other candidates; `score` is the probability of each.

    All meet the filter `where`. `sure` is the probability that there is such a paper at all, on the scale of
    `rag.confidence`.
    """

    hits: list[PaperHit]
    below: list[PaperHit]
    sure: float
    where: Filter | None


def relevance_features(question: Question, hits: Sequence[PaperHit], lexical: LexicalIndex) -> list[tuple[float, ...]]:
    """Return the features of each candidate, in the order of RELEVANCE_FEATURES."""
    wanted = wanted_terms(question, lexical)
    total = sum(wanted.values()) or 1.0
    rarest = max(wanted, key=lambda t: (wanted[t], t), default="")
    pairs = set(pairwise(question.terms))
    best_dense = max((h.dense for h in hits), default=0.0)
    best_sentence = max((h.sentence for h in hits), default=0.0)
    best_lexical = max((h.lexical for h in hits), default=0.0) or 1.0
    rows: list[tuple[float, ...]] = []
    for hit in hits:
        paper = hit.paper
        ordered = terms(f"{paper.title or ''} {paper.abstract}")
        inside = set(ordered)
        cosines = sorted((s.cosine for s in hit.sentences), reverse=True)
        nearest = max(hit.sentences, key=lambda s: s.cosine, default=None)
        own = set(terms(paper.abstract[nearest.start : nearest.end])) if nearest else set()
        covered = sum(w for t, w in wanted.items() if t in inside)
        rows.append(
            (
                hit.dense,
                hit.sentence,
                cosines[1] if len(cosines) > 1 else hit.sentence,
                hit.dense - best_dense,
                hit.sentence - best_sentence,
                hit.score,
                hit.lexical / best_lexical,
                covered / total,
                sum(w for t, w in wanted.items() if t in own) / total,
                (total - covered) / 10,
                float(rarest in inside),
                len(pairs & set(pairwise(ordered))) / max(1, len(pairs)),
            )
        )
    return rows


def candidates(retriever: Retriever, question: str, where: Filter | None = None) -> list[PaperHit]:
    """Return the papers that a list may have on it: those with words of the question, and those near it."""
    return retriever.search(question, CANDIDATES, where=where)


def relevant(retriever: Retriever, question: Question, where: Filter | None = None) -> Listed:
    """Decide for every candidate whether it belongs on the list that a question asks for."""
    hits = candidates(retriever, question.text, where)
    model = weights()["relevance"]
    rows = relevance_features(question, hits, retriever.index.lexical)
    scored = [replace(hit, score=logistic(row, RELEVANCE_FEATURES, model)) for hit, row in zip(hits, rows, strict=True)]
    ranked = sorted(scored, key=lambda h: (-h.score, h.paper.id))
    listed = [h for h in ranked if h.score >= model["threshold"]]
    best = ranked[0].score if ranked else 0.0
    return Listed(listed, ranked[len(listed) :], _on_the_scale_of_confidence(best, model["threshold"]), where)


def _on_the_scale_of_confidence(probability: float, own_threshold: float) -> float:
    """Shift the log odds by what lies between the two thresholds."""
    if probability in {0.0, 1.0}:
        return probability
    odds = [p / (1 - p) for p in (probability, threshold(), own_threshold)]
    shifted = odds[0] * odds[1] / odds[2]
    return shifted / (1 + shifted)
