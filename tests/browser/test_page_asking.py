"""Asking over a real index: answers, sources, conversations, and who sees what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser_kit import ask, turn

SAGE = "What does SAGE compare an annotation with?"
JUDGES = "How are LLM judges corrected for bias?"


@pytest.fixture(scope="module")
def url(serve_index: Callable[..., str]) -> str:
    """A server that answers everything."""
    return serve_index(refuse_below=0.0)


def test_an_answer_points_to_the_words_that_carry_it(url: str, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    answer = ask(page, SAGE)
    marker = answer.locator(".cf-ref").first
    assert marker.inner_text() == "[1]"
    assert marker.get_attribute("aria-label").startswith("Source 1: ")
    marker.click()
    source = page.locator('.cf-source.cf-on[data-source="1"]')
    quote = source.locator("mark.cf-on").first
    assert quote.inner_text() in answer.locator(".cf-sentence").first.inner_text()
    page.wait_for_function(
        """() => { const box = document.querySelector('mark.cf-on').getBoundingClientRect();
                   return box.top >= 0 && box.bottom <= innerHeight; }"""
    )


def test_the_keyboard_reaches_a_source_and_comes_back(url: str, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    marker = ask(page, SAGE).locator(".cf-ref").first
    marker.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "cf-source cf-on"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "[1]"


def test_each_answer_has_its_own_sources(url: str, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    first = ask(page, SAGE)
    ask(page, JUDGES)
    shown = page.locator("#cf-sources .cf-section:not([hidden])")
    assert shown.locator(".cf-for").inner_text() == JUDGES
    first.locator(".cf-ref").first.click()
    assert shown.count() == 1
    assert shown.locator(".cf-for").inner_text() == SAGE
    assert "SAGE" in shown.locator(".cf-source.cf-on").inner_text()


def test_a_follow_up_is_understood_from_the_conversation(url: str, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    ask(page, SAGE)
    assert "(about: " in ask(page, "how does it work?").locator(".cf-understood").inner_text()
    page.click("#cf-new")
    page.wait_for_selector(".cf-welcome")
    assert ask(page, "how does it work?").locator(".cf-understood").count() == 0


def test_conversations_are_listed_and_go_on_where_they_were(url: str, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    ask(page, SAGE)
    page.click("#cf-new")
    page.wait_for_selector(".cf-welcome")
    assert page.locator("#cf-thread .cf-turn").count() == 0
    assert "words that carry" in page.inner_text("#cf-sources")
    ask(page, JUDGES)
    listed = page.locator(".cf-conversations button")
    assert listed.all_inner_texts() == [JUDGES, SAGE]
    listed.nth(1).click()
    page.locator("#cf-thread .cf-question", has_text=SAGE).wait_for()
    assert page.locator("#cf-thread .cf-turn").count() == 1
    assert page.locator("#cf-sources .cf-section:not([hidden]) .cf-for").inner_text() == SAGE
    ask(page, "how does it work?")
    assert listed.all_inner_texts() == [SAGE, JUDGES]


def test_visitors_do_not_see_each_other(url: str, open_page: Callable[..., Any]) -> None:
    one, other = open_page(url), open_page(url)
    ask(one, SAGE)
    assert ask(other, "how does it work?").locator(".cf-understood").count() == 0
    assert other.locator(".cf-conversations button").all_inner_texts() == ["how does it work?"]
    assert one.locator(".cf-conversations button").all_inner_texts() == [SAGE]


def test_an_example_is_asked_when_it_is_clicked(url: str, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    example = page.locator(".cf-examples button").first
    question = example.inner_text()
    example.click()
    assert turn(page, 0).locator(".cf-question").inner_text() == question


@pytest.mark.parametrize("blank", ["", "   ", "\u200b"])
def test_a_blank_question_is_not_sent(url: str, open_page: Callable[..., Any], blank: str) -> None:
    page = open_page(url)
    page.fill("#cf-question textarea", blank)
    page.click("#cf-send")
    page.locator("#cf-hint .cf-message").wait_for()
    assert page.locator(".cf-welcome").is_visible()
    ask(page, SAGE)
    assert page.locator("#cf-hint .cf-message").count() == 0


def test_an_overlong_question_stays_in_the_box(url: str, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    page.fill("#cf-question textarea", "why " * 1500)
    page.click("#cf-send")
    page.locator("#cf-hint .cf-message", has_text="at most 4,000").wait_for()
    assert page.input_value("#cf-question textarea").startswith("why why")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_never_scrolls_sideways(url: str, open_page: Callable[..., Any], scheme: str) -> None:
    page = open_page(url, 390, 844, scheme)
    wide = "document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(wide) == 0
    page.click(".cf-menu")
    assert page.locator("#cf-upload").is_visible()
    assert page.evaluate(wide) == 0
    page.click(".cf-menu")
    ask(page, SAGE).locator(".cf-ref").first.click()
    assert page.evaluate(wide) == 0
    assert page.locator(".cf-source.cf-on").is_visible()


def test_the_engine_and_the_number_of_papers_are_on_the_page(url: str, open_page: Callable[..., Any]) -> None:
    page = open_page(url)
    assert page.inner_text(".cf-engine") == "Extractive · nothing leaves this machine"
    assert page.inner_text(".cf-count") == "57 papers · bundled sample list"
    assert page.locator("footer").is_hidden() or page.locator("footer").count() == 0


def test_a_refusal_says_why_and_what_came_nearest(
    serve_index: Callable[..., str], open_page: Callable[..., Any]
) -> None:
    page = open_page(serve_index(refuse_below=1.0))
    answer = ask(page, "Who won the football world cup in 1998?")
    refusal = answer.locator(".cf-refusal")
    assert "The papers do not say." in refusal.inner_text()
    nearest = refusal.locator("li button")
    assert nearest.count() == 3
    name = nearest.nth(1).inner_text()
    nearest.nth(1).click()
    opened = page.locator('.cf-source.cf-on[data-source="2"]')
    assert name in opened.locator("h3").inner_text()
    assert len(opened.locator(".cf-abstract").inner_text()) > 300
