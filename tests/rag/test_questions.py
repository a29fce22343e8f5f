"""What is read from a question's words, and how follow-ups are made stand-alone."""

from __future__ import annotations

import pytest

from rag.conversation import standalone
from rag.questions import analyse


@pytest.mark.parametrize(
    ("question", "flag"),
    [
        ("how many videos are there?", "asks_number"),
        ("what percentage of variance is explained?", "asks_number"),
        ("why does it fail?", "asks_reason"),
        ("how does Ekka work?", "asks_method"),
        ("which dataset was used?", "asks_name"),
        ("which papers study diffusion?", "wants_list"),
        ("list all papers about unlearning", "wants_list"),
        ("papers on reinforcement learning", "wants_list"),
        ("what is the difference between SAM and LE-SAM?", "wants_comparison"),
        ("is there a paper on protein fitness?", "seeks_paper"),
        ("有哪些论文研究扩散模型", "wants_list"),
        ("为什么性能会下降", "asks_reason"),
    ],
)
def test_what_a_question_asks_for(question: str, flag: str) -> None:
    assert getattr(analyse(question), flag)


@pytest.mark.parametrize("question", ["what does SAGE stand for?", "does mixup help?"])
def test_plain_questions_want_one_answer(question: str) -> None:
    asked = analyse(question)
    assert not asked.wants_list
    assert not asked.wants_comparison


@pytest.mark.parametrize("question", ["what keeps the number of errors low?", "what reduces the size of the model?"])
def test_what_acts_on_a_number_is_no_number(question: str) -> None:
    assert not analyse(question).asks_number


@pytest.mark.parametrize(
    ("question", "total"),
    [
        ("How many papers are there?", True),
        ("how many abstracts do you have", True),
        ("How many papers are in this list?", True),
        ("一共有多少篇论文？", True),
        ("How many papers are about kelp?", False),
        ("How many papers do they cite?", False),
        ("多少篇论文研究扩散模型", False),
    ],
)
def test_only_the_number_of_all_papers_is_the_total(question: str, total: bool) -> None:
    assert analyse(question).wants_total is total


def test_a_chinese_question_has_english_words_too() -> None:
    asked = analyse("有哪些论文研究强化学习？")
    assert {"reinforc", "learn"} <= set(asked.terms) and "reinforcement learning" in asked.reading


def test_asking_words_are_no_content() -> None:
    assert analyse("How many videos are there?").terms == ("video",)


@pytest.mark.parametrize("question", ["is its code public?", "and the second one?", "why?", "what about pass@5?"])
def test_follow_ups_take_the_subject_from_before(question: str) -> None:
    result = standalone(question, ["Which system diagnoses silent errors?"])
    assert "silent errors" in result.search
    assert result.focus == question
    assert question in result.text


def test_a_question_that_stands_alone_is_left_alone() -> None:
    question = "Which benchmark measures protein fitness prediction?"
    result = standalone(question, ["Which system diagnoses silent errors?"])
    assert (result.text, result.search) == (question, question)


def test_without_history_nothing_changes() -> None:
    assert standalone("is its code public?", []).text == "is its code public?"


def test_a_chain_of_follow_ups_reaches_back_to_its_subject() -> None:
    result = standalone("and for pass@5?", ["Which system diagnoses silent errors?", "how accurate is it?"])
    assert "silent errors" in result.search
