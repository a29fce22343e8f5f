"""The keyword side: BM25 over whole papers (bm25s, memory-mapped), with document frequencies for the evidence."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.text import terms


class LexicalIndex:
    """BM25 scores for a fixed list of paper ids. Derived from the papers; never the only copy of anything."""

    def __init__(self, ids: list[str], bm25: Any) -> None:
        self.ids = ids
        self._bm25 = bm25  # None for a list without a single token
        indptr = bm25.scores["indptr"] if bm25 is not None else np.zeros(1, dtype=np.int64)
        self._frequencies: NDArray[np.int64] = np.diff(np.asarray(indptr))
        self._vocabulary: dict[str, int] = dict(bm25.vocab_dict) if bm25 is not None else {}

    @classmethod
    def build(cls, papers: Iterable[tuple[str, str]]) -> LexicalIndex:
        """Index (paper id, text) pairs; the text is display text."""
        ids: list[str] = []
        vocabulary: dict[str, int] = {}
        corpus: list[array[int]] = []  # term numbers, four bytes each
        for paper_id, text in papers:
            ids.append(paper_id)
            corpus.append(array("i", (vocabulary.setdefault(term, len(vocabulary)) for term in terms(text))))
        if not vocabulary:
            return cls(ids, None)
        import bm25s

        bm25 = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        bm25.index((corpus, vocabulary), show_progress=False)
        return cls(ids, bm25)

    def save(self, folder: Path) -> None:
        """Write into a folder."""
        if self._bm25 is not None:
            self._bm25.save(folder / "bm25", show_progress=False)
        (folder / "ids.json").write_text(json.dumps(self.ids), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> LexicalIndex | None:
        """Return the saved index, or None when it is missing or damaged (it is rebuilt then)."""
        try:
            ids = json.loads((folder / "ids.json").read_text(encoding="utf-8"))
            if not (folder / "bm25").is_dir():
                return cls(ids, None)
            import bm25s

            return cls(ids, bm25s.BM25.load(folder / "bm25", mmap=True, show_progress=False))
        except (OSError, ValueError, KeyError, EOFError):
            return None

    def scores(self, query_terms: Sequence[str]) -> dict[str, float]:
        """Return the papers with a positive BM25 score."""
        known = [t for t in query_terms if t in self._vocabulary]
        if self._bm25 is None or not known:
            return {}
        values = self._bm25.get_scores(known)
        return {self.ids[i]: float(values[i]) for i in np.flatnonzero(values > 0)}

    def knows(self, term: str) -> bool:
        """Whether any paper holds the term."""
        return term in self._vocabulary

    def idf(self, term: str) -> float:
        """BM25's inverse document frequency, ln(1 + (N - n + 0.5) / (n + 0.5)); an unknown term has n = 0."""
        total = len(self.ids)
        number = self._vocabulary.get(term)
        frequency = int(self._frequencies[number]) if number is not None and number < len(self._frequencies) else 0
        return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
