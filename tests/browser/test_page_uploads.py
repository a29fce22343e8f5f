"""Adding a list from the browser: its report, its errors, and that it can be asked about at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_kit import ask

LIST = """Tidal Workshop 2027

We introduce Zorbfish, a parser for tidal calendars that reads the phase of the moon from harbour gauges. Zorbfish
halves the error of printed tables.

too short
"""


@pytest.fixture(scope="module")
def url(serve_index: Callable[..., str]) -> str:
    """A server with an index of its own, which the uploads change."""
    return serve_index(refuse_below=0.0, max_upload_mb=1)


def upload(page: Any, path: Path) -> str:
    """Give the page a file and return what it says in the end."""
    with page.expect_file_chooser() as chooser:
        page.click("#cf-upload")
    chooser.value.set_files(path)
    page.wait_for_function(
        "() => document.querySelector('#cf-report-block :is(strong, .cf-message)')"
        " && !document.querySelector('#cf-upload').disabled"
    )
    return str(page.inner_text("#cf-report-block"))


def test_a_new_list_can_be_asked_about_at_once(url: str, open_page: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "<img src=x onerror=window.pwned=1>.txt"
    path.write_text(LIST, "utf-8")
    page = open_page(url)
    ask(page, "What does Zorbfish read?")
    report = upload(page, path)
    assert "1 added, 1 rejected" in report
    assert "line 6: too short for an abstract" in report
    page.locator(".cf-count", has_text="58 papers").wait_for()
    answer = ask(page, "What does Zorbfish read?")
    assert "harbour gauges" in answer.locator(".cf-answer").inner_text()
    assert "Zorbfish" in page.locator("#cf-sources .cf-section:not([hidden])").inner_text()
    assert "1 unchanged, 1 rejected" in upload(open_page(url), path)
    assert page.evaluate("window.pwned ?? null") is None


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("empty.txt", b"", "the file is empty"),
        ("binary.txt", b"\x00\x01\x02\x03\x00\x05" * 99, "the file is binary"),
        ("words.md", b"only a few words\n\nand no more\n", "too short"),
    ],
)
def test_a_file_that_holds_no_list_is_told_in_a_line(
    url: str, open_page: Callable[..., Any], tmp_path: Path, name: str, data: bytes, told: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    page = open_page(url)
    assert told in upload(page, path)
    assert page.locator("#cf-report-block .cf-message").count() == 1
    assert page.locator("#cf-upload").is_enabled()


def test_a_file_that_is_too_large_is_not_taken(url: str, open_page: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    path.write_text("word " * 300_000, "utf-8")
    page = open_page(url)
    with page.expect_file_chooser() as chooser:
        page.click("#cf-upload")
    chooser.value.set_files(path)
    page.get_by_text("exceed the maximum allowed size").wait_for()
    assert page.locator("#cf-upload").is_enabled()


def test_other_formats_are_taken_and_the_sample_is_no_longer_all(
    url: str, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "mine.bib"
    path.write_text(
        "@article{moss2024, title = {Moss on Roofs}, author = {Doe, Ann}, year = {2024}, abstract = {We count the "
        "moss species on 412 city roofs, and find that north sides hold twice as many as south sides do.}}\n"
        "@misc{none, title = {Without an Abstract}}\n",
        encoding="utf-8",
    )
    page = open_page(url)
    report = upload(page, path)
    assert "1 added, 1 rejected" in report and "no abstract ('Without an Abstract')" in report
    assert "sample" not in page.inner_text(".cf-count")
