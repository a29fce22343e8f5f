"""What the browser tests share: servers, an assistant that follows a script, a slow model, and how to ask."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rag.schema import Answer, Answered, Event, Paper, Retrieved, SentenceChecked, Token
from rag.settings import Settings

WAIT = 60_000  # milliseconds; long, for slow machines: no test passes by waiting


@contextmanager
def serving(assistant: Any, settings: Settings) -> Iterator[str]:
    """Serve a page from a thread and give its URL."""
    from ui.web import build
    from ui.web.running import Server, configured
    from ui.web.server import bind, create_app, url_of

    with bind("127.0.0.1", 0) as listener:
        blocks = build(assistant, settings)
        ready = threading.Event()
        server = Server(configured(create_app(blocks, settings)), blocks, ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        assert ready.wait(60)
        yield url_of("127.0.0.1", listener)
        server.should_exit = True
        thread.join(30)


class Scripted:
    """An assistant that says what it is told to: for texts and failures that no real index would hold."""

    engine = "extractive"

    def __init__(self, papers: list[Paper], answers: dict[str, Answer | Exception]) -> None:
        self._papers = papers
        self._answers = answers
        self.settings = Settings()
        self.histories: list[list[str]] = []

    def papers(self) -> list[Paper]:
        """The papers that the page counts and makes examples of."""
        return self._papers

    def stream(self, question: str, history: Any = ()) -> Iterator[Event]:
        """Give the scripted answer, or raise the scripted error."""
        self.histories.append([answer.question for answer in history])
        answer = self._answers[question]
        yield Retrieved(papers=self._papers)
        if isinstance(answer, Exception):
            raise answer
        for sentence in answer.sentences:
            yield Token(text=sentence.text + " ")
            yield SentenceChecked(sentence=sentence)
        yield Answered(answer=answer)


class SlowModel:
    """An OpenAI-compatible server that says its first words, then waits until it is let go or left."""

    FIRST = "Aggregated leaderboard scores hide"

    def __init__(self) -> None:
        self.go = threading.Event()
        self.asked = threading.Semaphore(0)
        self.left = threading.Semaphore(0)
        model = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                model.asked.release()
                try:
                    self._say(model.FIRST)
                    model.go.wait(60)
                    for _ in range(2000):  # enough to fill any buffer of a reader who has gone
                        self._say(" noise" * 50)
                    self.wfile.write(b"data: [DONE]\n\n")
                except OSError:
                    model.left.release()

            def _say(self, text: str) -> None:
                choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
                chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
                self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
                self.wfile.flush()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def spec(self) -> str:
        """How Confer is told to use it."""
        return f"http://127.0.0.1:{self.server.server_port}/v1#stub"


def ask(page: Any, question: str) -> Any:
    """Type a question, press Enter, and return its finished turn."""
    number = page.locator("#cf-thread .cf-turn").count()
    page.fill("#cf-question textarea", question)
    page.press("#cf-question textarea", "Enter")
    return turn(page, number)


def turn(page: Any, number: int) -> Any:
    """The turn of a number, once it is finished and the next question can be asked."""
    found = page.locator(f'#cf-thread .cf-turn[data-turn="{number}"]')
    found.wait_for()
    page.locator("#cf-send").wait_for()
    return found
