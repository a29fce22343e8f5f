"""The language of an abstract."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

LOOKED_AT = 60  # words
CHARACTERS = 400  # of the text, where the words do not tell
# The English words that make up a fifth and more of any English text; in other languages' texts they are rare.
COMMON = frozenset(
    ["the", "of", "and", "to", "in", "is", "we", "that", "for", "with", "are", "on", "this", "by", "as", "our"]
)
ENGLISH = 0.12  # share of those words above which nothing else needs to be asked


def of(text: str, words: Sequence[str]) -> str:
    """The ISO 639-1 code of a language; what is not plainly English is told by langid (Lui and Baldwin, 2012).

    `words` are the folded words of the text.
    """
    head = words[:LOOKED_AT]
    if sum(word in COMMON for word in head) > ENGLISH * len(head):
        return "en"
    return str(_identifier().classify(text[:CHARACTERS])[0])


@functools.cache
def _identifier() -> Any:
    from py3langid import langid

    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)
    identifier.set_languages([code for code in identifier.labels if len(code) == 2])
    return identifier
