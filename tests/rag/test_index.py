"""The index by itself: what it stores, what it sweeps, and that it opens what is there. Vectors are made up."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag import ingest_reports
from rag.encoder import EncodedPassage
from rag.errors import IndexLockedError, IndexMissingError, UsageError
from rag.health import check
from rag.index import PAGE, Index
from rag.schema import IngestReport, Paper, Passage, Passport, Source, Span
from rag.writer_lock import writer_lock

DIMENSION = 8
Entry = tuple[Paper, list[Passage], list[EncodedPassage]]


def passport() -> Passport:
    return Passport(encoder="made up", revision="0", dimension=DIMENSION, chunking_version=1, cleaning_version=1)


def entry(number: int, passages: int = 2, abstract: str | None = None) -> Entry:
    """A paper with passages of two sentences each, and vectors that differ from those of all others."""
    text = abstract or f"Paper {number} tells this. " * passages * 2
    paper = Paper(
        id=f"c{number:04}", abstract=text, label=f"paper {number}", sources=[Source(file="list.txt", position=number)]
    )
    size = len(text) // passages
    cut, vectors = [], []
    rng = np.random.default_rng(number)
    for position in range(passages):
        start, end = position * size, len(text) if position == passages - 1 else (position + 1) * size
        middle = (start + end) // 2
        spans = [Span(start=start, end=middle), Span(start=middle, end=end)]
        cut.append(Passage(paper_id=paper.id, position=position, start=start, end=end, sentences=spans))
        rows = rng.normal(size=(3, DIMENSION)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        vectors.append(EncodedPassage(rows[0], rows[1:]))
    return paper, cut, vectors


def add(index: Index, *entries: Entry) -> None:
    index.add([p for p, _, _ in entries], [c for _, c, _ in entries], [v for _, _, found in entries for v in found])


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index.create(tmp_path / "index", passport())
    yield made
    made.close()


def test_papers_passages_and_vectors_come_back(index: Index) -> None:
    entries = [entry(n) for n in (3, 1, 2)]
    add(index, *entries)
    index.commit()
    assert list(index.papers()) == ["c0001", "c0002", "c0003"]  # in the order of their list
    assert index.papers(["c0003", "gone", "c0001"]) == {"c0003": entries[0][0], "c0001": entries[1][0]}
    for paper, cut, vectors in entries:
        stored = index.passages([paper.id])[paper.id]
        assert [s.passage for s in stored] == cut
        for found, encoded in zip(stored, vectors, strict=True):
            assert np.allclose(index.sentence_vectors(found), encoded.sentences, atol=1e-3)
            nearest, cosine = index.nearest_passages(encoded.vector, 1)[0]
            assert nearest == found and cosine == pytest.approx(1, abs=1e-4)
    assert (index.passport.papers, index.passport.passages, index.passport.sentences) == (3, 6, 12)


def test_asking_for_more_than_there_is(index: Index) -> None:
    assert index.nearest_passages(np.ones(DIMENSION, dtype=np.float32), 5) == []
    assert index.papers() == {} and index.passages([]) == {} and len(index) == 0
    add(index, entry(1))
    assert len(index.nearest_passages(np.ones(DIMENSION, dtype=np.float32), 500)) == 2


def test_a_replaced_abstract_leaves_nothing_behind(index: Index) -> None:
    add(index, entry(1, passages=3))
    add(index, entry(1, passages=1, abstract="Another text. It is short."))
    index.commit()
    assert [s.passage.end for s in index.passages(["c0001"])["c0001"]] == [26]
    assert index.passport.passages == 1
    assert index.lexical.scores(["tell"]) == {} and set(index.lexical.scores(["short"])) == {"c0001"}


def test_removed_papers_are_gone_everywhere(index: Index) -> None:
    add(index, entry(1), entry(2))
    index.commit()
    before = index.passport.generation
    index.remove(["c0001"])
    index.commit()
    assert list(index.papers()) == ["c0002"] == index.lexical.ids
    assert {s.passage.paper_id for s, _ in index.nearest_passages(np.ones(DIMENSION, dtype=np.float32), 9)} == {"c0002"}
    assert index.passport.generation == before + 1 == index.current_generation()


def test_a_commit_sweeps_what_a_killed_run_left(index: Index) -> None:
    add(index, entry(1), entry(2))
    index.commit()
    settled = index.passport
    assert index.is_settled()
    index._papers.delete(ids=["c0002"])  # as a run that dies between papers and passages
    assert not index.is_settled()
    index.commit()
    assert index._passages.count() == 2 and index.is_settled()
    add(index, entry(2))
    assert not index.is_settled()
    index.commit()
    assert index.passport.corpus_hash == settled.corpus_hash


def test_more_passages_than_one_call_takes(index: Index) -> None:
    add(index, entry(1, passages=PAGE + 5, abstract="word. " * 5000))
    index.commit()
    assert index.passport.passages == PAGE + 5
    assert [s.passage.position for s in index.passages(["c0001"])["c0001"]] == list(range(PAGE + 5))


def test_opening(tmp_path: Path, index: Index) -> None:
    add(index, entry(1))
    index.commit()
    index.close()
    index.close()
    again = Index.open(index.path)
    assert again.passport == index.passport and list(again.papers()) == ["c0001"]
    again.close()
    with pytest.raises(IndexMissingError, match=str(tmp_path)):
        Index.open(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_a_creation_that_was_cut_off_is_finished(tmp_path: Path) -> None:
    half = Index.create(tmp_path / "index", passport())
    half._chroma.delete_collection("papers")
    half.close()
    assert not Index.is_complete(tmp_path / "index")
    with pytest.raises(IndexMissingError, match="no complete index"):
        Index.open(tmp_path / "index")
    Index.create(tmp_path / "index", passport()).close()
    assert Index.is_complete(tmp_path / "index")


def test_lost_keyword_files_are_rebuilt(index: Index) -> None:
    add(index, entry(1), entry(2))
    index.commit()
    expected = index.lexical.scores(["paper", "tell", "1"])
    index.close()
    shutil.rmtree(index.path / "lexical")
    again = Index.open(index.path)
    assert again.lexical.scores(["paper", "tell", "1"]) == expected
    again.close()


def test_a_folder_that_is_removed_and_made_again_while_open(tmp_path: Path) -> None:
    stale = Index.create(tmp_path / "index", passport())
    add(stale, entry(1))
    shutil.rmtree(tmp_path / "index")
    fresh = Index.create(tmp_path / "index", passport())
    other = Index.create(tmp_path / "other", passport())
    add(fresh, entry(2))
    add(other, entry(3))
    fresh.commit()
    reopened = Index.open(tmp_path / "index")
    assert (list(reopened.papers()), list(other.papers())) == (["c0002"], ["c0003"])
    for one in (stale, fresh, other, reopened):
        one.close()


def test_the_lock(tmp_path: Path) -> None:
    lock = writer_lock(tmp_path / "index", wait=0)
    with pytest.raises(IndexLockedError, match=r"process \d+ since .* is writing"):
        writer_lock(tmp_path / "index", wait=0.1)
    lock.release()
    writer_lock(tmp_path / "index", wait=0).release()
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="no index can be written at"):
        writer_lock(tmp_path / "file" / "index", wait=0)


def test_the_last_ten_reports_are_kept(tmp_path: Path) -> None:
    assert ingest_reports.last(tmp_path) == []
    for number in range(12):
        ingest_reports.keep(tmp_path, IngestReport(read=number, added=number))
    assert [report.read for report in ingest_reports.last(tmp_path)] == list(range(11, 1, -1))


# -- health ------------------------------------------------------------------------------------------------------------


def test_a_sound_index_has_no_ailing_paper(index: Index) -> None:
    add(index, *(entry(n) for n in range(30)))
    index.commit()
    found = check(index)
    assert (found.papers, found.passages, found.ailing) == (30, 60, [])


def test_what_is_not_whole_is_named(index: Index) -> None:
    add(index, *(entry(n) for n in range(6)))
    index.commit()
    index._passages.delete(ids=[i for i in index._passages.get()["ids"] if i.startswith("c0001")])
    lost = index._passages.get(where={"paper_id": "c0003"}, include=["metadatas"])
    index._passages.update(ids=lost["ids"], metadatas=[{**m, "row": 1000} for m in lost["metadatas"]])
    add(index, entry(7))  # not committed: no keyword entry yet
    assert {a.paper_id: a.reason for a in check(index).ailing} == {
        "c0001": "no passage of it is stored",
        "c0003": "sentence vectors are missing",
        "c0007": "the keyword index is out of step",
    }


def test_rows_of_a_lost_file_are_not_given_again(index: Index) -> None:
    add(index, *(entry(n) for n in range(3)))
    index.commit()
    index.vectors.path.write_bytes(b"")
    reopened = Index(index.path, index._chroma, passport=index.passport)
    add(reopened, entry(4))
    reopened.commit()
    ailing = {a.paper_id: a.reason for a in check(reopened).ailing}
    assert ailing == dict.fromkeys(["c0000", "c0001", "c0002"], "sentence vectors are damaged")
