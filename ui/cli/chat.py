"""`confer chat`: a conversation in the terminal."""

from __future__ import annotations

import sys

import typer

from ui.cli.options import IndexOption, LLMOption, TopKOption, settings_with

HELP = "Ask away. /new forgets the conversation, /quit ends it (so does Ctrl-D)."


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("chat")(chat_command)


def chat_command(index: IndexOption = None, llm: LLMOption = None, top_k: TopKOption = None) -> None:
    """Talk to the papers in the terminal; follow-up questions are understood."""
    from rag.assistant import Assistant
    from rag.errors import UsageError
    from rag.schema import Answer
    from ui.terminal import answer_text

    with Assistant.open(settings=settings_with(index=index, llm=llm, top_k=top_k)) as assistant:
        history: list[Answer] = []
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
            if question.startswith("/"):
                print(HELP, file=sys.stderr)
                continue
            try:
                answer = assistant.ask(question, history)
            except UsageError as error:
                print(f"confer: {error}", file=sys.stderr)
                continue
            history.append(answer)
            print(answer_text(answer))
