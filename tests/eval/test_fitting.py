"""The fitted numbers belong to the code that uses them, and to no question they are judged by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.fitting.evidence import FIELD, logistic_fit
from rag import confidence, evidence, reading, relevance

ROOT = Path(__file__).parents[2]
FITTING = ROOT / "eval" / "fitting"


def rows(name: str) -> list[dict[str, Any]]:
    """The lines of a file of questions."""
    return [json.loads(line) for line in (FITTING / name).read_text(encoding="utf-8").split("\n") if line]


QUESTIONS = rows("questions.jsonl") + rows("questions_more.jsonl")
LISTS = rows("list_questions.jsonl")
GOLD = ROOT.parent / "shared" / "qa" / "open.jsonl"


def test_every_feature_has_its_weight_and_no_weight_is_left_over() -> None:
    fitted = evidence.weights()
    assert set(fitted["evidence"]) == {"bias", *evidence.FEATURES}
    assert set(fitted["topic"]) == {"bias", *confidence.CONFIDENCE_FEATURES}
    assert set(fitted["confidence"]) == {"bias", "threshold", *confidence.CONFIDENCE_FEATURES}
    assert set(fitted["reading"]) == {"bias", *reading.READING_FEATURES}
    assert set(fitted["relevance"]) == {"bias", "threshold", *relevance.RELEVANCE_FEATURES}
    assert 0 < confidence.threshold() < 1


def test_validation_figures_are_kept_with_the_weights() -> None:
    figures = evidence.weights()["validation"]
    assert 700 < figures["questions"] < len(QUESTIONS)
    assert evidence.weights()["relevance_validation"]["questions"] == len(LISTS)
    assert 0.5 < figures["auroc_near_misses"] <= figures["auroc"] <= 1
    assert figures["evidence_at_1"] <= figures["evidence_in_2"]


def test_questions_are_well_formed() -> None:
    assert len({q["question"] for q in QUESTIONS}) == len(QUESTIONS)
    for row in QUESTIONS:
        answerable = row["kind"] not in {"near_miss", "far_miss"}
        assert bool(row["sentences"]) == answerable
        assert (row["paper"] is None) == (row["kind"] == "far_miss")


def test_list_questions_are_about_their_lists() -> None:
    members = {row["paper"]: row["list"] for row in rows("questions_more.jsonl")}
    assert len({(q["list"], q["question"]) for q in LISTS}) == len(LISTS)
    for row in LISTS:
        assert {members[paper] for paper in [*row["papers"], *row["also_ok"]]} <= {row["list"]}
        assert not set(row["papers"]) & set(row["also_ok"])
    assert sum(not q["papers"] for q in LISTS) >= 10  # what no paper is on


def test_no_gold_question_was_fitted_on() -> None:
    if not GOLD.exists():
        pytest.skip("the gold questions are not on this machine")
    gold = {json.loads(line)["question"].casefold() for line in GOLD.read_text(encoding="utf-8").split("\n") if line}
    assert not gold & {q["question"].casefold() for q in QUESTIONS + LISTS}


def test_a_logistic_fit_recovers_what_made_the_labels() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 2)) * [1.0, 10.0] + [0.0, 5.0]
    chance = 1 / (1 + np.exp(-(2.0 * rows[:, 0] - 0.1 * rows[:, 1] + 0.5)))
    labels = (rng.random(4000) < chance).astype(int)
    model = logistic_fit(("a", "b"), rows, labels, np.ones(4000))
    assert model["a"] == pytest.approx(2.0, abs=0.25)
    assert model["b"] == pytest.approx(-0.1, abs=0.03)
    assert evidence.logistic((1.0, 5.0), ("a", "b"), model) == pytest.approx(1 / (1 + np.exp(-2.0)), abs=0.05)


def test_the_field_is_a_whole() -> None:
    assert sum(FIELD.values()) == pytest.approx(1.0)
