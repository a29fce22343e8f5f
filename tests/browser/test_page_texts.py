"""Whatever texts hold, they are shown and nothing else: no markup, no script, no link; and maths is maths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser_kit import Scripted, ask, serving

from rag.schema import Answer, AnswerSentence, Citation, Evidence, Paper, Verdict
from rag.settings import Settings

EVIL = (
    'We present <img src=x onerror="window.pwned=1"> and <script>window.pwned=2</script> with '
    "[a link](javascript:alert(1)), **bold**, _emphasis_, # heading, "
    '"><b id=pwn>bold</b>, ${window.pwned=3}, {{value}} and &lt;i&gt;.'
)
MONEY = "A licence costs $4 and $5 a month."
MATHS = r"Risk falls with $\alpha$ (and $\beta < 1$) for $k$-means."
DISPLAY = r"The bound is $$E = mc^2 + \int_0^\infty f(t)\,dt$$ throughout."
BAD = r"Here $\frac{1}{$ is broken and $\notacommand{x}$ is unknown."
TRUST = r"Click $\href{javascript:window.pwned=4}{x}$ and $\includegraphics[height=9em]{http://example.org/x.png}$ now."
LONG = "So $" + r"\sqrt{" + " + ".join(f"a_{{{i}}}" for i in range(60)) + "}$ grows."
SENTENCES = [EVIL, MONEY, MATHS, DISPLAY, BAD, TRUST, LONG]


def paper_of(sentences: list[str], **fields: Any) -> Paper:
    """A paper whose abstract is these sentences."""
    return Paper(**{"id": "p", "label": "Evil: <u>label</u> of $x^2$", "abstract": " ".join(sentences), **fields})


def answer_of(question: str, sentences: list[str], paper: Paper, **fields: Any) -> Answer:
    """An answer that quotes all sentences of one paper."""
    spans = [(paper.abstract.index(s), paper.abstract.index(s) + len(s)) for s in sentences]
    given = {
        "question": question,
        "standalone_question": question,
        "text": " ".join(f"{s} [1]" for s in sentences),
        "sentences": [AnswerSentence(text=s, markers=[1], verdict=Verdict.SUPPORTED) for s in sentences],
        "citations": [
            Citation(
                marker=1,
                paper=paper,
                evidence=[
                    Evidence(paper_id="p", start=a, end=b, quote=paper.abstract[a:b], score=1.0) for a, b in spans
                ],
            )
        ],
        "confidence": 0.9,
        "engine": "extractive",
    }
    return Answer(**{**given, **fields})


def mixed_answer(paper: Paper) -> Answer:
    """A list with a weak sentence and one that no abstract carries."""
    weak, left_out = "Costs may vary [7] a lot.", "The moon is <b>cheese</b>."
    return Answer(
        question="list", standalone_question="list (about: $x^2$)",
        text=f"- Evil: <u>label</u> — {MONEY} [1]\n- Other — with a dash — {MATHS} [1] {weak} [1]",
        sentences=[
            AnswerSentence(text=MONEY, markers=[1], verdict=Verdict.SUPPORTED),
            AnswerSentence(text=left_out, verdict=Verdict.UNSUPPORTED),
            AnswerSentence(text=MATHS, markers=[1], verdict=Verdict.SUPPORTED),
            AnswerSentence(text=weak, markers=[1], verdict=Verdict.WEAK),
        ],
        citations=[Citation(marker=1, paper=paper, evidence=[])], confidence=0.5, engine="extractive",
        notices=["The model was <busy>.", "1 sentence was left out: no abstract carries it."],
    )  # fmt: skip


@pytest.fixture(scope="module")
def scripted() -> Iterator[tuple[str, Scripted]]:
    """A server whose answers are hostile, listed, or errors."""
    paper = paper_of(
        SENTENCES, authors=["<i>A. Uthor</i>"], venue="<Venue>", year=2026, url="javascript:window.pwned=5"
    )
    linked = paper_of([MONEY], url="https://example.org/paper?a=1&b=2")
    assistant = Scripted(
        [paper],
        {
            EVIL: answer_of(EVIL, SENTENCES, paper),
            "list": mixed_answer(paper),
            "linked": answer_of("linked", [MONEY], linked),
            "fail": RuntimeError("internal detail"),
        },
    )
    with serving(assistant, Settings()) as url:
        yield url, assistant


@pytest.fixture
def page(scripted: tuple[str, Scripted], open_page: Callable[..., Any]) -> Any:
    """The page of the scripted server."""
    return open_page(scripted[0])


def test_texts_stay_texts(page: Any) -> None:
    answer = ask(page, EVIL)
    answer.locator(".cf-ref").first.click()
    assert page.evaluate("[window.pwned ?? null, document.getElementById('pwn')]") == [None, None]
    assert page.locator("#cf-page :is(img, script, iframe, i, u, b)").count() == 0
    assert page.locator("#cf-page a").count() == 0  # the paper's URL was a script
    assert answer.locator(".cf-question").inner_text() == EVIL
    assert answer.locator(".cf-sentence").first.inner_text() == EVIL
    assert page.locator(".cf-abstract").inner_text().startswith(EVIL)
    assert "<Venue> 2026" in page.inner_text(".cf-about")
    assert "<i>A. Uthor</i>" in page.inner_text(".cf-about")
    assert "<u>label</u>" in page.inner_text(".cf-source h3")


def test_maths_is_rendered_and_money_is_not(page: Any) -> None:
    answer = ask(page, EVIL)
    sentences = answer.locator(".cf-sentence")
    money, maths, display = sentences.nth(1), sentences.nth(2), sentences.nth(3)
    maths.locator(".katex").first.wait_for()
    assert money.inner_text() == MONEY
    assert money.locator(".katex").count() == 0
    assert maths.locator(".katex annotation").all_text_contents() == [r"\alpha", r"\beta < 1", "k"]
    assert display.locator(".katex-display").count() == 1
    rest = maths.evaluate(
        """e => { e = e.cloneNode(true); e.querySelectorAll('.cf-math').forEach(m => m.remove());
                  return e.textContent }"""
    )
    assert rest == "Risk falls with  (and ) for -means."
    assert page.locator(".cf-source h3 .katex").count() == 1
    assert page.locator(".cf-abstract mark .katex").count() >= 4


def test_maths_that_cannot_or_must_not_be_rendered_stays_as_it_is(page: Any) -> None:
    answer = ask(page, EVIL)
    answer.locator(".katex").first.wait_for()
    sentences = answer.locator(".cf-sentence")
    assert sentences.nth(4).inner_text() == BAD
    assert sentences.nth(5).inner_text() == TRUST
    assert page.locator("#cf-page [href], #cf-page [src]").count() == 0


def test_a_long_formula_scrolls_in_its_own_box(scripted: tuple[str, Scripted], open_page: Callable[..., Any]) -> None:
    page = open_page(scripted[0], 390, 844)
    box = ask(page, EVIL).locator(".cf-sentence").last.locator(".cf-wide")
    box.wait_for()
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_lists_weak_sentences_and_what_was_left_out(page: Any) -> None:
    answer = ask(page, "list")
    items = answer.locator(".cf-answer li")
    assert items.locator(".cf-lead").all_text_contents() == ["Evil: <u>label</u>", "Other — with a dash"]
    assert items.nth(1).locator(".cf-sentence").count() == 2
    assert answer.locator(".cf-weak.cf-sentence").inner_text() == "Costs may vary [7] a lot."
    assert "only in part" in answer.inner_text()
    assert answer.locator(".cf-ref").all_inner_texts() == ["[1]"] * 3
    assert "cheese" not in answer.locator(".cf-answer").inner_text()
    summary = answer.locator("summary")
    assert summary.inner_text() == "1 sentence was left out: no abstract carries it."
    summary.click()
    assert "The moon is <b>cheese</b>." in answer.locator("details").inner_text()
    assert answer.get_by_text("The model was <busy>.").is_visible()
    assert answer.get_by_text("1 sentence was left out").count() == 1


def test_a_paper_with_an_address_can_be_opened(page: Any) -> None:
    ask(page, "linked")
    link = page.locator(".cf-about a")
    assert link.get_attribute("href") == "https://example.org/paper?a=1&b=2"
    assert link.get_attribute("rel") == "noopener noreferrer"


def test_a_failure_is_told_and_the_page_stays_usable(page: Any, scripted: tuple[str, Scripted]) -> None:
    failed = ask(page, "fail")
    assert "Something went wrong (RuntimeError)" in failed.inner_text()
    assert "internal detail" not in page.inner_text("body")
    assert "month" in ask(page, "linked").inner_text()
    assert scripted[1].histories[-1] == []  # a failed question is no history


CONTRAST = """(selectors) => selectors.map((selector) => {
  const rgb = (value) => value.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const element = document.querySelector(selector);
  let ground = element;
  while ((rgb(getComputedStyle(ground).backgroundColor)[3] ?? 1) === 0) ground = ground.parentElement;
  const [a, b] = [light(rgb(getComputedStyle(element).color)), light(rgb(getComputedStyle(ground).backgroundColor))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(
    scripted: tuple[str, Scripted], open_page: Callable[..., Any], scheme: str
) -> None:
    page = open_page(scripted[0], scheme=scheme)
    ask(page, EVIL).locator(".cf-ref").first.click()
    seen = [
        ".cf-facts", ".cf-engine", ".cf-quiet", ".cf-conversations button", ".cf-question", ".cf-sentence",
        ".cf-ref.cf-on", ".cf-ref:not(.cf-on)", ".cf-foot", ".cf-link", ".cf-for", ".cf-about",
        ".cf-abstract mark.cf-on", ".cf-abstract mark:not(.cf-on)", ".cf-number",
        "#cf-send", "#cf-new", "#cf-upload", "#cf-question textarea",
    ]  # fmt: skip
    ratios = dict(zip(seen, page.evaluate(CONTRAST, seen), strict=True))
    assert {selector: ratio for selector, ratio in ratios.items() if ratio < 4.5} == {}
