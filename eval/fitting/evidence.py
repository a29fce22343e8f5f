"""Fit the evidence and confidence models, and write `rag/weights.json`.

    python -m eval.fitting.evidence ABSTRACTS.jsonl.gz PASSAGE_QUESTIONS.jsonl.gz [--lists 6] [--write]

Sources of questions, all asked of the real retriever over lists of 40 to 80 texts:

- `questions.jsonl` beside this file: 696 questions written for this purpose over four lists of 57 machine-learning
  abstracts of ABSTRACTS (records with `id` and `abstract`), freely or plainly put: facts, hows, whys, searches, near
  misses (the paper is there, the answer is not) and far misses, each with the numbers of the sentences that answer.
- `questions_more.jsonl`: 2,226 more of the same make, over four lists of 180 (no far misses); the weights in
  `rag/weights.json` are not fitted on them yet.
- PASSAGE_QUESTIONS: SQuAD 2.0 dev and WikiQA, with the sentences that answer (none for half of them). They are another
  kind of text, so they count little, and only for the evidence model.

Three models come out: `evidence` (does this sentence answer), `confidence` (does the list answer) and `topic` (does the
list have papers on it: near misses count as yes). Validation leaves one list out at a time. The threshold is the
confidence that keeps 93 % of the answerable questions of the lists left out; the topic model is shifted to share it.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.fitting.collect import Asked, paper_questions, passage_questions
from rag import confidence, evidence
from rag.encoder import Encoder
from rag.evidence import ScoredSentence

KEEP = 0.93  # share of answerable questions that must be answered
PASSAGE_WEIGHT = 0.01  # of a passage question beside a paper question
# What users ask, by guess: answerable, near miss, far miss.
FIELD = {"answerable": 0.80, "near_miss": 0.12, "far_miss": 0.08}

Weights = dict[str, float]
Rows = NDArray[np.float64]


@dataclass
class Models:
    """The fitted models."""

    evidence: Weights
    confidence: Weights
    topic: Weights


def logistic_fit(names: tuple[str, ...], rows: Rows, labels: NDArray[Any], importance: NDArray[Any]) -> Weights:
    """A regularised logistic regression on standardised features, told as weights of the raw ones."""
    from sklearn.linear_model import LogisticRegression

    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[spread == 0] = 1.0
    model = LogisticRegression(C=0.5, max_iter=2000).fit((rows - mean) / spread, labels, sample_weight=importance)
    coefficients = model.coef_[0] / spread
    bias = float(model.intercept_[0] - coefficients @ mean)
    return {"bias": round(bias, 4), **{n: round(float(c), 4) for n, c in zip(names, coefficients, strict=True)}}


def fit(papers: list[Asked], passages: list[Asked]) -> Models:
    """Fit the evidence model on both sources, then the confidence model on the papers alone."""
    with_answers = [(a, 1.0) for a in papers if any(a.labels)] + [
        (a, PASSAGE_WEIGHT) for a in passages if any(a.labels)
    ]
    rows = np.array([s.features for a, _ in with_answers for s in a.scored])
    labels = np.array([mark for a, _ in with_answers for mark in a.labels])
    importance = np.array([weight for a, weight in with_answers for _ in a.labels])
    sentence_model = logistic_fit(evidence.FEATURES, rows, labels, importance)
    features = confidence_rows(papers, sentence_model)
    answerable = np.array([a.answerable for a in papers])
    on_topic = np.array([a.kind != "far_miss" for a in papers])
    names = confidence.CONFIDENCE_FEATURES
    return Models(
        sentence_model,
        logistic_fit(names, features, answerable, field(papers)),
        logistic_fit(names, features, on_topic, np.ones(len(papers))),
    )


def rescored(asked: Asked, model: Weights) -> list[tuple[ScoredSentence, int]]:
    """The sentences of a question with their labels, scored by another evidence model, best first."""
    rows = [
        (
            ScoredSentence(
                s.hit, s.rank, s.start, s.end, evidence.logistic(s.features, evidence.FEATURES, model), s.features
            ),
            mark,
        )
        for s, mark in zip(asked.scored, asked.labels, strict=True)
    ]
    return sorted(rows, key=lambda pair: (-pair[0].probability, pair[0].rank, pair[0].start))


def confidence_rows(asked: list[Asked], model: Weights) -> Rows:
    """The confidence features of questions under an evidence model."""
    return np.array(
        [
            confidence.confidence_features(a.question, a.hits, [s for s, _ in rescored(a, model)], a.lexical)
            for a in asked
        ]
    )


def field(asked: list[Asked]) -> NDArray[np.float64]:
    """Importances that make the kinds of question count as in FIELD."""
    kinds = ["answerable" if a.answerable else a.kind for a in asked]
    return np.array([FIELD[k] * len(kinds) / kinds.count(k) for k in kinds])


@dataclass
class Held:
    """A question of a list that was left out, judged by models that never saw it."""

    asked: Asked
    confidence: float
    topic: float
    best_two: list[int]


def hold_out(papers: list[Asked], passages: list[Asked]) -> list[Held]:
    """Leave one list out at a time."""
    held: list[Held] = []
    for group in sorted({a.group for a in papers}):
        models = fit([a for a in papers if a.group != group], passages)
        for asked in (a for a in papers if a.group == group):
            ranked = rescored(asked, models.evidence)
            scored = [s for s, _ in ranked]
            features = confidence.confidence_features(asked.question, asked.hits, scored, asked.lexical)
            sure, topic = (
                evidence.logistic(features, confidence.CONFIDENCE_FEATURES, m)
                for m in (models.confidence, models.topic)
            )
            held.append(Held(asked, sure, topic, [mark for s, mark in ranked if s.hit is scored[0].hit][:2]))
    return held


def validate(held: list[Held]) -> tuple[dict[str, float], float, float]:
    """Return the figures, the threshold of the confidence model and that of the topic model."""
    from sklearn.metrics import roc_auc_score

    values, topics = (np.array([getattr(h, name) for h in held]) for name in ("confidence", "topic"))
    truth = np.array([h.asked.answerable for h in held])
    on_topic = np.array([h.asked.kind != "far_miss" for h in held])
    threshold, topic_threshold = (float(np.quantile(v[t], 1 - KEEP)) for v, t in ((values, truth), (topics, on_topic)))
    answered = [h.best_two for h in held if any(h.asked.labels)]
    figures = {
        "questions": len(held),
        "evidence_at_1": float(np.mean([two[0] for two in answered])),
        "evidence_in_2": float(np.mean([max(two) for two in answered])),
        "auroc": float(roc_auc_score(truth, values)),
        "auroc_near_misses": float(roc_auc_score(truth[on_topic], values[on_topic])),
        "auroc_topic": float(roc_auc_score(on_topic, topics)),
        "refused_answerable": float(np.mean(values[truth] < threshold)),
        "answered_unanswerable": float(np.mean(values[~truth] >= threshold)),
    }
    return {name: round(value, 4) for name, value in figures.items()}, threshold, topic_threshold


def logit(probability: float) -> float:
    """Log odds."""
    return math.log(probability / (1 - probability))


def main() -> None:
    """Ask, validate, fit on everything, print, and write with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("abstracts", type=Path)
    parser.add_argument("passage_questions", type=Path)
    parser.add_argument("--lists", type=int, default=6, help="lists drawn from the passages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write rag/weights.json")
    args = parser.parse_args()
    encoder = Encoder()
    papers = paper_questions(Path(__file__).with_name("questions.jsonl"), args.abstracts, encoder)
    passages = passage_questions(args.passage_questions, encoder, args.lists, args.seed)
    figures, threshold, topic_threshold = validate(hold_out(papers, passages))
    models = fit(papers, passages)
    shift = logit(threshold) - logit(topic_threshold)
    fitted = {
        "evidence": models.evidence,
        "confidence": {**models.confidence, "threshold": round(threshold, 4)},
        "topic": {**models.topic, "bias": round(models.topic["bias"] + shift, 4)},
        "validation": figures,
    }
    print(json.dumps(fitted, indent=1))
    if args.write:
        path = Path(evidence.__file__).with_name("weights.json")
        known = json.loads(path.read_text(encoding="utf-8"))  # another script's numbers stand there too
        path.write_text(json.dumps({**known, **fitted}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
