"""The second look at the best sentences: each is read together with the question (rag.pair_scorer).

Reading costs some 20 ms a sentence on two cores, so only the first few are read. What is read and what the shallow
signals say are weighed by a small logistic model, fitted on questions that the reader was not fitted on
(`eval/fitting/evidence.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag.evidence import ScoredSentence, log_odds, logistic, weights
from rag.pair_scorer import PairScorer, pair
from rag.questions import Question

READ = 5  # sentences
READING_FEATURES = ("shallow", "read", "behind_shallow", "behind_read")
UNREAD = 1.0  # log odds by which a sentence that was not read is held to be worse than the worst that was


def read(question: Question, scored: Sequence[ScoredSentence], scorer: PairScorer) -> list[ScoredSentence]:
    """Read the best sentences and return all of them anew, best first, with `read` and the new probability."""
    return weighed(with_reading(question, scored, scorer))


def with_reading(question: Question, scored: Sequence[ScoredSentence], scorer: PairScorer) -> list[ScoredSentence]:
    """Add the reader's log odds; those of sentences that are not read stand below all others."""
    if not scored:
        return []
    first = scored[:READ]
    odds = scorer.scores([pair(question.reading, s.hit.paper.title or s.hit.paper.label, s.quote) for s in first])
    lowest = float(odds.min()) - UNREAD
    return [replace(s, read=float(odds[i]) if i < len(first) else lowest) for i, s in enumerate(scored)]


def weighed(scored: Sequence[ScoredSentence], model: dict[str, float] | None = None) -> list[ScoredSentence]:
    """Sentences with the probability that follows from both looks, best first."""
    model = model or weights()["reading"]
    rows = reading_features(scored)
    anew = [replace(s, probability=logistic(row, READING_FEATURES, model)) for s, row in zip(scored, rows, strict=True)]
    return sorted(anew, key=lambda s: (-s.probability, s.rank, s.start))


def reading_features(scored: Sequence[ScoredSentence]) -> list[tuple[float, ...]]:
    """The log odds of both looks, and how far each is behind the best of the question."""
    shallow = [log_odds(s.probability) for s in scored]
    odds = [s.read for s in scored]
    return [(a, b, a - max(shallow), b - max(odds)) for a, b in zip(shallow, odds, strict=True)]
