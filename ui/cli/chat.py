"""`confer chat`: a conversation in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from rag.errors import UsageError
from rag.filters import Filter, as_filter
from ui.cli.options import IndexOption, LLMOption, TopKOption, settings_with

if TYPE_CHECKING:
    from rag.assistant import Assistant

HELP = (
    "Ask away. /new forgets the conversation, /where FILTER asks only the papers that meet it (/where alone asks all), "
    "/quit ends it (so does Ctrl-D)."
)


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("chat")(chat_command)


def chat_command(index: IndexOption = None, llm: LLMOption = None, top_k: TopKOption = None) -> None:
    """Talk to the papers in the terminal; follow-up questions are understood."""
    from rag.assistant import Assistant
    from rag.schema import Answer
    from ui.terminal import answer_text

    with Assistant.open(settings=settings_with(index=index, llm=llm, top_k=top_k)) as assistant:
        history: list[Answer] = []
        where: Filter | None = None
        print(f"{len(assistant.papers())} papers, {assistant.engine} answers. {HELP}", file=sys.stderr)
        while True:
            try:
                question = input("\n> " if sys.stdin.isatty() else "").strip()
            except EOFError:
                return
            if question == "/quit":
                return
            if question == "/new":
                history.clear()
                print("A new conversation.", file=sys.stderr)
                continue
            if question.split(maxsplit=1)[:1] == ["/where"]:
                where = _chosen(assistant, question.removeprefix("/where"), where)
                continue
            if question.startswith("/"):
                print(HELP, file=sys.stderr)
                continue
            try:
                answer = assistant.ask(question, history, where=where)
            except UsageError as error:
                print(f"confer: {error}", file=sys.stderr)
                continue
            history.append(answer)
            print(answer_text(answer))


def _chosen(assistant: Assistant, text: str, before: Filter | None) -> Filter | None:
    """The filter that a `/where` line asks for, with a word on what it leaves; the one before where it is none."""
    try:
        chosen = as_filter(text)
        count = len(assistant.papers(chosen))
    except UsageError as error:
        print(f"confer: {error}", file=sys.stderr)
        return before
    left = "all papers" if chosen is None else f"papers with {chosen}"
    print(f"Asking {left}: {count:,}.", file=sys.stderr)
    return chosen
