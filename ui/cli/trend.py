"""`confer trend`: a topic over the years of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rag.filters import as_filter
from rag.questions import check_question
from rag.wording import counted
from ui.cli.options import IndexOption, JsonOption, WhereOption, settings_with

if TYPE_CHECKING:
    from rag.schema import Paper, Trend

WIDEST = 40  # characters of the longest bar
SHOWN = 10  # of the newest papers


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("trend")(trend_command)


def trend_command(
    topic: Annotated[str, typer.Argument(help="the topic, as words or as a question")],
    index: IndexOption = None,
    where: WhereOption = None,
    json: JsonOption = False,
) -> None:
    """Show how a topic fares over the years: papers and their share of all, what is new, what is central."""
    settings = settings_with(index=index)
    check_question(topic, settings.max_question_chars)
    chosen = as_filter(where)
    from rag.assistant import Assistant

    with Assistant.open(settings=settings) as assistant:
        found = assistant.trend(topic, where=chosen)
    print(found.model_dump_json(indent=2) if json else "\n".join(_lines(found)))


def _lines(found: Trend) -> list[str]:
    lines = [f"{counted(found.papers, 'paper')} on this."]
    if found.years:
        lines += ["", f"{'year':4}  {'papers':>6} {'of':>7}  {'share':>7}  95 % interval"]
        most = max(year.share for year in found.years) or 1.0
        for year in found.years:
            bar = "█" * round(WIDEST * year.share / most)
            span = f"{100 * year.low:.2f}-{100 * year.high:.2f} %"
            told = f"{year.year:4}  {year.papers:6,} {year.total:7,}  {100 * year.share:5.2f} %  {span:15}  {bar}"
            lines.append(told.rstrip())
    if found.undated:
        lines.append(f"{counted(found.undated, 'paper')} without a year.")
    if found.papers and len(found.years) > 1:
        lines += ["", f"Newest ({found.newest[0].year}):" if found.newest else ""]
        lines += [_line(paper) for paper in found.newest[:SHOWN]]
        if len(found.newest) > SHOWN:
            lines.append(f"  … and {len(found.newest) - SHOWN:,} more")
    if found.central:
        lines += ["", "Most central:", *(_line(paper) for paper in found.central)]
    return lines


def _line(paper: Paper) -> str:
    return f"  {paper.title or paper.label} ({paper.id})"
