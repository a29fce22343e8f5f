"""The assistant: a question's way through the house, from words to a checked `Answer`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rag import conversation
from rag.citing import answer_from, refusal
from rag.composer import Draft, compose
from rag.confidence import ABSENT, confidence, says_nothing_of, threshold
from rag.conversation import Standalone
from rag.encoder import Encoder
from rag.errors import ConferError, LLMError, UsageError
from rag.evidence import ScoredSentence, score_sentences
from rag.generator import choose_quotes, messages, stream_reply
from rag.grounding import Grounding
from rag.index import Index
from rag.live_index import LiveIndex
from rag.llm import check_spec, open_llm, parse_spec
from rag.questions import analyse, check_question
from rag.reply import Reply
from rag.retriever import PaperHit, Retriever
from rag.schema import Answer, Answered, AnswerSentence, Event, Paper, Retrieved, SentenceChecked, Token, Verdict
from rag.settings import Settings

History = Sequence[Answer | str]


@dataclass(frozen=True)
class Found:
    """What was found for a question: papers, their sentences best first, and the confidence that they answer."""

    hits: list[PaperHit]
    scored: list[ScoredSentence]
    confidence: float
    timings: dict[str, float]


class Assistant:
    """Answers questions over one index. Thread-safe; close it, or use it as a context manager."""

    def __init__(self, index: Index, encoder: Encoder, settings: Settings) -> None:
        self.settings = settings
        self._live = LiveIndex(index)
        self.encoder = encoder
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
    ) -> Self:
        """Open an index for questions.

        `llm` is a spec as in `Settings.llm`. Raises IndexMissingError where there is no index, PassportError where it
        was built with another encoder, UsageError for a spec that cannot be read.
        """
        settings = settings or Settings()
        settings = settings.model_copy(
            update={"index": Path(index or settings.index), "llm": settings.llm if llm is None else llm}
        )
        spec = parse_spec(settings.llm)
        if spec is not None:
            check_spec(spec, settings)  # before anything is loaded
        store = Index.open(settings.index)
        try:
            encoder = encoder or Encoder(settings.encoder, offline=settings.offline)
            store.check_encoder(encoder)
        except ConferError:
            store.close()
            raise
        return cls(store, encoder, settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the index; harmless when called twice."""
        self._live.close()

    def papers(self) -> list[Paper]:
        """All papers of the index, in the order of their sources."""
        with self._live.reading() as index:
            return list(index.papers().values())

    def search(self, question: str, top_k: int | None = None) -> list[PaperHit]:
        """The papers that match a question, best first. Raises UsageError for a blank question."""
        question = check_question(question, self.settings.max_question_chars)
        with self._live.reading() as index:
            return Retriever(index, self.encoder).search(question, self._papers_wanted(top_k))

    def ask(self, question: str, history: History = (), *, top_k: int | None = None) -> Answer:
        """Answer a question; `history` holds the earlier answers (or just their questions), oldest first.

        Raises UsageError for a blank or over-long question. A failing LLM does not raise: the answer is then
        extractive and says so in `notices`.
        """
        for event in self.stream(question, history, top_k=top_k):
            if isinstance(event, Answered):
                return event.answer
        raise AssertionError("a stream ends with its answer")

    async def aask(self, question: str, history: History = (), *, top_k: int | None = None) -> Answer:
        """`ask` for event loops: the work runs in a thread."""
        return await asyncio.to_thread(self.ask, question, history, top_k=top_k)

    async def astream(self, question: str, history: History = (), *, top_k: int | None = None) -> AsyncIterator[Event]:
        """`stream` for event loops. Leaving the loop early stops the work, and the LLM's request with it."""
        # One thread takes every step of the stream, so that closing it waits for the step that is under way.
        worker = ThreadPoolExecutor(1, thread_name_prefix="confer-stream")
        events = self.stream(question, history, top_k=top_k)
        loop = asyncio.get_running_loop()
        try:
            while (event := await loop.run_in_executor(worker, next, events, None)) is not None:
                yield event
        finally:
            worker.submit(events.close)
            worker.shutdown(wait=False)

    def stream(self, question: str, history: History = (), *, top_k: int | None = None) -> Generator[Event, None, None]:
        """Yield `Retrieved`, then `Token`s as they come, `SentenceChecked` as they are checked, and `Answered` last."""
        started = time.perf_counter()
        question = check_question(question, self.settings.max_question_chars)
        count = self._papers_wanted(top_k)
        asked = conversation.standalone(question, history)
        found = self._find(asked, count)
        refuse_below = threshold() if self.settings.refuse_below is None else self.settings.refuse_below
        if found.confidence < refuse_below and history and asked.text == question:
            # Perhaps it did not stand alone after all: `what did the linear probes find?`
            in_context = conversation.standalone(question, history, depends=True)
            second = self._find(in_context, count)
            if second.confidence >= refuse_below:
                asked, found = in_context, second
        yield Retrieved(papers=[h.paper for h in found.hits])
        if not found.scored or found.confidence < refuse_below:
            answer = refusal(question, asked.text, found.hits, found.confidence, engine=self.engine)
        else:
            answer = yield from self._answer(question, asked, found)
        timings = {**found.timings, "total": time.perf_counter() - started}
        yield Answered(answer=answer.model_copy(update={"timings": {k: round(v, 4) for k, v in timings.items()}}))

    def _find(self, asked: Standalone, count: int) -> Found:
        """Retrieve, score the sentences, and say how likely it is that they answer."""
        started = time.perf_counter()
        with self._live.reading() as index:
            hits = Retriever(index, self.encoder).search(asked.search, count, also=asked.paper_ids)
            lexical = index.lexical
        retrieved = time.perf_counter()
        focus = analyse(asked.focus)
        scored = score_sentences(focus, hits, lexical)
        sure = confidence(focus, hits, scored, lexical)
        if scored and asked.search != asked.focus and says_nothing_of(focus, scored[0].hit.paper):
            sure = min(sure, ABSENT)
        timings = {"retrieval": retrieved - started, "evidence": time.perf_counter() - retrieved}
        return Found(hits, scored, sure, timings)

    @property
    def engine(self) -> str:
        """Who writes the answers: `extractive`, or the LLM spec."""
        return self.spec.text if self.spec else "extractive"

    def _answer(self, question: str, asked: Standalone, found: Found) -> Generator[Event, None, Answer]:
        notices: list[str] = []
        if self.spec is not None:
            try:
                return (yield from self._generate(question, asked, found))
            except LLMError as error:
                notices.append(f"{str(error)[0].upper()}{str(error)[1:]}; this answer is extractive instead.")
        drafts = compose(analyse(asked.focus), found.scored)
        answer = answer_from(question, asked.text, drafts, found.confidence, engine="extractive", notices=notices)
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
                question, asked.text, found.hits, found.confidence, engine=self.engine, usage=reply.usage, by_model=True
            )
        notices = ["The language model's reply was cut off at its token limit."] if reply.truncated else []
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

    def _papers_wanted(self, top_k: int | None) -> int:
        if top_k is not None and top_k < 1:
            raise UsageError(f"top_k is {top_k}; at least one paper must be allowed")
        return top_k or self.settings.top_k
