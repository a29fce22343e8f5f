"""A paper as Chroma holds it."""

from __future__ import annotations

import hashlib
import math
from typing import Any

from rag.schema import Paper


def to_metadata(paper: Paper) -> dict[str, str]:
    """What Chroma keeps of a paper."""
    return {"paper": paper.model_dump_json()}


def from_page(page: Any) -> list[Paper]:
    """The papers in what Chroma returns."""
    return [Paper.model_validate_json(str(metadata["paper"])) for metadata in page["metadatas"]]


def point(paper_id: str) -> list[float]:
    """A point on the unit circle. Chroma wants a vector of every record, but papers are found by their passages."""
    angle = int.from_bytes(hashlib.sha256(paper_id.encode()).digest()[:4]) / 2**32 * math.tau
    return [math.cos(angle), math.sin(angle)]
