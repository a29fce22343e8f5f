"""Tags in text that is not XML: found one by one, paired where they pair, told from a bare `<`."""

from __future__ import annotations

import re

# Every pattern stops at the next `<` or opener of its own kind, so that a text full of openers costs linear time.
TAG = re.compile(
    r"<(?P<end>/?)(?:(?P<prefix>[A-Za-z][\w.-]*+):)?(?P<name>[A-Za-z][A-Za-z0-9-]*+)"
    r"(?P<attrs>(?:\s++[A-Za-z_][\w:.-]*+\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'|[^\s\"'<>=`/]++))*+)\s*+(?P<empty>/?)>"
)
# Comments, processing instructions, document types, and CDATA sections, whose content stays.
JUNK = re.compile(
    r"<!--(?:(?!-->|<!--).)*+-->|<\?[A-Za-z](?:(?!\?>|<\?).)*+\?>|<!DOCTYPE\b[^<>\[]*+>"
    r"|<!\[CDATA\[(?P<cdata>(?:(?!\]\]>|<!\[CDATA\[).)*+)\]\]>",
    re.DOTALL,
)
Tag = re.Match[str]


def key(tag: Tag) -> tuple[str, str]:
    """What two tags must share to be a pair."""
    return (tag["prefix"] or "").lower(), tag["name"].lower()


def partners(tags: list[Tag]) -> list[int | None]:
    """The partner of every tag: for a closing tag the last open one of its name, for an empty tag itself."""
    found: list[int | None] = [None] * len(tags)
    waiting: dict[tuple[str, str], list[int]] = {}
    for number, tag in enumerate(tags):
        if tag["empty"]:
            found[number] = number
        elif not tag["end"]:
            waiting.setdefault(key(tag), []).append(number)
        elif opened := waiting.get(key(tag)):
            partner = opened.pop()
            found[number], found[partner] = partner, number
    return found
