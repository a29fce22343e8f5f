"""HTML and JATS: which tags go, what they leave behind, and which angle brackets are none."""

from __future__ import annotations

import pytest

from ingest.clean import clean
from ingest.scripts import script
from ingest.tags import TAG, partners

STRUCTURE = [
    (
        "<jats:title>Abstract\n</jats:title><jats:sec><jats:title>Aim</jats:title>\n<jats:p>To <jats:italic>see</jats:italic>."
        "</jats:p></jats:sec><jats:sec><jats:title>Results:</jats:title><jats:p>Seen.</jats:p></jats:sec>",
        "Aim: To see. Results: Seen.",
    ),
    ("<h2>Methods</h2><p>We look.</p><h2>Why?</h2>So.", "Methods: We look. Why? So."),
    ("<jats:title>Birds</jats:title><jats:subtitle>A <i>list</i></jats:subtitle>", "Birds: A list"),
    ("<p>One.</p><title>Résumé</title><p>Un.</p>", "One. Résumé: Un."),
    (
        '<AbstractText Label="AIMS" NlmCategory="X">To see.</AbstractText> <AbstractText Label="UNLABELLED">So.</AbstractText>',
        "AIMS: To see. So.",
    ),
    ("<AbstractText>Seen.</AbstractText><CopyrightInformation>© We.</CopyrightInformation>", "Seen."),
    (
        "<p>Two:</p><ul><li>first</li><li>second one</li><li>third.</li></ul><p>End</p>",
        "Two: first; second one; third. End",
    ),
    ('<list list-type="order"><list-item><p>a</p></list-item><list-item><p>b</p></list-item></list><p>c</p>', "a; b c"),
    (
        "<jats:p><jats:bold><jats:italic>Background</jats:italic></jats:bold>Birds fly.<jats:bold>Methods</jats:bold>We look.</jats:p>",
        "Background: Birds fly. Methods: We look.",
    ),
    ("<b>Results</b> were good. <b>Deep</b>Mind", "Results were good. DeepMind"),
    (
        'as <xref ref-type="bibr" rid="b1">[1]</xref> and <jats:xref rid="b2"><jats:sup>2</jats:sup></jats:xref> say',
        "as [1] and ² say",
    ),
    ('see <a href="https://x.org/y?a=1&amp;b=2">code</a>', "see code (https://x.org/y?a=1&b=2)"),
    ('at <jats:ext-link xlink:href="https://x.org">https://x.org</jats:ext-link>', "at https://x.org"),
    ("<p>A<![CDATA[ < B ]]>and<!-- <b>not</b> this --> C<?pi x?></p>", "A < B and C"),
    ('<?xml version="1.0"?><!DOCTYPE abstract><ns4:p xmlns:ns4="urn:x">x</ns4:p>', "x"),
    ("<table><tr><td>a</td><td>b</td></tr></table><p>c</p>", "a b c"),
    ("<jats:p>cut off <jats:italic>here", "cut off here"),
    ("costs $5</p> <p>in US$. Then", "costs $5 in US$. Then"),
    ('<font color=red>red</font> <span class="x">open', "red open"),
    ("<P><EM>Loud</EM></P>", "Loud"),
    ('<p>an <unknown kind="x">unknown</unknown> tag<graphic/></p>', "an unknown tag"),
    ("<p>bare</p><script>alert(1)</script><style>p {}</style>", "bare"),
]
NO_TAGS = [
    "Holds if k<m and n>30, p < 0.05, a<b>c, x<i>y, n<p>m, x<y and y>z.",
    "A List<int>, a Map<K, V>, <a@b.org> and <https://x.org/a> stay.",
    "We write <think> and </think>, <answer>x</answer>, <s>, </s>, [MASK] and <image>.",
    "We mark <object> and <color>, <human,verb,object>, <subject, relation, object>.",
    "The tags <math> and </math>, <code> and </code>, <style> and </style>, <table> and </table>.",
    "An arrow <- or <-> or -->, a heart <3, a set {x | x<1}.",
]


@pytest.mark.parametrize(("raw", "shown"), STRUCTURE)
def test_structure(raw: str, shown: str) -> None:
    assert clean(raw) == shown
    assert clean(shown) == shown


@pytest.mark.parametrize("text", NO_TAGS)
def test_no_tags(text: str) -> None:
    assert clean(text) == text


def test_signs_of_language_models_stay_in_marked_up_text() -> None:
    assert clean("<p>We use <think> and </think>.</p>") == "We use <think> and </think>."


def test_escaped_twice_is_text() -> None:
    assert (
        clean("<p>The tag &lt;u&gt; alone, &lt;foo&gt;x&lt;/foo&gt; too</p>") == "The tag <u> alone, <foo>x</foo> too"
    )


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("H<sub>2</sub>O, 10<sup>-3</sup>, 10<sup>−6</sup>", "H₂O, 10⁻³, 10⁻⁶"),
        ("Ca<sup>2+</sup>, <sup>13</sup>C, SO<sub>4</sub><sup>2-</sup>, E<inf>2</inf>", "Ca²⁺, ¹³C, SO₄²⁻, E₂"),
        ("x<sub>i</sub>, x<sub>n+1</sub>, R<sup>d</sup>, <i>L</i><sup>p</sup>", "xᵢ, xₙ₊₁, Rᵈ, Lᵖ"),
        ("V<sub>max</sub>, 1<sup>st</sup>, k<sup>th</sup>, X<sup>TM</sup>", "Vmax, 1st, kth, XTM"),
        ("p53<sup>-/-</sup>, said<sup>1,2</sup>", "p53⁻/⁻, said¹,²"),
        (
            "e<sup>-x/2</sup>, 2<sup>1/2</sup>, 10<sup>0.5</sup>, x<sub>α</sub>3",
            "$e^{-x/2}$, $2^{1/2}$, $10^{0.5}$, $x_{α}$ 3",
        ),
        ("10<sup>3 (see below)</sup>", "10^3 (see below)"),
        ("a<sup></sup>b<sub> </sub>c", "abc"),
        ("x<sup>2 and y<sub>1", "x<sup>2 and y<sub>1"),
    ],
)
def test_scripts(raw: str, shown: str) -> None:
    assert clean(raw) == shown
    assert clean(shown) == shown


def test_script_takes_its_base_along_only_for_maths() -> None:
    assert script("-3", "about 10", above=True) == (0, "⁻³")
    assert script("a/b", "so x", above=True) == (1, "$x^{a/b}$")
    assert script("a/b", "words", above=False) == (0, "a/b")


def test_tags_pair_with_the_nearest() -> None:
    tags = list(TAG.finditer("<b>1<b>2</b><i/></i>"))
    assert partners(tags) == [None, 2, 1, 3, None]
