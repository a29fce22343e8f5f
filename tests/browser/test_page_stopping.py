"""Stopping a language model in the middle of a sentence, whichever way the question was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser_kit import WAIT, SlowModel, turn


@pytest.fixture(scope="module")
def url(serve_index: Callable[..., str], slow_model: SlowModel) -> str:
    """A server whose model never finishes."""
    return serve_index(refuse_below=0.0, llm=slow_model.spec)


def by_enter(page: Any) -> None:
    page.fill("#cf-question textarea", "What do leaderboard scores hide?")
    page.press("#cf-question textarea", "Enter")


def by_button(page: Any) -> None:
    page.fill("#cf-question textarea", "What do leaderboard scores hide?")
    page.click("#cf-send")


def by_example(page: Any) -> None:
    page.locator(".cf-examples button").first.click()


@pytest.mark.parametrize("start", [by_enter, by_button, by_example])
def test_stop_works_while_the_model_writes(
    url: str, open_page: Callable[..., Any], start: Callable[[Any], None]
) -> None:
    page = open_page(url)
    start(page)
    page.locator("#cf-live .cf-draft", has_text=SlowModel.FIRST).wait_for()
    assert page.locator("#cf-send").count() == 0 or page.locator("#cf-send").is_hidden()
    page.click("#cf-stop")
    stopped = turn(page, 0)
    assert SlowModel.FIRST in stopped.locator(".cf-draft").inner_text()
    assert "Stopped" in stopped.locator(".cf-note").inner_text()
    assert page.locator("#cf-stop").count() == 0 or page.locator("#cf-stop").is_hidden()
    assert page.locator("#cf-live .cf-turn").count() == 0


def test_a_new_conversation_stops_the_old_one_and_keeps_it(url: str, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    by_enter(page)
    page.locator("#cf-live .cf-draft").wait_for()
    page.click("#cf-new")
    page.locator(".cf-welcome").wait_for()
    page.locator(".cf-conversations button", has_text="leaderboard").click()
    assert "Stopped" in turn(page, 0).inner_text()


def test_a_stopped_model_is_left(url: str, slow_model: SlowModel, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    by_enter(page)
    page.locator("#cf-live .cf-draft").wait_for()
    page.click("#cf-stop")
    turn(page, 0)
    slow_model.go.set()
    assert slow_model.left.acquire(timeout=WAIT / 1000), "the request was not closed"
