"""Words that answers, the page and the terminal share."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """`1 paper`, `2,000 papers`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
