"""Faults met with retrieval elsewhere, tried here: each test follows a case of the collection and asserts what is right."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cases_kit import ABSTRACTS, BELLS, MOSS, ROOT, invented, listing, write
from cli_kit import confer

import ingest
from rag import Assistant, Encoder, Settings
from rag.index import Index
from rag.retriever import Retriever

EMOTION = (
    "Telling feelings from speech fails under noise. We present MoodTone, a model for speech emotion recognition that "
    "keeps 91 of 100 labels in traffic noise."
)
CHINESE = (
    "面部表情的情感识别依赖标注。本文提出一种弱监督的情感识别方法，在三个数据集上减少一半标注。",
    "城市交通流量预测需要长期依赖。本文用图网络预测路口的车流。",
    "稻田害虫监测依靠人工巡查。本文用无人机图像识别害虫。",
)
UNLEARNING = tuple(
    f"Machine unlearning must forget {what} without retraining. We {how} and check what remains by membership inference."
    for what, how in (
        ("single users", "erase their influence with one Newton step"),
        ("whole classes", "project their features away"),
        ("copyrighted songs", "fine-tune on shuffled spectrograms"),
        ("poisoned samples", "roll the optimiser back to a checkpoint"),
        ("faces", "scrub the embeddings of a recogniser"),
        ("clinical notes", "split the training into shards"),
        ("edges of a graph", "repair the messages of their neighbours"),
    )
)


def assistant_over(folder: Path, encoder: Encoder, *abstracts: str, **settings: object) -> Assistant:
    """An assistant over an index of some abstracts."""
    ingest.run([write(folder / "list.txt", listing(*abstracts))], folder / "index", encoder=encoder)
    return Assistant.open(folder / "index", encoder=encoder, settings=Settings(**settings))  # type: ignore[arg-type]


def test_case_77_a_chinese_question_finds_chinese_and_english_papers(tmp_path: Path, encoder: Encoder) -> None:
    question = "有哪些关于情感识别的论文？"
    with assistant_over(tmp_path / "en", encoder, *ABSTRACTS, EMOTION) as english:
        assert english.search(question, 1)[0].paper.abstract == EMOTION
        hits = english.search(question, 6)
        assert all(h.lexical > 0 or h.ranks[2] is None for h in hits)
        assert [c.paper.abstract for c in english.ask(question).citations] == [EMOTION]
    with assistant_over(tmp_path / "both", encoder, *ABSTRACTS, EMOTION, *CHINESE) as both:
        first = [h.paper.abstract for h in both.search(question, 2)]
        assert set(first) == {CHINESE[0], EMOTION}


def test_case_79_papers_in_the_language_of_the_question_do_not_push_others_out(
    tmp_path: Path, encoder: Encoder
) -> None:
    others = [f"情感化设计影响第{n}类产品的购买。识别用户的偏好需要问卷，共有{n}00人参加。" for n in range(1, 31)]
    with assistant_over(tmp_path, encoder, *ABSTRACTS, EMOTION, *others) as assistant:
        found = [h.paper.abstract for h in assistant.search("噪声下的语音情感识别有哪些工作？", 5)]
    assert EMOTION in found


def test_case_81_a_list_without_words_answers_nothing(tmp_path: Path, encoder: Encoder) -> None:
    path = write(tmp_path / "list.txt", listing("$$", "— —"))
    assert confer("ingest", path, "--index", tmp_path / "index").returncode == 2
    with assistant_over(tmp_path / "some", encoder, *ABSTRACTS) as assistant:
        for question in ("what is the", "the of and", "a"):
            answer = assistant.ask(question)
            assert answer.refused and answer.text and not answer.citations


def test_case_83_names_with_signs_rank_alike_after_a_restart(tmp_path: Path, encoder: Encoder) -> None:
    named = "We name the test SS-RES: it sums squared residuals of tides."
    ask = "import sys; from rag import Assistant; print(*[h.paper.id for h in Assistant.open(sys.argv[1]).search('SS-RES', 5)])"
    with assistant_over(tmp_path, encoder, *ABSTRACTS, named) as assistant:
        before = [h.paper.id for h in assistant.search("SS-RES", 5)]
        assert assistant.search("SS-RES", 1)[0].paper.abstract == named
    done = subprocess.run(
        [sys.executable, "-c", ask, str(tmp_path / "index")], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == before


def test_case_85_the_number_of_papers_is_that_of_the_store(tmp_path: Path, encoder: Encoder) -> None:
    diffusion = [f"Diffusion models paint {what} from noise." for what in ("roofs", "bells", "harbours")]
    with assistant_over(tmp_path, encoder, *map(invented, range(57)), *diffusion) as assistant:
        for question in (
            "How many papers are there?",
            "how many abstracts are in this collection",
            "一共有多少篇论文？",
        ):
            answer = assistant.ask(question)
            assert not answer.refused and answer.text == "60 papers."
        answer = assistant.ask("How many papers mention diffusion?")
        assert answer.heading == "3 of 60 papers:" and len(answer.citations) == 3


def test_case_87_a_list_is_complete_whatever_top_k_is_set(tmp_path: Path, encoder: Encoder) -> None:
    with assistant_over(tmp_path, encoder, *ABSTRACTS, *UNLEARNING, *map(invented, range(20)), top_k=4) as assistant:
        answer = assistant.ask("List all papers about machine unlearning.")
    cited = [c.paper.abstract for c in answer.citations]
    assert sorted(cited) == sorted(UNLEARNING)
    assert answer.heading.startswith("7 of ")


def test_case_89_sources_are_the_best_over_all_files(tmp_path: Path, encoder: Encoder) -> None:
    for n in range(30):
        texts = [invented(20 * n + i) for i in range(20)]
        write(tmp_path / "lists" / f"{n:02}.txt", listing(*texts, *([MOSS] if n == 17 else [])))
    ingest.run([tmp_path / "lists"], tmp_path / "index", encoder=encoder)
    with Assistant.open(tmp_path / "index", encoder=encoder) as assistant:
        hits = assistant.search("How many moss species are counted on roofs?", 5)
    assert len(hits) == 5 and hits[0].paper.abstract == MOSS


def test_case_91_a_pronoun_is_searched_as_what_it_stands_for(sample_assistant: Assistant) -> None:
    first = sample_assistant.ask("What does ArbNN do?")
    second = sample_assistant.ask("Which dataset did they build for it?", history=[first])
    assert not second.refused and "ArbNN" in second.citations[0].paper.abstract


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("churh bels drift", "church bells drift"),
        ("sourdogh starters kitchns", "sourdough starters kitchens"),
        ("moss spceies on roofs", "moss species on roofs"),
        ("Ferry timetabels in harbors", "Ferry timetables in harbours"),
    ],
)
def test_case_93_slips_find_what_right_spellings_find(slip: str, right: str, tmp_path: Path, encoder: Encoder) -> None:
    with assistant_over(tmp_path, encoder, *ABSTRACTS, *map(invented, range(20))) as assistant:
        best = assistant.ask(right).citations[0].paper.id
        nearest = assistant.ask(slip)
    assert best in [c.paper.id for c in nearest.citations] + [p.id for p in nearest.nearest]


def test_case_95_a_paper_that_both_legs_find_comes_once_and_first(sample_store: Index, encoder: Encoder) -> None:
    hits = Retriever(sample_store, encoder).search("judges of language models that favour long answers", 57)
    assert len({h.paper.id for h in hits}) == len(hits) == 57
    both = [h for h in hits if h.ranks[0] and h.ranks[0] <= 3 and h.ranks[2] and h.ranks[2] <= 3]
    assert both and both[0] is hits[0]


def test_case_97_top_k_holds_in_every_entry(sample_folder: Path, sample_assistant: Assistant) -> None:

    question = "How do language models judge answers?"
    done = confer("ask", question, "--index", sample_folder, "--top-k", "3", "--json", "--explain")
    answer = json.loads(done.stdout)
    assert len(answer["citations"]) <= 3 and len(answer["found"]) == 3
    assert len(sample_assistant.search(question, 3)) == 3
    assert len(sample_assistant.ask(question, top_k=3).citations) <= 3


def test_case_99_a_paraphrase_without_a_common_word_is_found(tmp_path: Path, encoder: Encoder) -> None:
    with assistant_over(tmp_path, encoder, *ABSTRACTS, *map(invented, range(30))) as assistant:
        found = assistant.search("metal instruments of steeples losing their pitch over time", 5)
        assert BELLS in [h.paper.abstract for h in found]
        assert not re.search(r"metal|instrument|steeple|pitch|losing", BELLS)
