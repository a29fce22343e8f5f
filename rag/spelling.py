"""Slips of the pen in questions: a word that no abstract has is read as one that they have and that is one edit away.

The edits are P. Norvig's (How to write a spelling corrector, 2007): a letter dropped, doubled, changed, or two swapped.
Only words that the encoder does not know whole are corrected, so that `court` does not become `count`, and no names.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from rag.encoder import Encoder
from rag.lexical import LexicalIndex
from rag.text import terms

WORD = re.compile(r"(?<![\w-])[a-z]{5,}(?![\w@+'/.-]*[\dA-Z])")


@dataclass(frozen=True)
class Respelt:
    """A question as it was read, and the words that were read otherwise."""

    text: str
    changes: dict[str, str]


def respelt(question: str, lexical: LexicalIndex, encoder: Encoder) -> Respelt:
    """Correct the words of a question that its list does not have, where it has a word one edit away."""
    changes: dict[str, str] = {}

    def corrected(match: re.Match[str]) -> str:
        word = match.group()
        stem = next(iter(terms(word)), "")
        if lexical.knows(stem) or len(encoder.model.tokenizer.tokenize(word)) == 1:
            return word
        stems = {edit: "".join(terms(edit)) for edit in set(_edits(word))}
        known = [edit for edit, stem in stems.items() if lexical.knows(stem)]
        near = min(known, key=lambda edit: (lexical.idf(stems[edit]), edit), default="")
        if near:
            changes[word] = near
        return near or word

    return Respelt(WORD.sub(corrected, question), changes)


def _edits(word: str) -> Iterator[str]:
    for i in range(len(word) + 1):
        left, right = word[:i], word[i:]
        for letter in string.ascii_lowercase:
            yield left + letter + right
            if right:
                yield left + letter + right[1:]
        if right:
            yield left + right[1:]
        if len(right) > 1:
            yield left + right[1] + right[0] + right[2:]
