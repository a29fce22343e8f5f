"""Markers run 1, 2, 3 in order of appearance, one a paper, without gaps, whatever the drafts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.citing import BY_MODEL, NOT_CLOSE, answer_from, refusal
from rag.composer import Draft
from rag.evidence import ScoredSentence
from rag.retriever import PaperHit
from rag.schema import Answer, Paper, Verdict

HITS = [
    PaperHit(Paper(id=f"p{n}", abstract=f"First of {n}. Second of {n}.", label=f"Paper {n}"), 1.0, 1.0, 1.0, 1.0, [])
    for n in range(6)
]


def scored(paper: int, sentence: int = 0) -> ScoredSentence:
    start, end = ((0, 11), (12, 24))[sentence]
    return ScoredSentence(HITS[paper], paper, start, end, 0.5, ())


def answer(*drafts: Draft) -> Answer:
    return answer_from("Q?", "Q?", drafts, 0.5, engine="extractive")


EVIDENCE = st.builds(scored, st.integers(0, 5), st.integers(0, 1))
DRAFTS = st.lists(
    st.builds(
        lambda sentence, own, verdict, lead: Draft(
            sentence, tuple(own if verdict is not Verdict.UNSUPPORTED else ()), verdict, lead
        ),
        st.sampled_from(["It works.", "Values lie in [0, 1].", "As shown in [12].", "它有效。", "No {braces} $x[3]$."]),
        st.lists(EVIDENCE, min_size=1, max_size=3),
        st.sampled_from(list(Verdict)),
        st.sampled_from(["", "", "A label [7]"]),
    ),
    max_size=8,
)


@given(DRAFTS)
def test_text_sentences_and_citations_agree(drafts: list[Draft]) -> None:
    made = answer(*drafts)
    shown = [int(m) for m in re.findall(r"\[(\d+)\]", made.text)]
    cited = [c.marker for c in made.citations]
    assert list(dict.fromkeys(shown)) == cited == list(range(1, len(cited) + 1))
    assert len({c.paper.id for c in made.citations}) == len(cited)
    assert [s.text for s in made.sentences] == [d.sentence for d in drafts]
    assert [m for s in made.sentences for m in s.markers] == shown
    numbers = {c.paper.id: c.marker for c in made.citations}
    for draft, sentence in zip(drafts, made.sentences, strict=True):
        carried = {numbers[e.hit.paper.id] for e in draft.evidence}
        assert set(sentence.markers) == (carried if draft.verdict is not Verdict.UNSUPPORTED else set())
    for citation in made.citations:
        spans = [(e.start, e.end) for e in citation.evidence]
        assert spans and len(set(spans)) == len(spans)
        for evidence in citation.evidence:
            assert evidence.paper_id == citation.paper.id
            assert evidence.quote == citation.paper.abstract[evidence.start : evidence.end]


def test_order_of_appearance_not_of_the_search() -> None:
    made = answer(Draft("One.", (scored(5),)), Draft("Two.", (scored(2),)), Draft("Three.", (scored(5, 1),)))
    assert made.text == "One. [1] Two. [2] Three. [1]"
    assert [c.paper.id for c in made.citations] == ["p5", "p2"]
    assert [e.quote for e in made.citations[0].evidence] == ["First of 5.", "Second of 5."]


def test_an_unsupported_sentence_takes_no_number() -> None:
    made = answer(Draft("Bad.", (scored(1),), Verdict.UNSUPPORTED), Draft("Good.", (scored(3),)))
    assert made.text == "Good. [1]"
    assert [c.paper.id for c in made.citations] == ["p3"]
    assert made.notices == ["1 sentence was left out: no abstract carries it."]


def test_numbers_of_the_abstract_are_not_ours() -> None:
    made = answer(Draft("As [4, 5] show, it lies in [0, 1].", (scored(0),)))
    assert re.findall(r"\[[\d, ]+\]", made.text) == ["[1]"]
    assert made.sentences[0].text == "As [4, 5] show, it lies in [0, 1]."


def test_one_list_entry_a_paper() -> None:
    made = answer(Draft("One.", (scored(0),), lead="Paper 0"), Draft("Two.", (scored(1),), lead="Paper 1"))
    assert made.text == "- Paper 0 — One. [1]\n- Paper 1 — Two. [2]"


@pytest.mark.parametrize("reason", [NOT_CLOSE, BY_MODEL])
def test_a_refusal_names_the_nearest(reason: str) -> None:
    made = refusal("Q?", "Q?", HITS, 0.1, engine="extractive", reason=reason)
    assert made.refused and made.refusal_reason == reason and made.text == f"The papers do not say. {reason}"
    assert [p.id for p in made.nearest] == ["p0", "p1", "p2"]
    assert not made.citations and not made.sentences
