"""Making an index sound again: what it does not hold whole or cannot find is encoded anew."""

from __future__ import annotations

from pathlib import Path

from ingest.writing import rewrite, text_of
from rag.encoder import Encoder
from rag.health import Health, check
from rag.index import Index
from rag.stored_passage import StoredPassage
from rag.writer_lock import writer_lock


def examine(store: Index, encoder: Encoder) -> Health:
    """Check an index by looking every passage up by its own text."""

    def encode(found: list[StoredPassage]) -> list[list[float]]:
        papers = store.papers([s.passage.paper_id for s in found])
        texts = [
            text_of(papers[s.passage.paper_id], s.passage, encoder) if s.passage.paper_id in papers else ("", [])
            for s in found
        ]
        return [encoded.vector.tolist() for encoded in encoder.encode_passages(texts)]

    return check(store, encode)


def repair(folder: Path, encoder: Encoder) -> tuple[Health, Health]:
    """Check an index, encode its ailing papers anew, and return how it was before and after.

    Raises IndexMissingError, PassportError for another encoder, IndexLockedError while another process writes.
    """
    Index.open(folder).close()  # a missing index is said before a lock file is made
    with writer_lock(folder):
        store = Index.open(folder)
        try:
            store.check_encoder(encoder)
            before = examine(store, encoder)
            if not before.ailing:
                return before, before
            papers = store.papers([a.paper_id for a in before.ailing])
            rewrite(list(papers.values()), store, encoder)
            return before, examine(store, encoder)
        finally:
            store.close()
