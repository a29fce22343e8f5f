"""XML as it is written, made fit for a parser: no comments, no entities, no loose `&` or `<`."""

from __future__ import annotations

import html.entities
import re
from collections.abc import Iterable, Iterator

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
REFERENCE = r"&(?:#(?P<code>\d{1,7}|x[0-9A-Fa-f]{1,6})|(?P<name>[A-Za-z][\w.-]*));"
LOOSE = re.compile(rf"{REFERENCE}|&|<(?![^\W\d]|[/!?_])")
PREDEFINED = frozenset({"amp", "lt", "gt", "quot", "apos"})


def mended(text: str) -> tuple[str, str]:
    """The text with every entity, loose `&` and loose `<` escaped, and the first entity that is not known.

    So an entity stays as it is written; names that HTML knows are decoded when the text is cleaned.
    """
    unknown: list[str] = []

    def escape(match: re.Match[str]) -> str:
        found = match.group()
        if found.startswith("<"):
            return "&lt;"
        if match["name"] in PREDEFINED or (match["code"] and _is_character(match["code"])):
            return found
        if match["name"] and f"{match['name']};" not in html.entities.html5:
            unknown.append(found)
        return f"&amp;{found[1:]}"

    out = []
    for part, literal in _parts(CONTROLS.sub("", text)):
        out.append(part if literal else LOOSE.sub(escape, part))
    return "".join(out), unknown[0] if unknown else ""


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and whether each is a CDATA section, in which nothing needs to be escaped."""
    at = 0
    while (begin := text.find("<![CDATA[", at)) >= 0 and (end := text.find("]]>", begin)) >= 0:
        yield text[at:begin], False
        yield text[begin : end + 3], True
        at = end + 3
    yield text[at:], False


def _is_character(code: str) -> bool:
    number = int(code[1:], 16) if code.startswith("x") else int(code)
    return number in {9, 10, 13} or 32 <= number < 0xD800 or 0xE000 <= number < 0xFFFE or 0xFFFF < number < 0x110000


class Comments:
    """Takes the comments out of a stream, so that no record in them counts; their line ends stay.

    A comment that begins in the line `endless` or below it is text: it never ends.
    """

    def __init__(self, endless: int = 0) -> None:
        self.inside = 0  # the line of a comment that has not ended
        self._line = 1
        self._endless = endless

    def dropped(self, source: Iterable[str]) -> Iterator[str]:
        """Yield the text without its comments."""
        held = ""
        for chunk in source:
            out, held = self._step(held + chunk)
            yield out
        yield "\n" * held.count("\n") if self.inside else held

    def _step(self, text: str) -> tuple[str, str]:
        """What is outside comments, and an end that must be seen together with what follows."""
        out: list[str] = []
        at = 0
        while True:
            mark = "-->" if self.inside else "<!--"
            found = text.find(mark, at)
            end = len(text) - len(mark) + 1 if found < 0 else found
            end = max(end, at)
            passed = text[at:end]
            out.append("\n" * passed.count("\n") if self.inside else passed)
            self._line += passed.count("\n")
            if found < 0:
                return "".join(out), text[end:]
            at = found + len(mark)
            if not self.inside and 0 < self._endless <= self._line:
                out.append("&lt;!--")
                continue
            self.inside = 0 if self.inside else self._line
