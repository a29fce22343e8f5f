"""A list file from the browser: brought into the index in a thread, with its progress and its report."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rag.assistant import Assistant
from rag.errors import ConferError
from rag.schema import IngestReport
from rag.settings import Settings
from ui.web import frame

log = logging.getLogger(__name__)

Step = tuple[int, int] | IngestReport | Exception


def take(path: Path, assistant: Assistant, settings: Settings) -> Iterator[str]:
    """Ingest an uploaded file and yield what to show: progress, then the report or one line about what is wrong.

    The file is deleted afterwards. The assistant sees the new papers at its next question.
    """
    name = path.name
    try:
        yield frame.progress_html(name, 0, 0)
        for step in _steps(path, assistant, settings):
            if isinstance(step, IngestReport):
                yield frame.report_html(name, step)
            elif isinstance(step, Exception):
                yield frame.message_html(_reason(step, name))
            else:
                yield frame.progress_html(name, *step)
    finally:
        path.unlink(missing_ok=True)
        with suppress(OSError):  # the folder is Gradio's own for this upload; it stays if something else is in it
            path.parent.rmdir()


def _steps(path: Path, assistant: Assistant, settings: Settings) -> Iterator[Step]:
    """Yield (papers done, papers to do) as the ingest goes on, then its report or the error that ended it."""
    waiting: queue.SimpleQueue[Step] = queue.SimpleQueue()

    def work() -> None:
        from ingest import job

        try:
            report = job.run(
                [path],
                assistant.settings.index,
                settings=settings,
                encoder=assistant.encoder,
                progress=lambda done, todo: waiting.put((done, todo)),
                names={path: path.name},
            )
            waiting.put(report)
        except Exception as error:  # whatever it is, the page must say so
            waiting.put(error)

    threading.Thread(target=work, name="confer-ingest", daemon=True).start()
    while True:
        step = waiting.get()
        yield step
        if not isinstance(step, tuple):
            return


def _reason(error: Exception, name: str) -> str:
    if isinstance(error, ConferError):
        text = str(error)
        return f"{text[:1].upper()}{text[1:]}."
    log.error("the upload of %s failed", name, exc_info=error)
    return f"{name} could not be added ({type(error).__name__}); the server's log says more."
