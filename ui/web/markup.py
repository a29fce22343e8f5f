"""Text of papers, models, files and questions as HTML that shows it and does nothing else.

Everything is escaped. Maths (what `rag.sentences.MATH` says is maths) is put, escaped like the rest, into elements that
the page's script hands to KaTeX; without the script, or where KaTeX cannot read it, the source stays readable.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from rag.sentences import MATH

Mark = tuple[int, int]


def escape(text: str) -> str:
    """Return text for element content or a quoted attribute."""
    return html.escape(text, quote=True)


def prose(text: str, marks: Sequence[Mark] = ()) -> str:
    """Return text with its maths ready for KaTeX and the ranges of `marks` in numbered `<mark>` elements.

    A formula is never split: it belongs to a mark that it overlaps.
    """
    out: list[str] = []
    within: int | None = None
    at = 0
    for piece, mark, maths in _pieces(text, marks):
        if mark != within:
            if within is not None:
                out.append("</mark>")
            if mark is not None:
                out.append(f'<mark data-evidence="{mark}">')
            within = mark
        before, at = at, at + len(piece)
        out.append(_maths(piece, text[max(before - 1, 0) : before], text[at : at + 1]) if maths else escape(piece))
    if within is not None:
        out.append("</mark>")
    return "".join(out)


def _pieces(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str, int | None, bool]]:
    """Yield (piece, number of its mark or None, whether it is maths) in order; the pieces joined are the text."""
    at = 0
    for match in MATH.finditer(text):
        yield from _plain(text, at, match.start(), marks)
        yield match.group(), _mark_at(match.start(), match.end(), marks), True
        at = match.end()
    yield from _plain(text, at, len(text), marks)


def _plain(text: str, start: int, end: int, marks: Sequence[Mark]) -> Iterator[tuple[str, int | None, bool]]:
    edges = {edge for mark in marks for edge in mark if start < edge < end}
    cuts = [start, *sorted(edges), end]
    for left, right in pairwise(cuts):
        if left < right:
            yield text[left:right], _mark_at(left, right, marks), False


def _mark_at(start: int, end: int, marks: Sequence[Mark]) -> int | None:
    return next((number for number, (left, right) in enumerate(marks) if left < end and start < right), None)


def _maths(source: str, before: str, after: str) -> str:
    """Return a formula; where it touches other text (`($x$)`, `$k$-means`) its classes say so, for the line breaks."""
    glued = f"{' cf-after' if before.strip() else ''}{' cf-before' if after.strip() else ''}"
    display = ' data-display="true"' if source.startswith("$$") else ""
    return f'<span class="cf-math{glued}"{display}>{escape(source)}</span>'


def web_address(url: str | None) -> str | None:
    """Return a URL that is safe to link to (http or https with a host), or None."""
    try:
        parts = urlsplit((url or "").strip())
    except ValueError:
        return None
    return parts.geturl() if parts.scheme in {"http", "https"} and parts.hostname else None
