"""The LLM engine: chosen quotes in, a streamed reply out, with bounded retries inside one deadline."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag import prompts
from rag.errors import LLMError
from rag.evidence import ScoredSentence
from rag.schema import Usage
from rag.settings import Settings

log = logging.getLogger(__name__)

QUOTES = 8
CHARS_PER_TOKEN = 3.0  # cautious: technical English is nearer to four
REFUSAL = re.compile(
    r"\b(?:not stated|no (?:information|mention|answer)|(?:quotes?|papers?|sources?|abstracts?|text)\b[^.]{0,40}\b(?:do(?:es)? not|don't|doesn't|"
    r"cannot|no) |cannot (?:answer|determine|be determined)|(?:is|are) not (?:mentioned|provided|specified|given)|no paper)\b",
    re.IGNORECASE,
)


@dataclass
class Reply:
    """What the model has said so far; `truncated` when its token limit cut it."""

    text: str = ""
    truncated: bool = False
    usage: Usage = field(default_factory=Usage)

    @property
    def refuses(self) -> bool:
        """Whether the reply opens by saying that the papers do not say."""
        from rag.grounding import split_reply

        sentences = split_reply(self.text)
        return prompts.NOT_STATED in self.text or bool(sentences and REFUSAL.search(sentences[0]))


def choose_quotes(scored: Sequence[ScoredSentence], settings: Settings) -> list[ScoredSentence]:
    """The best sentences that fit the model's window, each paper's in reading order; the best papers first."""
    room = int((settings.llm_context - settings.llm_max_tokens - 600) * CHARS_PER_TOKEN)
    chosen: list[ScoredSentence] = []
    for sentence in scored[:QUOTES]:
        room -= len(sentence.quote) + 8
        if chosen and room < 0:
            break
        chosen.append(sentence)
    order = list(dict.fromkeys(s.hit.paper.id for s in chosen))
    return sorted(chosen, key=lambda s: (order.index(s.hit.paper.id), s.start))


def messages(question: str, quotes: Sequence[ScoredSentence]) -> list[tuple[str, str]]:
    """Return (role, content) pairs. Numbers are per paper, so a marker names exactly one."""
    order = list(dict.fromkeys(s.hit.paper.id for s in quotes))
    lines = [f"[{order.index(s.hit.paper.id) + 1}] {s.quote}" for s in quotes]
    user = "\n".join([prompts.QUOTES_HEADING, *lines, "", prompts.QUESTION_HEADING, question, prompts.LANGUAGE_NOTE])
    return [("system", prompts.ANSWER_SYSTEM), ("user", user)]


def stream_reply(llm: Any, conversation: Sequence[tuple[str, str]], settings: Settings) -> Iterator[tuple[str, Reply]]:
    """Yield (new text, reply so far). Raises LLMError with one plain line when the model cannot be used.

    Refused connections, 429 (with its Retry-After) and 5xx are tried again while nothing has been said yet and the
    deadline allows it; a request that times out is not, for its time is used up.
    """
    deadline = time.monotonic() + settings.llm_timeout
    for attempt in range(settings.llm_retries + 1):
        reply = Reply()
        try:
            yield from _stream_once(llm, conversation, deadline, reply)
            if not reply.text.strip():
                raise LLMError("the language model gave an empty reply")
            return
        except LLMError:
            raise
        except Exception as error:
            pause = _pause(error, attempt)
            if reply.text or pause is None or attempt == settings.llm_retries or time.monotonic() + pause > deadline:
                raise LLMError(describe(error, settings)) from error
            log.info("language model failed (%s); trying again in %.1f s", type(error).__name__, pause)
            time.sleep(pause)


def _stream_once(
    llm: Any, conversation: Sequence[tuple[str, str]], deadline: float, reply: Reply
) -> Iterator[tuple[str, Reply]]:
    from llama_index.core.llms import ChatMessage

    stream = llm.stream_chat([ChatMessage(role=role, content=content) for role, content in conversation])
    for chunk in stream:
        if time.monotonic() > deadline:
            raise LLMError("the language model took too long")
        raw = getattr(chunk, "raw", None)
        choices = getattr(raw, "choices", None) or []
        if choices and choices[0].finish_reason == "length":
            reply.truncated = True
        usage = getattr(raw, "usage", None)
        if usage is not None:
            reply.usage = Usage(prompt_tokens=usage.prompt_tokens or 0, completion_tokens=usage.completion_tokens or 0)
        delta = chunk.delta or ""
        reply.text += delta
        if delta:
            yield delta, reply


def _pause(error: Exception, attempt: int) -> float | None:
    """Seconds to wait before another try, or None where another try cannot help."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return None
    if isinstance(error, openai.APIStatusError) and error.status_code != 429 and error.status_code < 500:
        return None
    if not isinstance(error, openai.APIConnectionError | openai.APIStatusError):
        return None
    asked = error.response.headers.get("retry-after", "") if isinstance(error, openai.APIStatusError) else ""
    return float(asked) if asked.replace(".", "", 1).isdigit() else float(0.5 * 2**attempt)


def describe(error: Exception, settings: Settings) -> str:
    """Say in one line what went wrong with a model, without keys or stack."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return f"the language model did not answer within {settings.llm_timeout:g} s"
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
