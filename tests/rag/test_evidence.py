"""Evidence and composition: the sentence that answers comes first, and an answer stays short and in order."""

from __future__ import annotations

import pytest

from rag import Index
from rag.composer import SENTENCES, WORDS, compose
from rag.evidence import FEATURES, ScoredSentence, score_sentences, wanted_terms
from rag.questions import analyse
from rag.retriever import PaperHit, SentenceHit
from rag.schema import Paper

TEXTS = [
    "Counting moss by hand is slow.",
    "We introduce MossNet, a network that counts moss species in photographs.",
    "It reaches 91% accuracy on 412 roofs.",
    "Code is available at https://example.org/moss.",
]


def hit(texts: list[str], cosines: list[float], score: float = 1.0, paper_id: str = "c1") -> PaperHit:
    """A found paper made of sentences with given cosines."""
    abstract = " ".join(texts)
    sentences, start = [], 0
    for text, cosine in zip(texts, cosines, strict=True):
        sentences.append(SentenceHit(start, start + len(text), cosine))
        start += len(text) + 1
    return PaperHit(Paper(id=paper_id, abstract=abstract, label=paper_id), score, 0.5, max(cosines), 1.0, sentences)


def best(store: Index, question: str, hits: list[PaperHit]) -> ScoredSentence:
    """The sentence that scores highest."""
    return score_sentences(analyse(question), hits, store.lexical)[0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many roofs?", 2),
        ("what percentage accuracy is reached?", 2),
    ],
)
def test_a_figure_asked_for_prefers_a_sentence_with_a_figure(sample_store: Index, question: str, expected: int) -> None:
    assert best(sample_store, question, [hit(TEXTS, [0.4, 0.4, 0.4, 0.4])]).quote == TEXTS[expected]


def test_the_closer_sentence_wins_where_nothing_else_differs(sample_store: Index) -> None:
    found = hit(["The first thing holds here.", "The other thing holds here."], [0.2, 0.6])
    assert best(sample_store, "zzz?", [found]).start > 0


def test_probabilities_are_probabilities_and_features_have_their_names(sample_store: Index) -> None:
    for sentence in score_sentences(analyse("how many roofs?"), [hit(TEXTS, [0.1] * 4)], sample_store.lexical):
        assert 0 <= sentence.probability <= 1
        assert len(sentence.features) == len(FEATURES)
        assert sentence.evidence().quote == sentence.quote


def test_words_of_another_script_do_not_count_as_missing(sample_store: Index) -> None:
    wanted = wanted_terms(analyse("Ekka 怎么诊断错误"), sample_store.lexical)
    assert "ekka" in wanted and all(term.isascii() for term in wanted)


def test_an_answer_from_one_paper_is_short_and_in_reading_order(sample_store: Index) -> None:
    question = analyse("what does MossNet do and how accurate is it?")
    scored = score_sentences(question, [hit(TEXTS * 3, [0.5] * 12)], sample_store.lexical)
    drafts = compose(question, scored)
    assert len(drafts) <= SENTENCES
    assert sum(len(d.sentence.split()) for d in drafts) <= WORDS
    starts = [d.evidence[0].start for d in drafts]
    assert starts == sorted(starts)


def test_a_list_has_a_line_for_each_paper_in_their_order(sample_store: Index) -> None:
    question = analyse("which papers count moss?")
    hits = [
        hit(TEXTS, [0.5] * 4, 1.0, "c1"),
        hit(TEXTS, [0.5] * 4, 0.9, "c2"),
        hit(TEXTS, [0.5] * 4, 0.7, "c3"),
        hit(TEXTS, [0.5] * 4, 0.1, "c4"),
    ]
    drafts = compose(question, score_sentences(question, hits, sample_store.lexical))
    assert [d.lead for d in drafts] == ["c1", "c2", "c3", "c4"]
    assert len({d.evidence[0].start for d in drafts}) == 1  # the best sentence of each
