"""A real browser, real servers, and what they serve: an index of the bundled sample, or answers from a script."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser_kit import WAIT, SlowModel, serving

from rag.assistant import Assistant
from rag.encoder import Encoder
from rag.settings import Settings
from ui.sample import SAMPLE

CHROMIUM = Path("/usr/bin/chromium")
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, or a skip that says what is missing."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def contexts(browser: Any) -> Iterator[Callable[..., Any]]:
    """Browser contexts by size and scheme, kept so that Gradio's scripts come from the cache after the first page."""
    opened: dict[tuple[int, int, str], Any] = {}

    def context(width: int, height: int, scheme: str) -> Any:
        if (width, height, scheme) not in opened:
            size = {"width": width, "height": height}
            opened[width, height, scheme] = browser.new_context(
                viewport=size, color_scheme=scheme, reduced_motion="reduce"
            )
            opened[width, height, scheme].set_default_timeout(WAIT)
        return opened[width, height, scheme]

    yield context
    for own in opened.values():
        own.close()


@pytest.fixture
def open_page(contexts: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Open a page, which is a session of its own. Whatever a test does, no other host is asked and no script fails."""
    pages: list[Any] = []
    foreign: list[str] = []
    broken: list[str] = []

    def open_page(url: str, width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        page = contexts(width, height, scheme).new_page()
        pages.append(page)
        page.on("request", lambda r: _is_local(r.url) or foreign.append(r.url))
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.goto(url)
        page.wait_for_selector(".cf-welcome")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not foreign, "other hosts were asked"
    assert not broken, "scripts failed"


def _is_local(url: str) -> bool:
    return urlsplit(url).scheme in {"data", "blob"} or urlsplit(url).hostname == "127.0.0.1"


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The default encoder, loaded once."""
    return Encoder(Settings().encoder)


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """An index of the bundled sample; tests that change it take a copy."""
    from ingest import job

    folder = tmp_path_factory.mktemp("sample") / "index"
    job.run([SAMPLE], folder, encoder=encoder)
    return folder


@pytest.fixture(scope="module")
def serve_index(
    sample_index: Path, encoder: Encoder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., str]]:
    """Serve a copy of the sample index with some settings; the servers live as long as the module's tests."""
    with contextlib.ExitStack() as stack:

        def serve(**fields: Any) -> str:
            folder = tmp_path_factory.mktemp("served") / "index"
            shutil.copytree(sample_index, folder)
            settings = Settings(index=folder, **fields)
            assistant = stack.enter_context(Assistant.open(settings=settings, encoder=encoder))
            return stack.enter_context(serving(assistant, settings))

        yield serve


@pytest.fixture(scope="module")
def slow_model() -> Iterator[SlowModel]:
    """A model that can be stopped in the middle of a sentence."""
    model = SlowModel()
    yield model
    model.go.set()
    model.server.shutdown()
    model.server.server_close()
