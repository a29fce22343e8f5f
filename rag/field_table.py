"""The papers' fields as columns, so that a filter over a whole list takes milliseconds.

A column holds each distinct value once, with the rows of the papers that have it: a comparison is made with distinct
values only. Abstracts, which are all distinct, are one text that is searched through. Derived from the papers; never
the only copy of anything.
"""

from __future__ import annotations

import bisect
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rag.filters import Comparison, Either, Every, Filter, Negation, Op, Value, comparable
from rag.schema import Paper
from rag.text import search_text

ABSTRACTS = "abstracts.bin"  # the file of all abstracts in a folder
VERSION = 1  # of the columns and of how values are compared; tables of another one are built anew
FEW = 20  # abstracts are looked at one by one where fewer than one in so many is in question
TOPIC = ("title", "abstract", "keyword")  # what `topic` looks into

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """Distinct values, and where the rows of each begin and end in `rows`."""

    values: list[Value]
    starts: Numbers
    rows: Numbers

    def mask(self, size: int, holds: Callable[[Any], bool]) -> Mask:
        """The rows that have a value of which something holds."""
        found = np.zeros(size, dtype=np.bool_)
        for number, value in enumerate(self.values):
            if holds(value):
                found[self.rows[self.starts[number] : self.starts[number + 1]]] = True
        return found


class FieldTable:
    """The fields of a fixed list of papers. Rows are papers, in the order of `ids`."""

    def __init__(self, ids: list[str], columns: dict[str, Column], abstracts: Any, ends: Numbers) -> None:
        self.ids = ids
        self._columns = columns
        self._abstracts = abstracts  # bytes: each ends with a zero byte, and `ends` says where
        self._ends = ends

    @classmethod
    def build(cls, papers: Iterable[Paper]) -> FieldTable:
        """Read the fields of papers."""
        abstracts = BytesIO()
        reader = FieldReader(abstracts)
        for _ in reader.reading(papers):
            pass
        return cls(reader.ids, reader.columns(), np.frombuffer(abstracts.getbuffer(), dtype=np.uint8), reader.ends())

    @classmethod
    def load(cls, folder: Path) -> FieldTable | None:
        """Return the saved table, or None when it is missing, damaged or of another version (it is rebuilt then)."""
        try:
            told = json.loads((folder / "fields.json").read_text(encoding="utf-8", errors="surrogatepass"))
            if told["version"] != VERSION:
                return None
            with np.load(folder / "fields.npz") as arrays:
                ends = arrays["ends"]
                columns = {
                    name: Column(values, arrays[f"starts_{name}"], arrays[f"rows_{name}"])
                    for name, values in told["values"].items()
                }
            size = int(ends[-1]) if len(ends) else 0
            if (folder / ABSTRACTS).stat().st_size != size or len(ends) != len(told["ids"]):
                return None
            empty = np.zeros(0, dtype=np.uint8)
            abstracts = np.memmap(folder / ABSTRACTS, dtype=np.uint8, mode="r") if size else empty
            return cls(told["ids"], columns, abstracts, ends)
        except (OSError, ValueError, KeyError, EOFError, TypeError):
            return None

    def select(self, where: Filter) -> list[str]:
        """Return the ids of the papers that meet a filter, in the order of the rows."""
        everyone = np.ones(len(self.ids), dtype=np.bool_)
        return [self.ids[row] for row in np.flatnonzero(self._mask(where, everyone))]

    def counts(self, field: str, where: Filter | None = None) -> dict[Any, int]:
        """How many of the papers that meet a filter have each value of a field (not of the abstract)."""
        everyone = np.ones(len(self.ids), dtype=np.bool_)
        among = everyone if where is None else self._mask(where, everyone)
        column = self._columns[field]
        spans = zip(column.values, column.starts, column.starts[1:], strict=False)
        counted = {value: int(among[column.rows[start:end]].sum()) for value, start, end in spans}
        return {value: count for value, count in counted.items() if count}

    def values(self, field: str) -> list[str]:
        """The distinct values of a field (not of the abstract), in the form in which they are compared."""
        return [str(value) for value in self._columns[field].values]

    # -- inside ----------------------------------------------------------------------------------------------------

    def _mask(self, where: Filter, among: Mask) -> Mask:
        """The rows that meet a filter; those that are not `among` may come out either way."""
        if isinstance(where, Negation):
            return ~self._mask(where.part, among)
        if isinstance(where, Every):
            for part in sorted(where.parts, key=_reads_abstracts):
                among = among & self._mask(part, among)
            return among
        if isinstance(where, Either):
            return _any([self._mask(part, among) for part in where.parts])
        met = self._met(where.field, where, among)
        return ~met if where.op in {Op.UNEQUAL, Op.NOT_IN} else met

    def _met(self, field: str, where: Comparison, among: Mask) -> Mask:
        """The rows of which a comparison holds, or the one that it negates, in a field."""
        if field == "topic":
            return _any([self._met(name, where, among) for name in TOPIC])
        if field != "abstract":
            return self._columns[field].mask(len(self.ids), _predicate(where))
        if where.op is not Op.CONTAINS:
            holds = _predicate(where)
            return self._each(lambda text: any(map(holds, text.decode("utf-8", "surrogatepass").split("\n"))), among)
        wanted = comparable(str(where.value)).encode("utf-8", "surrogatepass")
        if FEW * np.count_nonzero(among) < len(self.ids):
            return self._each(lambda text: wanted in text, among)
        return self._containing(wanted)

    def _each(self, holds: Callable[[bytes], bool], among: Mask) -> Mask:
        """The rows of which something holds of the abstract, each looked at by itself."""
        found = np.zeros(len(self.ids), dtype=np.bool_)
        for row in np.flatnonzero(among):
            start = self._ends[row - 1] if row else 0
            found[row] = holds(self._abstracts[start : self._ends[row] - 1].tobytes())
        return found

    def _containing(self, wanted: bytes) -> Mask:
        """The rows whose abstract contains a text, all abstracts being searched as one, where they are on disk."""
        found = np.zeros(len(self.ids), dtype=np.bool_)
        pattern = re.compile(re.escape(wanted))
        row, at = 0, 0
        while match := pattern.search(self._abstracts, at):
            row = bisect.bisect_right(self._ends, match.start(), lo=row)
            if row == len(found):
                break  # nothing at all is found even after the last
            found[row] = True
            at = int(self._ends[row])
        return found


class FieldReader:
    """Collects the fields of papers that somebody else reads, so that they are read once.

    Abstracts go straight into a file, since all of them take as much memory as all else together.
    """

    def __init__(self, abstracts: IO[bytes]) -> None:
        self.ids: list[str] = []
        self._numbers: dict[str, dict[Value, int]] = {name: {} for name in _READ}
        self._held = {name: (array("q"), array("q")) for name in _READ}  # numbers of values, and rows
        self._abstracts = abstracts
        self._ends = array("q")

    def reading(self, papers: Iterable[Paper]) -> Iterator[Paper]:
        """Yield the papers on, each with its fields noted."""
        for paper in papers:
            for name, read in _READ.items():
                known, (numbers, rows) = self._numbers[name], self._held[name]
                for value in dict.fromkeys(_compared(v) for v in read(paper) if v is not None):
                    numbers.append(known.setdefault(value, len(known)))
                    rows.append(len(self.ids))
            self.ids.append(paper.id)
            written = self._abstracts.write(_searchable(paper.abstract))
            self._ends.append(written + (self._ends[-1] if self._ends else 0))
            yield paper

    def ends(self) -> Numbers:
        """Where each abstract ends in the file."""
        return np.array(self._ends, dtype=np.int64)

    def columns(self) -> dict[str, Column]:
        """All fields but the abstract."""
        return {name: self._column(name) for name in _READ}

    def save(self, folder: Path) -> None:
        """Write into the folder that has the abstracts."""
        columns = self.columns()
        arrays = {f"{part}_{name}": getattr(c, part) for name, c in columns.items() for part in ("starts", "rows")}
        np.savez(folder / "fields.npz", ends=self.ends(), **arrays)
        values = {name: column.values for name, column in columns.items()}
        told = json.dumps({"version": VERSION, "ids": self.ids, "values": values}, ensure_ascii=False)
        (folder / "fields.json").write_text(told, encoding="utf-8", errors="surrogatepass")

    def _column(self, name: str) -> Column:
        numbers, rows = (np.array(part, dtype=np.int64) for part in self._held[name])
        counts = np.bincount(numbers, minlength=len(self._numbers[name]))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Column(list(self._numbers[name]), starts, rows[np.argsort(numbers, kind="stable")])


def _reads_abstracts(where: Filter) -> bool:
    if isinstance(where, Comparison):
        return where.field in {"abstract", "topic"}
    parts = [where.part] if isinstance(where, Negation) else where.parts
    return any(map(_reads_abstracts, parts))


def _any(masks: list[Mask]) -> Mask:
    return np.asarray(np.stack(masks).any(axis=0), dtype=np.bool_)


def _compared(value: Value) -> Value:
    return value if isinstance(value, int) else comparable(value)


def _searchable(abstract: str) -> bytes:
    """An abstract as it is searched: as it stands and, after a line end, with its maths as words where it has any."""
    shown = comparable(abstract)
    spoken = comparable(search_text(abstract)) if "$" in abstract else shown
    text = shown if shown == spoken else f"{shown}\n{spoken}"
    return text.encode("utf-8", "surrogatepass") + b"\0"


def _predicate(where: Comparison) -> Callable[[Any], bool]:
    """What must hold of a value for a comparison, or for the one that it negates."""
    if where.op is Op.CONTAINS:
        part = comparable(str(where.value))
        return lambda value: part in str(value)
    if where.op in {Op.EQUAL, Op.UNEQUAL, Op.IN, Op.NOT_IN}:
        wanted = {_compared(v) for v in where.values()}
        return lambda value: value in wanted
    bound = where.value
    return {
        Op.LESS: lambda value: value < bound,
        Op.AT_MOST: lambda value: value <= bound,
        Op.MORE: lambda value: value > bound,
        Op.AT_LEAST: lambda value: value >= bound,
    }[where.op]


_READ: dict[str, Callable[[Paper], Iterable[Value | None]]] = {
    "title": lambda p: [p.title],
    "author": lambda p: p.authors,
    "venue": lambda p: [p.venue],
    "year": lambda p: [p.year],
    "keyword": lambda p: p.keywords,
    "language": lambda p: [p.language],
    "file": lambda p: [name for s in p.sources for name in (s.file, Path(s.file).name)],
    "id": lambda p: [p.id],
    "doi": lambda p: [p.doi],
    "arxiv_id": lambda p: [p.arxiv_id],
    "label": lambda p: [p.label],
}
