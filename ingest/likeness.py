"""How alike two texts are, without keeping either: bottom-k sketches of their word shingles.

A. Z. Broder, On the resemblance and containment of documents (1997): the k smallest hashes of the union of two shingle
sets are a random sample of it, so the share of them that lies in both estimates the Jaccard index.
"""

from __future__ import annotations

import functools
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

SHINGLE = 4  # words in a row
SIZE = 64  # hashes of a sketch: the estimate is off by 0.06 on average, and exact for shorter texts
LOOKED_UP = 8  # of them; two texts that share 60 % of their shingles share two of these in 99 % of all cases
SHARED = 2  # of those, for a text to be looked at; one is often a set phrase
COMMON = 50  # texts that hold the same shingle; more, and it is a set phrase that tells nothing

Sketch = NDArray[np.uint32]
NOTHING: Sketch = np.empty(0, dtype=np.uint32)


def sketch(words: Sequence[str]) -> Sketch:
    """The up to 64 smallest hashes of the four-word shingles of a text, ascending."""
    if not words:
        return NOTHING
    hashes = np.fromiter(map(_hash, words), np.uint64, len(words))
    width = min(SHINGLE, len(words))
    count = len(words) - width + 1
    combined = hashes[:count].copy()
    for i in range(1, width):
        combined = combined * np.uint64(0x100000001B3) + hashes[i : i + count]
    mixed = ((combined * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)).astype(np.uint32)
    mixed.sort()
    first = np.ones(len(mixed), dtype=bool)
    np.not_equal(mixed[1:], mixed[:-1], out=first[1:])
    return np.asarray(mixed[first][:SIZE])


@functools.lru_cache(maxsize=1 << 17)  # words come again and again
def _hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def jaccard(a: Sketch, b: Sketch) -> float:
    """The Jaccard index of two shingle sets, 0 to 1, estimated from their sketches."""
    union = np.union1d(a, b)[:SIZE]
    if not len(union):
        return 0.0
    both = np.intersect1d(a, b, assume_unique=True)
    return float(np.count_nonzero(both <= union[-1])) / len(union)


class Lookup:
    """Finds the sketches that may be like a given one."""

    def __init__(self) -> None:
        self._holders: dict[int, int | list[int]] = {}

    def add(self, number: int, added: Sketch) -> None:
        """Remember a sketch under a number."""
        for value in added[:LOOKED_UP].tolist():
            held = self._holders.get(value)
            if held is None:
                self._holders[value] = number
            elif isinstance(held, int):
                self._holders[value] = [held, number]
            elif len(held) < COMMON:
                held.append(number)

    def candidates(self, wanted: Sketch) -> Iterator[int]:
        """Yield, each once, the numbers of sketches that share two of their smallest hashes with this one.

        For texts of fewer shingles than that one is enough.
        """
        enough = min(SHARED, max(1, len(wanted) // 4))
        shared: Counter[int] = Counter()
        for value in wanted[:LOOKED_UP].tolist():
            held = self._holders.get(value, ())
            for number in (held,) if isinstance(held, int) else held:
                shared[number] += 1
                if shared[number] == enough:
                    yield number
