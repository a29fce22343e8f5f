"""Every error that Confer raises on purpose. Their texts are whole sentences that say what to do."""

from __future__ import annotations


class ConferError(Exception):
    """Base: something failed; commands exit with 1."""


class UsageError(ConferError):
    """The caller gave something unusable (a blank question, a missing file); commands exit with 2."""


class IndexMissingError(UsageError):
    """No index stands at the path given."""


class PassportError(UsageError):
    """The index was built with something else than what would read it now."""


class IndexLockedError(ConferError):
    """Another process is writing to the index."""


class LLMError(ConferError):
    """The language model could not be used; Confer then answers extractively and says so."""
