"""The contract of `Assistant`: answers with exact quotes, refusals, follow-ups, streams, threads, event loops."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

import ingest
from rag import Assistant, ConferError, Encoder, Settings, UsageError
from rag.errors import IndexMissingError, PassportError
from rag.index import Index
from rag.schema import Answer, Answered, Retrieved, SentenceChecked, Token

Result = TypeVar("Result")


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own: the browser tests leave a loop running in the main one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def assert_consistent(answer: Answer) -> None:
    """What must hold for every answer."""
    for citation in answer.citations:
        assert citation.evidence
        for evidence in citation.evidence:
            assert evidence.paper_id == citation.paper.id
            assert evidence.quote == citation.paper.abstract[evidence.start : evidence.end]
    assert [c.marker for c in answer.citations] == list(range(1, len(answer.citations) + 1))
    used = {m for s in answer.sentences for m in s.markers}
    assert used == {c.marker for c in answer.citations}
    assert answer.refused == (answer.refusal_reason is not None)
    if answer.refused:
        assert not answer.citations


def test_a_fact_is_answered_with_its_quote(sample_assistant: Assistant) -> None:
    answer = sample_assistant.ask("What pass@1 accuracy does Ekka reach?")
    assert_consistent(answer)
    assert not answer.refused
    assert "80" in answer.text
    assert answer.citations[0].paper.label.startswith("Ekka")
    assert answer.engine == "extractive"
    assert 0 < answer.confidence <= 1
    assert {"retrieval", "evidence", "total"} <= answer.timings.keys()


@pytest.mark.parametrize("question", ["What is the capital of Mongolia?", "how long should i boil an egg"])
def test_what_the_papers_do_not_say_is_refused_with_the_nearest(sample_assistant: Assistant, question: str) -> None:
    answer = sample_assistant.ask(question)
    assert_consistent(answer)
    assert answer.refused
    assert answer.refusal_reason
    assert len(answer.nearest) == 3


@pytest.mark.parametrize("question", ["", "   ", "\u200b", "?", "\n\t", "…"])
def test_a_blank_question_is_refused_before_any_work(sample_assistant: Assistant, question: str) -> None:
    with pytest.raises(UsageError, match="blank"):
        sample_assistant.ask(question)


def test_an_overlong_question_names_its_length(sample_assistant: Assistant) -> None:
    with pytest.raises(UsageError, match="20,000 characters"):
        sample_assistant.ask("why? " * 3999 + "why??")


def test_the_same_question_gets_the_same_answer(sample_assistant: Assistant) -> None:
    first, second = (sample_assistant.ask("How are silent errors diagnosed?") for _ in range(2))
    assert first.model_copy(update={"timings": {}}) == second.model_copy(update={"timings": {}})


@pytest.mark.parametrize("as_text", [True, False])
def test_a_follow_up_is_about_the_paper_before(sample_assistant: Assistant, as_text: bool) -> None:
    first = sample_assistant.ask("Which system diagnoses silent errors in LLM serving?")
    history: list[Answer | str] = [first.question if as_text else first]
    answer = sample_assistant.ask("what accuracy does it reach?", history=history)
    assert_consistent(answer)
    assert answer.citations[0].paper.label.startswith("Ekka")
    assert answer.standalone_question != answer.question


def test_a_new_topic_drops_the_old_one(sample_assistant: Assistant) -> None:
    first = sample_assistant.ask("Which system diagnoses silent errors in LLM serving?")
    question = "Which benchmark measures protein fitness prediction under distribution shift?"
    answer = sample_assistant.ask(question, history=[first])
    assert answer.standalone_question == question
    assert answer.citations[0].paper.label.startswith("FLIP2")


def test_a_follow_up_off_the_topic_is_refused_as_in_a_fresh_session(sample_assistant: Assistant) -> None:
    first = sample_assistant.ask("What does ArbNN do?")
    assert sample_assistant.ask("And who founded Amazon?", history=[first]).refused


def test_a_list_names_several_papers_each_once(sample_assistant: Assistant) -> None:
    answer = sample_assistant.ask("Which papers are about benchmarks for agents?")
    assert_consistent(answer)
    assert len(answer.citations) >= 2
    assert answer.text.startswith(f"{len(answer.citations)} of 57 papers:\n- ")


def test_a_comparison_speaks_of_both_papers(sample_assistant: Assistant) -> None:
    answer = sample_assistant.ask("Compare TabICLv2 and ArbNN on tabular data")
    labels = " ".join(c.paper.label for c in answer.citations)
    assert "TabICLv2" in labels
    assert "ArbNN" in labels


def test_stream_ends_with_the_answer_that_ask_gives(sample_assistant: Assistant) -> None:
    events = list(sample_assistant.stream("What pass@1 accuracy does Ekka reach?"))
    assert isinstance(events[0], Retrieved)
    assert isinstance(events[-1], Answered)
    assert any(isinstance(e, Token) for e in events)
    checked = [e.sentence for e in events if isinstance(e, SentenceChecked)]
    assert checked == events[-1].answer.sentences


def test_event_loops_and_threads_get_the_same_answers(sample_assistant: Assistant) -> None:
    questions = ["What pass@1 accuracy does Ekka reach?", "What is KM-ARL?", "What does FLIP2 span?"]
    expected = [sample_assistant.ask(q).text for q in questions]

    async def ask_all() -> list[str]:
        answers = await asyncio.gather(*(sample_assistant.aask(q) for q in questions))
        assert sample_assistant.ask(questions[0]).text == expected[0]  # the plain call works inside a loop too
        events = [e async for e in sample_assistant.astream(questions[1])]
        assert isinstance(events[-1], Answered)
        return [a.text for a in answers]

    assert run(ask_all()) == expected
    results: dict[int, list[str]] = {}

    def work(number: int) -> None:
        results[number] = [sample_assistant.ask(q).text for q in questions]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(results.values()) == [expected] * 4


def test_a_missing_index_is_named_by_its_absolute_path_and_not_created(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError, match=str(tmp_path / "none")):
        Assistant.open(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_an_index_of_another_encoder_is_refused_naming_both(tmp_path: Path, encoder: Encoder) -> None:
    paper = "We study the growth of lichens on northern walls, and find that it is slow in every season but one."
    (tmp_path / "list.txt").write_text(f"Lichen 2026\n\n{paper}\n", encoding="utf-8")
    ingest.run([tmp_path / "list.txt"], tmp_path / "index", encoder=encoder)
    other = Encoder()
    other.name, other.revision = "other-model", "000000000000"
    with pytest.raises(PassportError, match=r"all-MiniLM-L6-v2.*not with other-model.*rebuild"):
        Assistant.open(tmp_path / "index", encoder=other)


def test_what_is_ingested_meanwhile_is_answered_from(tmp_path: Path, encoder: Encoder) -> None:
    lichen = "We study the growth of lichens on northern walls, and find that it is slow in every season but one."
    moss = "We introduce MossNet, a network that counts moss species in photographs of 412 old city roofs."
    (tmp_path / "a.txt").write_text(f"{lichen}\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text(f"{moss}\n", encoding="utf-8")
    folder = tmp_path / "index"
    ingest.run([tmp_path / "a.txt"], folder, encoder=encoder)
    with Assistant.open(folder, encoder=encoder) as assistant:
        assert len(assistant.papers()) == 1
        ingest.run([tmp_path / "b.txt"], folder, encoder=encoder)
        assert len(assistant.papers()) == 2
        assert "412" in assistant.ask("How many roofs does MossNet use?").text


def test_what_another_process_ingests_is_answered_from(tmp_path: Path, encoder: Encoder) -> None:
    lichen = "We study the growth of lichens on northern walls, and find that it is slow in every season but one."
    moss = "We introduce MossNet, a network that counts moss species in photographs of 412 old city roofs."
    (tmp_path / "a.txt").write_text(f"{lichen}\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text(f"{moss}\n", encoding="utf-8")
    folder = tmp_path / "index"
    ingest.run([tmp_path / "a.txt"], folder, encoder=encoder)
    with Assistant.open(folder, encoder=encoder) as assistant:
        assert assistant.ask("How many roofs does MossNet use?").refused
        code = f"import ingest; ingest.run([{str(tmp_path / 'b.txt')!r}], {str(folder)!r})"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
        answer = assistant.ask("How many roofs does MossNet use?")
        assert "412" in answer.text
        assert_consistent(answer)


def test_a_stream_left_early_in_an_event_loop_is_closed(sample_assistant: Assistant) -> None:
    async def first_event() -> str:
        stream = sample_assistant.astream("What pass@1 accuracy does Ekka reach?")
        async for event in stream:
            await stream.aclose()  # type: ignore[attr-defined]
            return event.kind
        return "none"

    assert run(first_event()) == "retrieved"


@pytest.mark.parametrize("top_k", [0, -1])
def test_asking_for_no_papers_is_refused(sample_assistant: Assistant, top_k: int) -> None:
    with pytest.raises(UsageError, match="top_k"):
        sample_assistant.ask("What is KM-ARL?", top_k=top_k)


def test_use_after_close_says_so_and_closing_twice_is_harmless(sample_folder: Path, encoder: Encoder) -> None:
    assistant = Assistant.open(sample_folder, encoder=encoder)
    assistant.close()
    assistant.close()
    with pytest.raises(ConferError, match="closed"):
        assistant.ask("What is KM-ARL?")


def test_an_empty_index_refuses_and_says_so(tmp_path: Path, encoder: Encoder) -> None:
    lichen = "We study the growth of lichens on northern walls, and find that it is slow in every season but one."
    (tmp_path / "a.txt").write_text(lichen, encoding="utf-8")
    ingest.run([tmp_path / "a.txt"], tmp_path / "index", encoder=encoder)
    store = Index.open(tmp_path / "index")
    store.remove(list(store.papers()))
    store.commit()
    store.close()
    with Assistant.open(tmp_path / "index", encoder=encoder) as assistant:
        answer = assistant.ask("Where do lichens grow?")
    assert answer.refused
    assert "no papers" in (answer.refusal_reason or "")


def test_the_threshold_is_settable(sample_folder: Path, encoder: Encoder) -> None:
    question = "What is the capital of Mongolia?"
    with Assistant.open(sample_folder, encoder=encoder, settings=Settings(refuse_below=0.0)) as assistant:
        assert not assistant.ask(question).refused
    with Assistant.open(sample_folder, encoder=encoder, settings=Settings(refuse_below=1.0)) as assistant:
        assert assistant.ask("What pass@1 accuracy does Ekka reach?").refused
