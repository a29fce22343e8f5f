"""Fit the evidence and confidence models, and write their numbers into `rag/weights.json`.

    python -m eval.fitting.evidence ABSTRACTS.jsonl.gz PASSAGE_QUESTIONS.jsonl.gz [--lists 6] [--held 3,7]
        [--keep-evidence] [--write]

Sources of questions, all asked of the real retriever over lists of 40 to 180 texts:

- `questions.jsonl` beside this file: 696 questions written for this purpose over four lists of 57 machine-learning
  abstracts of ABSTRACTS (records with `id` and `abstract`), freely or plainly put: facts, hows, whys, searches, near
  misses (the paper is there, the answer is not) and far misses, each with the numbers of the sentences that answer.
- `questions_more.jsonl`: 2,226 more of the same make, over four lists of 180.
- `questions_zh.jsonl`: 110 more in Chinese, over lists 3 and 7.
- of each list's questions some are asked of another list too, as far misses.
- PASSAGE_QUESTIONS: SQuAD 2.0 dev and WikiQA, with the sentences that answer (none for half of them). They are another
  kind of text, so they count little, and only for the evidence model.

Four models come out: `evidence` (does this sentence answer, by shallow signals), fitted on all; and three that see the
reader's scores (rag.reading), and are therefore fitted on the lists that `eval/fitting/adapter.py` held out: `reading`
(does it answer, after reading it), `confidence` (does the list answer) and `topic` (does the list have papers on it:
near misses count as yes). With `--keep-evidence` the shallow model stays what `rag/weights.json` says, and only the
held lists are asked; the numbers there were made so, its shallow model having been fitted on `questions.jsonl` and
the passages before the other questions were there. Validation leaves out a fifth of the papers of those lists at a
time. The threshold is the confidence that keeps 96 % of the answerable questions left out; the topic model is shifted
to share it.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.fitting.collect import Asked, paper_questions, passage_questions
from rag import confidence, evidence
from rag.encoder import Encoder
from rag.pair_scorer import PairScorer
from rag.reading import READ, READING_FEATURES, reading_features, weighed, with_reading

KEEP = 0.96  # share of answerable questions that must be answered
FOLDS = 5
STRANGERS = 0.15  # far misses for each question of a list
PASSAGE_WEIGHT = 0.01  # of a passage question beside a paper question
# What users ask, by guess: answerable, near miss, far miss.
FIELD = {"answerable": 0.80, "near_miss": 0.12, "far_miss": 0.08}

Weights = dict[str, float]
Rows = NDArray[np.float64]


@dataclass
class Models:
    """The fitted models that see the reader's scores."""

    reading: Weights
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


def fit_evidence(papers: list[Asked], passages: list[Asked]) -> Weights:
    """The shallow model, on both sources."""
    with_answers = [(a, 1.0) for a in papers if any(a.labels)] + [
        (a, PASSAGE_WEIGHT) for a in passages if any(a.labels)
    ]
    rows = np.array([s.features for a, _ in with_answers for s in a.scored])
    labels = np.array([mark for a, _ in with_answers for mark in a.labels])
    importance = np.array([weight for a, weight in with_answers for _ in a.labels])
    return logistic_fit(evidence.FEATURES, rows, labels, importance)


def reread(asked: Asked, model: Weights, scorer: PairScorer) -> Asked:
    """The question with its sentences scored by another shallow model, and read."""
    marks = {(s.hit.paper.id, s.start): mark for s, mark in zip(asked.scored, asked.labels, strict=True)}
    anew = [replace(s, probability=evidence.logistic(s.features, evidence.FEATURES, model)) for s in asked.scored]
    scored = with_reading(asked.question, sorted(anew, key=lambda s: (-s.probability, s.rank, s.start)), scorer)
    return replace(asked, scored=scored, labels=[marks[s.hit.paper.id, s.start] for s in scored])


def fit(asked: list[Asked]) -> Models:
    """Fit the models that see the reader's scores."""
    rows = [
        (row, mark)
        for a in asked
        if any(a.labels)
        for row, mark in list(zip(reading_features(a.scored), a.labels, strict=True))[:READ]
    ]
    features, labels = np.array([row for row, _ in rows]), np.array([mark for _, mark in rows])
    reading = logistic_fit(READING_FEATURES, features, labels, np.ones(len(rows)))
    sure = np.array([confidence_row(a, reading) for a in asked])
    answerable = np.array([a.answerable for a in asked])
    on_topic = np.array([a.kind != "far_miss" for a in asked])
    names = confidence.CONFIDENCE_FEATURES
    return Models(
        reading,
        logistic_fit(names, sure, answerable, field(asked)),
        logistic_fit(names, sure, on_topic, np.ones(len(asked))),
    )


def confidence_row(asked: Asked, reading: Weights) -> tuple[float, ...]:
    """The confidence features of a question under a reading model."""
    return confidence.confidence_features(asked.question, asked.hits, weighed(asked.scored, reading), asked.lexical)


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


def hold_out(asked: list[Asked]) -> list[Held]:
    """Leave out the questions about a fifth of the papers at a time."""
    about = sorted({a.about for a in asked})
    random.Random(0).shuffle(about)
    fold = {text: number % FOLDS for number, text in enumerate(about)}
    strangers = [a for a in asked if not a.about]
    numbers = {id(a): number % FOLDS for number, a in enumerate(strangers)} | {
        id(a): fold[a.about] for a in asked if a.about
    }
    held: list[Held] = []
    for number in range(FOLDS):
        models = fit([a for a in asked if numbers[id(a)] != number])
        for a in (a for a in asked if numbers[id(a)] == number):
            marks = {(s.hit.paper.id, s.start): mark for s, mark in zip(a.scored, a.labels, strict=True)}
            ranked = weighed(a.scored, models.reading)
            features = confidence_row(a, models.reading)
            sure, topic = (
                evidence.logistic(features, confidence.CONFIDENCE_FEATURES, m)
                for m in (models.confidence, models.topic)
            )
            own = [s for s in ranked if s.hit is ranked[0].hit][:2]
            held.append(Held(a, sure, topic, [marks[s.hit.paper.id, s.start] for s in own]))
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
    parser.add_argument("--held", default="3,7", help="lists that the adapter was not fitted on")
    parser.add_argument("--keep-evidence", action="store_true", help="fit only what sees the reader's scores")
    parser.add_argument("--adapter", type=Path, help="another file than rag/adapter.safetensors")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write rag/weights.json")
    args = parser.parse_args()
    encoder, scorer, here = Encoder(), PairScorer(args.adapter), Path(__file__).parent
    files = [here / name for name in ("questions.jsonl", "questions_more.jsonl", "questions_zh.jsonl")]
    groups = {int(number) for number in args.held.split(",")}
    ask = partial(paper_questions, files, args.abstracts, encoder, strangers=STRANGERS)
    if args.keep_evidence:
        papers, shallow = ask(lists=groups), evidence.weights()["evidence"]
    else:
        papers = ask()
        shallow = fit_evidence(papers, passage_questions(args.passage_questions, encoder, args.lists, args.seed))
    names = {f"list {number}" for number in groups}
    asked = [reread(a, shallow, scorer) for a in papers if a.group in names]
    figures, threshold, topic_threshold = validate(hold_out(asked))
    models = fit(asked)
    shift = logit(threshold) - logit(topic_threshold)
    fitted = {
        "evidence": shallow,
        "reading": models.reading,
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
