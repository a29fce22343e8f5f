"""From models to markup, without a browser."""

from __future__ import annotations

import pytest

from rag.schema import Answer, AnswerSentence, IngestReport, Paper, Reject, Verdict
from ui.web import examples, frame, markup, render


def paper(label: str, abstract: str = "", **fields: str) -> Paper:
    """A paper with a label."""
    return Paper(id=label, label=label, abstract=abstract, **fields)  # type: ignore[arg-type]


def test_marks_never_split_a_formula() -> None:
    text = "a $x$ b $y$ c"
    assert markup.prose(text, [(0, 4), (8, 13)]) == (
        '<mark data-evidence="0">a <span class="cf-math">$x$</span></mark> b '
        '<mark data-evidence="1"><span class="cf-math">$y$</span> c</mark>'
    )


def test_marks_that_meet_or_overlap_are_closed() -> None:
    assert markup.prose("abcdef", [(0, 3), (2, 5)]).count("<mark") == 2
    assert markup.prose("abcdef", [(0, 3), (2, 5)]).endswith("de</mark>f")
    assert markup.prose("abc", [(0, 0)]) == "abc"


@pytest.mark.parametrize("text", ["$4 and $5", "<b>&\"'", "a\\$b", "", "$", "$$"])
def test_what_is_not_maths_is_only_escaped(text: str) -> None:
    assert markup.prose(text) == markup.escape(text)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//host/x", "https://", "", None, "http://["]
)
def test_only_web_addresses_become_links(url: str | None) -> None:
    assert markup.web_address(url) is None


def test_sentences_are_found_in_the_text_by_themselves() -> None:
    def answer(text: str) -> Answer:
        sentences = [
            AnswerSentence(text="It cites [2].", markers=[1], verdict=Verdict.SUPPORTED),
            AnswerSentence(text="No.", verdict=Verdict.UNSUPPORTED),
            AnswerSentence(text="It cites [2].", markers=[1, 2], verdict=Verdict.WEAK),
        ]
        return Answer(
            question="q", standalone_question="q", text=text, sentences=sentences, confidence=1, engine="extractive"
        )

    found = render.pieces(answer("It cites [2]. [1] It cites [2]. [1][2]"))
    assert found is not None
    assert [(p.sentence.markers, p.lead) for p in found] == [([1], ""), ([1, 2], "")]
    listed = render.pieces(answer("- A — b — It cites [2]. [1]\n- C — It cites [2]. [1][2]"))
    assert listed is not None
    assert [p.lead for p in listed] == ["A — b", "C"]
    assert render.pieces(answer("Something else. [1]")) is None


def test_examples_read_well_and_never_change() -> None:
    papers = [
        paper("SAGE: Semantic-Anchored Judgment"),
        paper("TabICLv2: foundation model for tables"),
        paper("Mixup is…", "Mixup is a technique that mixes."),
        paper("We study…", "We study gradient methods for convex problems with functions $f$."),
        paper("Although…", "Although models have grown, this is not a subject."),
        paper("<b>X1: evil", "<b>Evil</b> is a tag."),
    ]
    assert examples.questions(papers) == [
        "What is SAGE?",
        "How does TabICLv2 work?",
        "Which papers study mixup?",
        "Which paper studies gradient methods for convex problems?",
    ]
    assert examples.questions([]) == []
    assert len(examples.questions([paper(f"Name{i}X: gloss") for i in range(9)])) == examples.WANTED


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("extractive", "Extractive · nothing leaves this machine"),
        ("ollama:llama3", "ollama:llama3 · runs on this machine"),
        ("openai:gpt-5", "openai:gpt-5 · questions and quotes go to api.openai.com"),
        ("http://user:secret@host.example/v1#m", "http://host.example/v1#m · questions and quotes go to host.example"),
    ],
)
def test_the_engine_line_says_where_words_go(engine: str, told: str) -> None:
    assert frame.engine_text(engine) == told


def test_a_report_accounts_for_every_record() -> None:
    rejects = [Reject(file="f", line=i, reason="<short>") for i in range(1, 31)]
    shown = frame.report_html(
        "f.txt", IngestReport(read=34, added=1, unchanged=2, duplicate=1, rejected=30, rejects=rejects)
    )
    assert "1 added, 2 unchanged, 1 already there, 30 rejected" in shown
    assert shown.count("<li>") == 21
    assert "and 10 more" in shown
    assert "<short>" not in shown
