"""What about an abstract a person should look at: it was taken, but a list may have been cut in the wrong place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

FEW_WORDS = 25
MANY_WORDS = 600
BEGINS_INSIDE = re.compile(r"(?:[a-z]{2,}\s|[,;:)\]])")
ENDS_INSIDE = re.compile(
    r"[,;(\[-]$|\b(?:the|an?|and|or|of|to|in|for|with|by|on|at|from|as|is|are|was|that|which|we|our|its|than)$",
    re.IGNORECASE,
)
SECOND = re.compile(r"(?<=[.!?]) (?:Abstract|ABSTRACT|Title|TITLE)\s*[:.—–-]\s*[A-Z]|\s摘\s?要\s*[：:]")


def reasons(abstract: str, words: Sequence[str]) -> Iterator[str]:
    """Yield what is odd about the display text of an abstract with those words, for a person to read."""
    if len(words) < FEW_WORDS:
        yield f"very short: {len(words)} words"
    if len(words) > MANY_WORDS:
        yield f"very long: {len(words)} words; it may hold more than one abstract"
    if BEGINS_INSIDE.match(abstract):
        yield f"begins in the middle of a sentence: {abstract[:40]!r}"
    if ENDS_INSIDE.search(abstract, max(0, len(abstract) - 20)):
        yield f"ends in the middle of a sentence: {abstract[-40:]!r}"
    if SECOND.search(abstract):
        yield "holds a second heading such as `Abstract:`; it may be two abstracts"
