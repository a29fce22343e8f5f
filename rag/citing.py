"""From checked sentences to an `Answer`: markers 1, 2, 3 in order of appearance, one number a paper."""

from __future__ import annotations

from collections.abc import Sequence

from rag.composer import Draft
from rag.retriever import PaperHit
from rag.schema import Answer, AnswerSentence, Citation, Evidence, Paper, Usage, Verdict

NEAREST = 3


def answer_from(
    question: str,
    standalone: str,
    drafts: Sequence[Draft],
    confidence: float,
    *,
    engine: str,
    notices: Sequence[str] = (),
    usage: Usage | None = None,
) -> Answer:
    """Number the papers and write the text. Unsupported sentences are kept in `sentences`, but left out of `text`."""
    papers: dict[str, Paper] = {}
    evidence: dict[str, list[Evidence]] = {}
    sentences: list[AnswerSentence] = []
    text = ""
    for draft in drafts:
        markers = []
        for scored in draft.evidence:
            paper = scored.hit.paper
            papers.setdefault(paper.id, paper)
            own = evidence.setdefault(paper.id, [])
            if all((e.start, e.end) != (scored.start, scored.end) for e in own):
                own.append(scored.evidence())
            markers.append(list(papers).index(paper.id) + 1)
        markers = sorted(set(markers))
        sentences.append(AnswerSentence(text=draft.sentence, markers=markers, verdict=draft.verdict))
        if draft.verdict is Verdict.UNSUPPORTED:
            continue
        cited = f"{draft.sentence} {''.join(f'[{m}]' for m in markers)}"
        if draft.lead:
            text += f"\n- {draft.lead} — {cited}"
        else:
            text += f" {cited}"
    dropped = sum(s.verdict is Verdict.UNSUPPORTED for s in sentences)
    told = list(notices)
    if dropped:
        what = "1 sentence was" if dropped == 1 else f"{dropped} sentences were"
        told.append(f"{what} left out: no abstract carries {'it' if dropped == 1 else 'them'}.")
    return Answer(
        question=question,
        standalone_question=standalone,
        text=text.strip(),
        sentences=sentences,
        citations=[Citation(marker=n, paper=p, evidence=evidence[i]) for n, (i, p) in enumerate(papers.items(), 1)],
        confidence=round(confidence, 4),
        engine=engine,
        notices=told,
        usage=usage or Usage(),
    )


def refusal(
    question: str,
    standalone: str,
    hits: Sequence[PaperHit],
    confidence: float,
    *,
    engine: str,
    usage: Usage | None = None,
    by_model: bool = False,
) -> Answer:
    """Say that the papers do not say, why, and which came nearest."""
    nearest = [h.paper for h in hits[:NEAREST]]
    if not hits:
        reason = "The index holds no papers yet."
    elif by_model:
        reason = "The language model found no answer in the best matching sentences."
    else:
        reason = "No sentence of the indexed abstracts answers this closely enough."
    return Answer(
        question=question,
        standalone_question=standalone,
        text=f"The papers do not say. {reason}",
        refused=True,
        refusal_reason=reason,
        nearest=nearest,
        confidence=round(confidence, 4),
        engine=engine,
        usage=usage or Usage(),
    )
