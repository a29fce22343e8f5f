"""Labels: a name with its gloss where the abstract gives one, else the first clause; short and unique."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_kit import ABSTRACTS

from ingest.clean import clean
from ingest.labels import label
from rag.sentences import MATH

LONGEST = 165


def named(abstract: str, title: str | None = None) -> str:
    return label(clean(abstract), title, set())


@pytest.mark.parametrize(
    ("abstract", "expected"),
    [
        (
            "Judges drift. We propose **SAGE** (**S**emantic-**A**nchored Jud**G**m**E**nt), which does not.",
            "SAGE: Semantic-Anchored Judgment",
        ),
        ("We present Safe Planning for Judge-aware Long Benchmarks (JLB) here.", "JLB: Safe Planning for Judge-aware Long Benchmarks"),
        ("Reefs die. We introduce Ekka, an automated diagnosis system that maps them.", "Ekka: automated diagnosis system"),
        ("Nobody knows. We develop a lightweight pre-training framework, MiniTraffic.", "MiniTraffic: lightweight pre-training framework"),
        ("$\\mathbf{C}$ats. We propose CaRE: nothing. This is called Component-based $x$ Audit (COBA).", "Cats"),
        ("Pruning at Initialisation (PaI) finds sparse subnetworks, yet it is not understood.", "Pruning at Initialisation (PaI) finds sparse subnetworks"),
        ("Long-context models fail; we say why.", "Long-context models fail; we say why"),
        ("A function $f: \\mathbb{R} \\to \\mathbb{R}$ of bounded variation is studied here; nothing else.",
         "A function $f: \\mathbb{R} \\to \\mathbb{R}$ of bounded variation is studied here"),
        ("本文研究如何用少量标注数据训练手语识别模型。我们提出新方法。", "本文研究如何用少量标注数据训练手语识别模型"),
    ],
)  # fmt: skip
def test_label(abstract: str, expected: str) -> None:
    assert named(abstract) == expected


def test_title_is_the_label() -> None:
    assert label("We propose SAGE (Semantic Judgment).", "A Title.", set()) == "A Title"
    assert len(label("x", "word " * 100, set())) <= LONGEST


def test_two_papers_with_one_opening() -> None:
    opening = "Large language models are widely used as scalable evaluators of other models' answers in many fields. "
    taken: set[str] = set()
    labels = [label(opening + rest, None, taken) for rest in ("We fix it.", "We break it.", "We fix it.", "We fix it.")]
    assert len({name.casefold() for name in labels}) == 4
    assert all(len(name) <= LONGEST for name in labels)
    assert labels[-1].endswith("(2)") or labels[-1].endswith("(3)")


def test_a_name_that_two_papers_share_brings_the_first_clause() -> None:
    taken: set[str] = set()
    first = label("We propose SAGE (Semantic Judgment), a judge.", None, taken)
    second = label("Juries are slow. We propose SAGE (Semantic Judgment), a jury.", None, taken)
    assert (first, second) == ("SAGE: Semantic Judgment", "SAGE: Juries are slow")


def test_a_label_is_taken_whatever_its_case() -> None:
    taken = {"a title"}
    assert label("", "A TITLE", taken) == "A TITLE (2)"


@pytest.mark.parametrize("abstract", ["", "$" + "x" * 300 + "$", "…", "$$a$$"])
def test_there_is_always_a_label(abstract: str) -> None:
    taken: set[str] = set()
    labels = [label(abstract, None, taken) for _ in range(3)]
    assert len(set(labels)) == 3 and all(name and len(name) <= LONGEST for name in labels)


WORDS = st.sampled_from(
    "We propose introduce present a the framework called SAGE Semantic-Anchored Jud$x$ (SAGE) (Foo Bar Baz) $f: A$ $O(n. log)$ "
    "$\\frac{a}{b}$ , . ; : — ( ) Non-Gaussian A-B-C-D model that which is of in 中文。 https://x.org/a.b".split()
)


@given(st.lists(st.lists(WORDS, max_size=60).map(" ".join) | st.text(), max_size=6))
def test_labels_are_short_unique_and_never_cut_maths(abstracts: list[str]) -> None:
    taken: set[str] = set()
    cleaned = [clean(a) for a in [*abstracts, *ABSTRACTS]]
    labels = [label(a, None, taken) for a in [*cleaned, *cleaned[:3]]]
    assert len({name.casefold() for name in labels}) == len(labels)
    assert all(0 < len(name) <= LONGEST for name in labels)
    for name, abstract in zip(labels, cleaned, strict=False):
        whole = set(MATH.findall(abstract))
        assert all(formula in name for formula in whole if formula[:-1] in name and len(formula) > 4)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "fragment", ["A-", "A ", "We ", "We propose A", "(A", "(Aa bb ", "A, a ", "we.", "$a", "the a", "B2"]
)
def test_hostile_text_takes_linear_time(fragment: str) -> None:
    text = (fragment * 40_000)[:40_000]
    for abstract in (text, "We propose " + text, "We propose " + text[:300] + " (ABC)."):
        label(abstract, None, set())
