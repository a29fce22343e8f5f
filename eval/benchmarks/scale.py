"""What a long list costs: papers a second coming in, disk, and then memory, opening, queries and lost neighbours.

Usage: python -m eval.benchmarks.scale LIST.jsonl[.gz] --work FOLDER [--sizes 1000,10000,86455] [--real 10000]
           [--queries 200] [--baseline SCRIPT.py --baseline-python PYTHON] [--out result.json]
LIST holds one paper a line (title, abstract, year). An index of each size is built in FOLDER, unless it stands there
from before: the first `--real` papers by the real encoder, the rest with fixed random vectors. Each index is then
opened in a process of its own, which is asked the titles of papers spread over the list: without a filter, with one
that keeps about half of the papers and with one that keeps some 0.1 %. `recall@20` compares the vector index with an
exact search over all vectors. The baseline script is given the smallest size as a BEIR folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ingest
from eval.benchmarks.ingest import first, printed, write_beir
from eval.benchmarks.ingest_memory import FixedVectors
from eval.benchmarks.results import told
from rag.encoder import EncodedPassage, Encoder

ASKED = [sys.executable, "-m", "eval.benchmarks.scale_queries"]


class PartlyReal(FixedVectors):
    """The real encoder for so many passages, and fixed random vectors after them."""

    def __init__(self, papers: int) -> None:
        super().__init__()
        self._real = Encoder()
        self._left = papers

    def encode_passages(self, passages: Sequence[tuple[str, Sequence[str]]], **more: Any) -> list[EncodedPassage]:
        """Encode a batch one way or the other; a batch is never split."""
        if self._left <= 0:
            return super().encode_passages(passages)
        self._left -= len({title for title, _ in passages})
        return self._real.encode_passages(passages, **more)


def build(papers: list[dict[str, Any]], folder: Path, real: int) -> dict[str, Any]:
    """Build the index of some papers in a folder; returns what it took, which is kept beside it."""
    kept = folder / "built.json"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        lines = folder / "list.jsonl"
        lines.write_text("".join(json.dumps(p, ensure_ascii=False) + "\n" for p in papers), encoding="utf-8")
        encoder = PartlyReal(real) if len(papers) > real else Encoder()
        encoder.encode_query("warm up")
        start = time.perf_counter()
        report = ingest.run([lines], folder / "index", encoder=encoder)
        seconds = time.perf_counter() - start
        disk = sum(f.stat().st_size for f in (folder / "index").rglob("*") if f.is_file())
        built = {
            "papers": report.added,
            "real_vectors": min(real, len(papers)),
            "build_seconds": round(seconds, 1),
            "papers_per_second": round(report.added / seconds, 2),
            "bytes_per_paper": round(disk / report.added),
        }
        kept.write_text(json.dumps(built), encoding="utf-8")
    return dict(json.loads(kept.read_text(encoding="utf-8")))


def main() -> None:
    """Build, ask, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sizes", default="1000,10000,86455")
    parser.add_argument("--real", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--baseline", type=Path)
    parser.add_argument("--baseline-python", default=sys.executable)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    sizes = [int(size) for size in args.sizes.split(",")]
    papers = list(first(args.papers, max(sizes)))
    result: dict[str, Any] = {"measured": time.strftime("%Y-%m-%d"), "sizes": []}
    for size in sizes:
        folder = args.work / str(size)
        built = build(papers[:size], folder, args.real)
        asked = printed([*ASKED, str(folder / "index"), str(folder / "list.jsonl"), str(args.queries)])
        result["sizes"].append({**built, **asked})
    if args.baseline:
        beir = args.work / "beir"
        if not beir.exists():
            write_beir(papers[: min(sizes)], beir)
        result["baseline"] = printed([args.baseline_python, str(args.baseline), str(beir)])
    told(result, args.out)


if __name__ == "__main__":
    main()
