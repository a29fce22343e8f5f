"""The second look: sentences are read together with the question."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import rag
from rag import pair_scorer
from rag.encoder import Encoder
from rag.evidence import ScoredSentence, log_odds, score_sentences
from rag.index import Index
from rag.pair_scorer import pair
from rag.questions import analyse
from rag.reading import READ, read, with_reading
from rag.retriever import Retriever

QUESTION = "What pass@1 accuracy does Ekka reach?"
SENTENCES = (
    "On a benchmark of real errors, Ekka reaches an accuracy of 80% pass@1.",
    "Silent errors in serving systems are hard to find.",
    "Ekka treats the task as differential debugging.",
)


@pytest.fixture(scope="module")
def scored(sample_store: Index, encoder: Encoder) -> list[ScoredSentence]:
    hits = Retriever(sample_store, encoder).search(QUESTION, 6)
    return score_sentences(analyse(QUESTION), hits, sample_store.lexical)


def test_the_sentence_that_answers_reads_best() -> None:
    odds = pair_scorer.shared().scores([pair(QUESTION, "Ekka", s) for s in SENTENCES])
    assert odds.argmax() == 0 and odds[0] > 0


def test_a_sentence_is_read_alike_alone_and_among_others() -> None:
    pairs = [pair(QUESTION, "Ekka", s) for s in SENTENCES]
    scorer = pair_scorer.shared()
    alone = [float(scorer.scores([p])[0]) for p in pairs]
    assert np.allclose(scorer.scores(pairs), alone, atol=1e-4)
    assert scorer.scores([]).shape == (0,)


def test_a_label_stands_before_its_sentence_and_is_kept_short() -> None:
    assert pair("q?", "Ekka", "It  works.") == ("q?", "Ekka: It works.")
    assert pair("q?", " ".join("abcdefghijkl"), "x")[1] == "a b c d e f g h: x"


def test_very_long_sentences_and_questions_are_read() -> None:
    odds = pair_scorer.shared().scores([pair("why " * 3000, "x", "because " * 3000), pair("q", "", "")])
    assert np.isfinite(odds).all()


def test_only_the_first_sentences_are_read_and_the_others_stand_below(scored: list[ScoredSentence]) -> None:
    looked = with_reading(analyse(QUESTION), scored, pair_scorer.shared())
    assert [(s.hit.paper.id, s.start) for s in looked] == [(s.hit.paper.id, s.start) for s in scored]
    assert len(looked) > READ and all(s.read < min(x.read for x in looked[:READ]) for s in looked[READ:])


def test_reading_orders_anew_and_loses_nothing(scored: list[ScoredSentence]) -> None:
    anew = read(analyse(QUESTION), scored, pair_scorer.shared())
    assert {(s.hit.paper.id, s.start) for s in anew} == {(s.hit.paper.id, s.start) for s in scored}
    assert [s.probability for s in anew] == sorted((s.probability for s in anew), reverse=True)
    assert all(0 <= s.probability <= 1 for s in anew)
    assert "80%" in anew[0].quote
    assert read(analyse(QUESTION), [], pair_scorer.shared()) == []


def test_threads_share_one_scorer() -> None:
    pairs = [pair(QUESTION, "Ekka", s) for s in SENTENCES]
    expected = pair_scorer.PairScorer().scores(pairs)
    scorer = pair_scorer.PairScorer()
    with ThreadPoolExecutor(8) as pool:
        for odds in pool.map(lambda _: scorer.scores(pairs), range(24)):
            assert np.allclose(odds, expected, atol=1e-4)


def test_the_encoder_stays_what_it_is(encoder: Encoder) -> None:
    pair_scorer.shared().scores([pair("q", "l", "s")])
    assert np.allclose(Encoder().encode_query("moss"), encoder.encode_query("moss"), atol=1e-6)


def test_the_adapter_is_small_and_fits_the_encoder() -> None:
    file = Path(rag.__file__).with_name("adapter.safetensors")
    weights = load_file(file)
    assert file.stat().st_size < 1_000_000
    assert {w.dtype for w in weights.values()} == {np.dtype(np.float16)}
    names = set(pair_scorer.adapted(pair_scorer.base()[1]))
    assert {name.rsplit(".", 1)[0] for name in weights} == names | {"head"}


def test_log_odds_are_bounded() -> None:
    assert log_odds(0.5) == 0.0 and -30 < log_odds(0.0) < log_odds(0.1) < log_odds(1.0) < 30
