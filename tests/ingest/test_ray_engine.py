"""Encoding by Ray: the same papers, ids and vectors as by this process. Starts a local Ray."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cli_kit import confer

import ingest
from ingest import writing
from rag.encoder import Encoder
from rag.index import Index
from rag.retriever import Retriever
from rag.stored_passage import StoredPassage
from ui.sample import SAMPLE

QUESTIONS = ("judges that favour long answers", "self-distillation", "silent errors in LLM serving")


@pytest.fixture
def ray_encoder() -> Iterator[Encoder]:
    ray = pytest.importorskip("ray", reason="Ray is an extra: pip install -e '.[ray]'")
    from ingest.ray_engine import RayEncoder

    yield RayEncoder()
    ray.shutdown()


def vectors(index: Index) -> dict[tuple[str, int], np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """The vectors of all passages by paper and position."""

    def name(stored: StoredPassage) -> tuple[str, int]:
        return stored.passage.paper_id, stored.passage.position

    return {name(stored): np.asarray(vector) for stored, vector in index.passage_vectors()}


@pytest.mark.slow
def test_an_index_built_by_ray_is_the_index(
    ray_encoder: Encoder, sample_store: Index, encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "BATCH", 25)  # more than one write
    monkeypatch.setattr(Encoder, "papers_at_a_time", 25)
    report = ingest.run([SAMPLE], tmp_path / "index", encoder=ray_encoder)
    assert report.added == report.read == len(sample_store)
    built = Index.open(tmp_path / "index")
    ours, theirs = vectors(sample_store), vectors(built)
    assert ours.keys() == theirs.keys()
    assert all(np.allclose(ours[name], theirs[name], atol=1e-5) for name in ours)
    assert built.passport.corpus_hash == sample_store.passport.corpus_hash
    for question in QUESTIONS:
        here = [h.paper.id for h in Retriever(sample_store, encoder).search(question, 10)]
        assert [h.paper.id for h in Retriever(built, encoder).search(question, 10)] == here
    built.close()
    again = ingest.run([SAMPLE], tmp_path / "index", encoder=encoder)
    assert (again.unchanged, again.encoded) == (report.read, 0)


def test_without_ray_the_command_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    done = confer("ingest", SAMPLE, "--index", tmp_path / "index", "--engine", "ray")
    assert done.returncode == 2 and "pip install -e '.[ray]'" in done.stderr
    assert not (tmp_path / "index").exists()
