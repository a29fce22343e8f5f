"""`confer ask`: one question, one checked answer."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rag.filters import as_filter
from rag.questions import check_question
from ui.cli.options import IndexOption, JsonOption, LLMOption, TopKOption, WhereOption, settings_with


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("ask")(ask_command)


def ask_command(
    question: Annotated[str, typer.Argument(help="the question")],
    index: IndexOption = None,
    llm: LLMOption = None,
    top_k: TopKOption = None,
    where: WhereOption = None,
    explain: Annotated[bool, typer.Option("--explain", help="say also why each paper was found")] = False,
    json: JsonOption = False,
) -> None:
    """Answer a question from the indexed papers, each sentence with the quote that carries it."""
    settings = settings_with(index=index, llm=llm, top_k=top_k)
    check_question(question, settings.max_question_chars)  # before anything is loaded
    chosen = as_filter(where)
    from rag.assistant import Assistant
    from ui.terminal import answer_text

    if sys.stderr.isatty():
        print("Loading the encoder …", end="\r", file=sys.stderr)
    with Assistant.open(settings=settings) as assistant:
        answer = assistant.ask(question, where=chosen)
        if explain:
            found = assistant.explain(answer.standalone_question, where=answer.where)
            answer = answer.model_copy(update={"found": found})
    print(answer.model_dump_json(indent=2) if json else answer_text(answer))
