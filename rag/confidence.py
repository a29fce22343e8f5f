"""How likely it is that the papers answer a question at all; below the threshold Confer refuses.

Two logistic models over the best evidence, fitted with the evidence weights (see rag.evidence): one tells answers from
near and far misses; the other, for questions that ask which papers there are, only whether the list has the topic.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from rag.evidence import FEATURES, ScoredSentence, log_odds, logistic, wanted_terms, weights
from rag.lexical import LexicalIndex
from rag.questions import AUTHORS, Question
from rag.retriever import PaperHit
from rag.schema import Paper
from rag.text import CJK, search_text, terms

# Names of things that a record either has or has not; where it has not, the papers do not say.
RELEASE = re.compile(r"https?://|\bcodes?\b|github|open[- ]?sourc|\breleas|publicly|\bavailable\b|repositor", re.I)
ABSENT = 0.1  # confidence where what is asked for is not there

CONFIDENCE_FEATURES = (
    "best", "second", "cosine", "coverage", "paper_coverage", "unseen", "dense", "margin", "best_paper", 
    "asked_kind_missing", "log_terms", "names_missing", "rarest_missing", "seeks", "read", "read_second",
    "read_elsewhere", "chinese",
)  # fmt: skip


def confidence_features(
    question: Question, hits: Sequence[PaperHit], scored: Sequence[ScoredSentence], lexical: LexicalIndex
) -> tuple[float, ...]:
    """Return the features of a question's best evidence, in the order of CONFIDENCE_FEATURES."""
    best = scored[0]
    named = dict(zip(FEATURES, best.features, strict=True))
    wanted = wanted_terms(question, lexical)
    total = sum(wanted.values()) or 1.0
    paper = best.hit.paper
    inside = set(terms(f"{paper.title or ''} {paper.abstract}"))
    plain = search_text(paper.abstract).casefold()
    rarest = max(wanted, key=lambda t: (wanted[t], t), default="")
    other = max((s.probability for s in scored if s.hit is not best.hit), default=0.0)
    second = scored[1].probability if len(scored) > 1 else 0.0
    odds = sorted((s.read for s in scored), reverse=True)
    elsewhere = [s.read for s in scored if s.hit is not best.hit]
    return (
        log_odds(best.probability),
        log_odds(max(second, 1e-6)),
        max(s.features[0] for s in scored),
        named["coverage"],
        sum(w for t, w in wanted.items() if t in inside) / total,
        sum(w for t, w in wanted.items() if t not in inside) / 10,
        max(h.dense for h in hits),
        best.probability - other,
        float(best.rank == 0),
        named["number_asked_not_there"],
        math.log1p(len(question.terms)),
        sum(n.casefold() not in plain for n in question.names) / max(1, len(question.names)),
        float(bool(rarest) and rarest not in inside),
        float(question.seeks_paper),
        odds[0],
        odds[1] if len(odds) > 1 else odds[0],
        odds[0] - max(elsewhere, default=odds[-1]),
        float(question.chinese),
    )


def confidence(
    question: Question, hits: Sequence[PaperHit], scored: Sequence[ScoredSentence], lexical: LexicalIndex
) -> float:
    """Probability, 0 to 1, that the evidence answers the question; 0 without evidence."""
    if not scored or not any(len(term) > 1 or CJK.match(term) for term in question.terms):
        return 0.0
    if not question.wants_list and asked_for_is_absent(question, scored[0].hit.paper):
        return ABSENT
    model = weights()["topic" if question.wants_list else "confidence"]
    return logistic(confidence_features(question, hits, scored, lexical), CONFIDENCE_FEATURES, model)


def asked_for_is_absent(question: Question, paper: Paper) -> bool:
    """Whether a question asks for authors or code that the best paper's record does not mention at all."""
    if question.asks_authors and not paper.authors and not AUTHORS.search(paper.abstract):
        return True
    return question.asks_code and not paper.url and not RELEASE.search(paper.abstract)


def says_nothing_of(question: Question, paper: Paper) -> bool:
    """Whether a follow-up brings words of its own and the paper it would be answered from has none of them.

    The paper was found by the question before, so its being there says nothing. Code is told by many words.
    """
    if question.asks_code or question.chinese:
        return False
    own = set(question.terms)
    return bool(own) and own.isdisjoint(terms(f"{paper.title or ''} {paper.abstract}"))


def threshold() -> float:
    """The calibrated confidence below which the papers are held not to say; one for both models."""
    return weights()["confidence"]["threshold"]
