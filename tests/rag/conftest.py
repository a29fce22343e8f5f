"""Shared by the tests of the library: assistants over the bundled sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_server import MakeAssistant

from rag.assistant import Assistant
from rag.encoder import Encoder
from rag.settings import Settings


@pytest.fixture(scope="session")
def sample_index(sample_folder: Path) -> Path:
    """An index of the bundled sample; only read from."""
    return sample_folder


@pytest.fixture
def make_assistant(sample_index: Path, encoder: Encoder) -> Iterator[MakeAssistant]:
    """Open assistants over the sample: `make_assistant(spec, llm_timeout=2)`. None of them refuses by confidence."""
    opened: list[Assistant] = []

    def make(llm: str = "none", *, index: Path | None = None, **settings: Any) -> Assistant:
        chosen = Settings(**{"refuse_below": 0.0, "llm_timeout": 20.0, **settings})
        opened.append(Assistant.open(index or sample_index, llm=llm, settings=chosen, encoder=encoder))
        return opened[-1]

    yield make
    for assistant in opened:
        assistant.close()
