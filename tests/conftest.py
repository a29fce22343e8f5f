"""Fixtures that every room's tests share: the bundled sample as an index, built once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import ingest
from rag import Assistant, Encoder, Index, Settings

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "ingest" / "sample" / "icml2026_sample.txt"
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The default encoder, loaded once."""
    return Encoder()


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """An index of the bundled sample. Tests must not write to it."""
    folder = tmp_path_factory.mktemp("sample") / "index"
    ingest.run([SAMPLE], folder, encoder=encoder)
    return folder


@pytest.fixture(scope="session")
def sample_assistant(sample_folder: Path, encoder: Encoder) -> Iterator[Assistant]:
    """An extractive assistant over the sample."""
    with Assistant.open(sample_folder, encoder=encoder, settings=Settings()) as assistant:
        yield assistant


@pytest.fixture(scope="session")
def sample_store(sample_folder: Path) -> Iterator[Index]:
    """The sample's index itself."""
    store = Index.open(sample_folder)
    yield store
    store.close()
