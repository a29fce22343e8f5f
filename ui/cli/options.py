"""Options that several commands share; their texts come from the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rag.settings import Settings


def describe(name: str) -> str:
    """The description of a setting, for the CLI help."""
    return str(Settings.model_fields[name].description)


IndexOption = Annotated[Path | None, typer.Option("--index", help=f"{describe('index')} (default .confer)")]
LLMOption = Annotated[str | None, typer.Option("--llm", help=describe("llm"))]
TopKOption = Annotated[int | None, typer.Option("--top-k", help=describe("top_k"))]
WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where", metavar="FILTER", help="only papers that meet a filter: 'year>=2025 and venue in (ICML, ICLR)'"
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="print JSON")]


def settings_with(**changes: Any) -> Settings:
    """Settings from the environment, overridden by the options that were given."""
    return Settings(**{name: value for name, value in changes.items() if value is not None})
