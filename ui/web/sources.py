"""The sources panel: the papers behind each answer, with the words that carry it marked."""

from __future__ import annotations

from collections.abc import Sequence

from rag.schema import Answer, Evidence, Paper
from ui.web.markup import escape, prose, web_address
from ui.web.session import Turn

AUTHORS = 6
EMPTY = (
    '<section class="cf-sources-empty"><h2>Sources</h2>'
    "<p>The papers behind an answer appear here, with the words that carry each sentence marked.</p></section>"
)


def sources_html(turns: Sequence[Turn]) -> str:
    """Return the papers of every turn, the latest shown; the page's script shows another when its marker is used."""
    shown = [(number, turn.answer) for number, turn in enumerate(turns) if turn.answer and _papers(turn.answer)]
    if not shown:
        return EMPTY
    last = shown[-1][0]
    return "".join(_section(answer, number, hidden=number != last) for number, answer in shown)


def _papers(answer: Answer) -> list[tuple[Paper, list[Evidence]]]:
    if answer.refused:
        return [(paper, []) for paper in answer.nearest]
    return [(citation.paper, citation.evidence) for citation in answer.citations]


def _section(answer: Answer, turn: int, *, hidden: bool) -> str:
    title = "Nearest papers" if answer.refused else "Sources"
    papers = "".join(
        _paper(paper, evidence, number, cited=not answer.refused)
        for number, (paper, evidence) in enumerate(_papers(answer), start=1)
    )
    return (
        f'<section class="cf-section" data-turn="{turn}"{" hidden" if hidden else ""}><h2>{title}</h2>'
        f'<p class="cf-for" dir="auto">{escape(answer.question)}</p>{papers}</section>'
    )


def _paper(paper: Paper, evidence: Sequence[Evidence], number: int, *, cited: bool) -> str:
    name = paper.title or paper.label
    badge = f'<span class="cf-number">{number}</span>' if cited else ""
    return (
        f'<article class="cf-source" data-source="{number}" tabindex="-1" aria-label="{escape(f"{number}: {name}")}">'
        f'<h3 dir="auto">{badge}{prose(name)}</h3>{_about(paper)}'
        f'<p class="cf-abstract" dir="auto">{prose(paper.abstract, marks(paper, evidence))}</p>'
        f'<button type="button" class="cf-link cf-back">Back to the answer</button></article>'
    )


def marks(paper: Paper, evidence: Sequence[Evidence]) -> list[tuple[int, int]]:
    """Return the ranges to mark, in the evidence's order. A quote that is not in the abstract marks nothing."""
    return [(e.start, e.end) if paper.abstract[e.start : e.end] == e.quote else (0, 0) for e in evidence]


def _about(paper: Paper) -> str:
    facts = [escape(" ".join(str(v) for v in (paper.venue, paper.year) if v))]
    if paper.authors:
        more = len(paper.authors) - AUTHORS
        named = ", ".join(paper.authors[:AUTHORS]) + (f" and {more} more" if more > 0 else "")
        facts.append(f'<span dir="auto">{escape(named)}</span>')
    address = web_address(paper.url) or _known_address(paper)
    if address:
        facts.append(f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">Open the paper ↗</a>')
    line = '<span class="cf-dot" aria-hidden="true"> · </span>'.join(fact for fact in facts if fact)
    return f'<p class="cf-about">{line}</p>' if line else ""


def _known_address(paper: Paper) -> str | None:
    if paper.doi:
        return web_address(f"https://doi.org/{paper.doi.removeprefix('https://doi.org/')}")
    return web_address(f"https://arxiv.org/abs/{paper.arxiv_id}") if paper.arxiv_id else None
