"""Faults met with encoders elsewhere, tried here: each test follows a case of the collection and asserts what is right."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases_kit import ABSTRACTS, CLOSED_PORT, MOSS, ROOT, confer_cut_off, invented, listing, write
from cli_kit import confer, one_line

import ingest
from rag import Assistant, Encoder, Settings
from rag.chroma import open_client
from rag.errors import PassportError, UsageError
from rag.index import Index

QUESTIONS = (
    "How many moss species does MossNet find?", "What explains the drift of church bells?", "tide gauges", "flour",
    "Which camera collects chalk drawings?", "roofs", "What do starters differ in?", "island routes with less waiting",
    "oscillator", "Who counts pigeons?",
)  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """An index of five abstracts with a meaning and five without. Tests must not write to it."""
    root = tmp_path_factory.mktemp("embedding")
    lists = write(root / "list.txt", listing(*ABSTRACTS, *map(invented, range(5))))
    ingest.run([lists], root / "index", encoder=encoder)
    return root / "index"


@pytest.fixture(scope="module")
def model_b(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """Another model with as many dimensions: the default one with a byte of its weights changed."""
    folder = Path(shutil.copytree(encoder.folder, tmp_path_factory.mktemp("models") / "model-b"))
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    return folder


def test_case_41_another_model_is_refused_by_name(index: Path, model_b: Path, tmp_path: Path, encoder: Encoder) -> None:
    assert Encoder(str(model_b)).dimension == encoder.dimension == 384
    command = ("--index", index)
    for done in (
        confer("ask", QUESTIONS[0], *command, "--json", CONFER_ENCODER=str(model_b)),
        confer("chat", *command, stdin=QUESTIONS[0], CONFER_ENCODER=str(model_b)),
        confer("serve", *command, "--port", "0", CONFER_ENCODER=str(model_b)),
        confer("ingest", write(tmp_path / "more.txt", listing(invented(9))), *command, CONFER_ENCODER=str(model_b)),
    ):
        assert done.returncode == 2 and done.stdout == ""
        told = done.stderr.splitlines()[-1]
        assert told.startswith("confer: ")
        for part in (
            "all-MiniLM-L6-v2",
            encoder.revision,
            str(model_b),
            "rebuild",
            f"confer ingest FILE --index {index}",
        ):
            assert part in told
    right = confer("ask", QUESTIONS[0], *command, "--json")
    assert right.returncode == 0 and right.stderr == "" and "93 of 100" in json.loads(right.stdout)["text"]


SECOND_PROCESS = """
import json, sys
import chromadb.utils.embedding_functions as functions
from chromadb.api.models.CollectionCommon import CollectionCommon
embedded = []
def spy(self, input):
    embedded.append(repr(input))
    raise AssertionError("the store embeds text by itself")
assert callable(CollectionCommon._embed)
CollectionCommon._embed = functions.DefaultEmbeddingFunction.__call__ = spy
from rag import Assistant
with Assistant.open(sys.argv[1]) as assistant:
    found = [[hit.paper.id for hit in assistant.search(q, 5)] for q in json.loads(sys.argv[2])]
print(json.dumps({"found": found, "embedded": embedded}))
"""


@pytest.mark.slow  # a process of its own
def test_case_43_a_new_process_elsewhere_finds_the_same(index: Path, tmp_path: Path, encoder: Encoder) -> None:
    with Assistant.open(index, encoder=encoder) as assistant:
        first = [[hit.paper.id for hit in assistant.search(question, 5)] for question in QUESTIONS]
    assert all(len(ids) == 5 for ids in first)
    done = subprocess.run(
        [sys.executable, "-c", SECOND_PROCESS, str(index), json.dumps(QUESTIONS)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"found": first, "embedded": []}


def test_case_43_the_store_has_nothing_to_embed_with(
    index: Path, tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import chromadb.utils.embedding_functions as functions
    from chromadb.api.models.CollectionCommon import CollectionCommon

    embedded: list[Any] = []

    def spy(self: Any, input: Any) -> None:
        embedded.append(input)

    for owner, name in ((CollectionCommon, "_embed"), (functions.DefaultEmbeddingFunction, "__call__")):
        assert callable(getattr(owner, name))
        monkeypatch.setattr(owner, name, spy)
    lists = write(tmp_path / "list.txt", listing(*ABSTRACTS))
    ingest.run([lists], tmp_path / "index", encoder=encoder)
    for folder in (tmp_path / "index", index):
        with Assistant.open(folder, encoder=encoder) as assistant:
            assert not assistant.ask(QUESTIONS[0]).refused
    assert embedded == []


def test_case_45_prefixes_count_at_once(index: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = copy.copy(encoder)  # the same loaded model
    with Assistant.open(index, encoder=changed) as assistant:
        before = {hit.paper.id: hit.dense for hit in assistant.search(QUESTIONS[0])}
        changed.query_prefix = "Represent this question about ferries and bread: "
        after = {hit.paper.id: hit.dense for hit in assistant.search(QUESTIONS[0])}
        assert any(abs(before[i] - after[i]) > 1e-3 for i in before.keys() & after.keys())
    plain, prefixed = encoder.encode_query(QUESTIONS[0]), changed.encode_query(QUESTIONS[0])
    assert not np.allclose(plain, prefixed, atol=1e-3)
    assert np.allclose(prefixed, encoder.encode_query(changed.query_prefix + QUESTIONS[0]), atol=1e-5)
    stale = copy.copy(encoder)
    stale.passage_prefix = "passage: "
    with pytest.raises(PassportError, match="rebuild"):
        Assistant.open(index, encoder=stale)


BLANK = ["", " ", "\u200b", "?", "\u3000\u00a0", "… — !"]


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails the test when anything is encoded or a language model is opened."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a blank question got as far as a model")

    for name in ("encode_query", "encode_queries", "encode_passages"):
        monkeypatch.setattr(Encoder, name, refuse)
    monkeypatch.setattr("rag.assistant.open_llm", refuse)


def in_a_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread of its own: a browser test may have left a running loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@pytest.mark.parametrize("question", BLANK)
def test_case_47_blank_questions_stop_before_any_model(question: str, index: Path, untouched: None) -> None:
    llm = f"{CLOSED_PORT}/v1#m"
    done = confer("ask", question, "--index", index, "--llm", llm)
    assert done.returncode == 2 and "blank" in one_line(done)
    with Assistant.open(index, llm=llm) as assistant:

        async def streamed() -> None:
            async for _ in assistant.astream(question):
                pass

        asks: list[Callable[[], object]] = [
            lambda: assistant.ask(question),
            lambda: list(assistant.stream(question)),
            lambda: assistant.search(question),
            lambda: in_a_loop(assistant.aask(question)),
            lambda: in_a_loop(streamed()),
        ]
        for ask in asks:
            with pytest.raises(UsageError, match="blank"):
                ask()


def test_case_47_a_blank_question_is_no_turn_of_a_conversation(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    histories: list[list[str]] = []
    ask = Assistant.ask

    def recorded(self: Assistant, question: str, history: Any = (), **more: Any) -> Any:
        histories.append([answer.question for answer in history])
        return ask(self, question, history, **more)

    monkeypatch.setattr(Assistant, "ask", recorded)
    done = confer("chat", "--index", index, stdin=f"{QUESTIONS[0]}\n?\n\u200b\n \nand on how many roofs?\n")
    assert done.returncode == 0 and done.stderr.count("blank") == 3
    assert histories == [[], *[[QUESTIONS[0]]] * 4]


def no_outbound(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record what tries to leave the machine, and let it fail."""
    tried: list[Any] = []

    def refuse(*args: Any, **_: Any) -> None:
        tried.append(args)
        raise OSError("no way out")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return tried


def test_case_49_a_model_on_disk_needs_no_hub(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = no_outbound(monkeypatch)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    folder = Path(shutil.copytree(encoder.folder, tmp_path / "models" / "local"))
    lists = write(tmp_path / "list.txt", listing(*ABSTRACTS))
    model = {"CONFER_ENCODER": str(folder), "CONFER_OFFLINE": "true", "HTTPS_PROXY": CLOSED_PORT}
    began = time.perf_counter()
    assert confer("ingest", lists, "--index", tmp_path / "index", **model).returncode == 0
    answer = confer("ask", QUESTIONS[0], "--index", tmp_path / "index", "--json", **model)
    assert "93 of 100" in json.loads(answer.stdout)["text"]
    assert time.perf_counter() - began < 60  # nothing waits for a hub that does not answer
    shutil.rmtree(folder)
    for command in (("ask", QUESTIONS[0]), ("ingest", write(tmp_path / "more.txt", listing(invented(1))))):
        done = confer(*command, "--index", tmp_path / "index", **model)
        assert done.returncode == 2 and str(folder) in one_line(done)
    relative = confer("ask", QUESTIONS[0], "--index", tmp_path / "index", **{**model, "CONFER_ENCODER": "models/gone"})
    assert relative.returncode == 2 and "models/gone" in one_line(relative)
    assert tried == []


@pytest.mark.slow  # processes of their own
def test_case_49_a_fresh_process_asks_no_hub(tmp_path: Path, encoder: Encoder) -> None:
    write(tmp_path / "list.txt", listing(*ABSTRACTS))
    model = {"CONFER_ENCODER": str(encoder.folder)}
    done = [
        confer_cut_off("ingest", "list.txt", cwd=tmp_path, **model),
        confer_cut_off("ask", QUESTIONS[0], "--json", cwd=tmp_path, **model),
    ]
    assert [d.returncode for d in done] == [0, 0] and "93 of 100" in json.loads(done[1].stdout)["text"]
    assert "OUTBOUND" not in done[0].stderr + done[1].stderr


def test_case_51_cosine_is_what_the_store_computes(index: Path, encoder: Encoder) -> None:
    assert json.loads(confer("info", "--index", index, "--json").stdout)["similarity"] == "cosine"
    client = open_client(index)
    spaces = {c.name: c.configuration["hnsw"]["space"] for c in client.list_collections()}
    client.close()
    assert spaces == {"papers": "cosine", "passages": "cosine"}
    store = Index.open(index)
    try:
        query = encoder.encode_query(QUESTIONS[0])
        stored = {p.abstract: p.id for p in store.papers().values()}
        for found, cosine in store.nearest_passages(query, 20):
            if found.passage.paper_id == stored[MOSS]:
                [own] = encoder.encode_passages([("", [MOSS])])
                assert cosine == pytest.approx(float(own.vector @ query), abs=0.02)
            assert -1 <= cosine <= 1
    finally:
        store.close()


def test_case_51_an_index_in_another_space_is_refused_with_the_reason(index: Path, tmp_path: Path) -> None:
    store = Index.open(index)
    passport = store.passport
    store.close()
    old = tmp_path / "old"
    client = open_client(old)
    client.create_collection("passages", embedding_function=None)  # the store's default: squared distances
    client.create_collection("papers", embedding_function=None, metadata={"passport": passport.model_dump_json()})
    client.close()
    done = confer("ask", QUESTIONS[0], "--index", old)
    told = one_line(done)
    assert done.returncode == 2 and "cosine" in told and "l2" in told and "confer ingest" in told
    more = confer("ingest", write(tmp_path / "more.txt", listing(MOSS)), "--index", old)
    assert more.returncode == 2 and "cosine" in one_line(more)


def test_case_53_what_a_threshold_is_compared_with_is_between_0_and_1(index: Path, encoder: Encoder) -> None:
    with Assistant.open(index, encoder=encoder) as assistant:
        on_topic, off_topic = assistant.ask(QUESTIONS[0]), assistant.ask("What is the capital of Mongolia?")
    assert 0 <= off_topic.confidence < on_topic.confidence <= 1
    assert off_topic.refused and off_topic.citations == [] and len(off_topic.nearest) == 3
    assert all(0 <= e.score <= 1 for c in on_topic.citations for e in c.evidence)
    middle = (on_topic.confidence + off_topic.confidence) / 2
    for limit, refused in ((on_topic.confidence / 2, False), (middle, False), (1.0, on_topic.confidence < 1)):
        with Assistant.open(index, encoder=encoder, settings=Settings(refuse_below=limit)) as assistant:
            assert assistant.ask(QUESTIONS[0]).refused is refused
            assert assistant.ask("What is the capital of Mongolia?").refused is (off_topic.confidence < limit)
