"""Passages: slices on sentence boundaries that fit the encoder whole, and that joined are the abstract."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS

from ingest import chunking
from ingest.clean import clean
from rag.encoder import Encoder
from rag.schema import Passage
from rag.sentences import PROTECTED, sentence_spans
from rag.text import search_text

ABBREVIATED = " ".join(
    f"Part {n} was done by Dr. Doe, with factor analysis (CFA). Then it was drawn in Fig. 2 of the report, cf. Sec. {n}, "
    "and compared with i.i.d. Gaussian noise by Roe et al. (2024)."
    for n in range(20)
)
FORMULAS = " ".join(
    rf"We set $f_{{{n}}}:\mathbb{{R}}^{{d}}\to\mathbb{{R}}. A$. If $x_{{1.5}}>0$, then \(a. B\) holds, and the code is at "
    rf"\href{{https://example.org/a.b}}{{code. Here}} or https://example.org/c.d/E{n}."
    for n in range(15)
)


def words(texts: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


def check(abstract: str, passages: list[Passage], count: chunking.Counter, limit: int) -> None:
    """What must hold for every list of passages."""
    assert "".join(abstract[p.start : p.end] for p in passages) == abstract
    assert [p.position for p in passages] == list(range(len(passages)))
    spans = [(s.start, s.end) for p in passages for s in p.sentences]
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert "".join("".join(abstract[a:b].split()) for a, b in spans) == "".join(abstract.split())
    for passage in passages:
        assert all(passage.start <= s.start < s.end <= passage.end for s in passage.sentences)
        joined = " ".join(search_text(abstract[s.start : s.end]) for s in passage.sentences)
        assert count([joined])[0] <= limit


@pytest.mark.parametrize("abstract", [ABBREVIATED, FORMULAS], ids=["abbreviations", "formulas"])
def test_long_abstracts_with_the_real_tokenizer(abstract: str, encoder: Encoder) -> None:
    passages = chunking.passages("c1", abstract, encoder.token_counts, encoder.max_tokens)
    assert len(passages) >= 3
    check(abstract, passages, encoder.token_counts, encoder.max_tokens)
    # Every sentence is short enough, so every boundary is one between sentences.
    starts = {start for start, _ in sentence_spans(abstract)}
    assert all(p.start in starts for p in passages)
    assert [(s.start, s.end) for p in passages for s in p.sentences] == sentence_spans(abstract)
    for match in PROTECTED.finditer(abstract):
        assert not any(match.start() < p.start < match.end() for p in passages)


def test_what_fits_is_one_passage(encoder: Encoder) -> None:
    for abstract in map(clean, ABSTRACTS):
        passages = chunking.passages("c1", abstract, encoder.token_counts, encoder.max_tokens)
        assert [(p.start, p.end) for p in passages] == [(0, len(abstract))]


def test_passages_are_of_like_length(encoder: Encoder) -> None:
    passages = chunking.passages("c1", ABBREVIATED, encoder.token_counts, encoder.max_tokens)
    sizes = [encoder.count_tokens(search_text(ABBREVIATED[p.start : p.end])) for p in passages]
    assert min(sizes) > max(sizes) / 2


def test_a_sentence_beyond_the_limit_is_cut_at_white_space_outside_maths(encoder: Encoder) -> None:
    formula = r"$\sum_{i=1}^{n} a_i b_i \leq c$"
    abstract = "We show " + ", ".join(f"claim {n} that {formula} holds" for n in range(60)) + "."
    passages = chunking.passages("c1", abstract, encoder.token_counts, encoder.max_tokens)
    check(abstract, passages, encoder.token_counts, encoder.max_tokens)
    assert all(abstract[p.start - 1].isspace() for p in passages[1:])
    assert all(abstract[p.start : p.end].count("$") % 2 == 0 for p in passages)


@pytest.mark.parametrize("abstract", ["$" + "x+" * 900 + "y$", "a-" * 900, "中" * 900, "word " * 900])
def test_what_has_no_good_place_is_cut_somewhere(abstract: str, encoder: Encoder) -> None:
    check(
        abstract, chunking.passages("c1", abstract, encoder.token_counts, encoder.max_tokens), encoder.token_counts, 254
    )


PIECES = st.sampled_from(
    [
        r"$x. Y$",
        "$a b c d e f g h$",
        ". ",
        "? ",
        " ",
        "  ",
        "word",
        "Word",
        "(CFA). ",
        "Dr. ",
        "https://x.org/a.b",
        "。",
        "中文",
        "\n",
        "\xa0",
        "\\href{u. V}{w. X}",
        "e.g. ",
        "- ",
        "é",
        "̈",
        "\u200b",
    ]
)


@given(st.lists(PIECES, min_size=1, max_size=60).map("".join), st.integers(3, 30))
def test_any_text(text: str, limit: int) -> None:
    check(text, chunking.passages("c1", text, words, limit), words, limit) if text.strip() else None


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(50, 120))
def test_whole_sentences_are_never_cut(sizes: list[int], limit: int) -> None:
    sentences = ["We" + " word" * (size - 1) for size in sizes]
    abstract = ". ".join(sentences)
    passages = chunking.passages("c1", abstract, lambda texts: [len(t.split()) for t in texts], limit)
    assert [(s.start, s.end) for p in passages for s in p.sentences] == sentence_spans(abstract)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("fragment", ["a. B ", "a ", "$a$ ", "$a ", "ab", "A. "])
def test_a_very_long_abstract(fragment: str) -> None:
    text = (fragment * 50_000)[:50_000] + "x"
    passages = chunking.passages("c1", text, lambda texts: [len(t.split()) for t in texts], 250)
    assert "".join(text[p.start : p.end] for p in passages) == text
