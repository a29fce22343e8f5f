"""The extractive answer: the sentences that answer, verbatim, in an order that reads well, with their markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.evidence import ScoredSentence
from rag.questions import Question
from rag.schema import AnswerSentence, Verdict

WORDS = 75  # of an answer that draws on one paper
SENTENCES = 3
RELATIVE = 0.25  # a further sentence must be at least this likely beside the best one
LIST_RELATIVE = 0.15
LIST_PAPERS = 6
COMPARE_SENTENCES = 2


@dataclass(frozen=True)
class Draft:
    """Sentences of an answer with what carries each; `lead` stands before a sentence in lists, outside the quote."""

    sentence: str
    evidence: tuple[ScoredSentence, ...]
    verdict: Verdict = Verdict.SUPPORTED
    lead: str = ""


def compose(question: Question, scored: Sequence[ScoredSentence]) -> list[Draft]:
    """Choose and order the sentences of an extractive answer; `scored` comes best first and is not empty."""
    if question.wants_list or question.wants_comparison:
        return _by_paper(question, scored)
    best = scored[0]
    chosen = [best]
    words = len(best.quote.split())
    for sentence in scored[1:]:
        if sentence.hit is not best.hit:
            continue
        more = len(sentence.quote.split())
        if len(chosen) == SENTENCES or sentence.probability < RELATIVE * best.probability:
            break
        if words + more <= WORDS:
            chosen.append(sentence)
            words += more
    return [Draft(s.quote, (s,)) for s in sorted(chosen, key=lambda s: s.start)]


def _by_paper(question: Question, scored: Sequence[ScoredSentence]) -> list[Draft]:
    """One entry a paper, the best sentence of each (two in a comparison), best paper first."""
    per_paper = COMPARE_SENTENCES if question.wants_comparison and not question.wants_list else 1
    floor = LIST_RELATIVE * scored[0].probability
    groups: dict[str, list[ScoredSentence]] = {}
    for sentence in scored:
        own = groups.setdefault(sentence.hit.paper.id, [])
        if len(own) < per_paper and (sentence.probability >= floor):
            own.append(sentence)
    drafts = []
    for own in [g for g in groups.values() if g][:LIST_PAPERS]:
        own.sort(key=lambda s: s.start)
        drafts += [Draft(s.quote, (s,), lead=s.hit.paper.label if s is own[0] else "") for s in own]
    return drafts
