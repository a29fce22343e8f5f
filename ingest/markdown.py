"""Markdown's emphasis marks and links to plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass

LINK = re.compile(r"!?\[([^\[\]]{1,300})\]\((https?://[^\s()]{1,2000})\)")
TOKEN = re.compile(r"(?P<space>\s+)|\*+|_+")
LONGEST = 3  # marks in a row; more are a rule or a blank to fill in
DEEPEST = 10  # open marks that a closing one looks back over


@dataclass
class _Run:
    """A row of equal marks: how many are left, and whether they stand inside a word."""

    start: int
    length: int
    left: int
    in_word: bool


def links(text: str) -> str:
    """Turn `[text](URL)` into `text (URL)`; no address is lost."""
    return LINK.sub(lambda m: m[1] if m[1].strip() == m[2] else f"{m[1]} ({m[2]})", text)


def emphasis(text: str) -> str:
    """Drop emphasis marks that pair up; lone ones, powers (`2**3`) and underscores inside words stay.

    Strong marks may stand inside a word that they do not leave: `**S**emantic`.
    """
    runs: list[_Run] = []
    waiting: dict[str, list[_Run]] = {"*": [], "_": []}
    space = -1
    for token in TOKEN.finditer(text):
        if token["space"]:
            space = token.start()
            continue
        length = token.end() - token.start()
        before, after = (
            text[max(0, token.start() - 1) : token.start()] or " ",
            text[token.end() : token.end() + 1] or " ",
        )
        if length > LONGEST or before == "\\" or before + after in {"()", "[]"}:
            continue
        strong = length > 1 and token.group()[0] == "*" and before.isalpha() and after.isalpha()
        run = _Run(token.start(), length, length, strong)
        runs.append(run)
        stack = waiting[token.group()[0]]
        if not before.isspace() and (strong or not after.isalnum()):
            _match(stack, run, space)
        if run.left and not after.isspace() and (strong or not before.isalnum()):
            stack.append(run)
    out, end = [], 0
    for run in runs:
        out.append(text[end : run.start])
        end = run.start + run.length - run.left
    return "".join(out) + text[end:]


def _match(stack: list[_Run], run: _Run, space: int) -> None:
    """Pair a closing run with the open ones before it."""
    while run.left:
        for depth in range(1, min(len(stack), DEEPEST) + 1):
            opener = stack[-depth]
            if opener.in_word and space > opener.start:
                continue
            count = 2 if min(opener.left, run.left) > 1 else opener.left * run.left % 2
            if count:
                break
        else:
            return
        del stack[len(stack) - depth + 1 :]
        opener.left -= count
        run.left -= count
        if not opener.left:
            stack.pop()
