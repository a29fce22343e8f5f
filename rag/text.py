"""From display text to what is embedded and tokenised. Nothing in here is ever shown."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

from rag.sentences import MATH

DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "ℓ": "l"})
STROKES = str.maketrans("øØłŁđĐħĦı", "oOlLdDhHi")  # letters whose stroke Unicode does not see as an accent
LATEX_FONT = re.compile(r"\\(?:math|text)[a-z]+\s*(?=\{)|\\(?:left|right|big|Big)\b|\\[,;!: ]")
LATEX_NAME = re.compile(r"\\([A-Za-z]+)")
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
ACCENTS = re.compile("[\u0300-\u036f]+")

# Words that carry no content in a question or an abstract; question words are handled by rag.questions.
_STOPWORDS = (
    "a about above after again all also am an and any are as at be because been before being below between both but "
    "by can could did do does doing down during each else ever few for from further had has have having he her here "
    "hers him his how i if in into is it its itself just let may me might more most much must my no nor not now of "
    "off on once one only or other our ours out over own per same she should so some such than that the their theirs "
    "them then there these they this those through to too under until up upon us very was we were what when where "
    "whether which while who whom why will with within without would you your yours s t d ll m re ve isn aren doesn "
    "don didn wasn paper papers abstract abstracts author authors work works study studies list tell show give find "
    "describe explain please anyone something there's what's whats"
)
STOPWORDS = frozenset(_STOPWORDS.split())
WORD = re.compile(r"[^\W_]+(?:[@.+'/-][^\W_]+)*\+?", re.UNICODE)
PARTS = re.compile(r"[@.+'/-]+")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
CJK_RUN = re.compile(f"({CJK.pattern}+)")


def repaired(text: str) -> str:
    """Replace lone surrogates, which neither an encoder nor a store can take."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def fold(text: str) -> str:
    """Fold what the eye does not distinguish: NFKC, dashes, quotes, accents, invisible characters.

    Accents are the combining diacritics of European scripts; the vowel signs and voicing marks of others are letters.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text).translate(DASHES).translate(QUOTES)
    text = unicodedata.normalize("NFD", INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", ACCENTS.sub("", text)).translate(STROKES)


def _maths_to_words(match: re.Match[str]) -> str:
    body = LATEX_FONT.sub("", match.group().strip("$"))
    body = LATEX_NAME.sub(r" \1 ", body).replace("\\", "")
    body = re.sub(r"[{}^_$]", "", body)
    return re.sub(r"\s+", " ", body).strip()


def search_text(display: str) -> str:
    """Return the text that is embedded for a display text: folded, simple maths as words, spaces collapsed."""
    return re.sub(r"\s+", " ", fold(MATH.sub(_maths_to_words, display))).strip()


@functools.cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def terms(text: str, *, keep_stopwords: bool = False) -> list[str]:
    """Return the stemmed tokens of a text for lexical matching.

    A compound (`pass@5`, `GPT-4o`, `self-distillation`) gives itself whole and its parts; a run of Chinese,
    Japanese or Korean characters gives its character pairs.
    """
    found: list[str] = []
    for match in WORD.finditer(search_text(text).casefold()):
        for piece in CJK_RUN.split(match.group()):
            found.extend(_pairs(piece) if CJK.match(piece) else _word_terms(piece))
    kept = found if keep_stopwords else [w for w in found if w not in STOPWORDS]
    return list(_stemmer().stemWords(kept))


def _word_terms(word: str) -> list[str]:
    parts = [p for p in PARTS.split(word) if p]
    if len(parts) < 2:
        return parts
    return ["".join(parts) if "-" in word else word, *parts]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
