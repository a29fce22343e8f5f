"""Fit the evidence and confidence models on public questions, and write `rag/weights.json`.

    python -m eval.fitting.evidence QUESTIONS.jsonl.gz [--beir SCITLDR_DIR] [--lists 60] [--write]

QUESTIONS holds questions with the sentences of a passage and the indexes of those that answer (SQuAD 2.0 dev and
WikiQA). Lists of about 60 passages are drawn, each is indexed the way a user's list is, and its questions are asked of
the real retriever. A question counts as answerable where its passage is in the list and answers it; near misses
(passage there, answer not) and far misses (passage left out) are the rest. With a BEIR folder of one-sentence
summaries of ML papers, these join as answerable and far-missed statements for the confidence alone, so that the models
see the language of papers. Folds never share an article. The threshold is the confidence that keeps all but 7 % of the
answerable held-out questions.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ingest import chunking
from ingest.identity import content_id
from ingest.job import passport_of
from rag import confidence, evidence
from rag.encoder import Encoder
from rag.index import Index
from rag.questions import analyse
from rag.retriever import Retriever
from rag.schema import Paper
from rag.text import search_text

KEEP = 0.93  # share of answerable held-out questions that must be answered
TOP_K = 6


@dataclass
class Asked:
    """One question as the pipeline saw it."""

    group: str
    answerable: bool
    near_miss: bool
    sentence_rows: list[tuple[float, ...]]
    sentence_labels: list[int]  # empty where they are unknown
    hits: Any
    scored: Any
    question: Any
    idf: Any


def load_questions(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the questions by passage text."""
    by_passage: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if len(row["sentences"]) >= 2:
                by_passage[" ".join(row["sentences"])].append(row)
    return by_passage


def build(folder: Path, texts: list[str], encoder: Encoder) -> Index:
    """Index texts as papers without titles."""
    index = Index.create(folder, passport_of(encoder))
    papers = [Paper(id=content_id(t), abstract=t, label=t[:20]) for t in dict.fromkeys(texts)]
    papers = list({p.id: p for p in papers}.values())
    passages = [chunking.passages(p.id, p.abstract, encoder.count_tokens, encoder.max_tokens) for p in papers]
    rows = [
        ("", [search_text(p.abstract[s.start : s.end]) for s in passage.sentences])
        for p, own in zip(papers, passages, strict=True)
        for passage in own
    ]
    index.add(papers, passages, encoder.encode_passages(rows))
    index.commit()
    return index


def ask(retriever: Retriever, text: str, group: str, gold: str | None, labels: set[str] | None, near: bool) -> Asked | None:
    """Ask one question; `gold` is the passage that answers (or nearly does), `labels` its answering sentences."""
    question = analyse(text)
    hits = retriever.search(text, TOP_K)
    idf = retriever.index.lexical.idf
    scored = evidence.score_sentences(question, hits, idf)
    if not scored or not question.terms:
        return None
    rows = [s.features for s in scored]
    marks = [int(s.hit.paper.abstract == gold and any(_same(s.quote, q) for q in labels)) for s in scored] if labels else []
    return Asked(group, bool(labels) or (gold is not None and not near), near, rows, marks, hits, scored, question, idf)


def _same(quote: str, sentence: str) -> bool:
    return quote in sentence or sentence in quote


def collect(passages: dict[str, list[dict[str, Any]]], encoder: Encoder, lists: int, seed: int) -> list[Asked]:
    """Ask the questions of `lists` random lists."""
    rng = random.Random(seed)
    texts = sorted(passages)
    rng.shuffle(texts)
    result = []
    for number in range(lists):
        size = rng.choice([40, 57, 80])
        inside, outside = texts[:size], texts[size : size + 6]
        texts = texts[size:] + texts[:size]
        with tempfile.TemporaryDirectory() as folder:
            index = build(Path(folder), inside, encoder)
            retriever = Retriever(index, encoder)
            for text in inside:
                for row in rng.sample(passages[text], min(3, len(passages[text]))):
                    labels = {row["sentences"][i] for i in row["labels"]}
                    result.append(ask(retriever, row["question"], row["title"], text, labels, not labels))
            for text in outside:
                for row in passages[text][:3]:
                    result.append(ask(retriever, row["question"], row["title"], None, None, False))
            index.close()
        print(f"list {number + 1}/{lists}: {len(result)} questions", flush=True)
    return [r for r in result if r is not None]


def collect_statements(folder: Path, encoder: Encoder, lists: int, seed: int) -> list[Asked]:
    """Ask train summaries of a BEIR folder of lists that hold their paper, or do not."""
    rng = random.Random(seed)
    corpus = {r["_id"]: r["text"] for r in map(json.loads, (folder / "corpus.jsonl").open(encoding="utf-8"))}
    queries = {r["_id"]: r["text"] for r in map(json.loads, (folder / "queries.jsonl").open(encoding="utf-8"))}
    lines = (folder / "qrels.train.tsv").read_text(encoding="utf-8").split("\n")[1:]
    pairs = [line.split("\t")[:2] for line in lines if line]
    rng.shuffle(pairs)
    result = []
    for number in range(lists):
        block = pairs[number * 60 : (number + 1) * 60]
        with tempfile.TemporaryDirectory() as temporary:
            index = build(Path(temporary), [corpus[d] for _, d in block[:40]], encoder)
            retriever = Retriever(index, encoder)
            for position, (query, document) in enumerate(block):
                gold = corpus[document] if position < 40 else None
                result.append(ask(retriever, queries[query], f"doc {document}", gold, None, False))
            index.close()
    return [r for r in result if r is not None]


def fit(rows: np.ndarray, labels: np.ndarray, sample_weights: np.ndarray | None = None) -> Any:
    """A standardised, regularised logistic regression, folded back to raw feature weights: (weights, bias)."""
    from sklearn.linear_model import LogisticRegression

    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[spread == 0] = 1.0
    model = LogisticRegression(C=0.5, max_iter=2000).fit((rows - mean) / spread, labels, sample_weight=sample_weights)
    coefficients = model.coef_[0] / spread
    return coefficients, float(model.intercept_[0] - coefficients @ mean)


def fit_evidence(asked: list[Asked]) -> dict[str, float]:
    """Fit the sentence model on questions whose answering sentences are known."""
    rows = np.array([r for a in asked if a.sentence_labels for r in a.sentence_rows])
    labels = np.array([m for a in asked if a.sentence_labels for m in a.sentence_labels])
    coefficients, bias = fit(rows, labels)
    return {"bias": round(bias, 4), **{n: round(float(c), 4) for n, c in zip(evidence.FEATURES, coefficients, strict=True)}}


def rescore(asked: Asked, model: dict[str, float]) -> list[evidence.ScoredSentence]:
    """Score a question's sentences with another sentence model."""
    rows = [
        evidence.ScoredSentence(s.hit, s.rank, s.start, s.end, evidence.logistic(s.features, evidence.FEATURES, model), s.features)
        for s in asked.scored
    ]
    return sorted(rows, key=lambda s: (-s.probability, s.rank, s.start))


def confidence_rows(asked: list[Asked], model: dict[str, float]) -> np.ndarray:
    """Confidence features of questions under a sentence model."""
    return np.array([confidence.confidence_features(a.question, a.hits, rescore(a, model), a.idf) for a in asked])


def balance(asked: list[Asked]) -> np.ndarray:
    """Weights that make answerable questions, near misses and far misses count as in the field: 80, 12 and 8 parts."""
    kinds = np.array([0 if a.answerable else 1 if a.near_miss else 2 for a in asked])
    parts = np.array([0.80, 0.12, 0.08])
    return np.array([parts[k] * len(kinds) / max(1, int((kinds == k).sum())) for k in kinds])


def report(asked: list[Asked], folds: int = 5) -> tuple[dict[str, float], float]:
    """Cross-validate by article; return figures and the threshold."""
    from sklearn.metrics import roc_auc_score

    groups = sorted({a.group for a in asked})
    random.Random(0).shuffle(groups)
    fold_of = {g: i % folds for i, g in enumerate(groups)}
    hit: list[bool] = []
    held: list[tuple[float, Asked]] = []
    for fold in range(folds):
        train = [a for a in asked if fold_of[a.group] != fold]
        test = [a for a in asked if fold_of[a.group] == fold]
        sentence_model = fit_evidence(train)
        truth = np.array([a.answerable for a in train])
        coefficients, bias = fit(confidence_rows(train, sentence_model), truth, balance(train))
        values = confidence_rows(test, sentence_model) @ coefficients + bias
        held += list(zip((1 / (1 + np.exp(-values))).tolist(), test, strict=True))
        for a in test:
            if a.sentence_labels:
                best = rescore(a, sentence_model)[0]
                index = next(i for i, s in enumerate(a.scored) if (s.hit is best.hit) and s.start == best.start)
                hit.append(bool(a.sentence_labels[index]))
    truth = np.array([a.answerable for _, a in held])
    values = np.array([p for p, _ in held])
    near = np.array([a.answerable or a.near_miss for _, a in held])
    cut = float(np.quantile(values[truth], 1 - KEEP))
    figures = {
        "questions": len(held),
        "evidence_at_1": round(float(np.mean(hit)), 4),
        "auroc": round(float(roc_auc_score(truth, values)), 4),
        "auroc_near_misses": round(float(roc_auc_score(truth[near], values[near])), 4),
        "refused_answerable": round(float(np.mean(values[truth] < cut)), 4),
        "answered_unanswerable": round(float(np.mean(values[~truth] >= cut)), 4),
    }
    return figures, cut


def main() -> None:
    """Collect, cross-validate, fit on everything, print, and write with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--beir", type=Path)
    parser.add_argument("--lists", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    encoder = Encoder()
    asked = collect(load_questions(args.questions), encoder, args.lists, args.seed)
    if args.beir:
        asked += collect_statements(args.beir, encoder, args.lists // 3, args.seed)
    figures, cut = report(asked)
    sentence_model = fit_evidence(asked)
    truth = np.array([a.answerable for a in asked])
    coefficients, bias = fit(confidence_rows(asked, sentence_model), truth, balance(asked))
    names = confidence.CONFIDENCE_FEATURES
    confidence_model = {"bias": round(bias, 4), **{n: round(float(c), 4) for n, c in zip(names, coefficients, strict=True)}}
    fitted = {"evidence": sentence_model, "confidence": {**confidence_model, "threshold": round(cut, 4)}, "validation": figures}
    print(json.dumps(fitted, indent=1))
    if args.write:
        target = Path(evidence.__file__).with_name("weights.json")
        target.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
