"""Answers as HTML: pure functions from models to markup that runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.schema import Answer, AnswerSentence, Verdict
from rag.wording import counted
from ui.web.markup import escape, prose
from ui.web.session import Turn

LEAD = re.compile(r"\s*(?:- (?P<lead>.+) — )?")
TIE = "\u202f"  # a narrow space that keeps a marker on its sentence's line; beside a button the usual one does not
LEFT_OUT = re.compile(r"left out: no abstract carries (?:it|them)\.$")


@dataclass(frozen=True)
class Piece:
    """A sentence of `Answer.text`; `lead` is the label that opens its list item."""

    sentence: AnswerSentence
    lead: str


def pieces(answer: Answer) -> list[Piece] | None:
    """Return the sentences of `Answer.text` in order, or None where the text is not made of them.

    The text is matched against the sentences instead of being searched for `[n]`: a paper may well write `[3]` itself.
    """
    found: list[Piece] = []
    at = len(answer.heading)
    for sentence in answer.sentences:
        if sentence.verdict is Verdict.UNSUPPORTED:
            continue
        cited = f"{sentence.text} {''.join(f'[{m}]' for m in sentence.markers)}".rstrip()
        start = answer.text.find(cited, at)
        lead = LEAD.fullmatch(answer.text, at, start) if start >= 0 else None
        if lead is None:
            return None
        found.append(Piece(sentence, lead["lead"] or ""))
        at = start + len(cited)
    return found if not answer.text[at:].strip() else None


def turn_html(turn: Turn, number: int) -> str:
    """Return one turn: the question, then its answer, its refusal, or why there is none."""
    if turn.answer is None:
        body = f'<div class="cf-answer cf-draft" dir="auto">{prose(turn.draft)}</div>' if turn.draft.strip() else ""
        body += f'<p class="cf-note cf-strong">{escape(turn.note)}</p>'
    elif turn.answer.refused:
        body = _refusal(turn.answer, number)
    else:
        body = _answer(turn.answer, number)
    return f'<article class="cf-turn" data-turn="{number}">{_question(turn.question)}{body}</article>'


def live_html(question: str, draft: str, status: str, number: int) -> str:
    """Return the turn under way: what has been written so far, not yet checked."""
    text = f'<div class="cf-answer cf-draft" dir="auto">{prose(draft)}</div>' if draft.strip() else ""
    return (
        f'<article class="cf-turn cf-running" data-turn="{number}">{_question(question)}{text}'
        f'<p class="cf-status"><span class="cf-pulse" aria-hidden="true"></span>{escape(status)}</p>'
        "</article>"
    )


def thread_html(turns: Sequence[Turn]) -> str:
    """Return the turns of a conversation."""
    return "".join(turn_html(turn, number) for number, turn in enumerate(turns))


def _question(question: str) -> str:
    return f'<h2 class="cf-question" dir="auto">{escape(question)}</h2>'


def _answer(answer: Answer, number: int) -> str:
    parts = pieces(answer)
    body = f'<p dir="auto">{prose(answer.text)}</p>' if parts is None else "".join(_blocks(answer, parts, number))
    return f'{_understood(answer)}<div class="cf-answer">{body}</div>{_notes(answer)}{_foot(answer, number)}'


def _blocks(answer: Answer, parts: Sequence[Piece], number: int) -> Iterator[str]:
    """Yield paragraphs and lists; a lead opens a list item, and what follows without one belongs to it."""
    if answer.heading:
        yield f'<p dir="auto">{escape(answer.heading)}</p>'
    block: list[str] = []
    listing = False
    for part in parts:
        sentence = _sentence(answer, part.sentence, number)
        if part.lead:
            if block and not listing:
                yield f'<p dir="auto">{" ".join(block)}</p>'
                block = []
            listing = True
            # A paper without a name is labelled by its first words: a sentence that says them needs no such label.
            told = part.sentence.text.startswith(part.lead.rstrip("…"))
            lead = "" if told else f'<strong class="cf-lead">{prose(part.lead)}</strong> '
            block.append(f'<li dir="auto">{lead}{sentence}')
        else:
            block.append(sentence)
    if block:
        yield f"<ul>{' '.join(block)}</ul>" if listing else f'<p dir="auto">{" ".join(block)}</p>'


def _sentence(answer: Answer, sentence: AnswerSentence, number: int) -> str:
    weak = " cf-weak" if sentence.verdict is Verdict.WEAK else ""
    markers = "".join(_marker(answer, sentence, marker, number) for marker in sentence.markers)
    return f'<span class="cf-sentence{weak}">{prose(sentence.text)}</span>{TIE}{markers}'


def _marker(answer: Answer, sentence: AnswerSentence, marker: int, number: int) -> str:
    """The button that opens a source; it names the very quote where the sentence is one, else all of the paper's."""
    citation = next((c for c in answer.citations if c.marker == marker), None)
    if citation is None:
        return escape(f"[{marker}]")
    own = [str(i) for i, e in enumerate(citation.evidence) if e.quote == sentence.text]
    label = escape(f"Source {marker}: {citation.paper.title or citation.paper.label}")
    return (
        f'<button type="button" class="cf-ref" data-turn="{number}" data-source="{marker}" '
        f'data-evidence="{" ".join(own)}" aria-label="{label}" title="{label}">[{marker}]</button>'
    )


def _understood(answer: Answer) -> str:
    if answer.standalone_question.strip() == answer.question.strip():
        return ""
    return f'<p class="cf-understood">Understood as: <span dir="auto">{prose(answer.standalone_question)}</span></p>'


def _notes(answer: Answer) -> str:
    out: list[str] = []
    if any(s.verdict is Verdict.WEAK for s in answer.sentences):
        out.append('<p class="cf-note"><span class="cf-weak">Dotted</span>: the source carries this only in part.</p>')
    dropped = [s.text for s in answer.sentences if s.verdict is Verdict.UNSUPPORTED]
    notices = [n for n in answer.notices if not (dropped and LEFT_OUT.search(n))]
    out += [f'<p class="cf-note">{prose(notice)}</p>' for notice in notices]
    if dropped:
        told = next((n for n in answer.notices if LEFT_OUT.search(n)), "Left out: no abstract carries it.")
        items = "".join(f'<li dir="auto">{prose(text)}</li>' for text in dropped)
        out.append(f'<details class="cf-note"><summary>{escape(told)}</summary><ul>{items}</ul></details>')
    return "".join(out)


def _foot(answer: Answer, number: int) -> str:
    if not answer.citations:  # the number of papers, which the store knows
        return ""
    sources = counted(len(answer.citations), "source")
    sure = f"confidence {answer.confidence:.0%}"
    return (
        f'<p class="cf-foot"><button type="button" class="cf-link" data-turn="{number}" data-source="">{sources}'
        f'</button><span title="How likely it is that the papers answer this question">{sure}</span></p>'
    )


def _refusal(answer: Answer, number: int) -> str:
    nearest = "".join(
        f'<li><button type="button" class="cf-link" data-turn="{number}" data-source="{place}" data-evidence="">'
        f"{prose(paper.title or paper.label)}</button></li>"
        for place, paper in enumerate(answer.nearest, start=1)
    )
    shown = f"<p>The nearest papers are:</p><ol>{nearest}</ol>" if nearest else ""
    notices = "".join(f'<p class="cf-note">{prose(notice)}</p>' for notice in answer.notices)
    return (
        f'{_understood(answer)}<div class="cf-refusal"><p class="cf-refusal-title">The papers do not say.</p>'
        f"<p>{escape(answer.refusal_reason or '')}</p>{shown}</div>{notices}"
    )
