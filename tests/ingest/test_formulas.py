"""Formulas marked up as elements: TeX before MathML, MathML to LaTeX, nothing twice and nothing fetched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.clean import clean
from ingest.formulas import formulas
from ingest.mathml import to_latex

WHOLE_FILE = r"""\documentclass[12pt]{minimal} \usepackage{amsmath} \begin{document}$$\alpha \in A$$\end{document}"""


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("so <tex-math>x_i</tex-math>.", "so $x_i$."),
        (r"so <jats:tex-math>\(x_i\)</jats:tex-math>.", "so $x_i$."),
        ("so <tex-math><![CDATA[$a<b$]]></tex-math>.", "so $a<b$."),
        (
            "<p>Let <inline-formula><alternatives><mml:math><mml:mi>y</mml:mi></mml:math><tex-math>$y$</tex-math></alternatives>"
            "</inline-formula> be.</p>",
            "Let $y$ be.",
        ),
        (f"<p>Let <jats:inline-formula><jats:tex-math id='M1'>{WHOLE_FILE}</jats:tex-math></jats:inline-formula> be</p>",
         r"Let $\alpha \in A$ be"),
        ("thus<disp-formula><tex-math>x=1</tex-math></disp-formula>holds", "thus $$x=1$$ holds"),
        ("<math><mi>x</mi></math><math><mi>y</mi></math>2", "$x$ $y$ 2"),
        ("at <math><mn>0.05</mn></math>, <math><mtext>so far</mtext></math>", "at 0.05, so far"),
        ("<p>Let <inline-formula><italic>x</italic><sub>2</sub></inline-formula> be</p>", "Let x₂ be"),
        ("<p>The <math></math> and <math><mrow></mrow></math> are empty</p>", "The and are empty"),
        ("&lt;mml:math&gt;&lt;mml:mi&gt;p&lt;/mml:mi&gt;&lt;mml:mo&gt;&amp;lt;&lt;/mml:mo&gt;&lt;mml:mn&gt;1&lt;/mml:mn&gt;&lt;/mml:math&gt;",
         "$p<1$"),
        ("<p>if <tex-math>a $b$ c</tex-math></p>", "if a $b$ c"),
    ],
)  # fmt: skip
def test_formulas(raw: str, shown: str) -> None:
    assert clean(raw) == shown
    assert clean(shown) == shown


@pytest.mark.parametrize(
    ("inside", "latex"),
    [
        ("<mi>p</mi><mo>&lt;</mo><mn>0.05</mn>", "p<0.05"),
        ("<mi>p</mi><mo><</mo><mn>0.05</mn>", "p<0.05"),
        ("<msubsup><mi>η</mi><mi>p</mi><mn>2</mn></msubsup>", "η_p^2"),
        ("<msup><mn>10</mn><mrow><mo>−</mo><mn>3</mn></mrow></msup>", "{10}^{-3}"),
        ("<mfrac><mn>1</mn><msqrt><mi>n</mi></msqrt></mfrac>", r"\frac{1}{\sqrt{n}}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        ("<mover><mi>v</mi><mo>→</mo></mover><mover><mi>x</mi><mo>^</mo></mover>", r"\vec{v}\hat{x}"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>", "∑_{i=1}^n"),
        ("<munder><mi>max</mi><mi>x</mi></munder><mover><mi>A</mi><mi>B</mi></mover>", r"\max_x\overset{B}{A}"),
        ("<mi>sin</mi><mi>x</mi><mi>CO</mi><mi mathvariant='double-struck'>R</mi>", r"\sin x\mathrm{CO}\mathbb{R}"),
        ("<mi>x</mi><mtext> if  so </mtext><mi>y</mi>", r"x\ \text{if so}\ y"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced><mfenced open='|' close='>' separators=''><mi>a</mi><mi>b</mi></mfenced>", "(a,b)|ab>"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>",
         r"\begin{matrix}1 & 2 \\ 3\end{matrix}"),
        ("<semantics><mi>x</mi><annotation encoding='application/x-tex'>x^{2}</annotation></semantics>", "x^{2}"),
        ("<mn>5</mn><mo>%</mo><mo>{</mo><mo>#</mo><mo>$</mo>", r"5\%\{\#"),
        ("<strange><mi>x</mi><odd>y</odd></strange>", "x y"),
        ("<mi>x</mi><mrow><mi>y</mi>", "xy"),
        ("&amp;bomb;<mi>x</mi>", "&bomb;x".replace("&", r"\&")),
    ],
)  # fmt: skip
def test_mathml(inside: str, latex: str) -> None:
    assert to_latex(f"<m:math xmlns:m='http://www.w3.org/1998/Math/MathML'>{inside}</m:math>") == latex
    assert to_latex(f"<math>{inside.replace('<m', '<mml:m').replace('</m', '</mml:m')}</math>") == latex


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    assert to_latex("<math><mi>&b;</mi></math>") == r"\&b;"
    assert (to_latex(f"<math>{bomb}<mi>&b;</mi></math>") or "").count("aaaa") == 1


def test_too_deep_is_no_formula() -> None:
    assert to_latex("<math>" + "<mrow>" * 500 + "<mi>x</mi>" + "</mrow>" * 500 + "</math>") is None
    assert clean("<math>" + "<mrow>" * 500 + "<mi>x</mi>" + "</mrow>" * 500 + "</math>") == "x"


def test_talk_about_tags_is_no_formula() -> None:
    for text in ("the <math> and </math> tags", "maths (x < y) and more", "<math>"):
        assert formulas(text) == text


PARTS = st.sampled_from(
    "<math> </math> <mi> </mi> <mn> <mo> </mo> <mrow> </mrow> <msup> </msup> <mfrac> </mfrac> <mover> </mover> <mtable> <mtr>"
    " <mfenced </mfenced> <mspace/> open='(' > < & $ \\ { } ^ _ x 2 α → sin <semantics> <annotation> </tex-math> <tex-math>".split()
)


@given(st.lists(PARTS, max_size=25).map("".join))
def test_any_formula(source: str) -> None:
    to_latex(f"<math>{source}</math>")
    cleaned = clean(f"<p>a <math>{source}</math> b</p>")
    assert clean(cleaned) == cleaned
