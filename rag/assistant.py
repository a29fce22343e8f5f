"""The assistant: a question's way through the house, from words to a checked `Answer`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from rag import conversation, pair_scorer
from rag.citing import BY_MODEL, answer_from, refusal
from rag.composer import Draft, compose
from rag.confidence import threshold
from rag.conversation import Standalone
from rag.encoder import Encoder
from rag.errors import ConferError, LLMError, UsageError
from rag.explain import explanations
from rag.filters import Filter, Where, as_filter
from rag.finder import Finder, Found
from rag.generator import choose_quotes, messages, stream_reply
from rag.grounding import Grounding
from rag.index import Index, in_order_of_sources
from rag.live_index import LiveIndex
from rag.llm import check_spec, open_llm, parse_spec
from rag.questions import analyse, check_question
from rag.reply import Reply
from rag.reranker import Reranker
from rag.retriever import PaperHit, Retriever
from rag.schema import (
    Answer,
    Answered,
    AnswerSentence,
    Event,
    Explanation,
    Paper,
    Retrieved,
    SentenceChecked,
    Token,
    Trend,
    Verdict,
)
from rag.settings import Settings
from rag.trends import trend

History = Sequence[Answer | str]


class Assistant:
    """Answers questions over one index. Thread-safe; close it, or use it as a context manager."""

    def __init__(self, index: Index, encoder: Encoder, settings: Settings, *, reranker: Reranker | None = None) -> None:
        self.settings = settings
        self._live = LiveIndex(index)
        self.encoder = encoder
        self.reranker = reranker
        self.scorer = pair_scorer.shared()
        self.spec = parse_spec(settings.llm)
        self._llm: Any = None
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        index: Path | str | None = None,
        *,
        llm: str | None = None,
        settings: Settings | None = None,
        encoder: Encoder | None = None,
        reranker: Reranker | None = None,
    ) -> Self:
        """Open an index for questions.

        `llm` is a spec as in `Settings.llm`. Raises IndexMissingError where there is no index, PassportError where it
        was built with another encoder, UsageError for a spec that cannot be read or a model that is not there.
        """
        settings = settings or Settings()
        settings = settings.model_copy(
            update={"index": Path(index or settings.index), "llm": settings.llm if llm is None else llm}
        )
        spec = parse_spec(settings.llm)
        if spec is not None:
            check_spec(spec, settings)  # before anything is loaded
        if reranker is None and settings.reranker:
            reranker = Reranker(settings.reranker, threshold=settings.reranker_threshold, offline=settings.offline)
        store = Index.open(settings.index)
        try:
            encoder = encoder or Encoder(settings.encoder, offline=settings.offline)
            store.check_encoder(encoder)
        except ConferError:
            store.close()
            raise
        return cls(store, encoder, settings, reranker=reranker)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the index; harmless when called twice."""
        self._live.close()

    def papers(self, where: Where = None) -> list[Paper]:
        """All papers of the index that meet a filter, in the order of their sources."""
        chosen = as_filter(where)
        with self._live.reading() as index:
            return in_order_of_sources(index.papers(None if chosen is None else index.select(chosen)).values())

    def search(
        self, question: str, top_k: int | None = None, *, where: Where = None, all: bool = False
    ) -> list[PaperHit]:
        """The papers that match a question, best first; with `all`, every paper that belongs on a list of them.

        `score` is then the probability that it does. Raises UsageError for a blank question, or what is no filter.
        """
        question = check_question(question, self.settings.max_question_chars)
        count, chosen = _checked(top_k), as_filter(where)
        with self._live.reading() as index:
            finder = self._finder(index)
            if all:
                return finder.whole_list(question, chosen).hits[:count]
            return finder.retriever.search(question, count or self.settings.top_k, where=chosen)

    def trend(self, question: str, *, where: Where = None) -> Trend:
        """How the topic of a question fares over the years: counts and shares, what is newest, what is central."""
        question = check_question(question, self.settings.max_question_chars)
        chosen = as_filter(where)
        with self._live.reading() as index:
            listed = self._finder(index).whole_list(question, chosen)
            vectors = index.paper_vectors([h.paper.id for h in listed.hits])
            return trend(listed.hits, index.fields.counts("year", listed.where), vectors)

    def explain(self, question: str, top_k: int | None = None, *, where: Where = None) -> list[Explanation]:
        """Why `search` finds what it finds: ranks and scores by each signal, shared words, the best sentence."""
        return explanations(question, self.search(question, top_k, where=where))

    def ask(self, question: str, history: History = (), *, top_k: int | None = None, where: Where = None) -> Answer:
        """Answer a question; `history` holds the earlier answers (or just their questions), oldest first.

        Only papers that meet the filter `where` are drawn on (see rag.filters): `year>=2025 and venue=ICML`, or a
        mapping of fields to values. Raises UsageError for a blank or over-long question, or what is no filter. A
        failing LLM does not raise: the answer is then extractive and says so in `notices`.
        """
        for event in self.stream(question, history, top_k=top_k, where=where):
            if isinstance(event, Answered):
                return event.answer
        raise AssertionError("a stream ends with its answer")

    async def aask(
        self, question: str, history: History = (), *, top_k: int | None = None, where: Where = None
    ) -> Answer:
        """`ask` for event loops: the work runs in a thread."""
        return await asyncio.to_thread(self.ask, question, history, top_k=top_k, where=where)

    async def astream(
        self, question: str, history: History = (), *, top_k: int | None = None, where: Where = None
    ) -> AsyncIterator[Event]:
        """`stream` for event loops. Leaving the loop early stops the work, and the LLM's request with it."""
        # One thread takes every step of the stream, so that closing it waits for the step that is under way.
        worker = ThreadPoolExecutor(1, thread_name_prefix="confer-stream")
        events = self.stream(question, history, top_k=top_k, where=where)
        loop = asyncio.get_running_loop()
        try:
            while (event := await loop.run_in_executor(worker, next, events, None)) is not None:
                yield event
        finally:
            worker.submit(events.close)
            worker.shutdown(wait=False)

    def stream(
        self, question: str, history: History = (), *, top_k: int | None = None, where: Where = None
    ) -> Generator[Event, None, None]:
        """Yield `Retrieved`, then `Token`s as they come, `SentenceChecked` as they are checked, and `Answered` last."""
        started = time.perf_counter()
        question = check_question(question, self.settings.max_question_chars)
        count, chosen = _checked(top_k), as_filter(where)
        asked = conversation.standalone(question, history)
        found = self._find(asked, count, chosen)
        refuse_below = threshold() if self.settings.refuse_below is None else self.settings.refuse_below
        if found.confidence < refuse_below and history and asked.text == question:
            # Perhaps it did not stand alone after all: `what did the linear probes find?`
            in_context = conversation.standalone(question, history, depends=True)
            second = self._find(in_context, count, chosen)
            if second.confidence >= refuse_below:
                asked, found = in_context, second
        yield Retrieved(papers=[h.paper for h in found.hits])
        if found.confidence < refuse_below or not (found.scored or found.heading):
            answer = refusal(
                question,
                asked.text,
                found.nearest,
                found.confidence,
                engine=self.engine,
                notices=found.notices,
                reason=found.reason,
            )
        else:
            answer = yield from self._answer(question, asked, found)
        timings = {**found.timings, "total": time.perf_counter() - started}
        where = None if found.where is None else str(found.where)
        told = {"timings": {k: round(v, 4) for k, v in timings.items()}, "where": where}
        yield Answered(answer=answer.model_copy(update=told))

    def _find(self, asked: Standalone, count: int | None, where: Filter | None) -> Found:
        with self._live.reading() as index:
            return self._finder(index).find(asked, count, where)

    def _finder(self, index: Index) -> Finder:
        retriever = Retriever(index, self.encoder, self.reranker)
        return Finder(
            retriever, self.scorer, top_k=self.settings.top_k, question_filters=self.settings.question_filters
        )

    @property
    def engine(self) -> str:
        """Who writes the answers: `extractive`, or the LLM spec."""
        return self.spec.text if self.spec else "extractive"

    def _answer(self, question: str, asked: Standalone, found: Found) -> Generator[Event, None, Answer]:
        notices = list(found.notices)
        if self.spec is not None and found.scored:
            try:
                return (yield from self._generate(question, asked, found))
            except LLMError as error:
                notices.append(f"{str(error)[0].upper()}{str(error)[1:]}; this answer is extractive instead.")
        drafts = compose(analyse(asked.focus), found.scored) if found.scored else []
        answer = answer_from(
            question,
            asked.text,
            drafts,
            found.confidence,
            engine="extractive",
            notices=notices,
            heading=found.heading,
        )
        for sentence in answer.sentences:
            yield Token(text=sentence.text + " ")
            yield SentenceChecked(sentence=sentence)
        return answer

    def _generate(self, question: str, asked: Standalone, found: Found) -> Generator[Event, None, Answer]:
        """Let the LLM write, then check each sentence. Raises LLMError where nothing usable came of it."""
        llm = self._open_llm()
        quotes = choose_quotes(found.scored, self.settings, asked.text)
        reply = Reply()
        with closing(stream_reply(llm, messages(asked.text, quotes), self.settings)) as pieces:
            for delta, so_far in pieces:
                reply = so_far
                yield Token(text=delta)
        if reply.refuses:
            return refusal(
                question,
                asked.text,
                found.hits,
                found.confidence,
                engine=self.engine,
                notices=found.notices,
                usage=reply.usage,
                reason=BY_MODEL,
            )
        cut = ["The language model's reply was cut off at its token limit."] if reply.truncated else []
        notices = [*found.notices, *cut]
        grounding = Grounding(self.encoder, found.scored)
        drafts: list[Draft] = []
        for sentence in reply.sentences:
            drafts.append(grounding.check(sentence))
            yield SentenceChecked(sentence=AnswerSentence(text=sentence, verdict=drafts[-1].verdict))
        if all(d.verdict is Verdict.UNSUPPORTED for d in drafts):
            raise LLMError("no sentence of the language model's reply is carried by the papers")
        return answer_from(
            question, asked.text, drafts, found.confidence, engine=self.engine, notices=notices, usage=reply.usage
        )

    def _open_llm(self) -> Any:
        assert self.spec is not None
        with self._lock:
            if self._llm is None:
                try:
                    self._llm = open_llm(self.spec, self.settings)
                except UsageError as error:  # a model file that does not load, say: the answer is extractive then
                    raise LLMError(str(error)) from error
            return self._llm


def _checked(top_k: int | None) -> int | None:
    if top_k is not None and top_k < 1:
        raise UsageError(f"top_k is {top_k}; at least one paper must be allowed")
    return top_k
