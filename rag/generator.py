"""The LLM engine: chosen quotes in, a streamed reply out, with bounded retries inside one deadline."""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from email.utils import parsedate_to_datetime
from typing import Any

from rag import prompts
from rag.errors import LLMError
from rag.evidence import ScoredSentence
from rag.llm import stream_chunks
from rag.reply import Reply, raw_sentences
from rag.schema import Usage
from rag.settings import Settings

log = logging.getLogger(__name__)

QUOTES = 8
QUESTION_RESERVE = 600  # tokens kept for a question that is not known when quotes are chosen
NAME_WORDS = 6  # a longer label is the abstract's first clause, which says nothing about a quote
LARGER = 4  # how much more room a reply gets that spent all of its tokens on thinking


def count_tokens(text: str) -> int:
    """A cautious guess at the tokens of a text for a tokenizer that is not known: too many rather than too few."""
    words = sum(math.ceil(len(w) / 4) for w in re.findall(r"[A-Za-z]+", text))
    ascii_rest = len(re.findall(r"[!-@\[-`{-~\n]", text))  # digits and signs: one token each at worst
    return words + ascii_rest + sum(2 for c in text if ord(c) > 127)


def choose_quotes(scored: Sequence[ScoredSentence], settings: Settings, question: str = "") -> list[ScoredSentence]:
    """The best sentences that fit the model's window, each paper's in reading order; the best papers first.

    The best one is always among them; whether it fits beside the question is seen when the messages are sent.
    """
    asked = count_tokens(question) if question else QUESTION_RESERVE
    room = settings.llm_context - settings.llm_max_tokens - _overhead() - asked
    chosen: list[ScoredSentence] = []
    for sentence in scored[:QUOTES]:
        room -= count_tokens(_line(99, sentence)) + 1
        if chosen and room < 0:
            break
        chosen.append(sentence)
    order = list(dict.fromkeys(s.hit.paper.id for s in chosen))
    return sorted(chosen, key=lambda s: (order.index(s.hit.paper.id), s.start))


def messages(question: str, quotes: Sequence[ScoredSentence]) -> list[tuple[str, str]]:
    """Return (role, content) pairs. Numbers are per paper, so a marker names exactly one."""
    order = list(dict.fromkeys(s.hit.paper.id for s in quotes))
    lines = list(dict.fromkeys(_line(order.index(s.hit.paper.id) + 1, s, quotes) for s in quotes))
    user = "\n".join([prompts.QUOTES_HEADING, *lines, "", prompts.QUESTION_HEADING, question, prompts.LANGUAGE_NOTE])
    return [("system", prompts.ANSWER_SYSTEM), ("user", user)]


def _line(number: int, sentence: ScoredSentence, quotes: Sequence[ScoredSentence] = ()) -> str:
    """A quote as the model sees it; a paper's first one names the paper, unless one of its quotes does so itself."""
    own = [s for s in quotes if s.hit.paper.id == sentence.hit.paper.id] or [sentence]
    paper = sentence.hit.paper
    name = _one_line(paper.title or (paper.label if len(paper.label.split()) <= NAME_WORDS else ""))
    named = not name or any(name.casefold() in _one_line(s.quote).casefold() for s in own)
    about = "" if named or own[0].start != sentence.start else f"({name}) "
    return f"[{number}] {about}{_one_line(sentence.quote)}"


def _one_line(text: str) -> str:
    # So that nothing in a quote can look like a part of the prompt around it.
    return " ".join(text.split())


def _overhead() -> int:
    return sum(count_tokens(content) + 8 for _, content in messages("", ()))


def stream_reply(
    llm: Any, conversation: Sequence[tuple[str, str]], settings: Settings, stop: threading.Event | None = None
) -> Generator[tuple[str, Reply], None, None]:
    """Yield (new text, reply so far). Raises LLMError with one plain line when the model cannot be used.

    Refused connections, 429 (with its Retry-After), 5xx and empty replies are tried again while nothing has been said
    yet and the deadline allows it; a request that times out is not, for its time is used up. Closing the generator
    closes the request, and so does setting `stop`, which may be done from another thread.
    """
    needed = sum(count_tokens(content) + 8 for _, content in conversation)
    if needed > settings.llm_context - settings.llm_max_tokens:
        raise LLMError("the question and its best quote do not fit the language model's window (llm_context)")
    deadline = time.monotonic() + settings.llm_timeout
    stop = stop or threading.Event()
    for attempt in range(settings.llm_retries + 1):
        if stop.is_set():
            raise LLMError("the question was withdrawn")
        reply = Reply()
        try:
            yield from _stream_once(llm, conversation, deadline, reply, stop)
        except Exception as error:
            pause = _pause(error, attempt)
            if reply.text or pause is None or attempt == settings.llm_retries or time.monotonic() + pause > deadline:
                raise LLMError(describe(error, settings)) from error
            log.info("language model failed (%s); trying again in %.1f s", type(error).__name__, pause)
            llm = _adapted(llm, error, settings, needed)
            stop.wait(pause)
        else:
            return


class _EmptyError(Exception):
    """A reply without a visible word."""


class _BrokenOffError(Exception):
    """A reply that stops in the middle of a sentence, without the server's saying so."""


def _stream_once(
    llm: Any, conversation: Sequence[tuple[str, str]], deadline: float, reply: Reply, stop: threading.Event
) -> Iterator[tuple[str, Reply]]:
    with closing(stream_chunks(llm, conversation, deadline, stop)) as chunks:
        for chunk in chunks:
            raw = getattr(chunk, "raw", None)
            choices = getattr(raw, "choices", None) or []
            reason = getattr(choices[0], "finish_reason", None) if choices else None
            reply.finished |= reason is not None or not hasattr(raw, "choices")
            reply.truncated |= reason in {"length", "content_filter"}
            usage = getattr(raw, "usage", None)
            if usage is not None:
                reply.usage = Usage(
                    prompt_tokens=usage.prompt_tokens or 0, completion_tokens=usage.completion_tokens or 0
                )
            shown = reply.add(chunk.delta or "")
            if shown:
                yield shown, reply
            if reply.loops():
                reply.finished = True
                break
    if not re.search(r"\w", reply.text):
        reply.text = ""
        raise _EmptyError
    if not reply.finished and not raw_sentences(reply.text)[-1].endswith((*".!?。！？",)):
        raise _BrokenOffError


def _adapted(llm: Any, error: Exception, settings: Settings, prompt_tokens: int) -> Any:
    """The model as it is asked the next time: with more room after an empty reply, without extras after a 400."""
    if isinstance(error, _EmptyError) and hasattr(llm, "max_tokens"):
        room = min(LARGER * settings.llm_max_tokens, settings.llm_context - prompt_tokens)
        return llm.model_copy(update={"max_tokens": room})
    if getattr(error, "status_code", None) in {400, 422} and getattr(llm, "additional_kwargs", None):
        return llm.model_copy(update={"additional_kwargs": {}})
    return llm


def _pause(error: Exception, attempt: int) -> float | None:
    """Seconds to wait before another try, or None where another try cannot help."""
    import openai

    if isinstance(error, _EmptyError):
        return 0.0 if attempt == 0 else None
    if isinstance(error, openai.APITimeoutError):
        return None
    if isinstance(error, openai.APIStatusError):
        if error.status_code in {400, 422} and attempt == 0:
            return 0.0  # some servers refuse fields that they do not know; they are left out the next time
        if error.status_code not in {408, 409, 429} and error.status_code < 500:
            return None
        asked = _retry_after(error.response.headers.get("retry-after", ""))
        return float(0.5 * 2**attempt) if asked is None else asked
    return float(0.5 * 2**attempt) if isinstance(error, openai.APIConnectionError) else None


def _retry_after(header: str) -> float | None:
    """Seconds of a Retry-After header: a number or a date."""
    try:
        seconds = float(header)
        return seconds if 0 <= seconds < math.inf else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None


def describe(error: Exception, settings: Settings) -> str:
    """Say in one line what went wrong with a model, without keys or stack."""
    import httpx
    import openai

    if isinstance(error, LLMError):
        return str(error)
    if isinstance(error, InterruptedError):
        return "the question was withdrawn"
    if isinstance(error, _EmptyError):
        return "the language model gave an empty reply"
    if isinstance(error, TimeoutError | openai.APITimeoutError | httpx.TimeoutException):
        return f"the language model did not answer within {settings.llm_timeout:g} s"
    if isinstance(error, _BrokenOffError | httpx.TransportError):
        return "the language model's reply broke off"
    if isinstance(error, openai.APIConnectionError):
        return "the language model could not be reached"
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return f"the language model refused the key (HTTP {error.status_code})"
    if isinstance(error, openai.NotFoundError):
        return "the language model's server does not know this model (HTTP 404)"
    if isinstance(error, openai.RateLimitError):
        return "the language model is busy (HTTP 429)"
    if isinstance(error, openai.APIStatusError):
        return f"the language model's server failed (HTTP {error.status_code})"
    return f"the language model's reply could not be read ({type(error).__name__})"
