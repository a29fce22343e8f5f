"""The page: its layout, and what happens on it. What things look like is in `style.css`, what they say in `frame` and
`render`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from ingest.readers.registry import SUFFIXES
from rag.assistant import Assistant
from rag.errors import ConferError
from rag.questions import check_question
from rag.schema import Answered, Paper, Retrieved, SentenceChecked, Token
from rag.settings import Settings
from rag.wording import counted
from ui.sample import holds_sample
from ui.web import examples, frame, render, sources, uploads
from ui.web.asking import Run
from ui.web.session import Conversation, Session, Turn

log = logging.getLogger(__name__)

# A button in a piece of HTML tells the server which one it is; nothing else in there does anything.
PICK = """element.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-pick]');
  if (button) trigger('select', {pick: button.dataset.pick});
});"""
STOPPED = "Stopped. What was written so far has not been checked against the abstracts."
STOPPED_EARLY = "Stopped before an answer was written."
Update = dict[Any, Any]


def build(assistant: Assistant, settings: Settings) -> gr.Blocks:
    """Return the page as Gradio blocks."""
    page: gr.Blocks = Page(assistant, settings).blocks
    return page


def _html(elem_id: str, value: str = "", *, picks: bool = False) -> gr.HTML:
    return gr.HTML(value, elem_id=elem_id, apply_default_css=False, js_on_load=PICK if picks else None)


class Page:
    """Holds the page's parts; its methods are the event handlers. Visitors' data is in their `Session` only."""

    def __init__(self, assistant: Assistant, settings: Settings) -> None:
        self.assistant = assistant
        self.settings = settings
        self._known: list[Paper] = []
        with gr.Blocks(title="Confer", analytics_enabled=False, fill_width=True) as self.blocks:
            self.session = gr.State(Session())
            self._lay_out()
            self._wire()

    def _lay_out(self) -> None:
        self.head = _html("cf-head-block")
        with gr.Row(elem_id="cf-page"):
            with gr.Column(elem_id="cf-rail"):
                self.new = gr.Button("New conversation", elem_id="cf-new")
                self.conversations = _html("cf-conversations-block", picks=True)
                _html("cf-upload-about", frame.upload_html(limit_mb=self.settings.max_upload_mb))
                self.upload = gr.UploadButton(
                    "Add a list…", elem_id="cf-upload", file_types=list(SUFFIXES), file_count="single"
                )
                self.report = _html("cf-report-block")
            with gr.Column(elem_id="cf-main"):
                with gr.Column(elem_id="cf-read"):
                    self.welcome = _html("cf-welcome-block", picks=True)
                    self.thread = _html("cf-thread")
                    self.live = _html("cf-live")
                self.hint = _html("cf-hint")
                with gr.Row(elem_id="cf-composer"):
                    self.question = gr.Textbox(
                        label="Your question", placeholder="Ask a question over the papers", show_label=False,
                        container=False, lines=1, max_lines=6, autofocus=True, elem_id="cf-question",
                    )  # fmt: skip
                    self.send = gr.Button("Ask", variant="primary", elem_id="cf-send")
                    self.stop = gr.Button("Stop", visible=False, elem_id="cf-stop")
            with gr.Column(elem_id="cf-side"):
                self.sources = _html("cf-sources", sources.EMPTY)

    def _wire(self) -> None:
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        shown = [
            self.head, self.welcome, self.thread, self.live, self.hint, self.question, self.send, self.stop,
            self.sources, self.conversations,
        ]  # fmt: skip
        gr.on(
            [self.question.submit, self.send.click, self.welcome.select],
            self.ask, [self.question, self.session], shown, concurrency_limit=16, **quiet,
        )  # fmt: skip
        self.stop.click(self.halt, [self.session], [], queue=False, **quiet)
        self.new.click(self.begin, [self.session], shown, queue=False, **quiet)
        self.conversations.select(self.reopen, [self.session], shown, queue=False, **quiet)
        self.upload.upload(
            self.add, [self.upload, self.session], [self.report, self.upload, self.head, self.welcome],
            concurrency_limit=1, **quiet,
        )  # fmt: skip
        self.blocks.load(self.show, [self.session], shown, queue=False, **quiet)

    def ask(self, question: str, session: Session, event: gr.EventData) -> Iterator[Update]:
        """Answer the question in the box, or the example that was clicked, as it is being written."""
        if session.run is not None:
            yield {self.hint: frame.message_html("The last question is still being answered; stop it to ask another.")}
            return
        picked = isinstance(event._data, dict) and event._data.get("pick")
        try:
            question = check_question(str(picked or question or ""), self.settings.max_question_chars)
        except ConferError as error:
            blank = not (question or "").strip()
            yield {self.hint: frame.message_html("Type a question first." if blank else _sentence(error))}
            return
        conversation = session.current
        session.run = run = Run(self.assistant, question, conversation.history)
        turn = Turn(question)
        try:
            yield {**self._view(session), self.question: "", **self._running(turn, conversation, "Looking for papers…")}
            yield from self._follow(run, turn, conversation, session)
            if turn.answer is None:
                turn.note = STOPPED if turn.draft.strip() else STOPPED_EARLY
        except Exception as error:
            turn.note = _failure(error)
        finally:
            run.stop()
            session.run = None
        session.add(conversation, turn)
        yield self._view(session)

    def _follow(self, run: Run, turn: Turn, conversation: Conversation, session: Session) -> Iterator[Update]:
        """Show a run's events as they come, and leave its answer in the turn."""
        status = "Looking for papers…"
        checked = 0
        for batch in run.batches():
            for event in batch:
                if isinstance(event, Retrieved):
                    status = f"Reading {counted(len(event.papers), 'paper')}…"
                elif isinstance(event, Token):
                    turn.draft += event.text
                    status = "Writing…"
                elif isinstance(event, SentenceChecked):
                    checked += 1
                    status = f"Checked {counted(checked, 'sentence')} against the abstracts…"
                elif isinstance(event, Answered):
                    turn.answer = event.answer
                    return
            if session.current is conversation:
                yield self._running(turn, conversation, status)

    def _running(self, turn: Turn, conversation: Conversation, status: str) -> Update:
        return {
            self.welcome: "",
            self.live: render.live_html(turn.question, turn.draft, status, len(conversation.turns)),
            self.send: gr.update(visible=False),
            self.stop: gr.update(visible=True),
        }

    def _view(self, session: Session) -> Update:
        """Everything as the session has it now, nothing under way."""
        turns = session.current.turns
        papers = self._papers()
        welcome = "" if turns else frame.welcome_html(len(papers), examples.questions(papers))
        return {
            self.head: frame.head_html(self.assistant.engine, len(papers), sample=holds_sample(papers)),
            self.welcome: welcome,
            self.thread: render.thread_html(turns),
            self.live: "",
            self.hint: "",
            self.sources: sources.sources_html(turns),
            self.conversations: frame.conversations_html(session.conversations, session.current),
            self.send: gr.update(visible=True),
            self.stop: gr.update(visible=False),
        }

    def _papers(self) -> list[Paper]:
        """The papers there are; those of a moment ago where the index cannot be read just now."""
        try:
            self._known = self.assistant.papers()
        except Exception as error:  # the page must stay usable, whatever state it is in
            log.error("the papers could not be listed", exc_info=error)
        return self._known

    def show(self, session: Session) -> Update:
        """The page as it opens: with the papers there are now."""
        return self._view(session)

    def halt(self, session: Session) -> None:
        """Stop the question under way; its handler then shows what there is."""
        session.stop()

    def begin(self, session: Session) -> Update:
        """Start a new conversation; the others stay in the list."""
        session.open(Conversation())
        return {**self._view(session), self.question: ""}

    def reopen(self, session: Session, event: gr.EventData) -> Update:
        """Show an earlier conversation; it goes on from where it was."""
        picked = str((event._data or {}).get("pick", ""))
        if picked.isdecimal() and int(picked) < len(session.conversations):
            session.open(session.conversations[int(picked)])
        return self._view(session)

    def add(self, path: str | None, session: Session) -> Iterator[Update]:
        """Bring an uploaded list into the index and report on it."""
        if not path:
            return
        for shown in uploads.take(Path(path), self.assistant, self.settings):
            yield {self.report: shown, self.upload: gr.update(interactive=False)}
        view = self._view(session)
        busy = {self.welcome: ""} if session.run is not None else {self.welcome: view[self.welcome]}
        yield {self.upload: gr.update(value=None, interactive=True), self.head: view[self.head], **busy}


def _sentence(error: ConferError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _failure(error: Exception) -> str:
    """One readable line about an exception; the log has the rest."""
    if isinstance(error, ConferError):
        return _sentence(error)
    log.error("a question failed", exc_info=error)
    return f"Something went wrong ({type(error).__name__}); the server's log says more. Please try again."
