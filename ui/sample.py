"""The bundled sample list: 57 ICML 2026 papers, told afresh."""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from pathlib import Path

from rag.schema import Paper

SAMPLE = Path(str(importlib.resources.files("ingest") / "sample" / "icml2026_sample.txt"))


def holds_sample(papers: Sequence[Paper]) -> bool:
    """Whether the papers are the sample's and no others, so that the page can say so."""
    return bool(papers) and all(any(Path(s.file).name == SAMPLE.name for s in p.sources) for p in papers)
