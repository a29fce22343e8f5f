"""Keeping an index in step with folders of lists, for as long as somebody asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ingest.job import run
from ingest.writing import Progress
from rag.encoder import Encoder
from rag.errors import ConferError
from rag.schema import IngestReport
from rag.settings import Settings


def watch(
    paths: Sequence[Path],
    index: Path,
    *,
    settings: Settings | None = None,
    encoder: Encoder | None = None,
    fields: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Iterator[IngestReport | ConferError]:
    """Ingest now and after every change below `paths`; yield the report of each run, or why it could not be made.

    Papers that the lists no longer hold are removed. Ends when `stop` is set; raises UsageError at once for paths
    that do not exist.
    """
    from watchfiles import watch as changes

    settings = settings or Settings()
    encoder = encoder or Encoder(settings.encoder, offline=settings.offline)

    def once() -> IngestReport | ConferError:
        try:
            return run(paths, index, settings=settings, encoder=encoder, prune=True, fields=fields, progress=progress)
        except ConferError as error:
            return error

    first = once()
    if isinstance(first, ConferError) and not all(path.exists() for path in paths):
        raise first
    yield first
    for _ in changes(*paths, stop_event=stop, raise_interrupt=True):
        yield once()
