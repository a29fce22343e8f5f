"""The assistant: a question's way through the house, from words to a checked `Answer`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from rag import conversation
from rag.citing import answer_from, refusal
from rag.composer import Draft, compose
from rag.confidence import confidence, threshold
from rag.conversation import Standalone
from rag.encoder import Encoder
from rag.errors import ConferError, LLMError
from rag.evidence import ScoredSentence, score_sentences
from rag.generator import choose_quotes, messages, stream_reply
from rag.grounding import Grounding, split_reply
from rag.index import Index
from rag.llm import open_llm, parse_spec
from rag.questions import analyse, check_question
from rag.retriever import PaperHit, Retriever
from rag.schema import Answer, Answered, AnswerSentence, Event, Paper, Retrieved, SentenceChecked, Token, Usage, Verdict
from rag.settings import Settings

History = Sequence[Answer | str]


class Assistant:
    """Answers questions over one index. Thread-safe; close it, or use it as a context manager."""

    def __init__(self, index: Index, encoder: Encoder, settings: Settings) -> None:
        self.settings = settings
        self.index = index
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
        parse_spec(settings.llm)
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
        self.index.close()

    def papers(self) -> list[Paper]:
        """All papers of the index, in the order of their sources."""
        self._refresh()
        return list(self.index.papers().values())

    def search(self, question: str, top_k: int | None = None) -> list[PaperHit]:
        """The papers that match a question, best first. Raises UsageError for a blank question."""
        self._refresh()
        question = check_question(question, self.settings.max_question_chars)
        return Retriever(self.index, self.encoder).search(question, top_k or self.settings.top_k)

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
        events = self.stream(question, history, top_k=top_k)
        end = object()
        try:
            while (event := await asyncio.to_thread(next, events, end)) is not end:
                yield event  # type: ignore[misc]
        finally:
            await asyncio.to_thread(events.close)

    def stream(self, question: str, history: History = (), *, top_k: int | None = None) -> Iterator[Event]:
        """Yield `Retrieved`, then `Token`s as they come, `SentenceChecked` as they are checked, and `Answered` last."""
        started = time.perf_counter()
        question = check_question(question, self.settings.max_question_chars)
        self._refresh()
        asked = conversation.standalone(question, history)
        hits = Retriever(self.index, self.encoder).search(
            asked.search, top_k or self.settings.top_k, also=asked.paper_ids
        )
        found = time.perf_counter()
        yield Retrieved(papers=[h.paper for h in hits])
        timings = {"retrieval": found - started}
        focus = analyse(asked.focus)
        idf = self.index.lexical.idf
        scored = score_sentences(focus, hits, idf)
        sure = confidence(analyse(asked.search), hits, scored, idf)
        refuse_below = threshold() if self.settings.refuse_below is None else self.settings.refuse_below
        timings["evidence"] = time.perf_counter() - found
        answer: Answer
        if not scored or sure < refuse_below:
            answer = refusal(question, asked.text, hits, sure, engine=self.engine)
        else:
            answer = yield from self._answer(question, asked, hits, scored, sure)
        timings["total"] = time.perf_counter() - started
        yield Answered(answer=answer.model_copy(update={"timings": {k: round(v, 4) for k, v in timings.items()}}))

    @property
    def engine(self) -> str:
        """Who writes the answers: `extractive`, or the LLM spec."""
        return self.spec.text if self.spec else "extractive"

    def _answer(
        self, question: str, asked: Standalone, hits: list[PaperHit], scored: list[ScoredSentence], sure: float
    ) -> Iterator[Event]:
        notices: list[str] = []
        if self.spec is not None:
            try:
                return (yield from self._generate(question, asked, hits, scored, sure))
            except LLMError as error:
                notices.append(f"{str(error)[0].upper()}{str(error)[1:]}; this answer is extractive instead.")
        drafts = compose(analyse(asked.focus), scored)
        answer = answer_from(question, asked.text, drafts, sure, engine="extractive", notices=notices)
        for sentence in answer.sentences:
            yield Token(text=sentence.text + " ")
            yield SentenceChecked(sentence=sentence)
        return answer

    def _generate(
        self, question: str, asked: Standalone, hits: list[PaperHit], scored: list[ScoredSentence], sure: float
    ) -> Iterator[Event]:
        """Let the LLM write, then check each sentence. Raises LLMError where nothing usable came of it."""
        llm = self._open_llm()
        quotes = choose_quotes(scored, self.settings)
        reply = None
        for delta, reply in stream_reply(llm, messages(asked.text, quotes), self.settings):
            yield Token(text=delta)
        if reply is None:
            raise LLMError("the language model gave an empty reply")
        if reply.refuses:
            return refusal(question, asked.text, hits, sure, engine=self.engine, usage=reply.usage, by_model=True)
        sentences = split_reply(reply.text)
        notices = []
        if reply.truncated:
            notices.append("The language model's reply was cut off at its token limit.")
            sentences = sentences[:-1] if len(sentences) > 1 and not sentences[-1].endswith((".", "!", "?")) else sentences
        grounding = Grounding(self.encoder, scored)
        drafts: list[Draft] = []
        for sentence in sentences:
            drafts.append(grounding.check(sentence))
            yield SentenceChecked(sentence=AnswerSentence(text=sentence, verdict=drafts[-1].verdict))
        if all(d.verdict is Verdict.UNSUPPORTED for d in drafts):
            raise LLMError("no sentence of the language model's reply is carried by the papers")
        return answer_from(
            question, asked.text, drafts, sure, engine=self.engine, notices=notices, usage=reply.usage
        )

    def _open_llm(self) -> Any:
        assert self.spec is not None
        with self._lock:
            if self._llm is None:
                self._llm = open_llm(self.spec, self.settings)
            return self._llm

    def _refresh(self) -> None:
        """Open the index anew where another process has changed it since."""
        with self._lock:
            if self.index.current_generation() != self.index.passport.generation:
                fresh = Index.open(self.settings.index)
                self.index = fresh
