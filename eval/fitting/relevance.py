"""Fit the model that decides which papers belong on a list (rag.relevance), and write it into `rag/weights.json`.

    python -m eval.fitting.relevance ABSTRACTS.jsonl.gz [--write]

`list_questions.jsonl` beside this file holds questions for all papers on a matter, written for this purpose over the
lists of 180 abstracts of `questions_more.jsonl`; every abstract of a list was judged for each: on the list, borderline
(counted as neither), or not. Validation leaves one list out at a time. The threshold is the probability at which
papers are listed; it is the lowest that keeps PRECISION in validation.
"""

from __future__ import annotations

import argparse
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.fitting.collect import index_of
from eval.fitting.evidence import Rows, Weights, logistic_fit
from ingest import clean
from rag import evidence
from rag.encoder import Encoder
from rag.questions import analyse
from rag.relevance import RELEVANCE_FEATURES, candidates, relevance_features

PRECISION = 0.8  # of the papers listed, on average over questions
LEAST = 0.05  # thresholds that are tried, and STEP apart
STEP = 0.01


@dataclass
class Judged:
    """One question with the features of its candidates; labels are 1 (on the list), 0 (not) and -1 (borderline)."""

    group: int
    rows: Rows
    labels: NDArray[np.int64]
    wanted: int  # papers that belong on the list, found or not


def judged_questions(here: Path, abstracts: Path, encoder: Encoder) -> list[Judged]:
    """Ask the list questions of their lists."""
    asked = _lines(here / "list_questions.jsonl")
    members = {row["paper"]: row["list"] for row in _lines(here / "questions_more.jsonl")}
    texts: dict[str, str] = {}
    with gzip.open(abstracts, "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            if record["id"] in members:
                texts[record["id"]] = clean.clean(record["abstract"])
    result = []
    for number in sorted({row["list"] for row in asked}):
        own = {text: i for i, text in texts.items() if members[i] == number}
        with index_of(set(own), encoder) as retriever:
            for row in (row for row in asked if row["list"] == number):
                hits = candidates(retriever, row["question"])
                question = analyse(row["question"])
                rows = np.array(relevance_features(question, hits, retriever.index.lexical))
                ids = [own[h.paper.abstract] for h in hits]
                labels = [1 if i in row["papers"] else -1 if i in row["also_ok"] else 0 for i in ids]
                result.append(Judged(number, rows, np.array(labels), len(row["papers"])))
        print(f"list {number}: {len(result)} questions", flush=True)
    return result


def fit(judged: list[Judged]) -> Weights:
    """Fit on all candidates but the borderline ones."""
    rows = np.concatenate([j.rows for j in judged])
    labels = np.concatenate([j.labels for j in judged])
    kept = labels >= 0
    return logistic_fit(RELEVANCE_FEATURES, rows[kept], labels[kept], np.ones(int(kept.sum())))


def scores(judged: Judged, model: Weights) -> NDArray[np.float64]:
    """The probabilities of a question's candidates."""
    return np.array([evidence.logistic(row, RELEVANCE_FEATURES, model) for row in judged.rows.tolist()])


def figures(held: list[tuple[Judged, NDArray[np.float64]]], threshold: float) -> dict[str, float]:
    """Recall and precision, averaged over questions, and how often a list without papers is left empty."""
    recall, precision, empty = [], [], []
    for judged, probabilities in held:
        chosen = judged.labels[probabilities >= threshold]
        if judged.wanted == 0:
            empty.append(float(len(chosen) == 0))
            continue
        recall.append(float((chosen == 1).sum()) / judged.wanted)
        if len(chosen):
            precision.append(float((chosen != 0).mean()))
    means = {"recall": recall, "precision": precision, "left_empty": empty}
    return {name: round(float(np.mean(values)), 4) for name, values in means.items()}


def main() -> None:
    """Ask, validate, fit on everything, print, and write with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("abstracts", type=Path)
    parser.add_argument("--write", action="store_true", help="write into rag/weights.json")
    args = parser.parse_args()
    judged = judged_questions(Path(__file__).parent, args.abstracts, Encoder())
    held = []
    for group in sorted({j.group for j in judged}):
        model = fit([j for j in judged if j.group != group])
        held += [(j, scores(j, model)) for j in judged if j.group == group]
    tried = [(t, figures(held, t)) for t in np.arange(LEAST, 0.9, STEP)]
    threshold, found = next(((t, f) for t, f in tried if f["precision"] >= PRECISION), tried[-1])
    fitted = {
        "relevance": {**fit(judged), "threshold": round(float(threshold), 2)},
        "relevance_validation": {"questions": len(judged), **found},
    }
    print(json.dumps(fitted, indent=1))
    if args.write:
        path = Path(evidence.__file__).with_name("weights.json")
        known = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**known, **fitted}, indent=1) + "\n", encoding="utf-8")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


if __name__ == "__main__":
    main()
