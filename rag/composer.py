"""The extractive answer: the sentences that answer, verbatim, in an order that reads well, with their markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.evidence import FEATURES, ScoredSentence
from rag.questions import Question
from rag.schema import Verdict

WORDS = 75  # of an answer that draws on one paper
SENTENCES = 3
COVERAGE_WEIGHT = 0.2  # of the question's words in a sentence beside its cosine, for the lines of a list
RELATIVE = 0.15  # a further sentence must be at least this likely beside the best one
# A comparison takes papers whose fused score comes near the best one's.
COMPARE_RELATIVE, COMPARE_PAPERS, COMPARE_SENTENCES = 0.6, 3, 2


@dataclass(frozen=True)
class Draft:
    """A sentence of an answer with what carries it; `lead` stands before it in lists, outside the quote."""

    sentence: str
    evidence: tuple[ScoredSentence, ...]
    verdict: Verdict = Verdict.SUPPORTED
    lead: str = ""


def compose(question: Question, scored: Sequence[ScoredSentence]) -> list[Draft]:
    """Choose and order the sentences of an extractive answer; `scored` comes best first and is not empty."""
    if question.wants_list:
        return _listed(scored)
    if question.wants_comparison:
        return _by_paper(scored, COMPARE_RELATIVE, COMPARE_PAPERS, COMPARE_SENTENCES, at_least=2)
    return _from_one(scored)


def _from_one(scored: Sequence[ScoredSentence]) -> list[Draft]:
    """The best sentences of the paper that holds the best one, in reading order."""
    best = scored[0]
    chosen = [best]
    words = len(best.quote.split())
    for sentence in scored[1:]:
        if len(chosen) == SENTENCES or sentence.probability < RELATIVE * best.probability:
            break
        more = len(sentence.quote.split())
        if sentence.hit is best.hit and words + more <= WORDS:
            chosen.append(sentence)
            words += more
    return [Draft(s.quote, (s,)) for s in sorted(chosen, key=lambda s: s.start)]


def _listed(scored: Sequence[ScoredSentence]) -> list[Draft]:
    """Every paper with the sentence that is most on the topic, in the order of the papers."""
    best: dict[str, ScoredSentence] = {}
    for sentence in sorted(scored, key=lambda s: (-_on_topic(s), s.start)):
        best.setdefault(sentence.hit.paper.id, sentence)
    return [Draft(s.quote, (s,), lead=s.hit.paper.label) for s in sorted(best.values(), key=lambda s: s.rank)]


def _on_topic(sentence: ScoredSentence) -> float:
    """Nearness to the words that ask for a list; what answers a question best is another matter."""
    signals = dict(zip(FEATURES, sentence.features, strict=True))
    return signals["cosine"] + COVERAGE_WEIGHT * signals["coverage"]


def _by_paper(
    scored: Sequence[ScoredSentence], relative: float, papers: int, sentences: int, *, at_least: int
) -> list[Draft]:
    """The best sentences of each paper that comes near the best one, under its label; best paper first."""
    groups: dict[str, list[ScoredSentence]] = {}
    for sentence in scored:
        groups.setdefault(sentence.hit.paper.id, []).append(sentence)
    ranked = sorted(groups.values(), key=lambda own: own[0].rank)
    floor = relative * ranked[0][0].hit.score
    drafts = []
    for position, group in enumerate(ranked[:papers]):
        if position >= at_least and group[0].hit.score < floor:
            break
        own = sorted(group[:sentences], key=lambda s: s.start)
        drafts += [Draft(s.quote, (s,), lead=s.hit.paper.label if s is own[0] else "") for s in own]
    return drafts
