"""Confer's library: an index of papers, and an assistant that answers from it.

Names are imported when first used, so that `import rag` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.encoder import Encoder
    from rag.errors import ConferError, UsageError
    from rag.index import Index
    from rag.llamaindex import ConferRetriever
    from rag.retriever import Retriever
    from rag.schema import Answer, Citation, Evidence, Paper
    from rag.settings import Settings

__all__ = [
    "Answer", "Assistant", "Citation", "ConferError", "ConferRetriever", "Encoder", "Evidence", "Index", "Paper",
    "Retriever", "Settings", "UsageError",
]  # fmt: skip

_HOMES = {
    "Answer": "schema", "Assistant": "assistant", "Citation": "schema", "ConferError": "errors",
    "ConferRetriever": "llamaindex", "Encoder": "encoder", "Evidence": "schema", "Index": "index", "Paper": "schema",
    "Retriever": "retriever", "Settings": "settings", "UsageError": "errors",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rag' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rag.{_HOMES[name]}"), name)
