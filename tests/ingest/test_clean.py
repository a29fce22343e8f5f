"""From markup to display text: what goes, what stays, and that a second time changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.clean import CLEANING_VERSION, clean, clean_abstract, outside, unescape
from ingest.identity import content_id
from rag.sentences import MATH

LATEX = [
    (r"\emph{signal} and \textbf{bold}", "signal and bold"),
    (r"\textbf{a \emph{b {c} \textit{d}} e}", "a b {c} d e"),
    (r"\underline{\texttt{x}} \textsc{Fgd}", "x Fgd"),
    (r"{\em old} {\bf style} {\itshape mini-batch}", "old style mini-batch"),
    (r"\textcolor{red}{Warning} H\textsubscript{2}O", "Warning H2O"),
    (r"\emph{no end", r"\emph{no end"),
    (r"a } b { c \emph{d}", "a } b { c d"),
    (r"\emph{\{x\}} 12\% A\&B \#1 a\_b", "{x} 12% A&B #1 a_b"),
    (r"as in~\cite{a,b} and \citep[see][p.~3]{c}.", "as in and."),
    (r"known (\cite{a}) and Section~\ref{s}", "known and Section"),
    (r"text\footnote{See \url{https://x.org/a\_b}.} here", "text (See https://x.org/a_b.) here"),
    (r"\begin{itemize} \item one \item two \end{itemize}", "one two"),
    (r"a \\ b \noindent c", "a b c"),
    (r"x \ldots y, \eg z, \ie{} w, Doe \etal. (2020)", "x ... y, e.g. z, i.e. w, Doe et al. (2020)"),
    (r"10{,}000 and 20\,000 and 5\,Hz", "10,000 and 20000 and 5 Hz"),
    (r"i.i.d.\ noise, et al.\ (2016)", "i.i.d. noise, et al. (2016)"),
    (r"\unknown{kept} \mname", r"\unknown{kept} \mname"),
    (r"AUC{\textmu} at 5 {\textmu}m", "AUCµ at 5 µm"),
    ("known  \\cite{a}, and\n\\cite{b}.", "known, and."),
]
ACCENTS = [
    (r"On H{\"o}lder Na\"{\i}ve Bounds", "On Hölder Naïve Bounds"),
    (r"Mu{\~n}iz, I.", "Muñiz, I."),
    (r"\v{C}ech, Erd\H{o}s, {\O}rsted, Stra{\ss}e, \aa, {\'e}t\'e", "Čech, Erdős, Ørsted, Straße, å, été"),
    (r"fa\c{c}ade G\"odel \'Etale \c c \'{\i}", "façade Gödel Étale ç í"),
    (r"\textbf{H\"{o}lder} {G\"odel}", "Hölder {Gödel}"),
    (r"the model\'s and don\'t", "the model's and don't"),
    (r"so-called \"attention heads\" here", 'so-called "attention heads" here'),
    (r"Wa\'sniewski and {\"O}zg\"ur", "Waśniewski and Özgür"),
    (r"\"q and \v{x}", r"\"q and \v{x}"),
    (r"cost $O(n)$ and \O(n)", r"cost $O(n)$ and \O(n)"),
]
HTML = [
    ("<title>On <i>small</i> things</title>", "On small things"),
    ("<p>Tags &lt;think&gt; and &lt;/think&gt;, &amp;lt;b&amp;gt;</p>", "Tags <think> and </think>, <b>"),
    (
        "Holds if k<m and fails for n>30; the bound is <i>tight</i> when p < 0.05.",
        "Holds if k<m and fails for n>30; the bound is tight when p < 0.05.",
    ),
    ("&lt;jats:p&gt;Let a &amp;lt; b and R&amp;amp;D grow.&lt;/jats:p&gt;", "Let a < b and R&D grow."),
    ("<p>One.</p><p>Two.</p> three<br/>four", "One. Two. three four"),
    ("CO<sub>2</sub> x<sup>2</sup> <a href=\"x\" class='y'>link</a> <B>bold</B>", "CO₂ x² link bold"),
    ("if a<b>c and x<i>y", "if a<b>c and x<i>y"),
    ("<unknown>tag</unknown> <3", "<unknown>tag</unknown> <3"),
    ("AT&T; R&D a & b &copy &notit; &eacute;", "AT&T; R&D a & b &copy &notit; é"),
    ("&amp;amp;amp;amp;lt; &#38;#38;lt; &#x26;gt;", "< < >"),
    ("&#0;&#xD800;a &#x1F600; &#99999999999; &#x110000;", "\ufffd\ufffda 😀 &#99999999999; \ufffd"),
    ("a&nbsp;b&shy;c", "a bc"),
]
MARKDOWN = [
    ("**MixEmo**, *one* and __two__ and _three_", "MixEmo, one and two and three"),
    ("**SAGE** (**S**emantic-**A**nchored Jud**G**m**E**nt)", "SAGE (Semantic-Anchored JudGmEnt)"),
    ("***both*** and **bold *inside* it**", "both and bold inside it"),
    ("2**3 and 4**5, x**2 + y**2, n**k + m**k", "2**3 and 4**5, x**2 + y**2, n**k + m**k"),
    ("A* and D*, a * b * c, (*) and (*)", "A* and D*, a * b * c, (*) and (*)"),
    ("snake_case_name and f_1, g_2", "snake_case_name and f_1, g_2"),
    ("**open only, *here too", "**open only, *here too"),
    ("rule ***** and f***", "rule ***** and f***"),
    ("**uses $x*y*z$ here**", "uses $x*y*z$ here"),
    ("[code](https://x.org/a_b_c) [https://y.org](https://y.org)", "code (https://x.org/a_b_c) https://y.org"),
]
LINKS = [
    (r"\href{https://x.org/a\_b\%20}{code}", "code (https://x.org/a_b%20)"),
    (r"\href{https://x.org}{https://x.org}", "https://x.org"),
    (r"\href{https://x.org}{the \emph{deeply {nested}} code}", "the deeply {nested} code (https://x.org)"),
    (r"\url{https://x.org/~doe/a\_b}", "https://x.org/~doe/a_b"),
    ("see https://x.org/a_b_c--d and https://y.org/_x_", "see https://x.org/a_b_c--d and https://y.org/_x_"),
]
MATHS = [
    (r"so $x_i * y_i$, $a<b>c$ and $\text{if } \emph{x} \cite{a}$", None),
    (r"$f:\mathbb{R}^{d}\to\mathbb{R}$ and $$\sum_{i=1}^n x_i ~ -- \\ y$$", None),
    (r"\(x\) and \[y\]", "$x$ and $$y$$"),
    (r"\(a\)\(b\), \(3\)2", r"$a$\(b\), \(3\)2"),
    (r"\begin{equation} e=mc^2 \end{equation}", "$$e=mc^2$$"),
    (r"\begin{align*} a &= b \\ c \end{align*}", r"$$\begin{aligned}a &= b \\ c\end{aligned}$$"),
    (r"rate $ \alpha $ and $n^2 $", r"rate $\alpha$ and $n^2$"),
    (r"$\textbf{SAGE}$ with $\mathrm{ReLU}$, $\mathbf{x}$", r"SAGE with ReLU, $\mathbf{x}$"),
    (r"$\mathbf{C}$ontinual Le$\mathbf{a}$rner", "Continual Learner"),
    (r"Fig.~$x$ and $x$~is", "Fig. $x$ and $x$ is"),
]
MONEY = [
    ("less than $4 and $5", None),
    ("$5 million, or 3$ each", None),
    (r"\$5 and \$6", "$5 and $6"),
    (r"\$x and y\$ and $z$", r"\$x and y\$ and $z$"),  # bare, these would read as maths
    (r"$\$5$", None),
]
TYPOGRAPHY = [
    ("``scaling law'' slope", "“scaling law” slope"),
    ("teacher--student, yes---no, 1--2, <-- and -->", "teacher–student, yes—no, 1–2, <-- and -->"),
    ("et~al. Fig.~2, 10~20 times, ~5", "et al. Fig. 2, 10~20 times, ~5"),
    ("  many \t\n spaces\u00a0\u2028and\u0085ends ", "many spaces and ends"),
    (
        "soft\u00adhyphen zero\u200bwidth nul\x00 \u202eturned\u202c \U000e0041tag",
        "softhyphen zerowidth nul turned tag",
    ),
    ("author\u2019s Unicode: ℓ₂, ﬁne, ＣＬＩＰ, Ho\u0308lder, \u200d joiner", None),
    ("private \ue000 use and \\emph{rules}", "private \ue000 use and rules"),
    ("non-characters \ufdd0\ufdd1\ufddb go", "non-characters go"),
    ("the model\x92s view, Mercer\xe2\x80\x99s", "the model’s view, Mercer’s"),
    ("We use \ud835 symbols. \ud83d\ude00", "We use \ufffd symbols. 😀"),
    ("Straße für déjà vu Ã", None),
]
CASES = LATEX + ACCENTS + HTML + MARKDOWN + LINKS + MATHS + MONEY + TYPOGRAPHY


@pytest.mark.parametrize(("raw", "shown"), CASES)
def test_rule(raw: str, shown: str | None) -> None:
    cleaned = clean(raw)
    assert cleaned == (raw if shown is None else shown)
    assert clean(cleaned) == cleaned


def test_depth_has_no_limit() -> None:
    assert clean(r"\emph{" * 3000 + "x" + "}" * 3000) == "x"
    assert clean("&" + "amp;" * 3000 + "lt;") == "<"
    assert clean("*_" * 500 + "x" + "_*" * 500) == "x"


def test_the_same_text_in_other_markup_is_the_same_paper() -> None:
    plain = "SAGE, a judge for Hölder-smooth tasks, costs 12% less & wins."
    marked = r"**SAGE**, a \emph{judge} for H{\"o}lder-smooth tasks, costs 12\% less &amp; wins."
    assert content_id(clean(plain)) == content_id(clean(marked))
    assert content_id(clean(plain)) != content_id(clean(plain.replace("12", "13")))


def test_one_layer_of_entities_at_a_time() -> None:
    assert unescape("&lt;p&gt;a &amp;lt; b&lt;/p&gt;") == "<p>a &lt; b</p>"
    assert unescape("&amp;amp;D &amp;#38;amp;amp;amp;amp;gt;") == "&amp;D >"


def test_the_version_tells_old_text_from_new() -> None:
    assert CLEANING_VERSION == 2


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("<jats:title>Abstract</jats:title><jats:p>Trees grow.</jats:p>", "Trees grow."),
        ("**Abstract.** Trees *grow*. &copy; 2021 Elsevier B.V. All rights reserved.", "Trees grow."),
        ("&lt;p&gt;ABSTRACT: R&amp;amp;D grows.&lt;/p&gt;\n(C) 2003 Elsevier Science Ltd.", "R&D grows."),
        ("Abstract *uses* \u2028 © 2020 The Authors", "Abstract uses"),
        ("Abstract", ""),
        ("Ho\u0308lder spaces and\u2028more.", "Ho\u0308lder spaces and more."),
    ],
)
def test_abstract(raw: str, shown: str) -> None:
    assert clean_abstract(raw) == shown
    assert clean_abstract(shown) == shown


FRAGMENTS = st.sampled_from(
    [part for raw, _ in CASES for part in raw.split()]
    + r"$ $$ \ { } \{ \} * ** *** _ __ ` `` ' '' - -- --- ~ < > & ; &amp; &lt; &gt; \( \) \[ \] \$ \% \emph{ \href{ \url{".split()
    + r"\cite{ \footnote{ \"o \'s {\" <b> </b> <i> <br> <p https://x.org/ https:// ]( [ ( ) \\ \begin{align} \end{align}".split()
    + "<sub> </sub> <sup> </sup> <title> </title> <li> <jats:p> </jats:p> <math> </math> <mi> </mi> <think> <!-- -->".split()
    + "<tex-math> </tex-math> <inline-formula> </inline-formula> <![CDATA[ ]]> &amp;lt; Abstract Abstract: Summary".split()
    + "© (c) 2020 Copyright Elsevier Ltd. reserved. Published by (PsycInfo Database Record All rights".split()
    + ["x", "B", "7", " ", "\n", "\u200b", "\ud835", "\ue000", "\ufdd0", "\x92", "\xe2\x80\x99", "。", "Hö", "\u0308"]
)


@settings(max_examples=600)
@given(st.lists(FRAGMENTS, max_size=14).map("".join) | st.lists(FRAGMENTS, max_size=14).map(" ".join))
@example(r"\$5,$x$").via("prices beside maths")
@example("$x$ is $ y_1 $ z$").via("loose maths beside maths")
def test_cleaning_twice_is_cleaning_once_on_nasty_text(text: str) -> None:
    for rule in (clean, clean_abstract):
        cleaned = rule(text)
        assert rule(cleaned) == cleaned
        cleaned.encode()


@settings(max_examples=300)
@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_cleaning_twice_is_cleaning_once_on_any_text(text: str) -> None:
    for rule in (clean, clean_abstract):
        cleaned = rule(text)
        assert rule(cleaned) == cleaned
        assert cleaned == cleaned.strip()
        cleaned.encode()


@given(st.text(alphabet="ab $\\{}()_^*~-'`<>&;%", max_size=60))
def test_maths_is_untouched(text: str) -> None:
    formulas = [f"${body}$" for body in (r"a_1 * b_2 -- ~ {x}", r"\frac{a}{b}\% <i>c</i> ''")]
    raw = f"start {formulas[0]} {' '.join(text.replace('$', ' ').split())} and {formulas[1]} end"
    assert MATH.findall(clean(raw))[:1] == formulas[:1] and formulas[1] in clean(raw)


@given(st.text(), st.lists(st.sampled_from(["$x$", "https://x.org/a", r"\(y\)", " and ", "$5"]), max_size=9))
def test_hiding_gives_everything_back(text: str, parts: list[str]) -> None:
    raw = "".join(c for c in text if not "\ufdd0" <= c <= "\ufdef") + "".join(parts)
    assert outside(raw, lambda hidden: hidden) == raw


HOSTILE = [
    *r"( { } $ * < _ \ [ ] ` ' - ~ & . \( \[ \) $$ $a $a\$ ** **a *a __a \emph{ {a} \emph{{a} \href{ \href{u}{ \url{ \cite[ "
    r"\cite{ \"o {\" \v{ \' &amp; amp; &#38; <a <b> </b> <a/b=' https:// a- 1. \begin{align} \item \footnote{ ]( [a]( \eg".split(),
    *"&lt; &lt;b&gt; <jats:p <jats:p> </jats:p> <sub> <li>a</li> <title>Abstract</title> <b>Results</b>A <script> <!-- <?x".split(),
    *"<![CDATA[ <math> <math><mi> <math><mi>x</mi></math> <tex-math>x</tex-math> <alternatives> x<sup>α</sup> <!DOCTYPE[".split(),
    *"© Copyright (c)2020 Abstract: AbstractMany 摘要： Abstract&nbsp; <sub></sub> </ns4:p> {\\textmu} ~\\cite{".split(),
    "<p a='",
    '<a href="https://x.org/a">b</a>',
    "© 2020 X. ",
    "Published by A ",
    "This article is protected by copyright. ",
    "(PsycInfo Database Record ",
    "**a ",
    "$ ",
    "$ a",
    '<a b="',
    "\\u ",
    "\\i ",
    '\\"a\\" ',
    "\u200b",
    "�",
    "â\x80",
    " ",
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("fragment", HOSTILE)
def test_hostile_text_takes_linear_time(fragment: str) -> None:
    # A rule that backtracks takes minutes on this; the limit is there to catch it, not to measure.
    clean_abstract((fragment * 40_000)[:40_000] + "x")


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("fragment", HOSTILE)
def test_a_megabyte_of_hostile_text(fragment: str) -> None:
    clean_abstract((fragment * 1_000_000)[:1_000_000] + "x")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["b", "sub", "title", "li", "jats:sec", "inline-formula", "math", "mrow"])
def test_deep_nesting_takes_linear_time(name: str) -> None:
    depth = 20_000
    assert clean_abstract(f"<p>{f'<{name}>' * depth}{'y ' * depth}{f'</{name}>' * depth}</p>").count("y") == depth
