"""The index: one folder with Chroma collections (the database), and what is derived from them.

Papers and passages live in Chroma; the lexical index and the sentence vectors are files beside it. A paper counts as
indexed once its record stands in the `papers` collection: it is written last and deleted first, so whatever dies in
between leaves no half paper, only rows that nothing refers to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from rag import neighbours, stored_paper
from rag.chroma import has_database, open_client, use_server
from rag.derived import Derived
from rag.encoder import EncodedPassage, Encoder, Vector
from rag.errors import IndexMissingError, PassportError
from rag.field_table import FieldTable
from rag.filters import Filter
from rag.lexical import LexicalIndex
from rag.schema import Paper, Passage, Passport
from rag.sentence_vectors import SentenceVectors
from rag.settling import PAGE, pages, state_of, sweep
from rag.stored_passage import StoredPassage, from_metadata, paper_version, to_metadata

# Chroma's 100 misses one in nine of the true five nearest of 3,000 random vectors; this misses none, at the same speed.
SEARCH_WIDTH = 400


class Index:
    """An open index. Safe for several threads that read; writers hold the `writer_lock`."""

    def __init__(self, path: Path, client: Any, *, passport: Passport) -> None:
        self.path = path
        self.passport = passport
        self._use(client)
        self.vectors = SentenceVectors(path / "sentences.f16", passport.dimension)
        self._derived = Derived(path, self._in_order_of_ids, lambda: len(self))

    def _use(self, client: Any) -> None:
        self._chroma = client
        self._papers = client.get_collection("papers", embedding_function=None)
        self._passages = client.get_collection("passages", embedding_function=None)

    # -- opening ---------------------------------------------------------------------------------------------------

    @classmethod
    def is_complete(cls, path: Path) -> bool:
        """Whether an index stands at `path` (it may be empty); one whose creation was cut off does not count."""
        try:
            cls.open(path).close()
        except IndexMissingError:
            return False
        return True

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open an existing index; never creates anything. Raises IndexMissingError, PassportError for other spaces."""
        if not has_database(path):
            raise IndexMissingError(f"no index at {path.resolve()}; make one with: confer ingest FILE --index {path}")
        client = open_client(path)
        if {"papers", "passages"} - {c.name for c in client.list_collections()}:
            client.close()
            raise IndexMissingError(f"no complete index at {path.resolve()}; run: confer ingest FILE --index {path}")
        metadata = client.get_collection("papers", embedding_function=None).metadata
        index = cls(path, client, passport=Passport.model_validate_json(str(metadata["passport"])))
        try:
            index._check_space()
        except PassportError:
            index.close()
            raise
        return index

    @classmethod
    def create(cls, path: Path, passport: Passport, *, server: str = "") -> Self:
        """Create an empty index, or finish one whose creation was cut off: the papers collection comes last.

        Its collections are on the Chroma server at the URL `server`, if one is given, else in its folder.
        """
        path.mkdir(parents=True, exist_ok=True)
        if server and not has_database(path):
            use_server(path, server)
        client = open_client(path)
        configuration = {"hnsw": {"space": passport.similarity, "ef_search": SEARCH_WIDTH}}
        client.get_or_create_collection("passages", embedding_function=None, configuration=configuration)
        client.create_collection(
            "papers",
            embedding_function=None,
            configuration=configuration,
            metadata={"passport": passport.model_dump_json()},
        )
        return cls(path, client, passport=passport)

    def check_encoder(self, encoder: Encoder) -> None:
        """Raise PassportError unless this very encoder built the index."""
        known = self.passport
        built = (known.encoder, known.revision, known.query_prefix, known.passage_prefix)
        if built != (encoder.name, encoder.revision, encoder.query_prefix, encoder.passage_prefix):
            raise PassportError(
                f"the index at {self.path} was built with the encoder {known.encoder} "
                f"({known.revision}), not with {encoder.name} ({encoder.revision}); open it with "
                f"CONFER_ENCODER={known.encoder}, or rebuild it: rm -r {self.path} && "
                f"confer ingest FILE --index {self.path}"
            )

    def _check_space(self) -> None:
        """Raise PassportError where the collections measure otherwise: every score would mean something else."""
        for collection in (self._papers, self._passages):
            space = collection.configuration["hnsw"]["space"]
            if space != self.passport.similarity:
                raise PassportError(
                    f"the index at {self.path} measures {space} distances, not {self.passport.similarity} ones, on "
                    f"which all scores rest; rebuild it: rm -r {self.path} && confer ingest FILE --index {self.path}"
                )

    def close(self) -> None:
        """Release the files; harmless when called twice."""
        if self._chroma is not None:
            self._chroma.close()
            self._chroma = None

    def current_generation(self) -> int:
        """The generation on disk, which another process may have moved on."""
        metadata = self._chroma.get_collection("papers", embedding_function=None).metadata
        return Passport.model_validate_json(str(metadata["passport"])).generation

    # -- reading ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._papers.count())

    def papers(self, ids: Sequence[str] | None = None) -> dict[str, Paper]:
        """Return papers by id, in the order of `ids`; all of them, in the order of their sources, without `ids`."""
        if ids is None:
            return {p.id: p for p in in_order_of_sources(self.each_paper())}
        wanted = list(dict.fromkeys(ids))  # Chroma takes no id twice
        by_id: dict[str, Paper] = {}
        for begin in range(0, len(wanted), PAGE):
            page = self._papers.get(ids=wanted[begin : begin + PAGE], include=["metadatas"])
            by_id.update((p.id, p) for p in stored_paper.from_page(page))
        return {i: by_id[i] for i in wanted if i in by_id}

    def each_paper(self) -> Iterator[Paper]:
        """Yield all papers in no particular order, without holding them."""
        for page in pages(self._papers, ["metadatas"]):
            yield from stored_paper.from_page(page)

    def passages(self, paper_ids: Sequence[str]) -> dict[str, list[StoredPassage]]:
        """Return the stored passages of papers, by paper id, in reading order."""
        if not paper_ids:
            return {}
        page = self._passages.get(where={"paper_id": {"$in": list(paper_ids)}}, include=["metadatas"])
        result: dict[str, list[StoredPassage]] = {i: [] for i in paper_ids}
        for metadata in page["metadatas"]:
            stored = from_metadata(metadata)
            result[stored.passage.paper_id].append(stored)
        for found in result.values():
            found.sort(key=lambda s: s.passage.position)
        return result

    def nearest_passages(
        self, query: Vector, count: int, within: Sequence[str] | None = None
    ) -> list[tuple[StoredPassage, float]]:
        """Return up to `count` passages, of the papers `within`, with their cosine to the query vector, best first."""
        if within is None:
            return neighbours.nearest(self._passages, query, count)
        return neighbours.nearest_within(self._passages, query, count, within, len(self))

    def paper_vectors(self, paper_ids: Sequence[str]) -> dict[str, Vector]:
        """Return the unit vector of the mean of each paper's passages, shape (dimension,)."""
        return neighbours.paper_vectors(self._passages, paper_ids)

    def passage_vectors(self) -> Iterator[tuple[StoredPassage, Vector]]:
        """Yield every passage with its vector, in no particular order, without holding them."""
        for page in pages(self._passages, ["metadatas", "embeddings"]):
            yield from zip(map(from_metadata, page["metadatas"]), page["embeddings"], strict=True)

    def vector_checks(self, encode: neighbours.Encode | None = None) -> Iterator[neighbours.VectorCheck]:
        """Look every passage up by its stored vector, or by the one that `encode` makes of its text."""
        return neighbours.vector_checks(self._passages, encode)

    def sentence_vectors(self, stored: StoredPassage) -> Vector:
        """Return the vectors of a passage's sentences, shape (sentences, dimension)."""
        return self.vectors.read(stored.row, len(stored.passage.sentences))

    @property
    def lexical(self) -> LexicalIndex:
        """The keyword index of this generation; rebuilt from Chroma where its files are missing or damaged."""
        return self._derived.lexical(self.passport)

    @property
    def fields(self) -> FieldTable:
        """The fields of all papers as columns; rebuilt as the keyword index is."""
        return self._derived.fields(self.passport)

    def select(self, where: Filter) -> list[str]:
        """Return the ids of the papers that meet a filter, in the order of the ids."""
        return self.fields.select(where)

    # -- writing (under the lock) ----------------------------------------------------------------------------------

    def add(
        self, papers: Sequence[Paper], passages: Sequence[Sequence[Passage]], encoded: Sequence[EncodedPassage]
    ) -> None:
        """Add or replace papers with their passages; `encoded` runs over all passages in order."""
        flat = [(paper, passage) for paper, own in zip(papers, passages, strict=True) for passage in own]
        rows = np.concatenate([e.sentences for e in encoded]) if encoded else None
        row = self.vectors.append(rows, at_least=self.passport.sentence_rows) if rows is not None else 0
        ids, vectors, metadatas = [], [], []
        for (paper, passage), vector in zip(flat, encoded, strict=True):
            version = paper_version(paper.abstract)
            ids.append(f"{paper.id}:{version}:{passage.position}")
            vectors.append(vector.vector.tolist())
            metadatas.append(to_metadata(passage, version, row))
            row += len(passage.sentences)
        stale = self._passage_ids([p.id for p in papers]) - set(ids)
        for begin in range(0, len(ids), PAGE):
            page = slice(begin, begin + PAGE)
            self._passages.upsert(ids=ids[page], embeddings=vectors[page], metadatas=metadatas[page])
        self._papers.upsert(
            ids=[p.id for p in papers],
            embeddings=[stored_paper.point(p.id) for p in papers],
            metadatas=[stored_paper.to_metadata(p) for p in papers],
        )
        if stale:
            self._passages.delete(ids=sorted(stale))

    def drop_passages(self, paper_ids: Sequence[str]) -> None:
        """Delete the passages of papers, which are about to be added again."""
        passages = self._passage_ids(paper_ids)
        if passages:
            self._passages.delete(ids=sorted(passages))

    def update(self, papers: Sequence[Paper]) -> None:
        """Replace the fields of papers whose abstract is unchanged; nothing is encoded."""
        for begin in range(0, len(papers), PAGE):
            page = papers[begin : begin + PAGE]
            self._papers.update(ids=[p.id for p in page], metadatas=[stored_paper.to_metadata(p) for p in page])

    def remove(self, ids: Sequence[str]) -> None:
        """Remove papers, then their passages."""
        for begin in range(0, len(ids), PAGE):
            page = list(ids[begin : begin + PAGE])
            passages = self._passage_ids(page)
            self._papers.delete(ids=page)
            if passages:
                self._passages.delete(ids=sorted(passages))

    def is_settled(self) -> bool:
        """Whether the last commit saw the index as it is now."""
        known, state = self.passport, state_of(self.each_paper())
        seen = (known.generation > 0, known.corpus_hash, known.records_hash, known.passages)
        return seen == (True, state.corpus_hash, state.records_hash, int(self._passages.count()))

    def commit(self) -> None:
        """Bring what is derived in step with the collections: stray passages, keyword index, counts, generation."""
        # Writing has brought the vector index into memory; what follows needs only the records.
        self._chroma.close()
        self._use(open_client(self.path))
        state = state_of(self.each_paper())
        passages, sentences = sweep(self._passages, state.versions)
        self.passport = self.passport.model_copy(
            update={
                "papers": len(state.versions),
                "passages": passages,
                "sentences": sentences,
                "sentence_rows": len(self.vectors),
                "corpus_hash": state.corpus_hash,
                "records_hash": state.records_hash,
                "generation": self.passport.generation + 1,
            }
        )
        self._derived.renew(self.passport)
        self._papers.modify(metadata={"passport": self.passport.model_dump_json()})
        self._derived.drop_others(self.passport)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _in_order_of_ids(self) -> Iterator[Paper]:
        """Yield all papers; in this order, two ways to the same papers make the same files."""
        ids = sorted(self._papers.get(include=[])["ids"])
        for begin in range(0, len(ids), PAGE):
            yield from self.papers(ids[begin : begin + PAGE]).values()

    def _passage_ids(self, paper_ids: Sequence[str]) -> set[str]:
        if not paper_ids:
            return set()
        return set(self._passages.get(where={"paper_id": {"$in": list(paper_ids)}}, include=[])["ids"])

    def size_bytes(self) -> int:
        """Bytes on disk of the whole index folder."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())


def in_order_of_sources(papers: Iterable[Paper]) -> list[Paper]:
    """Papers as their lists have them."""
    return sorted(papers, key=lambda p: [(s.file, s.position) for s in p.sources])
