"""A question under way: the assistant works in a thread, so that Stop never waits for a slow language model."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Protocol

from rag.assistant import History
from rag.schema import Event

PULSE = 1.0  # seconds after which an empty batch is given, so that a closed page is noticed


class Streams(Protocol):
    """What the page needs of an assistant to ask it something."""

    def stream(self, question: str, history: History = ()) -> Iterator[Event]: ...


class _End:
    """Put at the end of the events."""


class Run:
    """One question on its way. Iterate `batches` once; `stop` ends it at once, from any thread."""

    def __init__(self, assistant: Streams, question: str, history: History) -> None:
        self.question = question
        self.stopped = False
        self._waiting: queue.SimpleQueue[Event | Exception | _End] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, args=(assistant, history), name="confer-ask", daemon=True)

    def stop(self) -> None:
        """End the run. A model that is busy finishes its current step unheard."""
        self.stopped = True
        self._waiting.put(_End())

    def batches(self) -> Iterator[list[Event]]:
        """Yield the events that have come since the last batch. Raises what the assistant raised."""
        self._thread.start()
        while True:
            batch: list[Event] = []
            try:
                item = self._waiting.get(timeout=PULSE)
                while not isinstance(item, _End | Exception):
                    batch.append(item)
                    item = self._waiting.get_nowait()
            except queue.Empty:
                yield batch
                continue
            if self.stopped:
                return
            if batch:
                yield batch
            if isinstance(item, Exception):
                raise item
            return

    def _work(self, assistant: Streams, history: History) -> None:
        try:
            # Leaving the loop drops the iterator, which closes the assistant's work and the model's request with it.
            for event in assistant.stream(self.question, history):
                if self.stopped:
                    return
                self._waiting.put(event)
        except Exception as error:  # whatever it is, the page must say so and stay usable
            self._waiting.put(error)
        finally:
            self._waiting.put(_End())
