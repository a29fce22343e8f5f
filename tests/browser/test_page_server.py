"""The server by itself: what it sends, when it cannot start, and how it stops."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_kit import Scripted, serving

from rag.errors import ConferError
from rag.settings import Settings
from ui.web.server import bind

ROOT = Path(__file__).parents[2]
SERVE = """
import sys
sys.path[:0] = sys.argv[1:]
from browser_kit import Scripted
from rag.settings import Settings
from ui.web import serve
assert "gradio" not in sys.modules, "importing ui.web must be cheap"
told = lambda url: print(url, flush=True)
serve(Scripted([], {}), host="127.0.0.1", port=0, settings=Settings(), on_ready=told)
print("stopped", flush=True)
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server without a single paper."""
    with serving(Scripted([], {}), Settings()) as address:
        yield address


def get(address: str) -> tuple[str, str]:
    """The body and the content policy of an answer."""
    with urllib.request.urlopen(address) as answer:
        return answer.read().decode(), answer.headers["content-security-policy"]


def test_what_is_served_names_no_other_host(url: str) -> None:
    page, policy = get(url)
    assert "default-src 'self'" in policy
    assert re.findall(r'(?:src|href|content)="(?:https?:)?//(?!127\.0\.0\.1)[^"]*', page) == []
    theme, _ = get(url + "theme.css")
    assert re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)]*", theme) == []
    for asset in set(re.findall(r"assets/katex-[\w-]+\.(?:js|css)", page)):
        get(url + asset)
    assert "fonts.g" not in page + theme


def test_maths_has_its_renderer(url: str) -> None:
    page, _ = get(url)
    assert {kind for kind in ("js", "css") if re.search(rf"assets/katex-[\w-]+\.{kind}", page)} == {"js", "css"}


@pytest.mark.parametrize("path", ["gradio_api/file=https://example.org/", "gradio_api/proxy=https://x.hf.space/"])
def test_the_server_fetches_nothing_for_anyone(url: str, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        get(url + path)
    assert error.value.code == 404


def test_an_empty_index_says_how_to_begin(url: str, open_page: Callable[..., object]) -> None:
    page = open_page(url)
    assert "There are no papers yet." in page.inner_text(".cf-welcome")  # type: ignore[attr-defined]


def test_a_busy_port_is_told_in_a_line() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConferError, match=rf"port {port} on 127\.0\.0\.1 cannot be used .*--port"):
            bind("127.0.0.1", port)
    with pytest.raises(ConferError, match="no address to serve on"):
        bind("no-such-host.invalid", 7860)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_told_and_returns(how: signal.Signals) -> None:
    command = [sys.executable, "-c", SERVE, str(ROOT), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        get(address)
        process.send_signal(how)
        assert process.stdout.readline().strip() == "stopped"
        assert process.wait(60) == 0
