"""Chinese questions read in English, word by word, from a bundled glossary: enough to find English abstracts by.

`glossary_zh.tsv` has a Chinese term and its English search words on each line, written for this purpose.
"""

from __future__ import annotations

import functools
import importlib.resources
import re

from rag.text import CJK, CJK_RUN

LATIN = re.compile(r"[A-Za-z0-9][\w.@%+'/-]*")


@functools.cache
def glossary() -> dict[str, str]:
    """English search words by Chinese term."""
    text = (importlib.resources.files("rag") / "glossary_zh.tsv").read_text(encoding="utf-8")
    return dict(line.split("\t") for line in text.splitlines())


@functools.cache
def _longest() -> int:
    return max(map(len, glossary()))


def english(question: str) -> str:
    """Return the English search words of a question, those that it has itself among them, in its order.

    Of a run of Chinese the longest terms known are taken from left to right, and characters in none are passed over.
    """
    found: list[str] = []
    for piece in CJK_RUN.split(question):
        if CJK.match(piece):
            found += _terms_of(piece)
        else:
            found += LATIN.findall(piece)
    return " ".join(dict.fromkeys(found))


def _terms_of(run: str) -> list[str]:
    found, at = [], 0
    while at < len(run):
        for length in range(min(_longest(), len(run) - at), 0, -1):
            known = glossary().get(run[at : at + length])
            if known is not None:
                found.append(known.replace(",", ""))
                at += length
                break
        else:
            at += 1
    return found
