"""What a source needs to know about one fetch, and what all of them answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ingest.readers import RawRecord
from rag.errors import ConferError

Row = dict[str, object]
INSTALL = "pip install -e '.[fetch]'"


@dataclass(frozen=True)
class Manners:
    """How gently a service is asked. `interval` is the least time between two requests, the service's own if None."""

    interval: float | None = None  # seconds, as all that follow
    tries: int = 5  # of one request
    first_wait: float = 2.0  # before the second try; doubled from one to the next
    longest_wait: float = 300.0  # a service that asks for a longer one is not waited for
    timeout: float = 60.0
    sleep: Callable[[float], None] = time.sleep


@dataclass
class Visit:
    """One fetch, as a source sees it; the source sets `total`, how many papers there are, and `note`, what to know."""

    bases: Mapping[str, str]
    manners: Manners
    done: list[str] = field(default_factory=list)  # ids of the papers that an earlier run fetched, in order
    limit: int | None = None
    total: int = 0
    note: str = ""

    def page(self, most: int) -> int:
        """How many papers to ask for at once."""
        return most if self.limit is None else max(1, min(most, self.limit - len(self.done)))


class RefusedError(ConferError):
    """A service answered with an error that trying again does not mend."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def missing(package: str) -> ConferError:
    """What to raise where the extra is not installed."""
    return ConferError(f"fetching needs the package {package}, which is not installed: {INSTALL}")


def row(record: RawRecord, identifier: str) -> Row:
    """A record by the names that ingest reads."""
    return {
        "id": identifier,
        "title": record.title,
        "abstract": record.abstract,
        "authors": list(record.authors),
        "venue": record.venue,
        "year": record.year,
        "keywords": list(record.keywords),
        "url": record.url,
        "doi": record.doi,
        "arxiv_id": record.arxiv_id,
    }
