"""Fixtures of the ingest tests: one small index that tests copy instead of building their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from ingest_kit import ABSTRACTS, Workplace, write

import ingest
from rag.encoder import Encoder

settings.register_profile("confer", deadline=None)  # the machine may be busy
settings.load_profile("confer")


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFER_INDEX", "CONFER_ENCODER", "CONFER_OFFLINE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> tuple[Workplace, Path]:
    """Lists a.txt (papers 0 to 3, with a header) and b.txt (papers 3 to 5, without), their index, and a copy of both."""
    root = tmp_path_factory.mktemp("built")
    place = Workplace(root / "place")
    write(place.lists / "a.txt", *ABSTRACTS[:4])
    write(place.lists / "b.txt", *ABSTRACTS[3:6], header=None)
    ingest.run([place.lists], place.index, encoder=encoder)
    return place, Path(shutil.copytree(place.folder, root / "copy"))


@pytest.fixture
def workplace(snapshot: tuple[Workplace, Path]) -> Workplace:
    """The lists and their index as they were built, at the paths that the index knows; a test may change both."""
    place, copy = snapshot
    shutil.rmtree(place.folder)
    shutil.copytree(copy, place.folder)
    return place
