"""How a topic fares over the years: papers on it and their share of all, what is new, and what is central."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from rag.encoder import Vector
from rag.retriever import PaperHit
from rag.schema import Paper, Trend, YearCount

Z = 1.959964  # of a 95 % interval
CENTRAL = 5  # papers


def trend(listed: Sequence[PaperHit], papers_by_year: dict[int, int], vectors: dict[str, Vector]) -> Trend:
    """Describe the papers on a list, given how many papers of each year there are at all.

    `central` are the papers whose vectors lie nearest to the mean of all on the list; papers without a year are counted
    apart. Years come in order; one without a paper on the topic is there with a count of 0.
    """
    counts = Counter(hit.paper.year for hit in listed)
    years = [_year(year, counts[year], papers_by_year[year]) for year in sorted(papers_by_year)]
    newest = max((hit.paper.year for hit in listed if hit.paper.year), default=None)
    return Trend(
        papers=len(listed),
        undated=counts[None],
        years=years,
        newest=[hit.paper for hit in listed if newest and hit.paper.year == newest],
        central=_central([hit.paper for hit in listed], vectors),
    )


def _year(year: int, count: int, total: int) -> YearCount:
    low, high = wilson(count, total)
    return YearCount(year=year, papers=count, total=total, share=count / total, low=low, high=high)


def wilson(count: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, Probable inference, 1927); 0 to 1 where there is nothing."""
    if total == 0:
        return 0.0, 1.0
    share, square = count / total, Z * Z / total
    middle = (share + square / 2) / (1 + square)
    half = Z / (1 + square) * ((share * (1 - share) + square / 4) / total) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def _central(papers: Sequence[Paper], vectors: dict[str, Vector]) -> list[Paper]:
    known = [p for p in papers if p.id in vectors]
    if not known:
        return []
    rows = np.stack([vectors[p.id] for p in known])
    nearness = rows @ rows.mean(axis=0)
    return [known[i] for i in np.argsort(-nearness, kind="stable")[:CENTRAL]]
