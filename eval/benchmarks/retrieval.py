"""How well papers are found, on a set in BEIR's form, beside one vector a paper with the same encoder.

Usage: python -m eval.benchmarks.retrieval BEIR_DIR [--qrels qrels.tsv] [--index DIR] [--per-query FILE.jsonl]
           [--baseline SCRIPT.py [--baseline-python PYTHON]] [--out result.json]
Confer ingests the corpus (or opens the index of an earlier run) and searches for each judged query. The plain way is
title and abstract, cut where the encoder cuts them, as one vector, compared by the cosine: what LlamaIndex does by
default. It is made here so that differences can be paired; `--baseline` also runs a script that prints JSON, such as
one that uses LlamaIndex itself, and shows what it found.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import bootstrap

import ingest
from eval import beir, ranking
from eval.benchmarks.ingest import printed
from eval.benchmarks.results import told
from rag.encoder import Encoder
from rag.index import Index
from rag.retriever import Retriever

DEPTH = 100
FIGURES: dict[str, Callable[[list[str], dict[str, float]], float]] = {
    "ndcg@10": ranking.ndcg,
    "recall@10": lambda found, gains: ranking.recall(found, gains, 10),
    "recall@100": lambda found, gains: ranking.recall(found, gains, 100),
    "mrr@10": ranking.reciprocal_rank,
}


def main() -> None:
    """Run both and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("beir_dir", type=Path)
    parser.add_argument("--qrels", default="qrels.tsv")
    parser.add_argument("--index", type=Path, help="keep the index here, or use the one that is here")
    parser.add_argument("--per-query", type=Path)
    parser.add_argument("--baseline", type=Path)
    parser.add_argument("--baseline-python", default=sys.executable)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    judged = beir.load(args.beir_dir, args.qrels)
    encoder = Encoder()
    with _index(args.beir_dir / "corpus.jsonl", args.index, encoder) as index:
        ours, times = confer(judged, index, encoder)
    usual = plain(judged, encoder)
    rows = [
        {"query": q, "confer": _figures(ours[q], gains), "plain": _figures(usual[q], gains)}
        for q, gains in judged.relevant.items()
    ]
    result = {"queries": len(rows), **summary(rows), "query_ms_p50": round(1000 * statistics.median(times), 1)}
    if args.baseline:
        result["baseline"] = printed([args.baseline_python, str(args.baseline), str(args.beir_dir)])
    if args.per_query:
        args.per_query.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    told({**result, "measured": time.strftime("%Y-%m-%d")}, args.out)


@contextmanager
def _index(corpus: Path, kept: Path | None, encoder: Encoder) -> Iterator[Index]:
    with tempfile.TemporaryDirectory() as folder:
        place = kept or Path(folder) / "index"
        if not Index.is_complete(place):
            ingest.run([corpus], place, encoder=encoder, fields={"abstract": "text"})
        index = Index.open(place)
        try:
            yield index
        finally:
            index.close()


def confer(judged: beir.Beir, index: Index, encoder: Encoder) -> tuple[dict[str, list[str]], list[float]]:
    """The documents found for each query, best first, and the seconds that each search took."""
    retriever = Retriever(index, encoder)
    found, times = {}, []
    for query, text in judged.queries.items():
        start = time.perf_counter()
        hits = retriever.search(text, DEPTH)
        times.append(time.perf_counter() - start)
        # Two documents with one text are one paper.
        found[query] = [judged.documents[source.position] for hit in hits for source in hit.paper.sources]
    return found, times


def plain(judged: beir.Beir, encoder: Encoder) -> dict[str, list[str]]:
    """The same with one vector a document."""
    vectors = np.asarray(
        encoder.model.encode(judged.texts, normalize_embeddings=True, show_progress_bar=False), dtype=np.float32
    )
    queries = encoder.encode_queries(list(judged.queries.values()))
    order = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :DEPTH]
    return {query: [judged.documents[i] for i in row] for query, row in zip(judged.queries, order, strict=True)}


def _figures(found: list[str], gains: dict[str, float]) -> dict[str, float]:
    return {name: round(figure(found, gains), 6) for name, figure in FIGURES.items()}


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means of both and the paired difference of the nDCG with its 95 % interval (BCa bootstrap over the queries)."""
    means = {
        way: {name: round(statistics.fmean(row[way][name] for row in rows), 4) for name in FIGURES}
        for way in ("confer", "plain")
    }
    differences = np.array([row["confer"]["ndcg@10"] - row["plain"]["ndcg@10"] for row in rows])
    if len(rows) < 2 or np.ptp(differences) == 0:
        return {**means, "difference": round(float(differences.mean()), 4), "interval": None}
    found: Any = bootstrap((differences,), np.mean, rng=np.random.default_rng(0))
    interval = found.confidence_interval
    bounds = [round(float(interval.low), 4), round(float(interval.high), 4)]
    return {**means, "difference": round(float(differences.mean()), 4), "interval": bounds}


if __name__ == "__main__":
    main()
