"""The collections on a Chroma server: the same papers, in the same order, as from a folder."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import ingest
from rag.assistant import Assistant
from rag.encoder import Encoder
from rag.errors import ConferError, IndexMissingError, UsageError
from rag.settings import Settings
from ui.sample import SAMPLE

QUESTIONS = ("Which papers correct for judges that favour long answers?", "seasonal tides", "How many readings?")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = tmp_path_factory.mktemp("server")
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(data), "--port", str(port)]
    with subprocess.Popen([*command, "--host", "127.0.0.1"], stdout=subprocess.DEVNULL) as process:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.mark.slow
def test_a_server_gives_what_a_folder_gives(server: str, sample_index: Path, encoder: Encoder, tmp_path: Path) -> None:
    settings = Settings(chroma_url=server)
    report = ingest.run([SAMPLE], tmp_path / "index", settings=settings, encoder=encoder)
    again = ingest.run([SAMPLE], tmp_path / "index", settings=settings, encoder=encoder)
    assert (report.added, again.unchanged, again.encoded) == (report.read, report.read, 0)
    assert not (tmp_path / "index" / "chroma").exists()
    with (
        Assistant.open(sample_index, encoder=encoder) as here,
        Assistant.open(tmp_path / "index", encoder=encoder) as there,
    ):
        for question in QUESTIONS:
            expected = [(h.paper.id, pytest.approx(h.score, abs=1e-5)) for h in here.search(question, 10)]
            assert [(h.paper.id, h.score) for h in there.search(question, 10)] == expected
            assert there.ask(question).text == here.ask(question).text


@pytest.mark.slow
def test_two_indexes_on_one_server_are_kept_apart(server: str, encoder: Encoder, tmp_path: Path) -> None:
    settings = Settings(chroma_url=server)
    other = tmp_path / "other.txt"
    other.write_text("A single abstract about kelp forests and the urchins that graze on them all year.\n")
    ingest.run([SAMPLE], tmp_path / "one", settings=settings, encoder=encoder)
    ingest.run([other], tmp_path / "two", settings=settings, encoder=encoder)
    with Assistant.open(tmp_path / "two", encoder=encoder) as assistant:
        assert [p.abstract[:17] for p in assistant.papers()] == ["A single abstract"]


def test_a_server_that_does_not_answer_is_named(encoder: Encoder, tmp_path: Path) -> None:
    gone = "http://127.0.0.1:9"
    with pytest.raises(ConferError, match=gone):
        ingest.run([SAMPLE], tmp_path / "index", settings=Settings(chroma_url=gone), encoder=encoder)
    with pytest.raises(IndexMissingError):
        Assistant.open(tmp_path / "index", encoder=encoder)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host", "http://host:8000/path", "http://"])
def test_what_is_no_address_is_refused(url: str, encoder: Encoder, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="chroma_url"):
        ingest.run([SAMPLE], tmp_path / "index", settings=Settings(chroma_url=url), encoder=encoder)
