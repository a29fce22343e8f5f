"""Figures of a ranking against values worked by hand, and how a set is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval import beir, ranking
from eval.benchmarks.retrieval import summary
from rag.errors import UsageError

GAINS = {"d1": 3.0, "d2": 2.0, "d4": 1.0, "d5": 2.0}


def test_worked_values() -> None:
    found = ["d1", "d3", "d2", "x", "d4"]
    assert ranking.ndcg(found, GAINS) == pytest.approx(0.770632, abs=1e-6)  # as trec_eval has it
    assert ranking.recall(found, GAINS, 10) == 0.75
    assert ranking.recall(found, GAINS, 1) == 0.25
    assert ranking.reciprocal_rank(["x", *found], GAINS) == 0.5
    assert ranking.reciprocal_rank(["x"] * 10 + found, GAINS) == 0.0


def write(folder: Path, qrels: str) -> None:
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "Moss"}\n{"_id": "d2", "text": "Fern"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "moss?"}\n{"_id": "q2", "text": "reed?"}\n')
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{qrels}")


def test_a_set_is_read_and_what_is_wrong_is_named(tmp_path: Path) -> None:
    write(tmp_path, "q1\td1\t2\nq2\td2\t0\n")
    found = beir.load(tmp_path)
    assert (found.documents, found.queries, found.relevant) == (["d1", "d2"], {"q1": "moss?"}, {"q1": {"d1": 2.0}})
    for qrels, fault in (("q1 d1 1\n", "line 2: not query-id"), ("q9\td1\t1\n", "line 2: no query q9")):
        write(tmp_path, qrels)
        with pytest.raises(UsageError, match=fault):
            beir.load(tmp_path)
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1"}\n')
    with pytest.raises(UsageError, match=r"corpus\.jsonl, line 1"):
        beir.load(tmp_path)


def test_a_difference_has_an_interval_and_none_where_nothing_varies() -> None:
    def row(ours: float, plain: float) -> dict[str, object]:
        names = ("ndcg@10", "recall@10", "recall@100", "mrr@10")
        return {"confer": dict.fromkeys(names, ours), "plain": dict.fromkeys(names, plain)}

    told = summary([row(1.0, 0.5), row(0.5, 0.5), row(1.0, 0.0), row(0.75, 0.5)])
    assert told["difference"] == 0.4375 and told["interval"][0] < 0.4375 < told["interval"][1]
    assert summary([row(1.0, 0.5)] * 3)["interval"] is None
