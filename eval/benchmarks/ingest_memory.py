"""Peak memory and time of ingesting a long list, with vectors that cost nothing to make.

Usage: python -m eval.benchmarks.ingest_memory LIST [--dry-run] [--with-model] [--out result.json]
The encoder counts tokens as the real one does and gives each text a fixed unit vector drawn from its hash, so that what
is measured is reading, planning, storing and the keyword index. `--with-model` loads the real encoder beside it, as in
a real run; its libraries take some 400 MB.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import ingest
from eval.benchmarks.results import told
from rag.encoder import EncodedPassage, Encoder, Vector


class FixedVectors(Encoder):
    """An encoder that never looks at the text, and of which only the tokenizer is loaded."""

    dimension = 384
    max_tokens = 254

    def __init__(self) -> None:
        super().__init__()
        self._tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Count word pieces as the real encoder does."""
        return [len(found.ids) for found in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def encode_passages(self, passages: Sequence[tuple[str, Sequence[str]]], **_: object) -> list[EncodedPassage]:
        """Give each passage and each of its sentences a unit vector."""
        return [
            EncodedPassage(_vectors(t, 1)[0], _vectors(t, len(s))) for t, s in ((f"{t}{s}", s) for t, s in passages)
        ]


def _vectors(text: str, count: int) -> Vector:
    rows = np.random.default_rng(zlib.crc32(text.encode())).standard_normal((count, 384), dtype=np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def main() -> None:
    """Ingest a list and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--with-model", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    model = Encoder().model if args.with_model else None
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        start = time.perf_counter()
        report = ingest.run([args.papers], index, encoder=FixedVectors(), dry_run=args.dry_run)
        seconds = time.perf_counter() - start
        disk = sum(f.stat().st_size for f in index.rglob("*") if f.is_file()) if index.exists() else 0
    result = {
        "records": report.read,
        "added": report.added,
        "dry_run": args.dry_run,
        "model_loaded": model is not None,
        "seconds": round(seconds, 1),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "index_mb": round(disk / 1e6),
        "measured": time.strftime("%Y-%m-%d"),
    }
    told(result, args.out)


if __name__ == "__main__":
    main()
