"""From a stand-alone question to what may answer it: the papers, their sentences, and how sure that is."""

from __future__ import annotations

import time
from dataclasses import dataclass

from rag.citing import NOT_CLOSE
from rag.confidence import ABSENT, confidence, says_nothing_of
from rag.conversation import Standalone
from rag.evidence import ScoredSentence, score_sentences
from rag.filters import Filter
from rag.pair_scorer import PairScorer
from rag.question_filters import understood
from rag.questions import Question, analyse
from rag.reading import read
from rag.relevance import Listed, relevant
from rag.retriever import PaperHit, Ranking, Retriever
from rag.spelling import respelt
from rag.wording import counted


@dataclass(frozen=True)
class Found:
    """What was found for a question: papers, their sentences best first, and the confidence that they answer.

    `reason` is why the papers do not say, should the confidence be too low; the papers `nearest` are named then.
    `where` is the filter they had to meet, and `notices` tell of it if it was read from the question. `heading`
    says how many papers a list has; without `scored` it is the whole answer: how many papers there are at all.
    """

    hits: list[PaperHit]
    nearest: list[PaperHit]
    reason: str
    scored: list[ScoredSentence]
    confidence: float
    timings: dict[str, float]
    where: Filter | None
    notices: list[str]
    heading: str


class Finder:
    """Finds evidence in one index, in `top_k` papers; `question_filters`: whether filters are read from questions."""

    def __init__(self, retriever: Retriever, scorer: PairScorer, *, top_k: int, question_filters: bool = True) -> None:
        self.retriever = retriever
        self.scorer = scorer
        self.top_k = top_k
        self.question_filters = question_filters

    def find(self, asked: Standalone, count: int | None, where: Filter | None) -> Found:
        """Retrieve, score the sentences, and say how likely it is that they answer.

        A question for a list gets every paper that belongs on it, unless a `count` of papers is asked for.
        """
        started = time.perf_counter()
        index = self.retriever.index
        search, focused, where, notices = self._read(asked, where)
        focus = analyse(focused)
        if focus.wants_total:
            total = f"{counted(self._count(where), 'paper')}{_with(where)}."
            timings = {"retrieval": time.perf_counter() - started}
            return Found([], [], "", [], 1.0, timings, where, notices, total)
        listed = self._listed(focus, where) if count is None else None
        if listed is None:
            ranking = self.retriever.ranking(search, count or self.top_k, also=asked.paper_ids, where=where)
        else:
            ranking = Ranking(listed.hits, listed.below)
        reason = self._reason(ranking, where, listed=listed is not None)
        hits = ranking.hits
        retrieved = time.perf_counter()
        scored = score_sentences(focus, hits, index.lexical)
        if listed is None:
            scored = read(focus, scored, self.scorer)
        sure = listed.sure if listed else confidence(focus, hits, scored, index.lexical)
        if scored and asked.search != asked.focus and says_nothing_of(focus, scored[0].hit.paper):
            sure = min(sure, ABSENT)
        timings = {"retrieval": retrieved - started, "evidence": time.perf_counter() - retrieved}
        heading = ""
        if listed and hits:
            heading = f"{len(hits):,} of {self._count(where):,} papers{_with(where)}:"
        return Found(hits, hits or ranking.below, reason, scored, sure, timings, where, notices, heading)

    def _count(self, where: Filter | None) -> int:
        index = self.retriever.index
        return len(index) if where is None else len(index.select(where))

    def whole_list(self, question: str, where: Filter | None) -> Listed:
        """Every paper that belongs on the list of what a question is about."""
        search, _, where, _ = self._read(Standalone(question, question, question), where)
        return relevant(self.retriever, analyse(search), where)

    def _read(self, asked: Standalone, where: Filter | None) -> tuple[str, str, Filter | None, list[str]]:
        """The words to search with and those to answer, slips corrected and filters out, and what to tell."""
        index, encoder = self.retriever.index, self.retriever.encoder
        search = respelt(asked.search, index.lexical, encoder)
        alone = asked.focus == asked.search  # nothing is taken from earlier turns, so that it is read once
        focus = search if alone else respelt(asked.focus, index.lexical, encoder)
        notices = [f"No abstract has “{word}”; it was read as “{read}”." for word, read in focus.changes.items()]
        if where is not None or not self.question_filters:
            return search.text, focus.text, where, notices
        named = understood(search.text, index.fields)
        if named.where is not None:
            notices.append(f"Only papers with {named.where}, as the question says.")
        focused = named if alone else understood(focus.text, index.fields)
        return named.question, focused.question, named.where, notices

    def _listed(self, focus: Question, where: Filter | None) -> Listed | None:
        """The whole list that a question asks for, if it asks for one; a reranker decides by itself instead."""
        if not focus.wants_list or self.retriever.reranker is not None or len(self.retriever.index) == 0:
            return None
        return relevant(self.retriever, focus, where)

    def _reason(self, ranking: Ranking, where: Filter | None, *, listed: bool) -> str:
        """Why the papers do not say, if they should not."""
        if ranking.hits:
            return NOT_CLOSE if where is None else f"{NOT_CLOSE[:-1]}, among the papers that meet the filter {where}."
        if not len(self.retriever.index) and where is None:
            return "The index holds no papers yet."
        if ranking.below and listed:
            return f"None of the {self._count(where):,} papers{_with(where)} is close enough to this to be listed."
        if ranking.below:
            return "The reranker found no paper that answers this."
        return f"No paper of the index meets the filter {where}."


def _with(where: Filter | None) -> str:
    return "" if where is None else f" with {where}"
