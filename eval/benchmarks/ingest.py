"""How fast lists come in, beside the usual way (LlamaIndex, Chroma and the same encoder, default settings).

Usage: python -m eval.benchmarks.ingest LIST.jsonl[.gz] BASELINE.py [--limit 2000] [--rounds 2] [--out result.json]
LIST holds one paper a line (title, abstract); BASELINE is a script that takes a BEIR folder and prints JSON with
`documents_per_second`. Both get the first `--limit` papers, one after the other, each in a process of its own with its
encoder loaded before the clock starts; each round turns their order, because a machine's speed drifts by more than
what is to be told apart, and the ratio is that of the summed times.
Confer's time has everything: reading, cleaning, duplicates, labels, passage
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

from eval.benchmarks.results import told

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
    parser.add_argument("--rounds", type=int, default=2, help="times that each is run")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        papers = list(first(args.papers, args.limit))
        write_beir(papers, folder / "beir")
        lines = "".join(json.dumps(p, ensure_ascii=False) + "\n" for p in papers)
        (folder / "list.jsonl").write_text(lines, encoding="utf-8")
        commands = {
            "usual": [args.baseline_python, str(args.baseline), str(folder / "beir")],
            "ours": [sys.executable, "-c", CONFER, str(folder / "list.jsonl")],
        }
        runs: dict[str, list[dict[str, Any]]] = {"usual": [], "ours": []}
        for turn in range(args.rounds):
            for name in sorted(commands, reverse=turn % 2 == 0):
                index = [str(folder / f"index{turn}")] if name == "ours" else []
                runs[name].append(printed([*commands[name], *index]))
    result = compared(runs["usual"], runs["ours"])
    told(result, args.out)


def compared(usual: list[dict[str, Any]], ours: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of all rounds, and the ratio of the rates over all of them."""
    rates = [u["documents_per_second"] for u in usual]
    seconds = [o["seconds"][0] for o in ours]
    again = sum(o["seconds"][1] for o in ours)
    documents = ours[0]["documents"]
    usual_rate = len(rates) / sum(1 / rate for rate in rates)
    our_rate = documents * len(ours) / sum(seconds)
    return {
        "documents": documents,
        "passages": ours[0]["passages"][0],
        "baseline_documents_per_second": [round(rate, 2) for rate in rates],
        "documents_per_second": [round(documents / s, 2) for s in seconds],
        "ratio": round(our_rate / usual_rate, 3),
        "unchanged_seconds": round(again / len(ours), 3),
        "unchanged_speedup": round(sum(seconds) / again, 1),
        "peak_child_rss_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
        "measured": time.strftime("%Y-%m-%d"),
    }


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
