"""From a spec to a LlamaIndex LLM (one path: the OpenAI-compatible one), and from that to chunks that end in time."""

from __future__ import annotations

import contextlib
import contextvars
import ipaddress
import logging
import os
import queue
import socket
import threading
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from rag.errors import UsageError
from rag.settings import Settings

OPENAI_BASE = "https://api.openai.com/v1"
OLLAMA_BASE = "http://127.0.0.1:11434/v1"
SPECS = "none, openai:MODEL, ollama:MODEL, http://HOST/v1#MODEL or gguf:PATH"
POLL = 0.1  # seconds between looks at the clock and at a stop signal while nothing arrives


@dataclass(frozen=True)
class Spec:
    """Where a model is served and what it is called there. `base` is empty for a GGUF file, served when first used.

    `text` is what may be shown: a user name, a password or a query in the address is left out of it.
    """

    text: str
    base: str
    model: str


def parse_spec(text: str) -> Spec | None:
    """Return the parts of an LLM spec, or None for `none`. Raises UsageError for anything else."""
    text = text.strip()
    kind, _, rest = text.partition(":")
    kind, rest = kind.lower(), rest.strip()
    if text.lower() in {"none", ""}:
        return None
    if kind == "openai" and rest:
        return Spec(f"openai:{rest}", OPENAI_BASE, rest)
    if kind == "ollama" and rest:
        return Spec(f"ollama:{rest}", OLLAMA_BASE, rest)
    if kind == "gguf" and rest:
        return Spec(f"gguf:{rest}", "", rest)
    if kind in {"http", "https"}:
        address, _, model = (part.strip() for part in text.partition("#"))
        parts = _split(address)
        if parts is None or not model:
            shown = "the LLM spec" if parts is None else f"LLM spec {_shown(parts)!r}"
            raise UsageError(f"{shown} needs a host and a model: http://HOST/v1#MODEL")
        return Spec(f"{_shown(parts)}#{model}", address.rstrip("/"), model)
    raise UsageError(f"LLM spec {text!r} is none of: {SPECS}")


def _split(address: str) -> SplitResult | None:
    """The parts of an address, or None where it has no usable host and port."""
    try:
        parts = urlsplit(address)
        return parts if parts.hostname and (parts.port is None or parts.port > 0) else None
    except ValueError:
        return None


def _shown(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def find_key(spec: Spec, settings: Settings) -> str | None:
    """Return the key for a spec. Raises UsageError where one is needed and missing.

    A key in the environment is read for `openai:` specs only, and never chooses a model by itself.
    """
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
    if spec.base == OPENAI_BASE:
        key = key or os.environ.get("OPENAI_API_KEY")
        if not key:
            raise UsageError("openai: models need a key in CONFER_LLM_API_KEY or OPENAI_API_KEY")
    return key


def check_spec(spec: Spec, settings: Settings) -> None:
    """Raise UsageError for what is wrong with a spec at first sight: a missing key, a file that is not there."""
    find_key(spec, settings)
    location = Path(spec.model).expanduser()
    if not spec.base and not location.is_file() and ":" not in spec.model:
        raise UsageError(f"gguf: no file {location} (or name one on the hub: gguf:OWNER/REPO:FILE.gguf)")


def open_llm(spec: Spec, settings: Settings) -> Any:
    """Return a LlamaIndex LLM for a spec. Raises UsageError where a key or a file is missing."""
    key = find_key(spec, settings)
    base = spec.base
    if not base:
        from rag.gguf import serve

        base, key = serve(spec.model, context=settings.llm_context)
    import openai.resources.chat  # noqa: F401  (the client imports it when first used: on the deadline's time)
    from llama_index.llms.openai_like import OpenAILike

    try:
        return OpenAILike(
            model=spec.model if spec.base else "gguf",
            api_base=base,
            api_key=key or "none",
            is_chat_model=True,
            context_window=settings.llm_context,
            max_tokens=settings.llm_max_tokens,
            temperature=0.0,
            timeout=settings.llm_timeout,
            max_retries=0,  # the generator retries, within one deadline
            additional_kwargs={"stream_options": {"include_usage": True}},
            http_client=_http_client(base),
        )
    except ValueError as error:  # LlamaIndex knows some models that cannot chat
        raise UsageError(f"LLM spec {spec.text!r} cannot be used: {str(error).splitlines()[0]}") from error


class Line:
    """The connection of one request: lets whoever waits for the reply hang up from another thread."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.closed = False
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self.responses: list[Any] = []  # whose body is still to be read

    def timeouts(self) -> dict[str, float]:
        """What is left until the deadline, as httpx wants it: also a retry gets no fresh allowance."""
        return dict.fromkeys(("connect", "read", "write", "pool"), max(0.01, self.deadline - time.monotonic()))

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Note each socket that httpcore opens for the request (its trace hook)."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            found = info["return_value"].get_extra_info("socket")
            with self._lock:
                self._sockets.append(found)
                closed = self.closed
            if closed:
                _shut(found)

    def hang_up(self) -> None:
        """Wake a reader that waits for bytes, and let the server see that nobody listens any more."""
        with self._lock:
            self.closed = True
            sockets = list(self._sockets)
        for found in sockets:
            _shut(found)

    def release(self) -> None:
        """Give the connection back; for the reading thread only."""
        for response in self.responses:
            response.close()


def _shut(found: socket.socket) -> None:
    with contextlib.suppress(OSError):  # already gone
        # Not the method of an SSL socket, which would pull its state from under a thread that reads.
        socket.socket.shutdown(found, socket.SHUT_RDWR)


_line: contextvars.ContextVar[Line | None] = contextvars.ContextVar("confer_llm_line", default=None)


def _http_client(base: str) -> Any:
    """An httpx client whose requests obey the `Line` of the thread that sends them."""
    import httpx

    logging.getLogger("httpx").setLevel(logging.WARNING)  # its lines hold the whole address, a password too

    def prepare(request: Any) -> None:
        line = _line.get()
        if line is not None:
            request.extensions.update(timeout=line.timeouts(), trace=line.trace)

    def answered(response: Any) -> None:
        line = _line.get()
        if line is not None:
            line.responses.append(response)

    return httpx.Client(
        event_hooks={"request": [prepare], "response": [answered]},
        limits=httpx.Limits(max_keepalive_connections=0),  # each request opens its socket, so each can be hung up
        follow_redirects=True,
        trust_env=not _is_loopback(base),  # a proxy for the web must not be asked for this machine
    )


def _is_loopback(base: str) -> bool:
    host = urlsplit(base).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def stream_chunks(
    llm: Any, conversation: Sequence[tuple[str, str]], deadline: float, stop: threading.Event | None = None
) -> Generator[Any, None, None]:
    """Yield the chunks of a reply of any LlamaIndex LLM; ends by `deadline` (monotonic) with TimeoutError.

    The reply is read in a thread of its own, so that neither a server that is silent nor one that drips keep-alives can
    hold the caller. Closing the generator, or setting `stop`, closes the request.
    """
    line = Line(deadline)
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    context = contextvars.copy_context()
    context.run(_line.set, line)
    threading.Thread(
        target=context.run, args=(_read, llm, conversation, line, arrived), name="confer-llm", daemon=True
    ).start()
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if stop is not None and stop.is_set():
                raise InterruptedError
            try:
                item = arrived.get(timeout=min(POLL, left))
            except queue.Empty:
                continue
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        line.hang_up()


def _read(llm: Any, conversation: Sequence[tuple[str, str]], line: Line, arrived: queue.SimpleQueue[Any]) -> None:
    from llama_index.core.llms import ChatMessage

    chunks = None
    try:
        chunks = llm.stream_chat([ChatMessage(role=role, content=content) for role, content in conversation])
        for chunk in chunks:
            if line.closed:
                break
            arrived.put(chunk)
        arrived.put(None)
    except Exception as error:
        arrived.put(error)
    finally:
        if chunks is not None and hasattr(chunks, "close"):
            chunks.close()
        line.release()
