"""Asks one index and prints what that took: the part of `eval.benchmarks.scale` that runs in a process of its own.

Usage: python -m eval.benchmarks.scale_queries INDEX LIST.jsonl QUERIES
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rag import Assistant
from rag.encoder import Encoder
from rag.filters import as_filter
from rag.index import Index
from rag.text import search_text

NEAREST = 20


def main() -> None:
    """Open, ask, compare, and print one JSON object."""
    folder, papers, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    with papers.open(encoding="utf-8") as lines:
        listed = [json.loads(line) for line in lines]
    questions = [p["title"] for p in listed[:: max(1, len(listed) // count)]][:count]
    filters = _filters(listed)
    encoder = Encoder()
    encoder.encode_query("warm up")
    start = time.perf_counter()
    assistant = Assistant.open(folder, encoder=encoder)
    assistant.search("warm up")
    result: dict[str, Any] = {"open_seconds": round(time.perf_counter() - start, 2), "queries": len(questions)}
    result["unfiltered"] = _latencies(questions, assistant.search)
    for name, where in filters.items():
        result[name] = {
            "filter": where,
            "papers": len(assistant.papers(where)),
            **_latencies(questions, partial(assistant.search, where=where)),
        }
    result["answers"] = _latencies(questions, assistant.ask)
    result["rss_mb"] = _rss_mb()
    assistant.close()
    result["recall@20"] = _recalls(folder, encoder, questions, filters)
    result["peak_rss_mb_with_exact_search"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps(result))


def _filters(listed: list[dict[str, Any]]) -> dict[str, str]:
    """A filter that keeps about half of a list, and one that keeps about one paper in a thousand."""
    years = sorted(p["year"] for p in listed)
    venues: dict[tuple[str, int], int] = {}
    for p in listed:
        venues[p["venue"], p["year"]] = venues.get((p["venue"], p["year"]), 0) + 1
    few = min(venues, key=lambda v: (abs(venues[v] - max(5, len(listed) / 1000)), v))
    return {"half": f"year >= {years[len(years) // 2]}", "few": f'venue = "{few[0]}" and year = {few[1]}'}


def _latencies(questions: Sequence[str], ask: Callable[[str], object]) -> dict[str, float]:
    """Milliseconds of single questions, asked one after the other."""
    taken = []
    for question in questions:
        start = time.perf_counter()
        ask(question)
        taken.append(1000 * (time.perf_counter() - start))
    return {f"p{p}_ms": round(float(np.percentile(taken, p)), 1) for p in (50, 95, 99)}


def _rss_mb() -> int:
    """Resident memory of this process now; its peak where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    line = next(row for row in status.read_text(encoding="utf-8").splitlines() if row.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024)


def _recalls(folder: Path, encoder: Encoder, questions: Sequence[str], filters: dict[str, str]) -> dict[str, float]:
    """The share of the true nearest passages that the index finds, by filter."""
    index = Index.open(folder)
    stored, rows = zip(*index.passage_vectors(), strict=True)
    owners, vectors = np.array([s.passage.paper_id for s in stored]), np.stack(rows)
    queries = [encoder.encode_query(search_text(q)) for q in questions]
    result = {}
    for name, where in [("unfiltered", None), *filters.items()]:
        chosen = as_filter(where)
        within = None if chosen is None else index.select(chosen)
        kept = vectors if within is None else vectors[np.isin(owners, within)]
        shares = []
        for query in queries:
            nearest = np.sort(kept @ query)[::-1][:NEAREST]
            found = index.nearest_passages(query, NEAREST, within)
            # Of passages that are equally near any may be found.
            shares.append(sum(cosine >= nearest[-1] - 1e-5 for _, cosine in found) / len(nearest))
        result[name] = round(float(np.mean(shares)), 4)
    index.close()
    return result


if __name__ == "__main__":
    main()
