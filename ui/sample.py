"""The bundled sample list: 57 ICML 2026 papers, told afresh."""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from pathlib import Path

from rag.schema import Paper

SAMPLE = Path(str(importlib.resources.files("ingest") / "sample" / "icml2026_sample.txt"))


def holds_sample(papers: Sequence[Paper]) -> bool:
    """Whether some papers came from the sample, so that the page can say so."""
    return any(Path(source.file).name == SAMPLE.name for paper in papers for source in paper.sources)
