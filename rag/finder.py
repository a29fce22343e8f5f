"""From a stand-alone question to what may answer it: the papers, their sentences, and how sure that is."""

from __future__ import annotations

import time
from dataclasses import dataclass

from rag.citing import NOT_CLOSE
from rag.confidence import ABSENT, confidence, says_nothing_of
from rag.conversation import Standalone
from rag.evidence import ScoredSentence, score_sentences
from rag.filters import Filter
from rag.question_filters import understood
from rag.questions import analyse
from rag.retriever import PaperHit, Ranking, Retriever


@dataclass(frozen=True)
class Found:
    """What was found for a question: papers, their sentences best first, and the confidence that they answer.

    `reason` is why the papers do not say, should the confidence be too low; the papers `nearest` are named then.
    `where` is the filter they had to meet, and `notices` tell of it if it was read from the question.
    """

    hits: list[PaperHit]
    nearest: list[PaperHit]
    reason: str
    scored: list[ScoredSentence]
    confidence: float
    timings: dict[str, float]
    where: Filter | None
    notices: list[str]


class Finder:
    """Finds evidence in one index; `question_filters` says whether filters are read from questions."""

    def __init__(self, retriever: Retriever, *, question_filters: bool = True) -> None:
        self.retriever = retriever
        self.question_filters = question_filters

    def find(self, asked: Standalone, count: int, where: Filter | None) -> Found:
        """Retrieve, score the sentences, and say how likely it is that they answer."""
        started = time.perf_counter()
        index = self.retriever.index
        search, focused, notices = asked.search, asked.focus, []
        if where is None and self.question_filters:
            named = understood(asked.search, index.fields)
            where, search, focused = named.where, named.question, understood(asked.focus, index.fields).question
            notices = [] if where is None else [f"Only papers with {where}, as the question says."]
        ranking = self.retriever.ranking(search, count, also=asked.paper_ids, where=where)
        reason = _reason(ranking, where, len(index))
        hits = ranking.hits
        retrieved = time.perf_counter()
        focus = analyse(focused)
        scored = score_sentences(focus, hits, index.lexical)
        sure = confidence(focus, hits, scored, index.lexical)
        if scored and asked.search != asked.focus and says_nothing_of(focus, scored[0].hit.paper):
            sure = min(sure, ABSENT)
        timings = {"retrieval": retrieved - started, "evidence": time.perf_counter() - retrieved}
        return Found(hits, hits or ranking.below, reason, scored, sure, timings, where, notices)


def _reason(ranking: Ranking, where: Filter | None, papers: int) -> str:
    """Why the papers do not say, if they should not."""
    if ranking.hits:
        return NOT_CLOSE if where is None else f"{NOT_CLOSE[:-1]}, among the papers that meet the filter {where}."
    if not papers:
        return "The index holds no papers yet."
    if ranking.below:
        return "The reranker found no paper that answers this."
    return f"No paper of the index meets the filter {where}."
