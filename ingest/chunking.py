"""From an abstract to passages: slices on sentence boundaries that fit the encoder whole; nothing is cut away."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag.schema import Passage, Span
from rag.sentences import mask, sentence_spans
from rag.text import search_text

CHUNKING_VERSION = 1

Unit = tuple[int, int, int]  # start, end, tokens
Counter = Callable[[Sequence[str]], list[int]]  # the tokens of each text


def passages(paper_id: str, abstract: str, count_tokens: Counter, limit: int) -> list[Passage]:
    """Cut an abstract into passages of like length, each at most `limit` tokens.

    The passages follow one another without gap or overlap: joined, they are the abstract. A sentence that is longer
    than the limit is cut at white space outside maths, and only as a last resort elsewhere.
    """
    masked = mask(abstract)
    spans = sentence_spans(abstract)
    counts = count_tokens([search_text(abstract[start:end]) for start, end in spans])
    units: list[Unit] = []
    for (start, end), tokens in zip(spans, counts, strict=True):
        units.extend(_fit(abstract, masked, (start, end, tokens), count_tokens, limit))
    groups = _balance([tokens for _, _, tokens in units], limit)
    result: list[Passage] = []
    begin = 0
    for position, size in enumerate(groups):
        own = units[begin : begin + size]
        begin += size
        start = result[-1].end if result else 0
        end = units[begin][0] if begin < len(units) else len(abstract)
        sentences = [Span(start=s, end=e) for s, e, _ in own]
        result.append(Passage(paper_id=paper_id, position=position, start=start, end=end, sentences=sentences))
    return result


def _fit(text: str, masked: str, unit: Unit, count: Counter, limit: int) -> list[Unit]:
    """Return the pieces of a sentence that each fit."""
    start, end, tokens = unit
    if tokens <= limit or end - start < 2:
        return [(start, end, tokens)]
    middle = (start + end) // 2
    gaps = [m.start() for m in re.finditer(r"\s", masked[start:end])]
    if gaps:
        gap = start + min(gaps, key=lambda g: abs(start + g - middle))
        left, right = start + len(text[start:gap].rstrip()), end - len(text[gap:end].lstrip())
    else:
        left = right = middle
    sizes = count([search_text(text[start:left]), search_text(text[right:end])])
    halves = (start, left, sizes[0]), (right, end, sizes[1])
    return [piece for half in halves for piece in _fit(text, masked, half, count, limit)]


def _balance(sizes: list[int], limit: int) -> list[int]:
    """Group consecutive sizes into as few groups as fit, of sums as even as a single pass makes them."""
    for target in _targets(sizes, limit):
        groups: list[int] = []
        total = count = 0
        for size in sizes:
            # Joined sentences may take a token more than their sum; one a sentence is room enough.
            if count and (total + size + 1 > limit or total + size / 2 > target):
                groups.append(count)
                total = count = 0
            total += size + 1
            count += 1
        if count:
            groups.append(count)
        if len(groups) <= -(-sum(s + 1 for s in sizes) // limit) + 1:
            return groups
    return groups


def _targets(sizes: list[int], limit: int) -> list[float]:
    total = sum(s + 1 for s in sizes)
    fewest = max(1, -(-total // limit))
    return [total / fewest, float(limit)]
