"""The optional reranker: logits, its threshold, and what becomes of papers below it. The model is made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag import Assistant, Encoder, Settings, UsageError
from rag.reranker import Reranker

QUESTION = "What pass@1 accuracy does Ekka reach?"


class Model:
    """A cross-encoder whose logits a function of the text gives; it keeps what it read."""

    def __init__(self, logit: Callable[[str], Any]) -> None:
        self.logit = logit
        self.read: list[tuple[str, str]] = []

    def predict(self, pairs: Sequence[tuple[str, str]], *, activation_fn: Callable[[Any], Any], **_: Any) -> Any:
        self.read += pairs
        return activation_fn(np.array([self.logit(text) for _, text in pairs], dtype=np.float32))


def assistant(folder: Path, encoder: Encoder, model: Model, threshold: float = 0.5) -> Assistant:
    reranker = Reranker("made up", threshold=threshold, model=model)
    return Assistant.open(folder, encoder=encoder, settings=Settings(), reranker=reranker)


def test_logits_go_through_a_sigmoid() -> None:
    given = iter([7.4, 0.2, -2.3, -9.0])
    scores = Reranker("made up", model=Model(lambda _: next(given))).scores("q", list("abcd"))
    assert scores.round(3).tolist() == [0.999, 0.55, 0.091, 0.0]
    assert Reranker("made up", model=Model(lambda _: [float("nan")])).scores("q", ["a"]).tolist() == [
        pytest.approx(0.0)
    ]
    assert Reranker("made up", model=Model(lambda _: 1e9)).scores("q", []).tolist() == []


def test_two_of_four_pass_the_threshold_in_order(sample_folder: Path, encoder: Encoder) -> None:
    with Assistant.open(sample_folder, encoder=encoder, settings=Settings()) as plain:
        four = [h.paper for h in plain.search(QUESTION, 4)]
    logits = dict(zip([p.abstract[:40] for p in reversed(four)], [7.4, 0.2, -2.3, -9.0], strict=True))
    model = Model(lambda text: next((v for k, v in logits.items() if k[:20] in text), -9.0))
    with assistant(sample_folder, encoder, model) as asked:
        hits = asked.search(QUESTION, 4)
        assert [h.paper.id for h in hits] == [four[3].id, four[2].id]
        assert [round(h.score, 2) for h in hits] == [1.0, 0.55]
        assert len(model.read) == 50 and {q for q, _ in model.read} == {QUESTION}
        assert [h.paper.id for h in asked.search(QUESTION, 1)] == [four[3].id]
        assert [h.paper.id for h in asked.search(QUESTION, 9, where="not topic ~ ekka")] == [
            i for i in (four[3].id, four[2].id) if i != four[0].id
        ]


def test_nothing_above_the_threshold_is_a_refusal(sample_folder: Path, encoder: Encoder) -> None:
    with assistant(sample_folder, encoder, Model(lambda text: -float(len(text)))) as asked:
        assert asked.search(QUESTION, 5) == []
        answer = asked.ask(QUESTION)
    assert answer.refused and answer.citations == [] and answer.confidence == 0
    assert answer.text == "The papers do not say. The reranker found no paper that answers this."
    lengths = [len(p.abstract) for p in answer.nearest]
    assert len(lengths) == 3 and max(lengths) < 1000  # the reranker's best, which are the shortest


def test_all_above_the_threshold_are_in_its_order(sample_folder: Path, encoder: Encoder) -> None:
    with assistant(
        sample_folder, encoder, Model(lambda t: 5.0 if "Ekka" in t else len(t) / 1000), threshold=0.0
    ) as asked:
        assert not asked.ask(QUESTION).refused
        scores = [h.score for h in asked.search(QUESTION, 200)]
    assert len(scores) == 57 and scores == sorted(scores, reverse=True)


def test_models_that_are_none_are_refused(tmp_path: Path, sample_folder: Path, encoder: Encoder) -> None:
    with pytest.raises(UsageError, match="gives 3 numbers"):
        Reranker("nli", model=Model(lambda _: [1.0, 2.0, 3.0])).scores("q", ["a", "b"])
    with pytest.raises(UsageError, match=r"reranker: no folder .*nothing"):
        Assistant.open(sample_folder, encoder=encoder, settings=Settings(reranker=str(tmp_path / "nothing")))
    with pytest.raises(UsageError, match=r"reranker: .* holds no cross-encoder"):
        Reranker(str(tmp_path)).scores("q", ["a"])
