"""Every error that Confer raises on purpose. Their texts are whole sentences that say what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.schema import IngestReport


class ConferError(Exception):
    """Base: something failed; commands exit with 1."""


class UsageError(ConferError):
    """The caller gave something unusable (a blank question, a missing file); commands exit with 2."""


class NothingWrittenError(UsageError):
    """Nothing could be ingested, or nothing may be because of a rejected record; `report` names them all."""

    def __init__(self, text: str, report: IngestReport) -> None:
        super().__init__(text)
        self.report = report


class IndexMissingError(UsageError):
    """No index stands at the path given."""


class PassportError(UsageError):
    """The index was built with something else than what would read it now."""


class IndexLockedError(ConferError):
    """Another process is writing to the index."""


class LLMError(ConferError):
    """The language model could not be used; Confer then answers extractively and says so."""
