"""The index: one folder with Chroma collections (the database), and what is derived from them.

Papers and passages live in Chroma; the lexical index and the sentence vectors are files beside it. A paper counts as
indexed once its record stands in the `papers` collection: it is written last and deleted first, so whatever dies in
between leaves no half paper, only rows that nothing refers to.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from rag.chroma import open_client
from rag.encoder import EncodedPassage, Encoder, Vector
from rag.errors import IndexMissingError, PassportError
from rag.lexical import LexicalIndex
from rag.schema import Paper, Passage, Passport
from rag.sentence_vectors import SentenceVectors
from rag.stored_passage import StoredPassage, from_metadata, paper_version, to_metadata

log = logging.getLogger(__name__)
PAGE = 1000  # ids in one call to Chroma
LOOKUPS = 100  # vectors that are looked up together when an index is checked
NEIGHBOURS = 5
SAME = 1e-5  # cosine distance of equal vectors
# Chroma's 100 misses one in nine of the true five nearest of 3,000 random vectors; this misses none, at the same speed.
SEARCH_WIDTH = 400


@dataclass(frozen=True)
class VectorCheck:
    """Whether a passage is among the nearest neighbours of its own vector."""

    stored: StoredPassage
    finds_itself: bool


class Index:
    """An open index. Safe for several threads that read; writers hold the `writer_lock`."""

    def __init__(self, path: Path, client: Any, *, passport: Passport) -> None:
        self.path = path
        self._chroma = client
        self.passport = passport
        self._papers = client.get_collection("papers", embedding_function=None)
        self._passages = client.get_collection("passages", embedding_function=None)
        self.vectors = SentenceVectors(path / "sentences.f16", passport.dimension)
        self._lexical: LexicalIndex | None = None

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
        if not (path / "chroma" / "chroma.sqlite3").is_file():
            raise IndexMissingError(f"no index at {path.resolve()}; make one with: confer ingest FILE --index {path}")
        client = open_client(path / "chroma")
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
    def create(cls, path: Path, passport: Passport) -> Self:
        """Create an empty index, or finish one whose creation was cut off: the papers collection comes last."""
        path.mkdir(parents=True, exist_ok=True)
        client = open_client(path / "chroma")
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
        built = (
            self.passport.encoder,
            self.passport.revision,
            self.passport.query_prefix,
            self.passport.passage_prefix,
        )
        if built != (encoder.name, encoder.revision, encoder.query_prefix, encoder.passage_prefix):
            raise PassportError(
                f"the index at {self.path} was built with the encoder {self.passport.encoder} "
                f"({self.passport.revision}), not with {encoder.name} ({encoder.revision}); open it with "
                f"CONFER_ENCODER={self.passport.encoder}, or rebuild it: rm -r {self.path} && "
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
            found = sorted(self.each_paper(), key=lambda p: [(s.file, s.position) for s in p.sources])
            return {p.id: p for p in found}
        by_id: dict[str, Paper] = {}
        for begin in range(0, len(ids), PAGE):
            page = self._papers.get(ids=list(ids[begin : begin + PAGE]), include=["metadatas"])
            by_id.update((p.id, p) for p in _papers(page))
        return {i: by_id[i] for i in ids if i in by_id}

    def each_paper(self) -> Iterator[Paper]:
        """Yield all papers in no particular order, without holding them."""
        for page in self._pages(self._papers, ["metadatas"]):
            yield from _papers(page)

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

    def nearest_passages(self, query: Vector, count: int) -> list[tuple[StoredPassage, float]]:
        """Return up to `count` passages with their cosine to the query vector, best first."""
        count = min(count, int(self._passages.count()))
        if count <= 0:
            return []
        page = self._passages.query(
            query_embeddings=[query.tolist()], n_results=count, include=["metadatas", "distances"]
        )
        pairs = zip(page["metadatas"][0], page["distances"][0], strict=True)
        return [(from_metadata(metadata), 1.0 - float(distance)) for metadata, distance in pairs]

    def vector_checks(self) -> Iterator[VectorCheck]:
        """Look every passage up by its own stored vector."""
        for page in self._pages(self._passages, ["metadatas", "embeddings"], size=LOOKUPS):
            nearest = self._passages.query(
                query_embeddings=page["embeddings"],
                n_results=min(NEIGHBOURS, int(self._passages.count())),
                include=["distances"],
            )
            rows = zip(page["ids"], page["metadatas"], nearest["ids"], nearest["distances"], strict=True)
            for passage_id, metadata, ids, distances in rows:
                # Passages with the same text are at the same distance; any of them may come first.
                equal = bool(distances) and distances[-1] < SAME
                yield VectorCheck(from_metadata(metadata), passage_id in ids or equal)

    def sentence_vectors(self, stored: StoredPassage) -> Vector:
        """Return the vectors of a passage's sentences, shape (sentences, dimension)."""
        return self.vectors.read(stored.row, len(stored.passage.sentences))

    @property
    def lexical(self) -> LexicalIndex:
        """The keyword index of this generation; rebuilt from Chroma where its files are missing or damaged."""
        if self._lexical is None:
            folder = self._lexical_folder()
            loaded = LexicalIndex.load(folder)
            if loaded is None or len(loaded.ids) != len(self):
                log.warning("keyword index missing or out of step; rebuilding it from the stored papers")
                loaded = self._build_lexical()
            self._lexical = loaded
        return self._lexical

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
        means, begin = [], 0
        for own in passages:
            mean = np.mean([e.vector for e in encoded[begin : begin + len(own)]], axis=0)
            means.append((mean / np.linalg.norm(mean)).tolist())
            begin += len(own)
        stale = self._passage_ids([p.id for p in papers]) - set(ids)
        for begin in range(0, len(ids), PAGE):
            page = slice(begin, begin + PAGE)
            self._passages.upsert(ids=ids[page], embeddings=vectors[page], metadatas=metadatas[page])
        self._papers.upsert(
            ids=[p.id for p in papers], embeddings=means, metadatas=[{"paper": p.model_dump_json()} for p in papers]
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
            self._papers.update(ids=[p.id for p in page], metadatas=[{"paper": p.model_dump_json()} for p in page])

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
        passport = self.passport
        seen = (passport.generation > 0, passport.corpus_hash, passport.passages)
        return seen == (True, _corpus_hash(self._versions()), int(self._passages.count()))

    def commit(self) -> None:
        """Bring what is derived in step with the collections: stray passages, keyword index, counts, generation."""
        versions = self._versions()
        passages, sentences = self._sweep(versions)
        self.passport = self.passport.model_copy(
            update={
                "papers": len(versions),
                "passages": passages,
                "sentences": sentences,
                "sentence_rows": len(self.vectors),
                "corpus_hash": _corpus_hash(versions),
                "generation": self.passport.generation + 1,
            }
        )
        self._lexical = self._build_lexical()
        folder = self._lexical_folder()
        self._lexical.save(folder)
        self._papers.modify(metadata={"passport": self.passport.model_dump_json()})
        for old in folder.parent.iterdir():
            if old != folder:
                shutil.rmtree(old, ignore_errors=True)

    def _versions(self) -> dict[str, str]:
        """The hash of each paper's abstract, by id."""
        return {paper.id: paper_version(paper.abstract) for paper in self.each_paper()}

    def _sweep(self, versions: dict[str, str]) -> tuple[int, int]:
        """Delete the passages that a killed run left behind; return the numbers of the others and their sentences."""
        stray, passages, sentences = [], 0, 0
        for page in self._pages(self._passages, ["metadatas"]):
            for passage_id, metadata in zip(page["ids"], page["metadatas"], strict=True):
                if versions.get(metadata["paper_id"]) == metadata["version"]:
                    passages += 1
                    sentences += metadata["sentences"].count("[") - 1  # [[start,end],…]
                else:
                    stray.append(passage_id)
        for begin in range(0, len(stray), PAGE):
            self._passages.delete(ids=stray[begin : begin + PAGE])
        return passages, sentences

    # -- inside ----------------------------------------------------------------------------------------------------

    def _lexical_folder(self) -> Path:
        return self.path / "lexical" / f"{self.passport.generation}-{self.passport.corpus_hash or 'empty'}"

    def _build_lexical(self) -> LexicalIndex:
        # In the order of their ids: two ways to the same papers make the same index.
        ids = sorted(self._papers.get(include=[])["ids"])
        pages = (self.papers(ids[begin : begin + PAGE]).values() for begin in range(0, len(ids), PAGE))
        return LexicalIndex.build(
            (p.id, f"{p.title}. {p.abstract}" if p.title else p.abstract) for page in pages for p in page
        )

    def _passage_ids(self, paper_ids: Sequence[str]) -> set[str]:
        if not paper_ids:
            return set()
        return set(self._passages.get(where={"paper_id": {"$in": list(paper_ids)}}, include=[])["ids"])

    @staticmethod
    def _pages(collection: Any, include: list[str], *, size: int = PAGE) -> Iterable[Any]:
        for offset in range(0, collection.count(), size):
            yield collection.get(limit=size, offset=offset, include=include)

    def size_bytes(self) -> int:
        """Bytes on disk of the whole index folder."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())


def _corpus_hash(versions: dict[str, str]) -> str:
    lines = "".join(f"{i}:{versions[i]}\n" for i in sorted(versions))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _papers(page: Any) -> list[Paper]:
    return [Paper.model_validate_json(str(metadata["paper"])) for metadata in page["metadatas"]]
