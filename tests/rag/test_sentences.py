"""Sentence spans: where sentences end, and that no character is lost."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.sentences import MATH, PROTECTED, mask, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


SPLITS = [
    ["We train a model.", "It works!", "Does it last?", "Yes."],
    ["It was shown by Dr. Doe, Prof. Roe and Mr. Low.", "See Fig. 2, Eq. (3) and Sec. 4."],
    ["We use optimisers, e.g. Adam, i.e. SGD with moments, vs. Newton (cf. Tab. 1).", "Then we stop."],
    ["Doe et al. (2020) and J. R. Roe et al. Smith did so."],
    ["This was done by Doe et al.", "We do more."],
    ["We use trees, nets, etc.", "The rest follows."],
    ["Noise is i.i.d. Gaussian in the U.S. Congress data.", "The samples are i.i.d.", "We prove it."],
    ["The answer is no.", "We keep no. 7 and No. 8 too."],
    ["Analysis (CFA).", "Then it is 3.5 times faster, at 0.97.", "In 2026 it ended."],
    ["It goes on...", "And stops... at last."],
    ['He said "stop."', "“Then?”", "(It did.)", "[So.]", "**Bold.**", "Next one."],
    [
        "We set $f:\\mathbb{R}^{d}\\to\\mathbb{R}$.",
        "If $x_{1.5}>0. If$ and \\(a. B\\), then \\[c. D\\] holds.",
        "$n$ is large.",
    ],
    ["Code: \\href{https://e.org/a.b}{a. {B}. C} is there.", "See https://x.org/a.b?c=D.", "https://y.org has it."],
    ["我们提出了一种方法。", "它很有效！", "“为什么？”", "代码见https://x.org/a。", "完"],
    ["It costs $5.", "It was $6 million.", "Then $7 it was."],
    ["1. First we look.", "2. Then we leap.", "Over 100.", "We end."],
    ["Appendix A.", "We show the class C.", "The bound follows from L. Cesari and from lemma B.", "It ends."],
    ["What?!", "Really!! no. lower case. stays together."],
    ["no full stop at the end"],
]


@pytest.mark.parametrize("expected", SPLITS, ids=lambda parts: parts[0][:20])
def test_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_chinese_needs_no_spaces() -> None:
    assert sentences("我们提出方法。它有效！真的？（是的。）完") == [
        "我们提出方法。",
        "它有效！",
        "真的？",
        "（是的。）",
        "完",
    ]


def test_nothing_and_white_space() -> None:
    assert sentence_spans("") == []
    assert sentence_spans(" \n\u00a0\t") == []
    assert sentences("\u00a0 One. \n\n Two.  ") == ["One.", "Two."]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("less than $4 and $5", []),
        ("$5 million, or 3$ each", []),
        ("pay \\$x or y\\$ more", []),
        ("of $O(n)$, $10\\%$ and $3 \\times 4$", ["$O(n)$", "$10\\%$", "$3 \\times 4$"]),
        ("$a\\$b$ $$x $ y$$", ["$a\\$b$", "$$x $ y$$"]),
        ("$ x$ and $x $", []),
    ],
)
def test_maths(text: str, formulas: list[str]) -> None:
    assert MATH.findall(text) == formulas


PIECES = st.sampled_from(
    [
        *r"$x.Y$ $ $$ \( \) \[ \] \(a. B\) . .. ... ? ! 。 ！ ” ) ( [ ] * _ e.g. i.e. al. Dr. Fig. 2 3.5 J. A We The x no. etc. i.i.d.".split(),
        " ",
        "  ",
        "\n",
        "\xa0",
        "\u200b",
        "https://x.org/a.b",
        "\\href{u.v}{W. X}",
        "\\$",
        "\\",
        "中",
        "é",
        "�",
    ]
)
TEXT = st.lists(PIECES, max_size=25).map("".join) | st.lists(PIECES, max_size=25).map(" ".join) | st.text()


@settings(deadline=None, max_examples=400)
@given(TEXT)
def test_spans_are_ordered_disjoint_and_whole(text: str) -> None:
    spans = sentence_spans(text)
    covered = "".join(text[start:end] for start, end in spans)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert "".join(covered.split()) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


@settings(deadline=None, max_examples=400)
@given(TEXT)
def test_no_boundary_inside_maths_links_and_addresses(text: str) -> None:
    edges = [edge for span in sentence_spans(text) for edge in span]
    for match in PROTECTED.finditer(text):
        assert not any(match.start() < edge < match.end() for edge in edges)


@settings(deadline=None)
@given(TEXT)
def test_mask_keeps_every_offset(text: str) -> None:
    masked = mask(text)
    assert len(masked) == len(text)
    assert all(shown in {character, "X"} for shown, character in zip(masked, text, strict=True))


HOSTILE = [*"([{$.*_\\!?。”'\"<", ". ", "..", ".)", ". (", "\\(", "\\[", "\\(a", "$a", "$$", "$a\\$", "$1", "\\href{", "\\href{u}{",
           "\\href{u}{{a}", "http://", "http://.", "A. ", "1. ", "e.g. ", " ", "。”", "a.b", "\\\\("]  # fmt: skip


@pytest.mark.timeout(20)
@pytest.mark.parametrize("fragment", HOSTILE)
def test_hostile_text_takes_linear_time(fragment: str) -> None:
    # A pattern that backtracks takes minutes on this; the limit is there to catch it, not to measure.
    sentence_spans((fragment * 50_000)[:50_000] + "x")


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("fragment", HOSTILE)
def test_a_megabyte_of_hostile_text(fragment: str) -> None:
    sentence_spans((fragment * 1_000_000)[:1_000_000] + "x")
