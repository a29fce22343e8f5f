"""What is derived from an index's papers and kept in files beside it: the keyword index and the field table.

Each generation of the index has its folder. What is missing there or out of step is built anew from the papers.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from rag.field_table import ABSTRACTS, FieldReader, FieldTable
from rag.lexical import LexicalIndex
from rag.schema import Paper, Passport

T = TypeVar("T", LexicalIndex, FieldTable)
log = logging.getLogger(__name__)


class Derived:
    """Loads when first asked. `papers` yields all papers in the order of their ids, `count` says how many there are."""

    def __init__(self, path: Path, papers: Callable[[], Iterable[Paper]], count: Callable[[], int]) -> None:
        self._root = path / "lexical"
        self._papers = papers
        self._count = count
        self._lexical: LexicalIndex | None = None
        self._fields: FieldTable | None = None

    def lexical(self, passport: Passport) -> LexicalIndex:
        """The keyword index."""
        if self._lexical is None:
            loaded = LexicalIndex.load(self._folder(passport))
            self._lexical = self._in_step(loaded, "keyword index", _keywords)
        return self._lexical

    def fields(self, passport: Passport) -> FieldTable:
        """The field table."""
        if self._fields is None:
            loaded = FieldTable.load(self._folder(passport))
            self._fields = self._in_step(loaded, "field table", FieldTable.build)
        return self._fields

    def _in_step(self, loaded: T | None, what: str, build: Callable[[Iterable[Paper]], T]) -> T:
        """What was loaded, or the same built anew where it is missing or of another state than the papers."""
        if loaded is not None and len(loaded.ids) == self._count():
            return loaded
        log.warning("%s missing or out of step; rebuilding it from the stored papers", what)
        return build(self._papers())

    def renew(self, passport: Passport) -> None:
        """Build everything from the papers as they are now and save it for the generation of the passport.

        Its folder appears whole or not at all.
        """
        folder = self._folder(passport)
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        with (partial / ABSTRACTS).open("wb") as abstracts:
            reader = FieldReader(abstracts)
            _keywords(reader.reading(self._papers())).save(partial)
        reader.save(partial)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
        # Read from their files, which takes little memory.
        self._lexical, self._fields = LexicalIndex.load(folder), None

    def drop_others(self, passport: Passport) -> None:
        """Remove what belongs to other generations."""
        kept = self._folder(passport)
        for old in self._root.iterdir():
            if old != kept:
                shutil.rmtree(old, ignore_errors=True)

    def _folder(self, passport: Passport) -> Path:
        return self._root / f"{passport.generation}-{passport.corpus_hash or 'empty'}"


def _keywords(papers: Iterable[Paper]) -> LexicalIndex:
    """The title counts twice: measured on SciFact's and SciTLDR's training claims (docs/decisions.md)."""
    return LexicalIndex.build((p.id, f"{p.title}. {p.title}. {p.abstract}" if p.title else p.abstract) for p in papers)
