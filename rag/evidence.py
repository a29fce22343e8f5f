"""Which sentences answer a question: each sentence of the found papers gets a probability.

A logistic model over shallow signals, fitted on public question sets by `eval/fitting/evidence.py`, which also writes
`weights.json`. Nothing in it was fitted on questions about the papers it is asked about.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.lexical import LexicalIndex
from rag.questions import Question
from rag.retriever import PaperHit
from rag.schema import Evidence
from rag.text import CJK, search_text, terms

FIGURE = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twenty|hundred|thousand|million|billion|half|twice|double)\b"
)
CAUSE = re.compile(
    r"\b(?:because|since|due to|lead\w*|caus\w+|result\w* (?:in|from)|hence|thus|therefore|so that|however|"
    r"limit\w*|suffer\w*|fail\w*|hinder\w*|challeng\w*|difficult\w*|lack\w*|restrict\w*|ignor\w*|overlook\w*|yet|driven|by)\b",
    re.I,
)
METHOD = re.compile(
    r"\b(?:we (?:propose|introduce|present|develop|use|show|design|build|train)|by \w+ing|"
    r"using|via|through|based on)\b",
    re.I,
)
PROPOSAL = re.compile(
    r"\b(?:we|this (?:paper|work)) (?:\w+ )?(?:introduce|propose|present|develop|design|study|show)\w*", re.I
)
RESULT = re.compile(
    r"\b(?:experiments?|empirical\w*|results?|outperform\w*|achiev\w+|demonstrat\w+|evaluat\w+|improv\w+|"
    r"we (?:find|show|found|prove))\b",
    re.I,
)
NAMED = re.compile(r"\b(?:[A-Z][a-z]*[A-Z0-9]\w*|[A-Z]{2,}\w*|\w+-\d\w*)\b")


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence of a found paper: `probability` that it answers, `features` in the order of FEATURES.

    `read` are the log odds of the second look (rag.reading), 0 before it.
    """

    hit: PaperHit
    rank: int
    start: int
    end: int
    probability: float
    features: tuple[float, ...]
    read: float = 0.0

    @property
    def quote(self) -> str:
        """The sentence as it stands in the abstract."""
        return self.hit.paper.abstract[self.start : self.end]

    def evidence(self) -> Evidence:
        """The sentence as evidence."""
        return Evidence(
            paper_id=self.hit.paper.id,
            start=self.start,
            end=self.end,
            quote=self.quote,
            score=round(self.probability, 4),
        )


FEATURES = (
    "cosine", "coverage", "context_coverage", "rarest", "paper_score", "paper_margin", "number_asked_and_there",
    "number_asked_not_there", "reason_asked_and_there", "method_asked_and_there", "name_asked_and_there",
    "paper_sought_and_proposed", "position", "log_words", "cosine_margin", "bigrams",
    "own_cosine_margin", "is_result", "is_last",
)  # fmt: skip


@functools.cache
def weights() -> dict[str, dict[str, float]]:
    """The fitted numbers: {"evidence": {feature: weight, "bias": …}, "confidence": {…}}."""
    return dict(json.loads((importlib.resources.files("rag") / "weights.json").read_text(encoding="utf-8")))


def logistic(features: Sequence[float], names: Sequence[str], model: dict[str, float]) -> float:
    """Probability of a logistic model; a name without a weight counts for nothing."""
    total = model["bias"] + sum(model.get(name, 0.0) * value for name, value in zip(names, features, strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def log_odds(probability: float) -> float:
    """Log odds of a probability, kept within what a float can tell from 0 and 1."""
    bounded = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(bounded / (1 - bounded))


def score_sentences(question: Question, hits: Sequence[PaperHit], lexical: LexicalIndex) -> list[ScoredSentence]:
    """Score every sentence of the found papers, best first; ties go to the better paper, then the earlier sentence."""
    result = []
    wanted = wanted_terms(question, lexical)
    for rank, hit in enumerate(hits):
        rows = _features(question, hits, hit, wanted)
        for sentence, row in zip(hit.sentences, rows, strict=True):
            probability = logistic(row, FEATURES, weights()["evidence"])
            result.append(ScoredSentence(hit, rank, sentence.start, sentence.end, probability, row))
    return sorted(result, key=lambda s: (-s.probability, s.rank, s.start))


def wanted_terms(question: Question, lexical: LexicalIndex) -> dict[str, float]:
    """Return the question's content words with their idf in the list.

    Words in a script that the list is not written in say nothing about what its papers cover, and are left out.
    """
    return {t: lexical.idf(t) for t in question.terms if lexical.knows(t) or not CJK.search(t)}


def _features(
    question: Question, hits: Sequence[PaperHit], hit: PaperHit, wanted: dict[str, float]
) -> list[tuple[float, ...]]:
    texts = [hit.paper.abstract[s.start : s.end] for s in hit.sentences]
    tokens = [set(terms(t)) for t in texts]
    ordered = [terms(t) for t in texts]
    total = sum(wanted.values()) or 1.0
    rarest = max(wanted, key=lambda t: (wanted[t], t), default="")
    pairs = set(zip(question.terms, question.terms[1:], strict=False))
    asked = set(re.findall(r"\d[\d.,]*", search_text(question.text)))
    best_cosine = max((s.cosine for h in hits for s in h.sentences), default=0.0)
    own_best = max((s.cosine for s in hit.sentences), default=0.0)
    margin = hits[0].score - (hits[1].score if len(hits) > 1 else 0.0)
    rows: list[tuple[float, ...]] = []
    for i, (sentence, text) in enumerate(zip(hit.sentences, texts, strict=True)):
        near = set().union(*tokens[max(0, i - 1) : i + 2])
        plain = search_text(text)
        figure = bool(FIGURE.search(" ".join(w for w in plain.split() if w.strip(".,;:()%") not in asked)))
        names = {n.casefold() for n in NAMED.findall(text)} - set(question.text.casefold().split())
        rows.append(
            (
                sentence.cosine,
                sum(w for t, w in wanted.items() if t in tokens[i]) / total,
                sum(w for t, w in wanted.items() if t in near) / total,
                float(rarest in tokens[i]),
                hit.score,
                margin if hit is hits[0] else -margin,
                float(question.asks_number and figure),
                float(question.asks_number and not figure),
                float(question.asks_reason and bool(CAUSE.search(text))),
                float(question.asks_method and bool(METHOD.search(text))),
                float(question.asks_name and bool(names)),
                float((question.seeks_paper or question.wants_list) and bool(PROPOSAL.search(text))),
                i / max(1, len(texts) - 1),
                math.log1p(len(text.split())),
                sentence.cosine - best_cosine,
                len(pairs & set(zip(ordered[i], ordered[i][1:], strict=False))) / max(1, len(pairs)),
                sentence.cosine - own_best,
                float(bool(RESULT.search(text))),
                float(i == len(texts) - 1),
            )
        )
    return rows
