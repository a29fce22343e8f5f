"""How fast lists come in, beside the usual way (LlamaIndex, Chroma and the same encoder, default settings).

Usage: python -m eval.benchmarks.ingest LIST.jsonl[.gz] BASELINE.py [--limit 2000] [--out result.json]
LIST holds one paper a line (title, abstract); BASELINE is a script that takes a BEIR folder and prints JSON with
`documents_per_second`. Both get the first `--limit` papers, one after the other, each in a process of its own with its
encoder loaded before the clock starts. Confer's time has everything: reading, cleaning, duplicates, labels, passage
and sentence vectors, the keyword index. Then the same ingest runs again, unchanged.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CONFER = """
import json, sys, time
import ingest
from rag.encoder import Encoder
encoder = Encoder()
_ = encoder.encode_query("warm up")
times, encoded = [], []
for _ in range(2):
    start = time.perf_counter()
    report = ingest.run([sys.argv[1]], sys.argv[2], encoder=encoder)
    times.append(time.perf_counter() - start)
    encoded.append(report.encoded)
print(json.dumps({"seconds": times, "passages": encoded, "documents": report.read}))
"""


def main() -> None:
    """Run both and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", type=Path)
    parser.add_argument("baseline", type=Path)
    parser.add_argument("--baseline-python", default=sys.executable, help="an interpreter that has what it needs")
    parser.add_argument("--limit", type=int, default=2000)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        papers = list(first(args.papers, args.limit))
        write_beir(papers, folder / "beir")
        lines = "".join(json.dumps(p, ensure_ascii=False) + "\n" for p in papers)
        (folder / "list.jsonl").write_text(lines, encoding="utf-8")
        usual = printed([args.baseline_python, str(args.baseline), str(folder / "beir")])
        ours = printed([sys.executable, "-c", CONFER, str(folder / "list.jsonl"), str(folder / "index")])
    seconds, again = ours["seconds"]
    result = {
        "documents": ours["documents"],
        "passages": ours["passages"][0],
        "baseline_documents_per_second": usual["documents_per_second"],
        "documents_per_second": round(ours["documents"] / seconds, 2),
        "ratio": round(ours["documents"] / seconds / usual["documents_per_second"], 3),
        "seconds": round(seconds, 2),
        "unchanged_seconds": round(again, 3),
        "unchanged_speedup": round(seconds / again, 1),
        "peak_child_rss_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
        "measured": time.strftime("%Y-%m-%d"),
    }
    text = json.dumps(result)
    if args.out:
        args.out.write_text(text + "\n", encoding="utf-8")
    print(text)


def first(path: Path, limit: int) -> Iterator[dict[str, Any]]:
    """Yield the first papers of a JSON Lines file, gzipped or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for _, line in zip(range(limit), lines, strict=False):
            yield json.loads(line)


def write_beir(papers: list[dict[str, Any]], folder: Path) -> None:
    """Write papers as a BEIR folder; its one query is there because the baseline asks one."""
    folder.mkdir()
    corpus = ({"_id": str(i), "title": p["title"], "text": p["abstract"]} for i, p in enumerate(papers))
    (folder / "corpus.jsonl").write_text("".join(json.dumps(c) + "\n" for c in corpus), encoding="utf-8")
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": papers[0]["title"]}) + "\n", encoding="utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\t0\t1\n", encoding="utf-8")


def printed(command: list[str]) -> dict[str, Any]:
    """The JSON object on the last line that a command prints."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


if __name__ == "__main__":
    main()
