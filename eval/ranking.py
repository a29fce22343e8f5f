"""How good a ranking is, one function a figure. A ranking is a list of ids, best first, each once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def ndcg(ranking: Sequence[str], gains: Mapping[str, float], k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first k, 0 to 1, with linear gains as trec_eval computes it."""
    ideal = sorted(gains.values(), reverse=True)[:k]
    return _discounted([gains.get(i, 0.0) for i in ranking[:k]]) / _discounted(ideal)


def recall(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Share of the relevant that are among the first k."""
    return len(set(ranking[:k]) & set(gains)) / len(gains)


def reciprocal_rank(ranking: Sequence[str], gains: Mapping[str, float], k: int = 10) -> float:
    """One over the rank of the first relevant one, 0 where none is among the first k."""
    return next((1 / rank for rank, i in enumerate(ranking[:k], start=1) if i in gains), 0.0)


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))
