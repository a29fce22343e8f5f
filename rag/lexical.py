"""The keyword side: BM25 over whole papers (bm25s, memory-mapped), with document frequencies for the evidence."""

from __future__ import annotations

import functools
import json
import math
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.text import terms


@dataclass(frozen=True)
class LexicalMatches:
    """The BM25 scores of all papers for some words: `values[rows[paper_id]]`, 0 where no word is shared."""

    ids: list[str]
    rows: dict[str, int]
    values: NDArray[np.float32]

    def score(self, paper_id: str) -> float:
        """The score of a paper; 0 of one that is not in the list."""
        row = self.rows.get(paper_id)
        return 0.0 if row is None else float(self.values[row])

    def best(self, count: int, within: Collection[str] | None = None) -> list[str]:
        """Return up to `count` papers that share a word, best first, of those `within`; ties go to the earlier id."""
        values = self.values
        if within is not None:
            among = np.zeros(len(values), dtype=np.bool_)
            among[[self.rows[i] for i in within if i in self.rows]] = True
            values = np.where(among, values, 0)
        if count < len(values):
            least = np.partition(values, -count)[-count]
            chosen = np.flatnonzero((values >= least) & (values > 0))
        else:
            chosen = np.flatnonzero(values > 0)
        ranked = sorted(chosen.tolist(), key=lambda row: (-values[row], self.ids[row]))
        return [self.ids[row] for row in ranked[:count]]


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
        found = self.matches(query_terms)
        return {self.ids[row]: float(found.values[row]) for row in np.flatnonzero(found.values > 0)}

    def matches(self, query_terms: Sequence[str]) -> LexicalMatches:
        """Score all papers."""
        known = [t for t in query_terms if t in self._vocabulary]
        if self._bm25 is None or not known:
            values = np.zeros(len(self.ids), dtype=np.float32)
        else:
            values = self._bm25.get_scores(known)
        return LexicalMatches(self.ids, self._rows, values)

    @functools.cached_property
    def _rows(self) -> dict[str, int]:
        return {paper_id: row for row, paper_id in enumerate(self.ids)}

    def knows(self, term: str) -> bool:
        """Whether any paper holds the term."""
        return term in self._vocabulary

    def idf(self, term: str) -> float:
        """BM25's inverse document frequency, ln(1 + (N - n + 0.5) / (n + 0.5)); an unknown term has n = 0."""
        total = len(self.ids)
        number = self._vocabulary.get(term)
        frequency = int(self._frequencies[number]) if number is not None and number < len(self._frequencies) else 0
        return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
