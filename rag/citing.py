"""From checked sentences to an `Answer`: markers 1, 2, 3 in order of appearance, one number a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.composer import Draft
from rag.retriever import PaperHit
from rag.schema import Answer, AnswerSentence, Citation, Evidence, Paper, Usage, Verdict

NEAREST = 3
NOT_CLOSE = "No sentence of the indexed abstracts answers this closely enough."
BY_MODEL = "The language model found no answer in the best matching sentences."
OWN_NUMBERS = re.compile(r"\[(?=\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\])")


def answer_from(
    question: str,
    standalone: str,
    drafts: Sequence[Draft],
    confidence: float,
    *,
    engine: str,
    notices: Sequence[str] = (),
    usage: Usage | None = None,
    heading: str = "",
) -> Answer:
    """Number the papers and write the text, under a heading if there is one.

    Unsupported sentences are kept in `sentences`, without a marker, and left out of `text`.
    """
    papers: dict[str, Paper] = {}
    evidence: dict[str, list[Evidence]] = {}
    sentences: list[AnswerSentence] = []
    text = heading
    for draft in drafts:
        if draft.verdict is Verdict.UNSUPPORTED:  # has no number, or the numbers in the text would have gaps
            sentences.append(AnswerSentence(text=draft.sentence, verdict=draft.verdict))
            continue
        for scored in draft.evidence:
            paper = scored.hit.paper
            papers.setdefault(paper.id, paper)
            own = evidence.setdefault(paper.id, [])
            if all((e.start, e.end) != (scored.start, scored.end) for e in own):
                own.append(scored.evidence())
        numbers = {paper_id: n for n, paper_id in enumerate(papers, 1)}
        markers = sorted({numbers[scored.hit.paper.id] for scored in draft.evidence})
        sentences.append(AnswerSentence(text=draft.sentence, markers=markers, verdict=draft.verdict))
        cited = " ".join([_unmarked(draft.sentence), "".join(f"[{m}]" for m in markers)]).rstrip()
        text += f"\n- {_unmarked(draft.lead)} — {cited}" if draft.lead else f" {cited}"
    dropped = sum(s.verdict is Verdict.UNSUPPORTED for s in sentences)
    told = list(notices)
    if dropped:
        what = "1 sentence was" if dropped == 1 else f"{dropped} sentences were"
        told.append(f"{what} left out: no abstract carries {'it' if dropped == 1 else 'them'}.")
    return Answer(
        question=question,
        standalone_question=standalone,
        text=text.strip(),
        heading=heading,
        sentences=sentences,
        citations=[Citation(marker=n, paper=p, evidence=evidence[i]) for n, (i, p) in enumerate(papers.items(), 1)],
        confidence=round(confidence, 4),
        engine=engine,
        notices=told,
        usage=usage or Usage(),
    )


def _unmarked(text: str) -> str:
    """Let a number in brackets that stands in an abstract not pass for one of ours: a word joiner goes before it."""
    return OWN_NUMBERS.sub("[\u2060", text)


def refusal(
    question: str,
    standalone: str,
    hits: Sequence[PaperHit],
    confidence: float,
    *,
    engine: str,
    usage: Usage | None = None,
    notices: Sequence[str] = (),
    reason: str = NOT_CLOSE,
) -> Answer:
    """Say that the papers do not say, why, and which came nearest; without any paper only why."""
    return Answer(
        question=question,
        standalone_question=standalone,
        text=f"The papers do not say. {reason}" if hits else reason,
        refused=True,
        refusal_reason=reason,
        nearest=[h.paper for h in hits[:NEAREST]],
        confidence=round(confidence, 4),
        engine=engine,
        notices=list(notices),
        usage=usage or Usage(),
    )
