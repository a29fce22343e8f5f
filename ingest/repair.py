"""Making an index sound again: what it does not hold whole or cannot find is encoded anew."""

from __future__ import annotations

from pathlib import Path

from ingest.writing import rewrite
from rag.encoder import Encoder
from rag.health import Health, check
from rag.index import Index
from rag.writer_lock import writer_lock


def repair(folder: Path, encoder: Encoder) -> tuple[Health, Health]:
    """Check an index, encode its ailing papers anew, and return how it was before and after.

    Raises IndexMissingError, PassportError for another encoder, IndexLockedError while another process writes.
    """
    Index.open(folder).close()  # a missing index is said before a lock file is made
    with writer_lock(folder):
        store = Index.open(folder)
        try:
            store.check_encoder(encoder)
            before = check(store)
            if not before.ailing:
                return before, before
            papers = store.papers([a.paper_id for a in before.ailing])
            rewrite(list(papers.values()), store, encoder)
            return before, check(store)
        finally:
            store.close()
