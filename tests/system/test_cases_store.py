"""Faults met with vector stores elsewhere, tried here: each test follows a case of the collection and asserts what is right."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases_kit import (
    ABSTRACTS,
    BELLS,
    CHALK,
    FERRY,
    MOSS,
    ROOT,
    confer_cut_off,
    counts,
    invented,
    listing,
    papers_of,
    passages_of,
    write,
    write_json,
)
from cli_kit import Done, confer, one_line

import ingest
from ingest import writing
from rag import Assistant, Encoder, Settings
from rag.encoder import EncodedPassage
from rag.errors import UsageError
from rag.index import Index
from rag.schema import Answer, Paper, Passage, Passport, Source, Span
from rag.text import search_text
from ui.sample import holds_sample

QUESTION = "How many moss species does MossNet find?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """An index of five papers. Tests must not write to it."""
    root = tmp_path_factory.mktemp("store")
    ingest.run([write(root / "list.txt", listing(*ABSTRACTS))], root / "index", encoder=encoder)
    return root / "index"


def held(folder: Path) -> dict[str, Any]:
    """What an index holds, without what may differ between two ways to the same state (rows, generation)."""
    store = Index.open(folder)
    try:
        vectors = {
            paper_id: [store.sentence_vectors(s).round(2).tolist() for s in found]
            for paper_id, found in store.passages(list(store.papers())).items()
        }
        passport = store.passport.model_dump(exclude={"generation", "sentence_rows"})
        return {"vectors": vectors, "lexical": store.lexical.ids, "passport": passport} | {
            "papers": [p.model_dump() for p in papers_of(folder)],
            "passages": passages_of(folder),
        }
    finally:
        store.close()


@pytest.fixture
def second_batch_fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Batches of two papers, the second of which the store refuses; returns what makes the store well again."""
    from chromadb.api.models.Collection import Collection
    from chromadb.errors import InternalError

    monkeypatch.setattr(writing, "BATCH", 2)

    monkeypatch.setattr(Encoder, "papers_at_a_time", 2)
    upsert, calls = Collection.upsert, []

    def failing(self: Any, *args: Any, **kwargs: Any) -> None:
        calls.append(self.name)
        if len(calls) == 3:  # passages and papers of the first batch went before
            raise InternalError("the disk is full")
        upsert(self, *args, **kwargs)

    monkeypatch.setattr(Collection, "upsert", failing)
    return lambda: monkeypatch.setattr(Collection, "upsert", upsert)


def test_case_55_a_failed_write_is_made_good_by_the_next_run(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch, second_batch_fails: Callable[[], None]
) -> None:
    path = write(tmp_path / "list.txt", listing(*map(invented, range(6))))
    with pytest.raises(Exception, match="the disk is full"):
        ingest.run([path], tmp_path / "index", encoder=encoder)
    second_batch_fails()
    partial = len(papers_of(tmp_path / "index"))
    assert partial == 2
    encoded: list[int] = []
    original = Encoder.encode_passages

    def counted(self: Encoder, passages: Any, **more: Any) -> Any:
        encoded.append(len(passages))
        return original(self, passages, **more)

    monkeypatch.setattr(Encoder, "encode_passages", counted)
    report = ingest.run([path], tmp_path / "index", encoder=encoder)
    assert counts(report) == {"read": 6, "added": 4, "unchanged": 2, "encoded": 4} and sum(encoded) == 4
    ingest.run([path], tmp_path / "clean", encoder=encoder)
    assert held(tmp_path / "index") == held(tmp_path / "clean")


def test_case_55_a_failed_write_is_said_in_one_line_with_how_far_it_came(
    tmp_path: Path, second_batch_fails: Callable[[], None]
) -> None:
    path = write(tmp_path / "list.txt", listing(*map(invented, range(6))))
    done = confer("ingest", path, "--index", tmp_path / "index")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    told = done.stderr.strip().splitlines()[-1]
    assert told.startswith("confer: ") and "the disk is full" in told
    assert "2 of 6" in told


def quoted_from(answer: Answer, states: list[dict[str, Paper]]) -> bool:
    """Whether all that an answer shows stands in one state of the index."""
    shown = [*(c.paper for c in answer.citations), *answer.nearest]
    for citation in answer.citations:
        for e in citation.evidence:
            assert citation.paper.abstract[e.start : e.end] == e.quote
    return all(any(state.get(p.id) and state[p.id].abstract == p.abstract for state in states) for p in shown)


def test_case_57_questions_during_an_ingest_meet_no_half_state(tmp_path: Path, encoder: Encoder) -> None:
    lists, index = tmp_path / "list.txt", tmp_path / "index"
    write(lists, listing(*ABSTRACTS, *map(invented, range(10))))
    ingest.run([lists], index, encoder=encoder)
    states = [{p.id: p for p in papers_of(index)}]
    # Sixty new papers, and ten of the old ones with another sentence.
    edited = [f"{invented(n)} It was measured twice." for n in range(10)]
    write(lists, listing(*ABSTRACTS, *edited, *map(invented, range(100, 160))))
    questions = ["What explains the drift of church bells?", QUESTION]
    questions += [f"What does method {n}a do?" for n in (0, 3, 7, 101, 120, 133, 150, 159)]
    answers: list[Answer] = []
    faults: list[Exception] = []
    asked = threading.Event()

    with Assistant.open(index, encoder=encoder) as assistant:

        def ask() -> None:
            for question in questions:
                try:
                    answers.append(assistant.ask(question))
                except Exception as error:  # any error is what this test looks for
                    faults.append(error)
                asked.set()

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        asked.wait(60)
        report = ingest.run([lists], index, encoder=encoder)
        for thread in threads:
            thread.join()
        assert faults == [] and len(answers) == 40
        assert (report.added, report.updated) == (60, 10)
        states.append({p.id: p for p in papers_of(index)})
        assert all(quoted_from(answer, states) for answer in answers)
        assert len(assistant.papers()) == 75
        assert "twice" in assistant.search("method 7a measured twice", 1)[0].paper.abstract


def test_case_59_lists_of_names_come_back_as_they_were(tmp_path: Path) -> None:
    records = [
        {"abstract": MOSS, "authors": ["Lin A.", "Osei B."], "keywords": [], "extra": {"k": 1}},
        {"abstract": BELLS, "authors": ["Oseinova C."], "keywords": ["bronze", "frost; rime"]},
    ]
    done = confer("ingest", write_json(tmp_path / "list.jsonl", *records), "--index", tmp_path / "index", "--json")
    assert json.loads(done.stdout)["added"] == 2
    papers = json.loads(confer("papers", "--index", tmp_path / "index", "--json").stdout)
    assert [(p["authors"], p["keywords"]) for p in papers] == [(r["authors"], r["keywords"]) for r in records]
    again = write_json(tmp_path / "again.jsonl", *papers)
    exported = confer("ingest", again, "--index", tmp_path / "again", "--json")
    assert json.loads(exported.stdout)["added"] == 2
    fields = {"id": True, "sources": True, "label": True}
    assert [p.model_dump(exclude=fields) for p in papers_of(tmp_path / "again")] == [
        p.model_dump(exclude=fields) for p in papers_of(tmp_path / "index")
    ]


def test_case_63_more_results_than_papers(tmp_path: Path, encoder: Encoder, caplog: pytest.LogCaptureFixture) -> None:
    index = tmp_path / "index"
    ingest.run([write(tmp_path / "list.txt", listing(MOSS, BELLS))], index, encoder=encoder)
    caplog.clear()
    with Assistant.open(index, encoder=encoder) as assistant, caplog.at_level(logging.INFO):
        assert len(assistant.search(QUESTION, 20)) == 2
        assert not assistant.ask(QUESTION, top_k=20).refused
        assert [r for r in caplog.records if r.levelno >= logging.INFO] == []
        for wrong in (0, -1):
            for ask in (assistant.ask, assistant.search):
                with pytest.raises(UsageError, match="top_k"):
                    ask(QUESTION, top_k=wrong)
    for wrong in ("0", "-1"):
        done = confer("ask", QUESTION, "--index", index, "--top-k", wrong)
        assert done.returncode == 2 and "TOP_K" in one_line(done)
    asked = confer("ask", QUESTION, "--index", index, "--top-k", "20")
    assert asked.returncode == 0 and asked.stderr == ""
    confer("remove", *[p.id for p in papers_of(index)], "--index", index)
    empty = confer("ask", QUESTION, "--index", index, "--top-k", "20")
    assert empty.returncode == 0 and "The index holds no papers" in empty.stdout and empty.stderr == ""


def random_units(count: int, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    rows = np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def made_up(number: int, row: Any) -> tuple[Paper, list[Passage], EncodedPassage]:
    """A paper of one sentence with a vector that is given."""
    text = f"Paper {number}."
    paper = Paper(id=f"c{number:04}", abstract=text, label=text, sources=[Source(file="list.txt", position=number)])
    spans = [Span(start=0, end=len(text))]
    passage = Passage(paper_id=paper.id, position=0, start=0, end=len(text), sentences=spans)
    return paper, [passage], EncodedPassage(row, row[None, :])


def test_case_65_the_nearest_are_found_however_few_are_asked_for(tmp_path: Path) -> None:
    vectors, queries = random_units(3000, 0), random_units(50, 1)
    passport = Passport(encoder="made up", revision="0", dimension=384, chunking_version=1, cleaning_version=1)
    store = Index.create(tmp_path / "index", passport)
    made = [made_up(n, row) for n, row in enumerate(vectors)]
    store.add([paper for paper, _, _ in made], [cut for _, cut, _ in made], [vector for _, _, vector in made])
    left = list(range(3000))
    for gone in ([], left[::2]):
        store.remove([f"c{n:04}" for n in gone])
        left = [n for n in left if n not in set(gone)]
        store.commit()
        found, few_of_many = 0, 0
        for query in queries:
            best = [left[n] for n in np.argsort(-(vectors[left] @ query))[:5]]
            five, fifty = ([s.passage.paper_id for s, _ in store.nearest_passages(query, k)] for k in (5, 50))
            found += len(set(five) & {f"c{n:04}" for n in best})
            few_of_many += five == fifty[:5]
        assert found / 250 >= 0.98 and few_of_many == 50
    store.close()


def test_case_67_no_more_results_than_asked_for_each_once(tmp_path: Path, encoder: Encoder) -> None:
    # Every paper has several passages, and all of them match.
    texts = [" ".join(f"{invented(20 * n + m)} Moss grows there." for m in range(8)) for n in range(8)]
    ingest.run([write(tmp_path / "list.txt", listing(*texts))], tmp_path / "index", encoder=encoder)
    assert all(len(found) >= 2 for found in passages_of(tmp_path / "index").values())
    with Assistant.open(tmp_path / "index", encoder=encoder, settings=Settings(refuse_below=0)) as assistant:
        hits = assistant.search("Where does moss grow?", 5)
        assert len(hits) == 5 == len({hit.paper.id for hit in hits})
        cited = [c.paper.id for c in assistant.ask("Which papers say where moss grows?", top_k=5).citations]
        assert 0 < len(cited) <= 5 and len(cited) == len(set(cited))


def test_case_69_a_folder_can_be_removed_and_built_again(tmp_path: Path, encoder: Encoder) -> None:
    index, other = tmp_path / "index", tmp_path / "other"
    lists = [write(tmp_path / f"{n}.txt", listing(text)) for n, text in enumerate((MOSS, BELLS, FERRY))]
    ingest.run([lists[0]], index, encoder=encoder)
    before = Assistant.open(index, encoder=encoder)  # still open while the folder goes
    assert not before.ask(QUESTION).refused
    shutil.rmtree(index)
    assert ingest.run([lists[1]], index, encoder=encoder).added == 1
    ingest.run([lists[2]], other, encoder=encoder)
    ingest.run([lists[0]], index, encoder=encoder)
    before.close()
    with (
        Assistant.open(index, encoder=encoder) as assistant,
        Assistant.open(other, encoder=encoder) as second,
    ):
        assert {p.abstract for p in assistant.papers()} == {MOSS, BELLS}
        assert [p.abstract for p in second.papers()] == [FERRY]
        assert "Frost" in assistant.ask("What explains the drift of church bells?").text
        assert not second.ask("What does TideTable learn delays from?").refused
        assert second.ask(QUESTION).refused


def own_neighbours(folder: Path, encoder: Encoder) -> dict[str, bool]:
    """Whether each paper is its own nearest neighbour, by its own text."""
    store = Index.open(folder)
    try:
        found = {}
        for paper in store.papers().values():
            [own] = encoder.encode_passages([("", [search_text(paper.abstract)])])
            found[paper.id] = store.nearest_passages(own.vector, 1)[0][0].passage.paper_id == paper.id
        return found
    finally:
        store.close()


def ailing(folder: Path, *options: str) -> tuple[Done, set[str]]:
    done = confer("check", "--index", folder, "--json", *options)
    return done, {a["paper_id"] for a in json.loads(done.stdout)["ailing"]}


@pytest.fixture
def ill(index: Path, tmp_path: Path) -> Path:
    """A copy of the index, to be damaged."""
    return Path(shutil.copytree(index, tmp_path / "ill"))


def test_case_71_the_check_names_what_is_lost_and_repair_mends_it(ill: Path, encoder: Encoder) -> None:
    assert ailing(ill)[1] == set() and all(own_neighbours(ill, encoder).values())
    store = Index.open(ill)
    lost = [p.id for p in list(store.papers().values())[:2]]
    store.drop_passages(lost)
    store.close()
    assert {i for i, found in own_neighbours(ill, encoder).items() if not found} == set(lost)
    done, named = ailing(ill)
    assert done.returncode == 1 and named == set(lost)
    mended, left = ailing(ill, "--repair")
    assert mended.returncode == 0 and left == set() and "2 papers encoded anew" in mended.stderr
    assert ailing(ill)[1] == set() and all(own_neighbours(ill, encoder).values())


def test_case_71_the_check_names_what_has_the_vector_of_another_text(ill: Path, encoder: Encoder) -> None:
    store = Index.open(ill)
    first, second = (p.id for p in list(store.papers().values())[:2])
    rows = [store._passages.get(where={"paper_id": i}, include=["embeddings"]) for i in (first, second)]
    for own, others in (rows, rows[::-1]):
        store._passages.update(ids=own["ids"], embeddings=others["embeddings"])
    store.close()
    assert {i for i, found in own_neighbours(ill, encoder).items() if not found} == {first, second}
    assert ailing(ill)[1] == {first, second}
    assert ailing(ill, "--repair")[1] == set() and all(own_neighbours(ill, encoder).values())


KILLED = """
import os, signal, sys
from pathlib import Path
from chromadb.api.models.Collection import Collection
import ingest
from ingest import writing
from rag.encoder import Encoder
writing.BATCH = 2
Encoder.papers_at_a_time = 2
upsert, calls, last = Collection.upsert, [], int(sys.argv[3])
def dying(self, *args, **kwargs):
    upsert(self, *args, **kwargs)
    calls.append(1)
    if len(calls) == last:
        os.kill(os.getpid(), signal.SIGKILL)
Collection.upsert = dying
ingest.run([Path(sys.argv[1])], Path(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 2, 3])
def test_case_71_after_a_kill_the_check_tells_and_repair_mends(after: int, tmp_path: Path, encoder: Encoder) -> None:
    lists, index = tmp_path / "list.txt", tmp_path / "index"
    write(lists, listing(*ABSTRACTS))
    ingest.run([lists], index, encoder=encoder)
    write(lists, listing(*(f"{text} It was measured twice." for text in ABSTRACTS)))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(lists), str(index), str(after)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False,
    )  # fmt: skip
    assert killed.returncode == -9, killed.stderr
    _, named = ailing(index)
    assert named >= {i for i, found in own_neighbours(index, encoder).items() if not found}
    mended, left = ailing(index, "--repair")
    assert mended.returncode == 0 and left == set()
    assert all(own_neighbours(index, encoder).values()) and len(papers_of(index)) == 5
    ingest.run([lists], index, encoder=encoder)
    ingest.run([lists], tmp_path / "clean", encoder=encoder)
    assert [p.abstract for p in papers_of(index)] == [p.abstract for p in papers_of(tmp_path / "clean")]
    assert ailing(index)[1] == set() and all(own_neighbours(index, encoder).values())


@pytest.mark.slow  # a process of its own
def test_case_73_no_telemetry_is_sent_or_complained_of(index: Path, tmp_path: Path) -> None:
    done = confer_cut_off("ask", QUESTION, "--index", index, "--json", cwd=tmp_path)
    assert done.returncode == 0 and not json.loads(done.stdout)["refused"]
    said = (done.stdout + done.stderr).lower()
    assert "telemetry" not in said and "posthog" not in said
    assert "OUTBOUND" not in done.stderr and done.stderr == ""


def test_case_75_the_default_index_of_another_folder_is_not_made_up(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    b.mkdir()
    write(a / "list.txt", listing(MOSS, CHALK))
    assert confer("ingest", "list.txt", cwd=a).returncode == 0
    assert (a / ".confer").is_dir()
    for command in (("ask", QUESTION), ("chat",), ("papers",), ("info",), ("check",), ("remove", "c1")):
        done = confer(*command, cwd=b)
        assert done.returncode == 2 and str(b / ".confer") in one_line(done)
        assert list(b.iterdir()) == []
    same = confer("ask", QUESTION, "--index", "../a/.confer", "--json", cwd=b)
    assert not json.loads(same.stdout)["refused"] and list(b.iterdir()) == []
    assert not json.loads(confer("ask", QUESTION, "--json", cwd=a).stdout)["refused"]


def test_case_75_the_page_says_which_index_it_did_not_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[list[Paper]] = []
    monkeypatch.setattr("ui.web.serve", lambda assistant, **_: shown.append(assistant.papers()))
    done = confer("serve", "--port", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"No index at {tmp_path / '.confer'}: ingesting the bundled sample" in done.stderr
    assert len(shown) == 1 and holds_sample(shown[0])  # never an empty index; the page says that it is the sample
